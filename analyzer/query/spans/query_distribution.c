/* How the calls of functions are spread: counts by duration, bytes or bytes per second, over time where asked. Taken
 * from the stored sketches: no span is read. */

#include <string.h>

#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "analyzer/query/spans/steps.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* Bins: 0, 1, 2, 3, then four to a power of two. A sketch's buckets, 64 to a power of two, lie within one each. */
#define BINS (4u + 4u * 51u)

static guint bin_of(guint64 value) {
    if (value < 4) return (guint)value;
    const guint power = 63u - (guint)__builtin_clzll(MIN(value, DIST_VALUE_MAX - 1));
    return 4 + (power - 2) * 4 + (guint)((MIN(value, DIST_VALUE_MAX - 1) >> (power - 2)) & 3);
}

static guint64 bin_edge(guint bin) { return bin < 4 ? bin : (guint64)(4 + (bin - 4) % 4) << ((bin - 4) / 4); }

typedef struct Column {
    guint64 counts[BINS];
    guint64 calls;
} Column;

typedef struct Spreading {
    gsize dist; /* offset in NodeStats */
    Column *column;
} Spreading;

static void count_value(void *arg, guint64 value, guint64 calls) {
    Column *column = arg;
    column->counts[bin_of(value)] += calls;
    column->calls += calls;
}

static void add_rows(Spreading *spreading, GArray *rows) {
    for (guint i = 0; i < rows->len && allowance_goes_on(); i++) {
        const NodeStats *stats = &g_array_index(rows, FunctionRow, i).stats;
        dist_each((const Dist *)((const char *)stats + spreading->dist), count_value, spreading->column);
    }
}

typedef struct Bins {
    guint first, last; /* of all columns; first > last: none is used */
} Bins;

static Bins used_bins(const Column *columns, guint n) {
    Bins bins = {BINS, 0};
    for (guint i = 0; i < n; i++) {
        for (guint bin = 0; bin < BINS; bin++) {
            if (columns[i].counts[bin] == 0) continue;
            bins.first = MIN(bins.first, bin);
            bins.last = MAX(bins.last, bin);
        }
    }
    return bins;
}

static json_t *edges_json(Bins bins) {
    json_t *edges = json_array();
    for (guint bin = bins.first; bins.first <= bins.last && bin <= bins.last + 1; bin++)
        json_array_append_new(edges, json_count(bin_edge(bin)));
    return edges;
}

static json_t *column_json(const Column *column, Bins bins, gint64 begin_ns) {
    json_t *at = json_array(), *counts = json_array(), *object = json_object();
    for (guint bin = bins.first; bin <= bins.last; bin++) {
        if (column->counts[bin] == 0) continue;
        json_array_append_new(at, json_integer(bin - bins.first));
        json_array_append_new(counts, json_count(column->counts[bin]));
    }
    json_object_set_new(object, "begin_time_ns", json_integer(begin_ns));
    json_object_set_new(object, "calls", json_count(column->calls));
    json_object_set_new(object, "at", at);
    json_object_set_new(object, "counts", counts);
    return object;
}

static gboolean spread(const Asked *asked, FunctionFilter *filter, const Steps *steps, Spreading *spreading,
                       GError **error) {
    Column *columns = spreading->column;
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

    g_autofree Column *columns = g_new0(Column, MAX(steps.n, 1));
    Spreading spreading = {dists[kind], columns};
    if (!spread(asked, &filter, &steps, &spreading, error)) return NULL;

    json_t *answer = json_object(), *list = json_array();
    const Bins bins = used_bins(columns, steps.n);
    json_add_steps(answer, &steps);
    json_object_set_new(answer, "of", json_string(kinds[kind]));
    json_object_set_new(answer, "edges", edges_json(bins));
    json_object_set_new(answer, "columns", list);
    for (guint i = 0; i < steps.n; i++) {
        if (columns[i].calls == 0) continue;
        json_array_append_new(list, column_json(&columns[i], bins, steps_period(&steps, i).since_ns));
    }
    return answer;
}
