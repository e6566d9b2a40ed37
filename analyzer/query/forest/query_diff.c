/* Two periods, two patterns or two traces compared: what became slower, what is new. */
#include <string.h>

#include "analyzer/archive/read/period_stats.h"
#include "analyzer/query/forest/forest.h"
#include "analyzer/query/forest/forest_answers.h"
#include "analyzer/query/forest/tree_union.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/spans/change.h"
#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define PATTERN_LIMIT       20u /* new and gone patterns listed unless 'limit' says otherwise */
#define PATTERN_NAMES_LIMIT 16u

typedef enum { KIND_PERIOD, KIND_PATTERN, KIND_TRACE } DiffKind;

typedef struct Diff {
    const Asked *asked;
    Archive *archive;
    guint kind; /* DiffKind */
    guint32 roles, host;
    gboolean by_host; /* of periods: a row for each host */
    guint sort;
    gboolean sorted; /* asked for; else trees stay trees */
    gboolean limited;
    guint64 limit;
    GArray *rows; /* ChangeRow; their stats are borrowed from what the comparing function holds */
} Diff;

static void add_row(Diff *diff, ChangeRow row) {
    if (row.a && row.a->duration.count == 0) row.a = NULL;
    if (row.b && row.b->duration.count == 0) row.b = NULL;
    if ((!row.a && !row.b) || !(diff->roles & (1u << row.role))) return;
    change_compute(&row);
    g_array_append_val(diff->rows, row);
}

static void write_rows(Diff *diff, json_t *answer) {
    gboolean trees = diff->kind != KIND_PERIOD;
    if (!trees || diff->sorted) change_sort(diff->archive, diff->rows, diff->sort);
    guint n = answer_rows(diff->asked, diff->limit, diff->rows->len, answer);
    json_t *list = json_array();
    json_object_set_new(answer, "rows", list);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(list, change_json(diff->archive, &g_array_index(diff->rows, ChangeRow, i), trees));
}

/* ---- periods ---- */

static gint compare_keys(const FunctionRow *a, const FunctionRow *b) {
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    if (a->role != b->role) return (gint)a->role - (gint)b->role;
    return a->host < b->host ? -1 : a->host > b->host;
}

static gint by_key(gconstpointer a, gconstpointer b) { return compare_keys(a, b); }

/* Both are sorted by (function, role, host). */
static void join_functions(Diff *diff, GArray *a, GArray *b) {
    guint i = 0, j = 0;
    while ((i < a->len || j < b->len) && allowance_goes_on()) {
        FunctionRow *left = i < a->len ? &g_array_index(a, FunctionRow, i) : NULL;
        FunctionRow *right = j < b->len ? &g_array_index(b, FunctionRow, j) : NULL;
        gint order = !left ? 1 : !right ? -1 : compare_keys(left, right);
        const FunctionRow *which = order <= 0 ? left : right;
        ChangeRow row = {.function = which->function, .role = which->role, .host = which->host};
        if (order <= 0) row.a = &left->stats, i++;
        if (order >= 0) row.b = &right->stats, j++;
        add_row(diff, row);
    }
}

typedef struct PatternCount {
    guint32 number;
    guint64 traces[2];
} PatternCount;

typedef struct PatternCounts {
    GHashTable *by_number; /* PatternCount */
    guint side;
} PatternCounts;

/* Pieces, some of them negative, of which the sums matter. */
static void count_pattern(void *arg, const StatsKey *key, const NodeWeight *weight) {
    PatternCounts *counts = arg;
    if (weight->node != 0) return;
    PatternCount *count = g_hash_table_lookup(counts->by_number, &key->object);
    if (!count) {
        count = g_new0(PatternCount, 1);
        count->number = key->object;
        g_hash_table_insert(counts->by_number, &count->number, count);
    }
    count->traces[counts->side] += (guint64)weight->calls;
}

static json_t *pattern_functions(Archive *archive, const Pattern *pattern) {
    json_t *list = json_array();
    guint32 seen[PATTERN_NAMES_LIMIT];
    guint n = 0;
    for (guint32 i = 1; i < pattern->n_nodes && n < PATTERN_NAMES_LIMIT; i++) {
        guint32 name = pattern->nodes[i].name;
        guint k = 0;
        while (k < n && seen[k] != name) k++;
        if (k < n) continue;
        seen[n++] = name;
        json_array_append_new(list, json_text(node_text(archive, name), strlen(node_text(archive, name))));
    }
    return list;
}

static guint64 traces_of(const PatternCount *count) { return MAX(count->traces[0], count->traces[1]); }

