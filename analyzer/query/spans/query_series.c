/* One figure of functions over time: a row for each function and role, or for each host, and what is usual among the
 * hosts. */

#include <math.h>
#include <string.h>

#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/span_answers.h"
#include "analyzer/query/spans/steps.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 100u

typedef struct Point {
    guint step;
    gint64 value;
    guint64 calls;
} Point;

typedef struct Series {
    guint32 function, role, host;
    GArray *points; /* Point, by step */
    double ratio;   /* to the peers; 0: there are none */
    gint64 total_ns;
} Series;

/* What is usual among the hosts of a function: the median at each step. */
typedef struct Peers {
    guint32 function, role;
    GArray *medians; /* Point; calls: the number of hosts */
} Peers;

typedef struct Gathering {
    const FunctionFilter *filter;
    const MeasureField *field;
    gsize counted;              /* offset in NodeStats of the Dist that must have counted something */
    const MeasureField *summed; /* not NULL: the field, or what it is the mean of, is a sum of weights */
    gboolean is_mean;
    guint step;
    GHashTable *series; /* Series, by function, role and host */
} Gathering;

static guint series_hash(gconstpointer data) {
    const Series *series = data;
    return (series->function * 31 + series->role) * 2654435761u ^ series->host * 40503u;
}

static gboolean series_equal(gconstpointer left, gconstpointer right) {
    const Series *a = left, *b = right;
    return a->function == b->function && a->role == b->role && a->host == b->host;
}

static void series_free(gpointer data) {
    Series *series = data;
    g_array_unref(series->points);
    g_free(series);
}

static void peers_free(gpointer data) {
    Peers *peers = data;
    g_array_unref(peers->medians);
    g_free(peers);
}

static Series *series_get(Gathering *gathering, guint32 function, guint32 role, guint32 host) {
    const Series key = {.function = function, .role = role, .host = host};
    Series *series = g_hash_table_lookup(gathering->series, &key);
    if (series != NULL) return series;
    series = g_new(Series, 1);
    *series = key;
    series->points = g_array_new(FALSE, FALSE, sizeof(Point));
    allowance_charge(sizeof *series + sizeof *series->points);
    g_hash_table_add(gathering->series, series);
    return series;
}

/* What a row adds to the order by total_ns: with all steps it is no more than there are numbers for. */
static gint64 total_of(guint64 sum_ns) { return (gint64)MIN(sum_ns, (guint64)G_MAXINT64 / STEPS_MAX); }

static void gather_row(Gathering *gathering, FunctionRow *row) {
    const Dist *counted = (const Dist *)((const char *)&row->stats + gathering->counted);
    if (counted->count == 0) return;
    const Point point = {gathering->step, llround(measure_value(gathering->field, &row->stats)), counted->count};
    Series *series = series_get(gathering, row->function, row->role, row->host);
    g_array_append_val(series->points, point);
    series->total_ns += total_of(row->stats.duration.sum);
    allowance_charge(sizeof point);
}

/* A step may have several weights of the same row, one behind the other. */
static void gather_weight(void *arg, const StatsKey *key, const NodeWeight *weight) {
    Gathering *gathering = arg;
    if (!(gathering->filter->roles & (1u << key->role)) || weight->calls == 0) return;
    Series *series = series_get(gathering, key->object, key->role, gathering->filter->by_host ? key->host : 0);
    GArray *points = series->points;
    if (points->len == 0 || g_array_index(points, Point, points->len - 1).step != gathering->step) {
        const Point empty = {gathering->step, 0, 0};
        g_array_append_val(points, empty);
        allowance_charge(sizeof empty);
    }

    Point *point = &g_array_index(points, Point, points->len - 1);
    gint64 value = 0;
    measure_of_weight(gathering->summed, weight, &value);
    point->value += value;
    point->calls += weight->calls;
    series->total_ns += total_of((guint64)weight->total_ns);
}

static void make_means(GHashTable *found) {
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, found);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const Series *series = key;
        if (!allowance_goes_on_with(series->points->len * sizeof(Point))) return;
        for (guint i = 0; i < series->points->len; i++) {
            Point *point = &g_array_index(series->points, Point, i);
            point->value = llround((double)point->value / (double)point->calls);
        }
    }
}

