#include "analyzer/diagnosis/scale.h"

#include <math.h>

static void divide_by_stage_mean(const TaskTable *table, const Stragglers *stragglers, double *values) {
    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        const StageTasks *stage = &stragglers->stages[s];
        const guint32 *order = stragglers->order + stage->first;
        double sum = 0;
        guint32 n = 0;
        for (guint32 i = 0; i < stage->n; i++) {
            if (!(table->flags[order[i]] & ROW_COUNTED) || isnan(values[order[i]])) continue;
            sum += values[order[i]];
            n++;
        }
        const double mean = n > 0 ? sum / n : 0;
        for (guint32 i = 0; i < stage->n; i++) {
            double *value = &values[order[i]];
            if (!isnan(*value)) *value = mean > 0 ? *value / mean : 0;
        }
    }
}

double *feature_scaled(const TaskTable *table, const Stragglers *stragglers, guint feature) {
    const Feature *column = task_feature(table, feature);
    double *values = g_new(double, table->count);
    for (guint32 i = 0; i < table->count; i++) {
        values[i] = table->flags[i] & (ROW_COUNTED | ROW_JUDGED) ? column->values[i] : NAN;
        if (column->kind != FEATURE_TIME || isnan(values[i])) continue;
        const double duration_ms = task_duration_ms(table, i);
        values[i] = duration_ms > 0 ? values[i] / duration_ms : 0;
    }
    if (column->kind == FEATURE_NUMERIC) divide_by_stage_mean(table, stragglers, values);
    return values;
}

double *feature_known(const TaskTable *table, const double *values, gsize *n) {
    double *known = g_new(double, table->count);
    gsize count = 0;
    for (guint32 i = 0; i < table->count; i++)
        if (table->flags[i] & ROW_COUNTED && !isnan(values[i])) known[count++] = values[i];
    *n = count;
    return known;
}
