/* Statistics of functions in a period: one row per function and role, or per function, role and host. */

#include <string.h>

#include "analyzer/archive/read/period_stats.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* What it takes in memory counts against the question's allowance until it is cleared. */
static void row_charge(FunctionRow *row, const NodeStats *stats) {
    row->charged_bytes = sizeof *row + node_stats_bytes(stats);
    allowance_charge(row->charged_bytes);
}

static void row_clear(gpointer data) {
    FunctionRow *row = data;
    allowance_release(row->charged_bytes);
    node_stats_clear(&row->stats);
}

GArray *function_rows_new(void) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(FunctionRow));
    g_array_set_clear_func(rows, row_clear);
    return rows;
}

typedef struct Collector {
    GArray *rows; /* FunctionRow */
    guint32 roles;
    gboolean by_host;
} Collector;

NodeStats *function_row_stats(StatsRow *row) {
    guint32 node;
    return stats_row_at(row, 0, &node);
}

/* Rows come by (object, role, host): what belongs together comes together. */
static void collect(void *arg, const StatsKey *key, StatsRow *stored) {
    Collector *collector = arg;
    if (!(collector->roles & (1u << key->role)) || stats_row_size(stored) == 0) return;
    guint32 host = collector->by_host ? key->host : 0;
    GArray *rows = collector->rows;
    FunctionRow *last = rows->len ? &g_array_index(rows, FunctionRow, rows->len - 1) : NULL;
    if (!last || last->function != key->object || last->role != key->role || last->host != host) {
        FunctionRow row = {.function = key->object, .role = key->role, .host = host};
        node_stats_init(&row.stats);
        row_charge(&row, function_row_stats(stored));
        g_array_append_val(rows, row);
        last = &g_array_index(rows, FunctionRow, rows->len - 1);
    }
    node_stats_merge(&last->stats, function_row_stats(stored));
}

static gboolean chosen(void *arg, const StatsKey *key) { return function_top_has(arg, key); }

StatsFilter function_stats_filter(const FunctionFilter *filter) {
    return (StatsFilter){
        .kind = STATS_FUNCTION,
        .since_ns = filter->period.since_ns,
        .until_ns = filter->period.until_ns,
        .object = filter->function,
        .by_host = filter->by_host || filter->host != 0,
        .host = filter->host,
        .role = __builtin_popcount(filter->roles) == 1 ? __builtin_ctz(filter->roles) : -1,
    };
}

static gboolean visit_rows(Archive *archive, const FunctionFilter *filter, StatsRowVisit visit, void *arg,
                           GError **error) {
    if (filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32) return TRUE;
    StatsFilter stored = function_stats_filter(filter);
    stored.wanted = filter->top != NULL ? chosen : NULL;
    stored.wanted_arg = (void *)filter->top;
    if (filter->top != NULL) function_top_places(filter->top, &stored);
    return archive_stats_slices(archive, &stored, visit, arg, error);
}

gboolean function_rows_load(Archive *archive, const FunctionFilter *filter, GArray *rows, GError **error) {
    Collector collector = {rows, filter->roles, filter->by_host};
    return visit_rows(archive, filter, collect, &collector, error);
}

/* What is a row of its own beside each function and role. */
typedef struct Split {
    gboolean by_host, by_minute;
} Split;

/* ---- order ---- */

typedef enum { BY_FUNCTION, BY_ROLE, BY_HOST, BY_TIME, BY_MEASURE } Order;

typedef struct Sorting {
    Archive *archive;
    Order order;
    const MeasureField *field;
} Sorting;

