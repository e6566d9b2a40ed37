/* The names that are stored, to choose from: of functions and hosts from the statistics, of annotations from the newest
 * traces. */
#include <string.h>

#include "analyzer/archive/read/scan.h"
#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/base/pair_hash.h"

#define DEFAULT_LIMIT 50u
/* Of annotations. */
#define TRACES_READ 1000u
#define NAME_BYTES  96u /* of memory for each name that is counted */

typedef enum { NAMES_FUNCTION, NAMES_HOST, NAMES_ANNOTATION } NamesKind;

/* How a name has a text; the best last. */
typedef enum { MATCH_WITHIN, MATCH_BEGIN, MATCH_WHOLE } NameMatch;

typedef struct NameCount {
    guint32 name;  /* dictionary id */
    guint32 role;  /* of a function; 0 */
    guint match;   /* NameMatch of the text that was asked for */
    guint64 count; /* calls; of annotations traces */
    guint64 last;  /* the trace that was counted last */
} NameCount;

typedef struct Names {
    const Asked *asked;
    const char *text;   /* in lower case; "": all */
    guint kind;         /* NamesKind */
    GHashTable *counts; /* (name, role) as guint64 -> NameCount */
    guint64 traces;     /* read */
    guint32 roles;      /* bits 1 << Role: which are counted */
    const MeasureField *calls;
} Names;

static void names_clear(Names *names) {
    allowance_release(g_hash_table_size(names->counts) * NAME_BYTES);
    g_hash_table_unref(names->counts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Names, names_clear)

static const char *name_text(const Names *names, guint32 name) {
    return dict_text(archive_dict(names->asked->archive), name, NULL);
}

static NameCount *count_of(Names *names, guint32 name, guint32 role) {
    const guint64 key = (guint64)name << 32 | role;
    NameCount *known = g_hash_table_lookup(names->counts, &key);
    if (known != NULL) return known;
    known = g_new0(NameCount, 1);
    known->name = name;
    known->role = role;
    g_hash_table_insert(names->counts, g_memdup2(&key, sizeof key), known);
    allowance_charge(NAME_BYTES);
    return known;
}

/* ---- functions and hosts ---- */

static void count_row(void *arg, const StatsKey *key, StatsRow *stored) {
    Names *names = arg;
    const gboolean hosts = names->kind == NAMES_HOST;
    const guint32 name = hosts ? key->host : key->object;
    if (name == 0 || !(names->roles & 1u << key->role) || stats_row_size(stored) == 0) return;
    count_of(names, name, hosts ? 0 : key->role)->count +=
        (guint64)measure_value(names->calls, function_row_stats(stored));
}

static gboolean count_rows(Names *names, const Period *period, GError **error) {
    const FunctionFilter filter = {.period = *period, .roles = names->roles, .by_host = names->kind == NAMES_HOST};
    const StatsFilter stored = function_stats_filter(&filter);
    names->calls = measure_field("calls");
    return archive_stats_slices(names->asked->archive, &stored, count_row, names, error) && allowance_check(error);
}

/* ---- annotations ---- */

/* The variable parts of a description are kept as an annotation, too, whose key is its form: "read({n})". */
static gboolean is_form(const Names *names, guint32 key) { return strchr(name_text(names, key), '{') != NULL; }

static gboolean count_annotation(void *arg, guint32 node, const SpanAnnotation *annotation) {
    Names *names = arg;
    (void)node;
    if (is_form(names, annotation->key)) return TRUE;
    NameCount *count = count_of(names, annotation->key, 0);
    if (count->last == names->traces) return TRUE;
    count->last = names->traces;
    count->count++;
    return TRUE;
}

static gboolean count_annotations(Names *names, const Period *period, GError **error) {
    g_autoptr(ArchiveScan) scan = archive_scan_new(names->asked->archive, period->since_ns, period->until_ns, TRUE);
    g_autoptr(GError) failure = NULL;
    TraceSummary summary;
    guint64 trace_id;
    while (names->traces < TRACES_READ && archive_scan_next(scan, &trace_id, &summary, &failure)) {
        names->traces++;
        if (!archive_scan_annotations(scan, count_annotation, names, error)) return FALSE;
    }
    if (failure == NULL) return allowance_check(error);
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

/* ---- which, and in which order ---- */

/* Case does not count, of ASCII. */
static gboolean fits(const Names *names, NameCount *count) {
    g_autofree char *name = g_ascii_strdown(name_text(names, count->name), -1);
    const char *at = strstr(name, names->text);
    count->match = at != name ? MATCH_WITHIN : name[strlen(names->text)] != '\0' ? MATCH_BEGIN : MATCH_WHOLE;
    return at != NULL;
}

static gint best_first(gconstpointer a, gconstpointer b, gpointer arg) {
    const Names *names = arg;
    const NameCount *x = *(const NameCount *const *)a, *y = *(const NameCount *const *)b;
    if (x->match != y->match) return x->match > y->match ? -1 : 1;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    const gint order = compare_ids(names->asked->archive, x->name, y->name);
    return order != 0 ? order : (gint)x->role - (gint)y->role;
}

static GPtrArray *sorted(Names *names) {
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer count;
    g_hash_table_iter_init(&iter, names->counts);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, NULL, &count))
        if (fits(names, count)) g_ptr_array_add(list, count);
    allowance_sort(list->pdata, list->len, sizeof(gpointer), best_first, names);
    return list;
}