/* What weights tell takes no rows, which would have to be built with all their buckets. */
static gboolean gather_weights(const Asked *asked, Gathering *gathering, GError **error) {
    const FunctionFilter *filter = gathering->filter;
    if (filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32) return TRUE;
    const StatsFilter stored = function_stats_filter(filter);
    return archive_stats_weigh(asked->archive, &stored, gather_weight, gathering, error);
}

static gboolean gather_rows(const Asked *asked, Gathering *gathering, GError **error) {
    g_autoptr(GArray) rows = function_rows_new();
    if (!function_rows_load(asked->archive, gathering->filter, rows, error)) return FALSE;
    for (guint i = 0; i < rows->len && allowance_goes_on(); i++)
        gather_row(gathering, &g_array_index(rows, FunctionRow, i));
    return TRUE;
}

static gboolean gather(const Asked *asked, FunctionFilter *filter, const Steps *steps, Gathering *gathering,
                       GError **error) {
    gathering->filter = filter;
    for (guint i = 0; i < steps->n; i++) {
        filter->period = steps_period(steps, i);
        gathering->step = i;
        const gboolean good =
            gathering->summed != NULL ? gather_weights(asked, gathering, error) : gather_rows(asked, gathering, error);
        if (!good || !allowance_check(error)) return FALSE;
    }
    if (gathering->is_mean) make_means(gathering->series);
    return TRUE;
}

/* ---- peers ---- */

static gint compare_values(gconstpointer left, gconstpointer right, gpointer arg) {
    (void)arg;
    const gint64 a = *(const gint64 *)left, b = *(const gint64 *)right;
    return (a > b) - (a < b);
}

static gint64 median_of(GArray *values) {
    allowance_sort(values->data, values->len, sizeof(gint64), compare_values, NULL);
    const gint64 low = g_array_index(values, gint64, (values->len - 1) / 2);
    const gint64 high = g_array_index(values, gint64, values->len / 2);
    return low + (high - low) / 2;
}

static gint compare_functions(gconstpointer left, gconstpointer right, gpointer arg) {
    (void)arg;
    const Series *a = *(Series *const *)left, *b = *(Series *const *)right;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    return (a->host > b->host) - (a->host < b->host);
}

/* The medians of the series [first, end), which are all hosts of one function. */
static Peers *peers_of(GPtrArray *all, guint first, guint end, guint n_steps) {
    const Series *one = all->pdata[first];
    Peers *peers = g_new(Peers, 1);
    *peers = (Peers){one->function, one->role, g_array_new(FALSE, FALSE, sizeof(Point))};
    g_autofree GArray **values = g_new0(GArray *, n_steps);

    for (guint i = first; i < end; i++) {
        const Series *series = all->pdata[i];
        if (!allowance_goes_on_with(series->points->len * sizeof(Point))) break;
        for (guint j = 0; j < series->points->len; j++) {
            const Point *point = &g_array_index(series->points, Point, j);
            if (values[point->step] == NULL) values[point->step] = g_array_new(FALSE, FALSE, sizeof(gint64));
            g_array_append_val(values[point->step], point->value);
        }
    }

    for (guint i = 0; i < n_steps; i++) {
        if (values[i] == NULL) continue;
        const Point median = {i, median_of(values[i]), values[i]->len};
        g_array_append_val(peers->medians, median);
        g_array_unref(values[i]);
    }
    return peers;
}

/* How much more a host had than is usual, over all steps at which there were others. */
static void compare_with_peers(Series *series, const Peers *peers) {
    double own = 0, usual = 0;
    for (guint i = 0, j = 0; i < series->points->len; i++) {
        const Point *point = &g_array_index(series->points, Point, i);
        while (g_array_index(peers->medians, Point, j).step < point->step) j++;
        const Point *median = &g_array_index(peers->medians, Point, j);
        if (median->calls < 2) continue;
        own += (double)point->value;
        usual += (double)median->value;
    }
    series->ratio = usual > 0 ? own / usual : 0;
}

