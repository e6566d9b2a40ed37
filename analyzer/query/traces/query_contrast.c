/* What tells some traces from the others: of two groups, which functions, hosts and annotations are in more traces of
 * one than of the other. */
#include <math.h>
#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define GROUP_MAX     2000u
#define DEFAULT_LIMIT 40u
/* Of annotations; a value that all traces have differently tells nothing. */
#define VALUES_MAX       50000u
#define VALUE_LENGTH_MAX 200u

typedef enum { KIND_FUNCTION, KIND_HOST, KIND_ANNOTATION } Kind;
static const char *const kind_names[] = {"function", "host", "annotation"};

typedef enum { GROUP_A, GROUP_B, N_GROUPS } Group;

typedef struct Tally {
    Kind kind;
    guint32 id;  /* of the function or host; of an annotation its key */
    char *value; /* of an annotation; NULL */
    guint32 traces[N_GROUPS];
    guint64 last; /* the trace that was counted last */
} Tally;

typedef struct Contrast {
    const Asked *asked;
    GHashTable *tallies; /* Tally -> itself */
    guint annotations;   /* of the tallies */
    guint64 trace;       /* number of the one that is read */
    guint32 traces[N_GROUPS];
    gboolean more; /* of a trace or of values not all was read */
} Contrast;

static guint tally_hash(gconstpointer data) {
    const Tally *tally = data;
    return tally->id * 31u + (guint)tally->kind + (tally->value ? g_str_hash(tally->value) : 0);
}

static gboolean tally_equal(gconstpointer a, gconstpointer b) {
    const Tally *x = a, *y = b;
    return x->kind == y->kind && x->id == y->id && g_strcmp0(x->value, y->value) == 0;
}

static void tally_free(gpointer data) {
    Tally *tally = data;
    g_free(tally->value);
    g_free(tally);
}

static void contrast_clear(Contrast *contrast) { g_hash_table_unref(contrast->tallies); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Contrast, contrast_clear)

/* Once a trace. */
static void count(Contrast *contrast, Group group, Tally like) {
    Tally *tally = g_hash_table_lookup(contrast->tallies, &like);
    if (tally == NULL) {
        if (like.kind == KIND_ANNOTATION && contrast->annotations >= VALUES_MAX) {
            contrast->more = TRUE;
            return;
        }
        contrast->annotations += like.kind == KIND_ANNOTATION;
        tally = g_new(Tally, 1);
        *tally = like;
        tally->value = g_strdup(like.value);
        g_hash_table_add(contrast->tallies, tally);
    }
    if (tally->last == contrast->trace) return;
    tally->last = contrast->trace;
    tally->traces[group]++;
}

static void count_annotations(Contrast *contrast, Group group, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    char value[VALUE_LENGTH_MAX + 1];
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.length > VALUE_LENGTH_MAX || memchr(annotation.value, '\0', annotation.length)) continue;
        memcpy(value, annotation.value, annotation.length);
        value[annotation.length] = '\0';
        count(contrast, group, (Tally){.kind = KIND_ANNOTATION, .id = annotation.key, .value = value});
    }
}

static void count_spans(Contrast *contrast, Group group, const GByteArray *spans) {
    const Lookup *lookup = archive_lookup(contrast->asked->archive);
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL && allowance_goes_on();) {
        Role role;
        guint32 host;
        lookup->process(lookup->arg, span->tracer, &role, &host);
        count(contrast, group, (Tally){.kind = KIND_FUNCTION, .id = span->name});
        if (host) count(contrast, group, (Tally){.kind = KIND_HOST, .id = host});
        count_annotations(contrast, group, span);
    }
}

static gboolean count_trace(Contrast *contrast, Group group, guint64 trace_id, GError **error) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) failure = NULL;
    ArchiveLoad load = {.max_bytes = trace_view_room()};
    if (!archive_load_parts(contrast->asked->archive, trace_id, &load, spans, &failure)) {
        if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE; /* gone since the search */
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    contrast->more |= !trace_view_has_all(&load);
    contrast->trace++;
    contrast->traces[group]++;
    count_spans(contrast, group, spans);
    return allowance_check(error);
}

/* ---- the groups ---- */

static const char *const common[] = {"host",
                                     "role",
                                     "function",
                                     "path",
                                     "annotation",
                                     "pattern",
                                     "incomplete",
                                     "call_min_duration",
                                     "call_max_duration",
                                     "min_spans",
                                     "max_spans",
                                     NULL};
static const char *const of_group[] = {"since", "until", "min_duration", "max_duration", NULL};

static void copy_param(const Asked *asked, const char *from, const char *name, QueryParams *to) {
    const char *value;
    for (guint i = 0; (value = params_nth(asked->params, from, i)) != NULL; i++) query_params_add(to, name, value);
}

/* The ids of at most 'limit' traces, as the question "traces" finds them. prefix: of the group's own parameters. */
static json_t *find_traces(const Asked *asked, const char *prefix, guint limit, GError **error) {
    g_autoptr(QueryParams) params = query_params_new();
    for (guint i = 0; common[i] != NULL; i++) copy_param(asked, common[i], common[i], params);
    for (guint i = 0; of_group[i] != NULL; i++) {
        g_autofree char *own = g_strconcat(prefix, of_group[i], NULL);
        copy_param(asked, params_text(asked->params, own) ? own : of_group[i], of_group[i], params);
    }
    g_autofree char *most = g_strdup_printf("%u", limit);
    query_params_add(params, "limit", most);
    Asked inner = *asked;
    inner.params = params;
    inner.rows = NULL;
    return answer_traces(&inner, error);
}