static json_t *count_json(const Names *names, const NameCount *count) {
    json_t *row = json_object();
    json_object_set_new(row, "name", json_name(names->asked->archive, count->name));
    if (names->kind == NAMES_FUNCTION) json_object_set_new(row, "role", json_string(role_name((Role)count->role)));
    json_object_set_new(row, names->kind == NAMES_ANNOTATION ? "traces" : "calls", json_count(count->count));
    return row;
}

json_t *answer_names(const Asked *asked, GError **error) {
    static const char *const kinds[] = {"function", "host", "annotation", NULL};
    guint64 limit = DEFAULT_LIMIT;
    Period period = {G_MININT64, G_MAXINT64};
    const char *text = params_text(asked->params, "text");
    g_autofree char *lower = g_ascii_strdown(text != NULL ? text : "", -1);
    g_auto(Names) names = {.asked = asked,
                           .text = lower,
                           .roles = ALL_ROLES,
                           .counts = g_hash_table_new_full(pair_hash, g_int64_equal, g_free, g_free)};
    if (!params_choice(asked->params, "kind", kinds, &names.kind, error) ||
        !params_period(asked->params, asked->now_ns, &period, error) ||
        !params_roles(asked->params, &names.roles, error) || !params_count(asked->params, "limit", &limit, error))
        return NULL;
    if (names.kind == NAMES_ANNOTATION && names.roles != ALL_ROLES) {
        fail(error, PLUMB_ERROR_INPUT, "annotations are of whole traces: ask for them without role");
        return NULL;
    }
    if (!(names.kind == NAMES_ANNOTATION ? count_annotations(&names, &period, error)
                                         : count_rows(&names, &period, error)))
        return NULL;
    g_autoptr(GPtrArray) list = sorted(&names);
    if (!allowance_check(error)) return NULL;

    json_t *answer = json_object(), *rows = json_array();
    json_object_set_new(answer, "kind", json_string(kinds[names.kind]));
    if (names.kind == NAMES_ANNOTATION) json_object_set_new(answer, "traces", json_count(names.traces));
    json_object_set_new(answer, "names_total", json_count(list->len));
    const guint n = answer_rows(asked, limit, list->len, answer);
    json_object_set_new(answer, "names", rows);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(rows, count_json(&names, list->pdata[i]));
    return answer;
}
