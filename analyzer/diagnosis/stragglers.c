#include "analyzer/diagnosis/stragglers.h"

#include "analyzer/diagnosis/order.h"
#include "common/base/allowance.h"

/* A stable counting sort of rows[0..count) into sorted by keys[row]. */
static void sort_by(const guint32 *keys, guint32 n_keys, const guint32 *rows, guint32 count, guint32 *sorted) {
    g_autofree guint32 *next = g_new0(guint32, (gsize)n_keys + 1);
    for (guint32 i = 0; i < count; i++) next[keys[i] + 1]++;
    for (guint32 key = 1; key < n_keys; key++) next[key] += next[key - 1];
    for (guint32 i = 0; i < count; i++) sorted[next[keys[rows[i]]]++] = rows[i];
}

static void order_tasks(const TaskTable *table, Stragglers *result) {
    g_autofree guint32 *rows = g_new(guint32, table->count), *by_host = g_new(guint32, table->count);
    for (guint32 i = 0; i < table->count; i++) rows[i] = i;
    sort_by(table->host, table->n_hosts, rows, table->count, by_host);
    sort_by(table->stage, table->n_stages, by_host, table->count, result->order);
    for (guint32 i = 0; i < table->count; i++) {
        StageTasks *stage = &result->stages[table->stage[i]];
        stage->n++;
        if (table->flags[i] & ROW_COUNTED) stage->n_counted++;
    }
    for (guint32 stage = 1; stage < table->n_stages; stage++)
        result->stages[stage].first = result->stages[stage - 1].first + result->stages[stage - 1].n;
}

static gboolean is_straggler(const TaskTable *table, guint32 task, double median_ms, double ratio) {
    if (!(table->flags[task] & ROW_JUDGED)) return FALSE;
    const double duration_ms = task_duration_ms(table, task);
    return duration_ms > 0 && duration_ms >= ratio * median_ms;
}

static void find_in_stage(const TaskTable *table, StageTasks *stage, const guint32 *order, double ratio,
                          GArray *found) {
    stage->first_straggler = found->len;
    if (stage->n_counted == 0) return;
    g_autofree double *durations = g_new(double, stage->n_counted);
    guint32 n = 0;
    for (guint32 i = 0; i < stage->n; i++)
        if (table->flags[order[i]] & ROW_COUNTED) durations[n++] = task_duration_ms(table, order[i]);
    stage->median_ms = order_median(durations, n);
    for (guint32 i = 0; i < stage->n; i++) {
        if (!is_straggler(table, order[i], stage->median_ms, ratio)) continue;
        const double duration_ms = task_duration_ms(table, order[i]);
        const Straggler straggler = {order[i], stage->median_ms > 0 ? duration_ms / stage->median_ms : 0};
        g_array_append_val(found, straggler);
    }
    stage->n_stragglers = found->len - stage->first_straggler;
}

Stragglers *stragglers_find(const TaskTable *table, double ratio) {
    Stragglers *result = g_new0(Stragglers, 1);
    result->n_stages = table->n_stages;
    result->stages = g_new0(StageTasks, table->n_stages);
    result->order = g_new0(guint32, table->count);
    order_tasks(table, result);
    GArray *found = g_array_new(FALSE, FALSE, sizeof(Straggler));
    for (guint32 i = 0; i < table->n_stages && allowance_goes_on_with(result->stages[i].n * sizeof(double)); i++)
        find_in_stage(table, &result->stages[i], result->order + result->stages[i].first, ratio, found);
    result->count = found->len;
    result->list = (Straggler *)g_array_free(found, FALSE);
    return result;
}

void stragglers_free(Stragglers *stragglers) {
    if (stragglers == NULL) return;
    g_free(stragglers->stages);
    g_free(stragglers->order);
    g_free(stragglers->list);
    g_free(stragglers);
}