static gboolean has_own(const Asked *asked) {
    for (guint i = 0; of_group[i] != NULL; i++) {
        g_autofree char *own = g_strconcat("a_", of_group[i], NULL);
        if (params_text(asked->params, own)) return TRUE;
    }
    return FALSE;
}

/* Those of 'found' that are not in 'skip', whose ids are added to it. */
static gboolean count_group(Contrast *contrast, Group group, const json_t *found, GHashTable *skip, GError **error) {
    gsize i;
    const json_t *row;
    json_array_foreach(json_object_get(found, "traces"), i, row) {
        if (contrast->traces[group] == GROUP_MAX) break;
        const guint64 id = g_ascii_strtoull(json_string_value(json_object_get(row, "trace")), NULL, 16);
        if (!g_hash_table_add(skip, g_memdup2(&id, sizeof id))) continue;
        if (!count_trace(contrast, group, id, error)) return FALSE;
    }
    return TRUE;
}

static gboolean count_groups(Contrast *contrast, GError **error) {
    const Asked *asked = contrast->asked;
    json_auto_t *a = find_traces(asked, "a_", GROUP_MAX, error);
    if (!a) return FALSE;
    json_auto_t *b = find_traces(asked, "", 2 * GROUP_MAX, error);
    if (!b) return FALSE;
    contrast->more |= json_is_true(json_object_get(a, "more")) || json_is_true(json_object_get(b, "more"));
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return count_group(contrast, GROUP_A, a, seen, error) && count_group(contrast, GROUP_B, b, seen, error);
}

/* ---- JSON ---- */

static double share(const Contrast *contrast, const Tally *tally, Group group) {
    return contrast->traces[group] > 0 ? (double)tally->traces[group] / contrast->traces[group] : 0;
}

static double apart(const Contrast *contrast, const Tally *tally) {
    return share(contrast, tally, GROUP_A) - share(contrast, tally, GROUP_B);
}

static gint most_apart_first(gconstpointer a, gconstpointer b, gpointer arg) {
    const Contrast *contrast = arg;
    const Tally *x = *(const Tally *const *)a, *y = *(const Tally *const *)b;
    const double p = fabs(apart(contrast, x)), q = fabs(apart(contrast, y));
    if (p != q) return p > q ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    const gint order = compare_ids(contrast->asked->archive, x->id, y->id);
    return order != 0 ? order : g_strcmp0(x->value, y->value);
}

static GPtrArray *sorted_tallies(Contrast *contrast) {
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer tally;
    g_hash_table_iter_init(&iter, contrast->tallies);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &tally, NULL))
        if (apart(contrast, tally) != 0) g_ptr_array_add(list, tally);
    allowance_sort(list->pdata, list->len, sizeof(gpointer), most_apart_first, contrast);
    return list;
}

static json_t *tally_json(const Contrast *contrast, const Tally *tally) {
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind_names[tally->kind]));
    if (tally->kind == KIND_ANNOTATION) {
        json_object_set_new(object, "key", json_name(contrast->asked->archive, tally->id));
        json_object_set_new(object, "value", json_text(tally->value, strlen(tally->value)));
    } else {
        json_object_set_new(object, "value", json_name(contrast->asked->archive, tally->id));
    }
    json_object_set_new(object, "a_traces", json_count(tally->traces[GROUP_A]));
    json_object_set_new(object, "b_traces", json_count(tally->traces[GROUP_B]));
    json_object_set_new(object, "a_share", json_real(share(contrast, tally, GROUP_A)));
    json_object_set_new(object, "b_share", json_real(share(contrast, tally, GROUP_B)));
    return object;
}

json_t *answer_contrast(const Asked *asked, GError **error) {
    guint64 limit = DEFAULT_LIMIT;
    if (!params_count(asked->params, "limit", &limit, error)) return NULL;
    if (!has_own(asked)) {
        fail(error, PLUMB_ERROR_INPUT,
             "which traces are to be told from the others? Give a_since, a_until, a_min_duration or a_max_duration");
        return NULL;
    }
    g_auto(Contrast)
        contrast = {asked, g_hash_table_new_full(tally_hash, tally_equal, tally_free, NULL), .more = FALSE};
    if (!count_groups(&contrast, error)) return NULL;
    g_autoptr(GPtrArray) sorted = sorted_tallies(&contrast);
    if (!allowance_check(error)) return NULL;

    json_t *answer = json_object(), *list = json_array();
    json_object_set_new(answer, "a_traces", json_count(contrast.traces[GROUP_A]));
    json_object_set_new(answer, "b_traces", json_count(contrast.traces[GROUP_B]));
    const guint n = answer_rows(asked, limit, sorted->len, answer);
    if (contrast.more) json_object_set_new(answer, "more", json_true());
    json_object_set_new(answer, "rows", list);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(list, tally_json(&contrast, sorted->pdata[i]));
    return answer;
}