static GPtrArray *find_peers(GPtrArray *all, guint n_steps) {
    GPtrArray *found = g_ptr_array_new_with_free_func(peers_free);
    allowance_sort(all->pdata, all->len, sizeof(gpointer), compare_functions, NULL);
    for (guint first = 0, end; first < all->len && allowance_goes_on(); first = end) {
        const Series *one = all->pdata[first];
        for (end = first + 1; end < all->len && allowance_goes_on(); end++) {
            const Series *other = all->pdata[end];
            if (other->function != one->function || other->role != one->role) break;
        }
        Peers *peers = peers_of(all, first, end, n_steps);
        for (guint i = first; i < end && allowance_goes_on(); i++) compare_with_peers(all->pdata[i], peers);
        g_ptr_array_add(found, peers);
    }
    return found;
}

/* ---- order ---- */

typedef enum { BY_TOTAL, BY_RATIO, BY_HOST } SeriesOrder;

typedef struct SeriesSorting {
    Archive *archive;
    SeriesOrder order;
} SeriesSorting;

static gint compare_series(gconstpointer left, gconstpointer right, gpointer arg) {
    const Series *a = *(Series *const *)left, *b = *(Series *const *)right;
    const SeriesSorting *sorting = arg;
    gint order = 0;
    if (sorting->order == BY_RATIO)
        order = (a->ratio < b->ratio) - (a->ratio > b->ratio);
    else if (sorting->order == BY_TOTAL)
        order = (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
    if (order == 0 && a->host != 0 && b->host != 0) order = compare_ids(sorting->archive, a->host, b->host);
    if (order == 0) order = compare_ids(sorting->archive, a->function, b->function);
    return order != 0 ? order : (gint)a->role - (gint)b->role;
}

/* ---- the answer ---- */

static void add_points(json_t *object, const GArray *points, const char *value, const char *calls) {
    json_t *at = json_array(), *values = json_array(), *counts = json_array();
    for (guint i = 0; i < points->len; i++) {
        const Point *point = &g_array_index(points, Point, i);
        json_array_append_new(at, json_integer(point->step));
        json_array_append_new(values, json_integer(point->value));
        json_array_append_new(counts, json_count(point->calls));
    }
    json_object_set_new(object, "at", at);
    json_object_set_new(object, value, values);
    json_object_set_new(object, calls, counts);
}

static json_t *series_json(Archive *archive, const Series *series, gboolean by_host) {
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(archive, series->function));
    json_object_set_new(object, "role", json_string(role_name(series->role)));
    if (by_host) json_object_set_new(object, "host", json_name(archive, series->host));
    if (by_host && series->ratio > 0) json_object_set_new(object, "ratio", json_real(series->ratio));
    add_points(object, series->points, "values", "calls");
    return object;
}

static json_t *peers_json(Archive *archive, const Peers *peers) {
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(archive, peers->function));
    json_object_set_new(object, "role", json_string(role_name(peers->role)));
    add_points(object, peers->medians, "medians", "hosts");
    return object;
}

typedef struct SeriesAsked {
    FunctionFilter filter;
    const MeasureField *field;
    const char *field_name;
    guint64 limit;
    SeriesOrder order;
    Steps steps;
} SeriesAsked;

static gboolean parse_series(const Asked *asked, SeriesAsked *series, GError **error) {
    static const char *const splits[] = {"host", NULL}, *const orders[] = {"total_ns", "ratio", "host", NULL};
    guint split = 1, order = BY_TOTAL;
    const char *field = params_text(asked->params, "field");
    *series = (SeriesAsked){.filter = {.roles = ALL_ROLES}, .limit = DEFAULT_LIMIT};
    series->field_name = field != NULL ? field : "mean_ns";
    series->field = measure_field(series->field_name);
    if (series->field == NULL)
        return fail(error, PLUMB_ERROR_INPUT,
                    "field \"%s\" is none of a measure: use mean_ns, q95_ns, calls, total_ns, bytes.mean_bytes, ...",
                    series->field_name);

    series->filter.function = asked_name(asked, "function");
    series->filter.host = asked_name(asked, "host");
    if (!params_choice(asked->params, "by", splits, &split, error) ||
        !params_choice(asked->params, "sort", orders, &order, error) ||
        !params_roles(asked->params, &series->filter.roles, error) ||
        !params_count(asked->params, "limit", &series->limit, error))
        return FALSE;
    series->filter.by_host = split == 0;
    series->order = order;
    if (order != BY_TOTAL && !series->filter.by_host)
        return fail(error, PLUMB_ERROR_INPUT, "sort=ratio and sort=host compare hosts: add by=host");
    return asked_steps(asked, FALSE, &series->steps, error);
}

