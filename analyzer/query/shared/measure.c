#include "analyzer/query/shared/measure.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/base/clock.h"

typedef enum { OF_COUNT, OF_SUM, OF_MEAN, OF_STDDEV, OF_MIN, OF_MAX, OF_QUANTILE, OF_COUNTER } MeasureKind;

struct MeasureField {
    const char *name; /* in JSON, behind the group's and a point */
    MeasureKind kind;
    double quantile;
    gsize offset; /* in NodeStats, of a Dist or, of OF_COUNTER, of a gint64 */
    gboolean nonzero_only;
};

#define DIST_FIELDS(member, group, unit)                                                                               \
    {group "calls", OF_COUNT, 0, offsetof(NodeStats, member), FALSE},                                                  \
        {group "mean" unit, OF_MEAN, 0, offsetof(NodeStats, member), FALSE},                                           \
        {group "std" unit, OF_STDDEV, 0, offsetof(NodeStats, member), FALSE},                                          \
        {group "min" unit, OF_MIN, 0, offsetof(NodeStats, member), FALSE},                                             \
        {group "max" unit, OF_MAX, 0, offsetof(NodeStats, member), FALSE},                                             \
        {group "q25" unit, OF_QUANTILE, 0.25, offsetof(NodeStats, member), FALSE},                                     \
        {group "q50" unit, OF_QUANTILE, 0.50, offsetof(NodeStats, member), FALSE},                                     \
        {group "q75" unit, OF_QUANTILE, 0.75, offsetof(NodeStats, member), FALSE},                                     \
        {group "q95" unit, OF_QUANTILE, 0.95, offsetof(NodeStats, member), FALSE}, {                                   \
        group "q99" unit, OF_QUANTILE, 0.99, offsetof(NodeStats, member), FALSE                                        \
    }
#define COUNTER(name, member, nonzero)                                                                                 \
    { name, OF_COUNTER, 0, offsetof(NodeStats, member), nonzero }

static const MeasureField main_fields[] = {
    DIST_FIELDS(duration, "", "_ns"),
    {"total_ns", OF_SUM, 0, offsetof(NodeStats, duration), FALSE},
    COUNTER("self_ns", self_ns, FALSE),
    COUNTER("critical_ns", critical_ns, FALSE),
    COUNTER("reversed_calls", reversed_calls, TRUE),
    COUNTER("outside_parent_calls", outside_parent_calls, TRUE),
    COUNTER("orphan_calls", orphan_calls, TRUE),
};
static const MeasureField bytes_fields[] = {
    DIST_FIELDS(bytes, "bytes.", "_bytes"),
    {"bytes.total_bytes", OF_SUM, 0, offsetof(NodeStats, bytes), FALSE},
    COUNTER("bytes.zero_calls", zero_byte_calls, FALSE),
    COUNTER("bytes.small_calls", small_calls, FALSE),
};
static const MeasureField rate_fields[] = {DIST_FIELDS(rate, "rate.", "_bytes_per_s")};

static const struct {
    const char *name; /* of the object that holds the fields; NULL: the row itself */
    const MeasureField *fields;
    gsize n;
    gsize dist; /* offset of what must have counted something for the group to be there */
} groups[] = {
    {NULL, main_fields, G_N_ELEMENTS(main_fields), offsetof(NodeStats, duration)},
    {"bytes", bytes_fields, G_N_ELEMENTS(bytes_fields), offsetof(NodeStats, bytes)},
    {"rate", rate_fields, G_N_ELEMENTS(rate_fields), offsetof(NodeStats, rate)},
};

const MeasureField *measure_field(const char *name) {
    for (gsize g = 0; g < G_N_ELEMENTS(groups); g++) {
        for (gsize i = 0; i < groups[g].n; i++) {
            if (strcmp(groups[g].fields[i].name, name) == 0) return &groups[g].fields[i];
        }
    }
    return NULL;
}