static gint compare_counts(gconstpointer left, gconstpointer right, gpointer arg) {
    const PatternCount *a = *(const PatternCount *const *)left, *b = *(const PatternCount *const *)right;
    if (traces_of(a) != traces_of(b)) return traces_of(a) > traces_of(b) ? -1 : 1;
    PatternId x, y;
    if (!archive_pattern_id(arg, a->number, &x) || !archive_pattern_id(arg, b->number, &y)) return 0;
    return memcmp(x.bytes, y.bytes, sizeof x.bytes);
}

static json_t *pattern_json(Archive *archive, const PatternCount *count, const Pattern *pattern) {
    json_t *object = json_object();
    json_object_set_new(object, "pattern", json_pattern_id(pattern->id));
    json_object_set_new(object, "state", json_string(count->traces[0] == 0 ? "new" : "gone"));
    json_object_set_new(object, "traces", json_count(traces_of(count)));
    json_object_set_new(object, "functions", pattern_functions(archive, pattern));
    return object;
}

static gboolean compare_patterns(Diff *diff, const Period periods[2], json_t *answer, GError **error) {
    g_autoptr(GHashTable) by_number = g_hash_table_new_full(g_int_hash, g_int_equal, NULL, g_free);
    PatternCounts counts = {by_number, 0};

    for (; counts.side < 2; counts.side++) {
        StatsFilter filter = {.kind = STATS_PATTERN,
                              .since_ns = periods[counts.side].since_ns,
                              .until_ns = periods[counts.side].until_ns,
                              .role = -1};
        if (!archive_stats_weigh(diff->archive, &filter, count_pattern, &counts, error)) return FALSE;
    }

    g_autoptr(GPtrArray) list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, by_number);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, NULL, &data)) {
        const PatternCount *count = data;
        if ((count->traces[0] == 0) != (count->traces[1] == 0)) g_ptr_array_add(list, data);
    }

    allowance_sort(list->pdata, list->len, sizeof(gpointer), compare_counts, diff->archive);
    guint64 limit = diff->limited ? diff->limit : PATTERN_LIMIT;
    guint n = answer_rows(diff->asked, limit, list->len, answer);
    json_t *rows = json_array();
    json_object_set_new(answer, "patterns", rows);

    for (guint i = 0; i < n && allowance_goes_on(); i++) {
        const PatternCount *count = list->pdata[i];
        NodeMap map;
        g_autoptr(Pattern) pattern = archive_pattern_of_rows(diff->archive, count->number, &map.node, &map.n);
        g_free(map.node);
        if (pattern) json_array_append_new(rows, pattern_json(diff->archive, count, pattern));
    }
    return TRUE;
}

static gboolean diff_periods(Diff *diff, json_t *answer, GError **error) {
    Period periods[2];
    g_autoptr(GArray) a = function_rows_new();
    g_autoptr(GArray) b = function_rows_new();
    const Asked *asked = diff->asked;
    if (!params_range(asked->params, "a", asked->now_ns, &periods[0], error) ||
        !params_range(asked->params, "b", asked->now_ns, &periods[1], error))
        return FALSE;
    FunctionFilter filter = {.roles = diff->roles, .host = diff->host, .by_host = diff->by_host};
    filter.period = periods[0];
    if (!function_rows_load(diff->archive, &filter, a, error)) return FALSE;
    filter.period = periods[1];
    if (!function_rows_load(diff->archive, &filter, b, error)) return FALSE;
    g_array_sort(a, by_key); /* of hosts, blocks of them come one after the other */
    g_array_sort(b, by_key);
    join_functions(diff, a, b);
    write_rows(diff, answer);
    return compare_patterns(diff, periods, answer, error);
}

/* ---- trees ---- */

typedef struct Summing {
    PatternSum *sum;
    NodeMap rows;
} Summing;

static void sum_row(void *arg, const StatsKey *key, StatsRow *row) {
    const Summing *summing = arg;
    (void)key;
    pattern_sum_add(summing->sum, &summing->rows, row, FALSE);
}

static gboolean add_pattern(Diff *diff, const char *name, const Period *period, TreeUnion *tree, GError **error) {
    guint32 number = 0;
    if (!asked_pattern(diff->asked, name, &number, error)) return FALSE;
    NodeMap rows;
    g_autoptr(Pattern) pattern = archive_pattern_of_rows(diff->archive, number, &rows.node, &rows.n);
    g_autofree guint32 *rows_node = rows.node;
    if (!pattern) return fail(error, PLUMB_ERROR_CORRUPT, "pattern %u is not readable", number);
    g_autoptr(PatternSum) sum = pattern_sum_new(pattern);
    Summing summing = {sum, rows};
    StatsFilter filter = {.kind = STATS_PATTERN,
                          .since_ns = period->since_ns,
                          .until_ns = period->until_ns,
                          .object = number,
                          .by_host = diff->host != 0,
                          .host = diff->host,
                          .role = -1};
    if (diff->host != G_MAXUINT32 && !archive_stats(diff->archive, &filter, sum_row, &summing, error)) return FALSE;
    tree_union_add(tree, strcmp(name, "b") == 0, sum);
    return TRUE;
}