static gint compare_rows(gconstpointer left, gconstpointer right, gpointer arg) {
    FunctionRow *a = *(FunctionRow *const *)left, *b = *(FunctionRow *const *)right;
    const Sorting *sorting = arg;
    gint order = 0;
    if (sorting->order == BY_MEASURE) {
        double x = measure_value(sorting->field, &a->stats), y = measure_value(sorting->field, &b->stats);
        order = x < y ? 1 : x > y ? -1 : 0;
    } else if (sorting->order == BY_ROLE) {
        order = strcmp(role_name(a->role), role_name(b->role));
    } else if (sorting->order == BY_HOST) {
        order = compare_ids(sorting->archive, a->host, b->host);
    }
    if (order == 0 && sorting->order == BY_TIME) order = a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
    if (order == 0) order = compare_ids(sorting->archive, a->function, b->function);
    if (order == 0) order = (gint)a->role - (gint)b->role;
    if (order == 0) order = compare_ids(sorting->archive, a->host, b->host);
    return order ? order : a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

static gboolean parse_sorting(const Asked *asked, const Split *split, Sorting *sorting, GError **error) {
    const char *text = params_text(asked->params, "sort");
    if (!text) text = split->by_minute ? "since_time_ns" : "total_ns";
    Sorting result = {asked->archive, BY_MEASURE, measure_field(text)};
    if (strcmp(text, "function") == 0)
        result.order = BY_FUNCTION;
    else if (strcmp(text, "role") == 0)
        result.order = BY_ROLE;
    else if (strcmp(text, "host") == 0 && split->by_host)
        result.order = BY_HOST;
    else if (strcmp(text, "since_time_ns") == 0 && split->by_minute)
        result.order = BY_TIME;
    else if (!result.field)
        return fail(error, PLUMB_ERROR_INPUT,
                    "sort \"%s\" is no field of the rows: use calls, total_ns, mean_ns, self_ns, critical_ns, "
                    "max_ns, q95_ns, bytes.total_bytes, function, role, host (with by=host), since_time_ns (with "
                    "by=minute), ...",
                    text);
    *sorting = result;
    return TRUE;
}

/* ---- the first rows of all ---- */

/* More than are asked for are kept until it is worth while to sort them. */
#define BEST_SPARE_LEAST 256u

/* Of rows that come in any order, those that are first in the order asked for. */
typedef struct Best {
    Sorting sorting;
    guint32 roles;
    gboolean by_host;
    gint64 since_ns;       /* of the minute that is read; 0: not by minute */
    const GArray *exclude; /* guint32: functions that are left out */
    guint most;
    guint all;       /* how many came */
    GPtrArray *rows; /* FunctionRow */
    gboolean full;   /* 'most' are there, the last of them in its place: what comes behind it does not count */
} Best;

static void row_free(gpointer data) {
    row_clear(data);
    g_free(data);
}

static Best best_new(const Sorting *sorting, const FunctionFilter *filter, const GArray *exclude, guint most) {
    return (Best){.sorting = *sorting,
                  .roles = filter->roles,
                  .by_host = filter->by_host,
                  .exclude = exclude,
                  .most = most,
                  .rows = g_ptr_array_new_with_free_func(row_free)};
}

static void best_clear(Best *best) { g_clear_pointer(&best->rows, g_ptr_array_unref); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Best, best_clear)

static void best_sort(Best *best) {
    allowance_sort(best->rows->pdata, best->rows->len, sizeof(gpointer), compare_rows, &best->sorting);
    best->full = best->rows->len >= best->most;
    if (best->full) g_ptr_array_set_size(best->rows, (gint)best->most);
}

static gboolean is_behind(Best *best, FunctionRow *row) {
    return best->full && compare_rows(&row, &best->rows->pdata[best->most - 1], &best->sorting) > 0;
}

static void best_add(void *arg, const StatsKey *key, StatsRow *stored) {
    Best *best = arg;
    if (!(best->roles & (1u << key->role)) || stats_row_size(stored) == 0 || is_excluded(best->exclude, key->object))
        return;
    NodeStats *stats = function_row_stats(stored);
    FunctionRow seen = {key->object, key->role, best->by_host ? key->host : 0, best->since_ns, 0, *stats};
    best->all++;
    if (is_behind(best, &seen)) return;
    FunctionRow *row = g_new(FunctionRow, 1);
    *row = seen;
    node_stats_init(&row->stats);
    node_stats_merge(&row->stats, stats);
    row_charge(row, &row->stats);
    g_ptr_array_add(best->rows, row);
    if (best->rows->len >= best->most + MAX(best->most / 2, BEST_SPARE_LEAST)) best_sort(best);
}

/* ---- the answer ---- */

static json_t *row_json(Archive *archive, FunctionRow *row, gboolean by_host) {
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(archive, row->function));
    json_object_set_new(object, "role", json_string(role_name(row->role)));
    if (by_host) json_object_set_new(object, "host", json_name(archive, row->host));
    if (row->since_ns) json_object_set_new(object, "since_time_ns", json_integer(row->since_ns));
    measure_add(object, &row->stats);
    return object;
}