double measure_value(const MeasureField *field, NodeStats *stats) {
    void *at = (guint8 *)stats + field->offset;
    if (field->kind == OF_COUNTER) return (double)*(const gint64 *)at;
    Dist *dist = at;
    switch (field->kind) {
    case OF_COUNT: return (double)dist->count;
    case OF_SUM: return (double)dist->sum;
    case OF_MEAN: return dist_mean(dist);
    case OF_STDDEV: return dist_stddev(dist);
    case OF_MIN: return dist->count ? (double)dist->min : 0;
    case OF_MAX: return dist->count ? (double)dist->max : 0;
    default: return dist->count ? dist_quantile(dist, field->quantile) : 0;
    }
}

gboolean measure_of_weight(const MeasureField *field, const NodeWeight *weight, gint64 *value) {
    gboolean duration = field->offset == offsetof(NodeStats, duration);
    if (field->kind == OF_COUNTER && field->offset == offsetof(NodeStats, self_ns))
        *value = weight->self_ns;
    else if (field->kind == OF_COUNTER && field->offset == offsetof(NodeStats, critical_ns))
        *value = weight->critical_ns;
    else if (duration && field->kind == OF_COUNT)
        *value = weight->calls;
    else if (duration && field->kind == OF_SUM)
        *value = weight->total_ns;
    else
        return FALSE;
    return TRUE;
}

/* A summary has no extremes and quantiles; one without squares has no deviation either. */
static gboolean field_known(const MeasureField *field, const NodeStats *stats) {
    const Dist *dist = (const Dist *)((const guint8 *)stats + field->offset);
    if (field->kind == OF_COUNTER || !dist_is_summary(dist)) return TRUE;
    if (field->kind == OF_STDDEV) return dist->sum == 0 || (dist->squares_hi | dist->squares_lo) != 0;
    return field->kind == OF_COUNT || field->kind == OF_SUM || field->kind == OF_MEAN;
}

/* Sums and counts are exact: they do not go through a double. */
static json_int_t whole_value(const MeasureField *field, NodeStats *stats) {
    const void *at = (const guint8 *)stats + field->offset;
    if (field->kind == OF_COUNTER) return *(const gint64 *)at;
    const Dist *dist = at;
    if (field->kind == OF_COUNT) return (json_int_t)MIN(dist->count, (guint64)G_MAXINT64);
    if (field->kind == OF_SUM) return (json_int_t)MIN(dist->sum, (guint64)G_MAXINT64);
    return (json_int_t)llround(measure_value(field, stats));
}

gint64 measure_resolution_ns(const NodeStats *stats) {
    gboolean coarse = stats->millisecond_calls > 0 && (guint64)stats->millisecond_calls >= stats->duration.count;
    return coarse ? NS_PER_MS : 1;
}

void measure_add(json_t *row, NodeStats *stats) {
    for (gsize g = 0; g < G_N_ELEMENTS(groups); g++) {
        const Dist *dist = (const Dist *)((const guint8 *)stats + groups[g].dist);
        json_t *object = row;
        if (groups[g].name) {
            if (dist->count == 0) continue;
            object = json_object();
            json_object_set_new(row, groups[g].name, object);
        }

        gsize skip = groups[g].name ? strlen(groups[g].name) + 1 : 0;
        for (gsize i = 0; i < groups[g].n; i++) {
            const MeasureField *field = &groups[g].fields[i];
            if (!field_known(field, stats)) continue;
            json_int_t value = whole_value(field, stats);
            if (field->nonzero_only && value == 0) continue;
            json_object_set_new(object, field->name + skip, json_integer(value));
        }
    }

    json_object_set_new(row, "resolution_ns", json_integer(measure_resolution_ns(stats)));
    if (dist_is_summary(&stats->duration)) return;
    json_object_set_new(row, "exact_quantiles", json_boolean(dist_is_exact(&stats->duration)));
}