static gboolean add_trace(Diff *diff, const char *name, TreeUnion *tree, GError **error) {
    SpanId id;
    gboolean one_span = FALSE;
    if (!asked_trace(diff->asked, name, &id, &one_span, error)) return FALSE;
    g_autoptr(TraceView) view = trace_view_load(diff->archive, id.trace, error);
    if (!view) return FALSE;
    g_autoptr(Compressor) compressor = compressor_new(archive_lookup(diff->archive), QUERY_SHAPES);
    if (!allowance_check(error)) return FALSE;
    g_autoptr(PatternSum) sum = pattern_sum_of_trace(diff->archive, compressor, view->tree, view->times);
    if (!allowance_check(error)) return FALSE;
    tree_union_add(tree, strcmp(name, "b") == 0, sum);
    return TRUE;
}

static void add_node(void *arg, UnionNode *node) {
    add_row(arg, (ChangeRow){.function = node->function,
                             .role = node->role,
                             .depth = node->depth,
                             .a = &node->side[0],
                             .b = &node->side[1]});
}

static gboolean diff_trees(Diff *diff, json_t *answer, GError **error) {
    g_autoptr(TreeUnion) tree = tree_union_new();
    Period period;
    if (!params_period(diff->asked->params, diff->asked->now_ns, &period, error)) return FALSE;
    if (diff->by_host)
        return fail(error, PLUMB_ERROR_INPUT, "by=host goes with periods: trees have their hosts in them");
    if (diff->kind == KIND_TRACE && diff->host)
        return fail(error, PLUMB_ERROR_INPUT, "host goes with periods and patterns, not with traces");
    for (guint side = 0; side < 2; side++) {
        const char *name = side == 0 ? "a" : "b";
        gboolean added = diff->kind == KIND_TRACE ? add_trace(diff, name, tree, error)
                                                  : add_pattern(diff, name, &period, tree, error);
        if (!added) return FALSE;
    }
    tree_union_walk(tree, add_node, diff);
    write_rows(diff, answer);
    return TRUE;
}

/* ---- the question ---- */

/* 16 digits are a trace, other numbers of digits a pattern; all else is a period, or meant to be one. */
static guint guess_kind(const char *value) {
    gsize length = strlen(value);
    if (length == 0 || strspn(value, "0123456789abcdefABCDEF") != length) return KIND_PERIOD;
    return length == 16 ? KIND_TRACE : KIND_PATTERN;
}

static gboolean diff_parse(const Asked *asked, Diff *diff, GError **error) {
    static const char *const sorts[] = {"total_change_ns", "mean_change_ns", "mean_change_percent", "z", NULL};
    static const char *const kinds[] = {"period", "pattern", "trace", NULL}, *const splits[] = {"host", NULL};
    guint split = 1;
    const QueryParams *params = asked->params;
    const char *a = params_text(params, "a");
    if (!a || !params_text(params, "b"))
        return fail(error, PLUMB_ERROR_INPUT,
                    "\"diff\" needs a and b: two periods (SINCE..UNTIL), two patterns or two traces");

    diff->asked = asked;
    diff->archive = asked->archive;
    diff->roles = ALL_ROLES;
    diff->host = asked_name(asked, "host");
    diff->kind = guess_kind(a);
    diff->sorted = params_text(params, "sort") != NULL;
    diff->limited = params_text(params, "limit") != NULL;

    if (!params_choice(params, "by", splits, &split, error)) return FALSE;
    diff->by_host = split == 0;
    return params_choice(params, "kind", kinds, &diff->kind, error) && params_roles(params, &diff->roles, error) &&
           params_choice(params, "sort", sorts, &diff->sort, error) &&
           params_count(params, "limit", &diff->limit, error);
}

json_t *answer_diff(const Asked *asked, GError **error) {
    static const char *const kinds[] = {"period", "pattern", "trace"};
    Diff diff = {0};
    if (!diff_parse(asked, &diff, error)) return NULL;
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(ChangeRow));
    diff.rows = rows;
    json_auto_t *answer = json_object();
    json_object_set_new(answer, "kind", json_string(kinds[diff.kind]));
    json_object_set_new(answer, "a", json_string(params_text(asked->params, "a")));
    json_object_set_new(answer, "b", json_string(params_text(asked->params, "b")));
    gboolean done = diff.kind == KIND_PERIOD ? diff_periods(&diff, answer, error) : diff_trees(&diff, answer, error);
    const gboolean nothing = rows->len == 0 || diff.host == G_MAXUINT32;
    return done && !(nothing && !known_host(asked, error)) ? g_steal_pointer(&answer) : NULL;
}
