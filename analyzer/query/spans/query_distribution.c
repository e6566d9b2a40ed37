/* How the calls of functions, or of one node of a pattern, are spread: counts by duration, bytes or bytes per second,
 * over time where asked. Taken from the stored sketches: no span is read. */

#include <string.h>

#include "analyzer/query/spans/bins.h"
#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "analyzer/query/spans/steps.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* A call of a pattern, by its place among the nodes that forest lists. */
typedef struct NodeAsked {
    guint32 pattern;     /* its number; 0: functions are asked for */
    guint32 node;        /* of the pattern, whose 0 is the trace */
    guint32 *node_of, n; /* of the nodes of its rows: NULL when they are the same */
} NodeAsked;

static void node_asked_clear(NodeAsked *asked) { g_free(asked->node_of); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NodeAsked, node_asked_clear)

typedef struct Spreading {
    const FunctionFilter *filter;
    const NodeAsked *asked;
    gsize dist; /* offset in NodeStats */
    BinCounts *column;
} Spreading;

static void count_value(void *arg, guint64 value, guint64 calls) {
    BinCounts *column = arg;
    column->counts[bin_of(value)] += calls;
    column->total += calls;
}

static void count_stats(const Spreading *spreading, const NodeStats *stats) {
    dist_each((const Dist *)((const char *)stats + spreading->dist), count_value, spreading->column);
}

static gboolean spread_functions(Archive *archive, const Spreading *spreading, Period period, GError **error) {
    g_autoptr(GArray) rows = function_rows_new();
    FunctionFilter filter = *spreading->filter;
    filter.period = period;
    if (!function_rows_load(archive, &filter, rows, error)) return FALSE;
    for (guint i = 0; i < rows->len && allowance_goes_on(); i++)
        count_stats(spreading, &g_array_index(rows, FunctionRow, i).stats);
    return allowance_check(error);
}

static void count_node(void *arg, const StatsKey *key, StatsRow *row) {
    const Spreading *spreading = arg;
    const NodeAsked *asked = spreading->asked;
    (void)key;
    for (guint i = 0; i < stats_row_size(row) && allowance_goes_on(); i++) {
        guint32 node;
        const NodeStats *stats = stats_row_at(row, i, &node);
        if (asked->node_of != NULL) node = node < asked->n ? asked->node_of[node] : G_MAXUINT32;
        if (node == asked->node) count_stats(spreading, stats);
    }
}

static gboolean spread_node(Archive *archive, Spreading *spreading, Period period, GError **error) {
    const StatsFilter filter = {.kind = STATS_PATTERN,
                                .since_ns = period.since_ns,
                                .until_ns = period.until_ns,
                                .object = spreading->asked->pattern,
                                .role = -1};
    return archive_stats(archive, &filter, count_node, spreading, error);
}

static gboolean spread(Archive *archive, const Steps *steps, Spreading *spreading, GError **error) {
    BinCounts *columns = spreading->column;
    for (guint i = 0; i < steps->n; i++) {
        const Period period = steps_period(steps, i);
        spreading->column = &columns[i];
        const gboolean read = spreading->asked->pattern != 0 ? spread_node(archive, spreading, period, error)
                                                             : spread_functions(archive, spreading, period, error);
        if (!read) return FALSE;
    }
    return TRUE;
}

/* "pattern" and "node". */
static gboolean parse_node(const Asked *asked, const FunctionFilter *filter, NodeAsked *node, GError **error) {
    const char *text = params_text(asked->params, "node");
    guint64 place = 0;
    if (!asked_pattern(asked, "pattern", &node->pattern, error) || !params_count(asked->params, "node", &place, error))
        return FALSE;
    if ((text != NULL) != (node->pattern != 0))
        return fail(error, PLUMB_ERROR_INPUT,
                    "pattern and node go together: node is the place of a call among the nodes that \"forest\" lists "
                    "of the pattern, from 0 on");
    if (node->pattern == 0) return TRUE;
    if (filter->function != 0 || filter->host != 0 || filter->roles != ALL_ROLES)
        return fail(error, PLUMB_ERROR_INPUT,
                    "a node of a pattern has one function and role, and of one host sums only: without function, host "
                    "and role");

    g_autoptr(Pattern) pattern = archive_pattern_of_rows(asked->archive, node->pattern, &node->node_of, &node->n);
    if (pattern == NULL) return fail(error, PLUMB_ERROR_CORRUPT, "pattern %u is not readable", node->pattern);
    if (place + 1 >= pattern->n_nodes)
        return fail(error, PLUMB_ERROR_INPUT, "node %s: the pattern has %u, counted from 0", text,
                    pattern->n_nodes - 1);
    node->node = (guint32)place + 1;
    return TRUE;
}

static gboolean any_counted(const BinCounts *columns, guint n) {
    for (guint i = 0; i < n; i++)
        if (columns[i].total > 0) return TRUE;
    return FALSE;
}

json_t *answer_distribution(const Asked *asked, GError **error) {
    static const char *const kinds[] = {"duration", "bytes", "rate", NULL};
    static const gsize dists[] = {offsetof(NodeStats, duration), offsetof(NodeStats, bytes), offsetof(NodeStats, rate)};
    FunctionFilter filter = {.roles = ALL_ROLES};
    g_auto(NodeAsked) node = {0};
    guint kind = 0;
    Steps steps;
    filter.function = asked_name(asked, "function");
    filter.host = asked_name(asked, "host");
    if (!params_choice(asked->params, "of", kinds, &kind, error) ||
        !params_roles(asked->params, &filter.roles, error) || !parse_node(asked, &filter, &node, error) ||
        !asked_steps(asked, TRUE, &steps, error))
        return NULL;

    g_autofree BinCounts *columns = g_new0(BinCounts, MAX(steps.n, 1));
    Spreading spreading = {&filter, &node, dists[kind], columns};
    if (!spread(asked->archive, &steps, &spreading, error)) return NULL;
    if (!any_counted(columns, steps.n) && !known_host(asked, error)) return NULL;

    json_t *answer = json_object(), *list = json_array();
    const Bins bins = bins_used(columns, steps.n);
    json_add_steps(answer, &steps);
    json_object_set_new(answer, "of", json_string(kinds[kind]));
    json_object_set_new(answer, "edges", json_bin_edges(bins));
    json_object_set_new(answer, "columns", list);
    for (guint i = 0; i < steps.n; i++) {
        if (columns[i].total == 0) continue;
        json_array_append_new(list, json_column(&columns[i], bins, steps_period(&steps, i).since_ns, "calls"));
    }
    return answer;
}