static gboolean parse_filter(const Asked *asked, FunctionFilter *filter, Split *split, GError **error) {
    static const char *const splits[] = {"host", "minute", "host,minute", NULL};
    guint by = G_N_ELEMENTS(splits);
    filter->function = asked_name(asked, "function");
    filter->host = asked_name(asked, "host");
    if (!params_choice(asked->params, "by", splits, &by, error)) return FALSE;
    *split = (Split){.by_host = by == 0 || by == 2, .by_minute = by == 1 || by == 2};
    filter->by_host = split->by_host;
    return params_period(asked->params, asked->now_ns, &filter->period, error) &&
           params_roles(asked->params, &filter->roles, error);
}

/* ---- minute by minute ---- */

/* Of so many minutes the answer is still one that somebody can read. */
#define MINUTES_MOST (24 * 60)

/* Where finer rows have expired, a step is an hour or a day. */
static gboolean visit_minutes(Archive *archive, const FunctionFilter *asked, Best *best, GError **error) {
    const ArchiveTotals totals = archive_totals(archive);
    FunctionFilter filter = *asked;
    if (totals.traces == 0) return TRUE;
    gint64 at_ns = MAX(asked->period.since_ns, totals.first_ns - totals.first_ns % NS_PER_MINUTE);
    const gint64 until_ns = MIN(asked->period.until_ns, totals.last_ns + 1);
    if (until_ns - at_ns > MINUTES_MOST * NS_PER_MINUTE)
        return fail(error, PLUMB_ERROR_INPUT,
                    "by minute: the period has more than a day of minutes; give since and until closer together");

    while (at_ns < until_ns) {
        filter.period = (Period){at_ns, at_ns + 1};
        archive_stats_period(archive, &filter.period.since_ns, &filter.period.until_ns);
        best->since_ns = filter.period.since_ns;
        if (!visit_rows(archive, &filter, best_add, best, error)) return FALSE;
        at_ns = MAX(filter.period.until_ns, at_ns + 1);
    }
    return TRUE;
}

json_t *answer_functions(const Asked *asked, GError **error) {
    FunctionFilter filter = {.roles = ALL_ROLES};
    Split split;
    Sorting sorting;
    guint64 limit = 0;
    if (!parse_filter(asked, &filter, &split, error) || !parse_sorting(asked, &split, &sorting, error) ||
        !params_count(asked->params, "limit", &limit, error))
        return NULL;

    g_autoptr(GArray) exclude = asked_excludes(asked);
    g_autoptr(FunctionTop) top = NULL;
    guint64 most = limit ? MIN(limit, (guint64)asked->rows_max) : asked->rows_max;
    const gboolean choose = split.by_host && !split.by_minute && exclude->len == 0 && sorting.order == BY_MEASURE;
    if (choose && !function_top_choose(asked->archive, &filter, (FunctionRank){sorting.field, most}, &top, error))
        return NULL;
    filter.top = top;
    g_auto(Best) best = best_new(&sorting, &filter, exclude, (guint)most);
    const gboolean visited = split.by_minute ? visit_minutes(asked->archive, &filter, &best, error)
                                             : visit_rows(asked->archive, &filter, best_add, &best, error);
    if (!visited || (best.all == 0 && !known_host(asked, error))) return NULL;
    best_sort(&best);

    json_t *answer = json_object(), *list = json_array();
    json_add_period(answer, asked->archive, filter.period, TRUE);
    guint available = top ? MAX(function_top_all(top), best.all) : best.all;
    guint n = MIN(answer_rows(asked, limit, available, answer), best.rows->len);
    json_object_set_new(answer, "functions", list);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(list, row_json(asked->archive, best.rows->pdata[i], filter.by_host));
    return answer;
}
