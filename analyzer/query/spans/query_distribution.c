/* How the calls of functions are spread: counts by duration, bytes or bytes per second, over time where asked. Taken
 * from the stored sketches: no span is read. */

#include <string.h>

#include "analyzer/query/spans/bins.h"
#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "analyzer/query/spans/steps.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

typedef struct Spreading {
    gsize dist; /* offset in NodeStats */
    BinCounts *column;
} Spreading;

static void count_value(void *arg, guint64 value, guint64 calls) {
    BinCounts *column = arg;
    column->counts[bin_of(value)] += calls;
    column->total += calls;
}

static void add_rows(Spreading *spreading, GArray *rows) {
    for (guint i = 0; i < rows->len && allowance_goes_on(); i++) {
        const NodeStats *stats = &g_array_index(rows, FunctionRow, i).stats;
        dist_each((const Dist *)((const char *)stats + spreading->dist), count_value, spreading->column);
    }
}

static gboolean spread(const Asked *asked, FunctionFilter *filter, const Steps *steps, Spreading *spreading,
                       GError **error) {
    BinCounts *columns = spreading->column;
    for (guint i = 0; i < steps->n; i++) {
        g_autoptr(GArray) rows = function_rows_new();
        filter->period = steps_period(steps, i);
        spreading->column = &columns[i];
        if (!function_rows_load(asked->archive, filter, rows, error)) return FALSE;
        add_rows(spreading, rows);
        if (!allowance_check(error)) return FALSE;
    }
    return TRUE;
}

json_t *answer_distribution(const Asked *asked, GError **error) {
    static const char *const kinds[] = {"duration", "bytes", "rate", NULL};
    static const gsize dists[] = {offsetof(NodeStats, duration), offsetof(NodeStats, bytes), offsetof(NodeStats, rate)};
    FunctionFilter filter = {.roles = ALL_ROLES};
    guint kind = 0;
    Steps steps;
    filter.function = asked_name(asked, "function");
    filter.host = asked_name(asked, "host");
    if (!params_choice(asked->params, "of", kinds, &kind, error) ||
        !params_roles(asked->params, &filter.roles, error) || !asked_steps(asked, TRUE, &steps, error))
        return NULL;

    g_autofree BinCounts *columns = g_new0(BinCounts, MAX(steps.n, 1));
    Spreading spreading = {dists[kind], columns};
    if (!spread(asked, &filter, &steps, &spreading, error)) return NULL;

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
