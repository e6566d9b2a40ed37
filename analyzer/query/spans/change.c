#include "analyzer/query/spans/change.h"

#include <math.h>
#include <string.h>

#include "analyzer/query/shared/measure.h"
#include "common/base/allowance.h"

/* Squared standard error of a mean. */
static double squared_error(const NodeStats *stats) {
    double n = (double)stats->duration.count, deviation = dist_stddev(&stats->duration);
    double resolution = (double)measure_resolution_ns(stats);
    double variance = deviation * deviation * n / (n - 1) + resolution * resolution / 12;
    return variance / n;
}

void change_compute(ChangeRow *row) {
    gint64 total_a = row->a ? (gint64)MIN(row->a->duration.sum, (guint64)G_MAXINT64) : 0;
    gint64 total_b = row->b ? (gint64)MIN(row->b->duration.sum, (guint64)G_MAXINT64) : 0;
    row->total_change_ns = total_b - total_a;
    row->has_percent = row->has_z = FALSE;
    if (!row->a || !row->b) return;
    double mean_a = dist_mean(&row->a->duration);
    row->mean_change_ns = dist_mean(&row->b->duration) - mean_a;
    row->has_percent = mean_a > 0;
    if (row->has_percent) row->percent = 100 * row->mean_change_ns / mean_a;
    row->has_z = row->a->duration.count > 1 && row->b->duration.count > 1;
    if (row->has_z) row->z = row->mean_change_ns / sqrt(squared_error(row->a) + squared_error(row->b));
}

/* "slower", "faster", "same", "new" or "gone". Without z the change must be larger than the clock's resolution. */
static const char *change_state(const ChangeRow *row) {
    if (!row->a) return "new";
    if (!row->b) return "gone";
    gint64 resolution_ns = MAX(measure_resolution_ns(row->a), measure_resolution_ns(row->b));
    gboolean clear = row->has_z ? fabs(row->z) >= CHANGE_MIN_Z : fabs(row->mean_change_ns) > (double)resolution_ns;
    if (!clear || (row->has_percent && fabs(row->percent) < CHANGE_MIN_PERCENT)) return "same";
    return row->mean_change_ns > 0 ? "slower" : "faster";
}

static json_t *measure_json(NodeStats *stats) {
    json_t *object = json_object();
    measure_add(object, stats);
    return object;
}

/* Two digits behind the point say enough, and make documents stable. */
static json_t *json_rounded(double value) { return json_real(round(value * 100) / 100); }

json_t *change_json(Archive *archive, const ChangeRow *row, gboolean with_depth) {
    const char *name = node_text(archive, row->function);
    json_t *object = json_object();
    if (with_depth) json_object_set_new(object, "depth", json_integer(row->depth));
    json_object_set_new(object, "function", json_text(name, strlen(name)));
    json_object_set_new(object, "role", json_string(role_name(row->role)));
    if (row->host) json_object_set_new(object, "host", json_name(archive, row->host));
    json_object_set_new(object, "state", json_string(change_state(row)));
    if (row->a) json_object_set_new(object, "a", measure_json(row->a));
    if (row->b) json_object_set_new(object, "b", measure_json(row->b));
    if (row->a && row->b) json_object_set_new(object, "mean_change_ns", json_integer(llround(row->mean_change_ns)));
    if (row->has_percent) json_object_set_new(object, "mean_change_percent", json_rounded(row->percent));
    json_object_set_new(object, "total_change_ns", json_integer(row->total_change_ns));
    if (row->has_z) json_object_set_new(object, "z", json_rounded(row->z));
    return object;
}

/* ---- order ---- */

typedef struct Sorting {
    Archive *archive;
    guint sort;
} Sorting;

/* New things come before all changes, gone ones after, when the order is one of means. */
static double sort_value(const ChangeRow *row, guint sort) {
    if (sort == CHANGE_BY_TOTAL) return (double)row->total_change_ns;
    if (!row->a) return INFINITY;
    if (!row->b) return -INFINITY;
    if (sort == CHANGE_BY_MEAN) return row->mean_change_ns;
    if (sort == CHANGE_BY_PERCENT) return row->has_percent ? row->percent : 0;
    return row->has_z ? row->z : 0;
}

static gint compare(gconstpointer left, gconstpointer right, gpointer arg) {
    const ChangeRow *a = left, *b = right;
    const Sorting *sorting = arg;
    double x = sort_value(a, sorting->sort), y = sort_value(b, sorting->sort);
    if (x != y) return x > y ? -1 : 1;
    gint order = strcmp(node_text(sorting->archive, a->function), node_text(sorting->archive, b->function));
    if (order == 0) order = (gint)a->role - (gint)b->role;
    return order ? order : compare_ids(sorting->archive, a->host, b->host);
}

void change_sort(Archive *archive, GArray *rows, guint sort) {
    Sorting sorting = {archive, sort};
    allowance_sort(rows->data, rows->len, sizeof(ChangeRow), compare, &sorting);
}