/* As text for a caller that wants text: the numbers of 3,000 hosts take ten times as much as part of a document. */
static void add_series(json_t *answer, const Asked *asked, const GPtrArray *all, const SeriesAsked *series) {
    const guint n = answer_rows(asked, series->limit, all->len, answer);
    json_t *list = json_array();
    json_object_set_new(answer, "series", list);
    if (asked->rows != NULL) {
        asked->rows->member = "series";
        json_put_bytes(&asked->rows->text, "[", 1);
    }
    for (guint i = 0; i < n && allowance_goes_on(); i++) {
        json_t *row = series_json(asked->archive, all->pdata[i], series->filter.by_host);
        if (asked->rows == NULL) {
            json_array_append_new(list, row);
            continue;
        }
        if (i > 0) json_put_bytes(&asked->rows->text, ",", 1);
        json_put_value(&asked->rows->text, row);
        json_decref(row);
    }
    if (asked->rows != NULL) json_put_bytes(&asked->rows->text, "]", 1);
}

static gsize counted_by(const char *field) {
    if (g_str_has_prefix(field, "bytes.")) return offsetof(NodeStats, bytes);
    return g_str_has_prefix(field, "rate.") ? offsetof(NodeStats, rate) : offsetof(NodeStats, duration);
}

static void choose_weights(const SeriesAsked *series, Gathering *gathering) {
    gint64 value;
    gathering->is_mean = strcmp(series->field_name, "mean_ns") == 0;
    const MeasureField *summed = gathering->is_mean ? measure_field("total_ns") : series->field;
    if (measure_of_weight(summed, &(NodeWeight){.node = 0}, &value)) gathering->summed = summed;
}

static GPtrArray *all_series(GHashTable *found) {
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter iter;
    gpointer series;
    g_hash_table_iter_init(&iter, found);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &series, NULL)) g_ptr_array_add(all, series);
    return all;
}

json_t *answer_series(const Asked *asked, GError **error) {
    SeriesAsked series;
    if (!parse_series(asked, &series, error)) return NULL;
    g_autoptr(GHashTable) found = g_hash_table_new_full(series_hash, series_equal, series_free, NULL);
    Gathering gathering = {.field = series.field, .counted = counted_by(series.field_name), .series = found};
    choose_weights(&series, &gathering);
    if (!gather(asked, &series.filter, &series.steps, &gathering, error)) return NULL;

    g_autoptr(GPtrArray) all = all_series(found);
    if (all->len == 0 && !known_host(asked, error)) return NULL;
    g_autoptr(GPtrArray) peers = series.filter.by_host ? find_peers(all, series.steps.n) : NULL;
    SeriesSorting sorting = {asked->archive, series.order};
    allowance_sort(all->pdata, all->len, sizeof(gpointer), compare_series, &sorting);
    if (!allowance_check(error)) return NULL;

    json_t *answer = json_object();
    json_add_steps(answer, &series.steps);
    json_object_set_new(answer, "field", json_string(series.field_name));
    add_series(answer, asked, all, &series);
    if (peers == NULL) return answer;
    json_t *usual = json_array();
    json_object_set_new(answer, "peers", usual);
    for (guint i = 0; i < peers->len && allowance_goes_on(); i++)
        json_array_append_new(usual, peers_json(asked->archive, peers->pdata[i]));
    return answer;
}
