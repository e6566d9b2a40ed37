#include "analyzer/query/spans/series.h"

#include <math.h>
#include <string.h>

#include "common/base/allowance.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 100u

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
    SeriesPeers *peers = data;
    g_array_unref(peers->medians);
    g_free(peers);
}

static Series *series_get(Gathering *gathering, guint32 function, guint32 role, guint32 host) {
    const Series key = {.function = function, .role = role, .host = host};
    Series *series = g_hash_table_lookup(gathering->series, &key);
    if (series != NULL) return series;
    series = g_new(Series, 1);
    *series = key;
    series->points = g_array_new(FALSE, FALSE, sizeof(SeriesPoint));
    allowance_charge(sizeof *series + sizeof *series->points);
    g_hash_table_add(gathering->series, series);
    return series;
}

/* What a row adds to the order by total_ns: with all steps it is no more than there are numbers for. */
static gint64 total_of(guint64 sum_ns) { return (gint64)MIN(sum_ns, (guint64)G_MAXINT64 / STEPS_MAX); }

static void gather_row(Gathering *gathering, FunctionRow *row) {
    const Dist *counted = (const Dist *)((const char *)&row->stats + gathering->counted);
    if (counted->count == 0) return;
    const SeriesPoint point = {gathering->step, llround(measure_value(gathering->field, &row->stats)), counted->count};
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
    if (points->len == 0 || g_array_index(points, SeriesPoint, points->len - 1).step != gathering->step) {
        const SeriesPoint empty = {gathering->step, 0, 0};
        g_array_append_val(points, empty);
        allowance_charge(sizeof empty);
    }

    SeriesPoint *point = &g_array_index(points, SeriesPoint, points->len - 1);
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
        if (!allowance_goes_on_with(series->points->len * sizeof(SeriesPoint))) return;
        for (guint i = 0; i < series->points->len; i++) {
            SeriesPoint *point = &g_array_index(series->points, SeriesPoint, i);
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
static SeriesPeers *peers_of(GPtrArray *all, guint first, guint end, guint n_steps) {
    const Series *one = all->pdata[first];
    SeriesPeers *peers = g_new(SeriesPeers, 1);
    *peers = (SeriesPeers){one->function, one->role, g_array_new(FALSE, FALSE, sizeof(SeriesPoint))};
    g_autofree GArray **values = g_new0(GArray *, n_steps);

    for (guint i = first; i < end; i++) {
        const Series *series = all->pdata[i];
        if (!allowance_goes_on_with(series->points->len * sizeof(SeriesPoint))) break;
        for (guint j = 0; j < series->points->len; j++) {
            const SeriesPoint *point = &g_array_index(series->points, SeriesPoint, j);
            if (values[point->step] == NULL) values[point->step] = g_array_new(FALSE, FALSE, sizeof(gint64));
            g_array_append_val(values[point->step], point->value);
        }
    }

    for (guint i = 0; i < n_steps; i++) {
        if (values[i] == NULL) continue;
        const SeriesPoint median = {i, median_of(values[i]), values[i]->len};
        g_array_append_val(peers->medians, median);
        g_array_unref(values[i]);
    }
    return peers;
}

/* How much more a host had than is usual, over all steps at which there were others. */
static void compare_with_peers(Series *series, const SeriesPeers *peers) {
    double own = 0, usual = 0;
    for (guint i = 0, j = 0; i < series->points->len; i++) {
        const SeriesPoint *point = &g_array_index(series->points, SeriesPoint, i);
        while (g_array_index(peers->medians, SeriesPoint, j).step < point->step) j++;
        const SeriesPoint *median = &g_array_index(peers->medians, SeriesPoint, j);
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
        SeriesPeers *peers = peers_of(all, first, end, n_steps);
        for (guint i = first; i < end && allowance_goes_on(); i++) compare_with_peers(all->pdata[i], peers);
        g_ptr_array_add(found, peers);
    }
    return found;
}

/* ---- order ---- */

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

/* ---- what is asked for ---- */

static gboolean parse_series(const Asked *asked, SeriesFound *found, GError **error) {
    static const char *const splits[] = {"host", NULL}, *const orders[] = {"total_ns", "ratio", "host", NULL};
    guint split = 1, order = BY_TOTAL;
    const char *field = params_text(asked->params, "field");
    *found = (SeriesFound){.filter = {.roles = ALL_ROLES}, .limit = DEFAULT_LIMIT};
    found->field_name = field != NULL ? field : "mean_ns";
    found->field = measure_field(found->field_name);
    if (found->field == NULL)
        return fail(error, PLUMB_ERROR_INPUT,
                    "field \"%s\" is none of a measure: use mean_ns, q95_ns, calls, total_ns, bytes.mean_bytes, ...",
                    found->field_name);

    found->filter.function = asked_name(asked, "function");
    found->filter.host = asked_name(asked, "host");
    if (!params_choice(asked->params, "by", splits, &split, error) ||
        !params_choice(asked->params, "sort", orders, &order, error) ||
        !params_roles(asked->params, &found->filter.roles, error) ||
        !params_count(asked->params, "limit", &found->limit, error))
        return FALSE;
    found->filter.by_host = split == 0;
    found->order = order;
    if (order != BY_TOTAL && !found->filter.by_host)
        return fail(error, PLUMB_ERROR_INPUT, "sort=ratio and sort=host compare hosts: add by=host");
    return asked_steps(asked, FALSE, &found->steps, error);
}

static gsize counted_by(const char *field) {
    if (g_str_has_prefix(field, "bytes.")) return offsetof(NodeStats, bytes);
    return g_str_has_prefix(field, "rate.") ? offsetof(NodeStats, rate) : offsetof(NodeStats, duration);
}

static void choose_weights(const SeriesFound *found, Gathering *gathering) {
    gint64 value;
    gathering->is_mean = strcmp(found->field_name, "mean_ns") == 0;
    const MeasureField *summed = gathering->is_mean ? measure_field("total_ns") : found->field;
    if (measure_of_weight(summed, &(NodeWeight){.node = 0}, &value)) gathering->summed = summed;
}

static GPtrArray *all_series(GHashTable *owned) {
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter iter;
    gpointer series;
    g_hash_table_iter_init(&iter, owned);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &series, NULL)) g_ptr_array_add(all, series);
    return all;
}

gboolean series_find(const Asked *asked, SeriesFound *found, GError **error) {
    if (!parse_series(asked, found, error)) return FALSE;
    found->owned = g_hash_table_new_full(series_hash, series_equal, series_free, NULL);
    Gathering gathering = {.field = found->field, .counted = counted_by(found->field_name), .series = found->owned};
    choose_weights(found, &gathering);
    if (!gather(asked, &found->filter, &found->steps, &gathering, error)) return FALSE;

    found->all = all_series(found->owned);
    if (found->all->len == 0 && !known_host(asked, error)) return FALSE;
    if (found->filter.by_host) found->peers = find_peers(found->all, found->steps.n);
    SeriesSorting sorting = {asked->archive, found->order};
    allowance_sort(found->all->pdata, found->all->len, sizeof(gpointer), compare_series, &sorting);
    return allowance_check(error);
}

void series_clear(SeriesFound *found) {
    g_clear_pointer(&found->peers, g_ptr_array_unref);
    g_clear_pointer(&found->all, g_ptr_array_unref);
    g_clear_pointer(&found->owned, g_hash_table_unref);
}
