/* Services, their operations, and who calls whom: from the statistics of functions and of patterns. */
#include <string.h>

#include "analyzer/query/forest/forest_answers.h"
#include "analyzer/query/jaeger/jaeger_inside.h"
#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define DEFAULT_LOOKBACK_NS (24 * 3600 * NS_PER_SEC)

/* ---- services and operations ---- */

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(a, b); }

/* Texts of a set, in order. */
static json_t *sorted_texts(GHashTable *set) {
    GList *texts = g_list_sort(g_hash_table_get_keys(set), by_text);
    json_t *list = json_array();
    for (GList *at = texts; at != NULL; at = at->next)
        json_array_append_new(list, json_text(at->data, strlen(at->data)));
    g_list_free(texts);
    return list;
}

/* The names of all functions: services, or, of one service, its operations. */
static GHashTable *collect(const Asked *asked, const char *service, GError **error) {
    const FunctionFilter filter = {.period = {G_MININT64, G_MAXINT64}, .roles = ALL_ROLES};
    g_autoptr(GArray) rows = function_rows_new();
    if (!function_rows_load(asked->archive, &filter, rows, error)) return NULL;
    g_autoptr(GHashTable) found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < rows->len && allowance_goes_on(); i++) {
        const FunctionRow *row = &g_array_index(rows, FunctionRow, i);
        gsize length;
        const char *function = dict_text(archive_dict(asked->archive), row->function, &length);
        const JaegerName name = jaeger_name(function, length, (Role)row->role);
        g_autofree char *of = g_strndup(name.service.data, name.service.length);
        if (service == NULL)
            g_hash_table_add(found, g_steal_pointer(&of));
        else if (strcmp(of, service) == 0)
            g_hash_table_add(found, g_strndup(name.operation.data, name.operation.length));
    }
    return allowance_check(error) ? g_steal_pointer(&found) : NULL;
}

json_t *jaeger_services(const Asked *asked, GError **error) {
    g_autoptr(GHashTable) found = collect(asked, NULL, error);
    return found != NULL ? jaeger_document(sorted_texts(found), g_hash_table_size(found)) : NULL;
}

/* Kinds are not in the statistics: Jaeger's page takes "" for an unknown one. */
static json_t *with_unknown_kinds(json_t *names) {
    json_auto_t *list = names;
    json_t *objects = json_array(), *name;
    size_t i;
    json_array_foreach(list, i, name) {
        json_t *object = json_object();
        json_object_set(object, "name", name);
        json_object_set_new(object, "spanKind", json_string(""));
        json_array_append_new(objects, object);
    }
    return objects;
}

json_t *jaeger_operations(const Asked *asked, const char *service, gboolean with_kinds, GError **error) {
    g_autoptr(GHashTable) found = collect(asked, service, error);
    if (found == NULL) return NULL;
    json_t *names = sorted_texts(found);
    return jaeger_document(with_kinds ? with_unknown_kinds(names) : names, g_hash_table_size(found));
}

/* ---- dependencies ---- */

typedef struct ServiceCalls {
    GHashTable *links; /* "parent\nchild" -> gint64 * */
    GPtrArray *above;  /* the service at each depth; NULL: none */
} ServiceCalls;

static void count_calls(ServiceCalls *calls, const char *parent, const char *child, gint64 n) {
    char *key = g_strconcat(parent, "\n", child, NULL);
    gint64 *sum = g_hash_table_lookup(calls->links, key);
    if (sum == NULL) {
        sum = g_new0(gint64, 1);
        g_hash_table_insert(calls->links, key, sum);
    } else {
        g_free(key);
    }
    *sum += n;
}

/* One node of a pattern, in pre-order. */
static void visit_node(ServiceCalls *calls, const json_t *node) {
    const gsize depth = (gsize)json_integer_value(json_object_get(node, "depth"));
    const json_t *function = json_object_get(node, "function");
    const char *role_text = json_string_value(json_object_get(node, "role"));
    Role role;
    g_ptr_array_set_size(calls->above, (gint)MIN(depth, calls->above->len));
    while (calls->above->len < depth) g_ptr_array_add(calls->above, NULL);

    char *service = NULL;
    if (role_text != NULL && role_parse(role_text, &role)) {
        const JaegerName name = jaeger_name(json_string_value(function), json_string_length(function), role);
        service = g_strndup(name.service.data, name.service.length);
    }
    const char *parent = depth > 0 ? g_ptr_array_index(calls->above, depth - 1) : NULL;
    if (service != NULL && parent != NULL && strcmp(parent, service) != 0)
        count_calls(calls, parent, service, json_integer_value(json_object_get(node, "calls")));
    g_ptr_array_add(calls->above, service);
}

static json_t *links_json(GHashTable *links) {
    GList *keys = g_list_sort(g_hash_table_get_keys(links), by_text);
    json_t *list = json_array();
    for (GList *at = keys; at != NULL; at = at->next) {
        const char *key = at->data, *child = strchr(key, '\n') + 1;
        json_t *link = json_object();
        json_object_set_new(link, "parent", json_text(key, (gsize)(child - key) - 1));
        json_object_set_new(link, "child", json_text(child, strlen(child)));
        json_object_set_new(link, "callCount", json_integer(*(gint64 *)g_hash_table_lookup(links, key)));
        json_array_append_new(list, link);
    }
    g_list_free(keys);
    return list;
}

json_t *jaeger_dependencies(const Asked *asked, GError **error) {
    gint64 end_ns = asked->now_ns, lookback_ns = DEFAULT_LOOKBACK_NS;
    if (!jaeger_number(asked, "endTs", NS_PER_MS, &end_ns, error) ||
        !jaeger_number(asked, "lookback", NS_PER_MS, &lookback_ns, error))
        return NULL;

    g_autoptr(QueryParams) params = query_params_new();
    g_autofree char *since = g_strdup_printf("%" G_GINT64_FORMAT, MAX(end_ns - lookback_ns, 0));
    g_autofree char *until = g_strdup_printf("%" G_GINT64_FORMAT, end_ns);
    query_params_add(params, "since", since);
    query_params_add(params, "until", until);
    query_params_add(params, "limit", "0");
    const Asked forest = {
        .archive = asked->archive, .params = params, .now_ns = asked->now_ns, .rows_max = asked->rows_max};
    json_auto_t *answer = answer_forest(&forest, error);
    if (answer == NULL) return NULL;

    g_autoptr(GHashTable) links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GPtrArray) above = g_ptr_array_new_with_free_func(g_free);
    ServiceCalls calls = {links, above};
    size_t i, k;
    json_t *pattern, *node;
    json_array_foreach(json_object_get(answer, "patterns"), i, pattern) {
        g_ptr_array_set_size(above, 0);
        json_array_foreach(json_object_get(pattern, "nodes"), k, node) {
            if (allowance_goes_on()) visit_node(&calls, node);
        }
    }
    return jaeger_document(links_json(links), g_hash_table_size(links));
}
