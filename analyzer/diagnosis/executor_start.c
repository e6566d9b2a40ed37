#include "analyzer/diagnosis/executor_start.h"

#include "analyzer/diagnosis/order.h"

/* The counted first tasks of a stage. */
typedef struct StageStart {
    guint32 n;
    double median_ms;
} StageStart;

struct ExecutorStarts {
    const TaskTable *table;
    const Stragglers *stragglers;
    StageStart *stages;
};

ExecutorStarts *executor_starts_new(const TaskTable *table, const Stragglers *stragglers) {
    ExecutorStarts *starts = g_new0(ExecutorStarts, 1);
    g_autoptr(GArray) durations = g_array_new(FALSE, FALSE, sizeof(double));
    *starts = (ExecutorStarts){table, stragglers, g_new0(StageStart, stragglers->n_stages)};

    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        const StageTasks *stage = &stragglers->stages[s];
        g_array_set_size(durations, 0);
        for (guint32 i = 0; i < stage->n; i++) {
            const guint32 row = stragglers->order[stage->first + i];
            if ((table->flags[row] & (ROW_FIRST | ROW_COUNTED)) != (ROW_FIRST | ROW_COUNTED)) continue;
            const double duration_ms = task_duration_ms(table, row);
            g_array_append_val(durations, duration_ms);
        }
        starts->stages[s] =
            (StageStart){durations->len, order_median((const double *)(void *)durations->data, durations->len)};
    }

    return starts;
}

void executor_starts_free(ExecutorStarts *starts) {
    if (!starts) return;
    g_free(starts->stages);
    g_free(starts);
}

gboolean executor_starts_explain(const ExecutorStarts *starts, guint32 task, double *explains_ms) {
    const TaskTable *table = starts->table;
    const StageTasks *stage = &starts->stragglers->stages[table->stage[task]];
    const StageStart *start = &starts->stages[table->stage[task]];
    const double excess_ms = task_duration_ms(table, task) - stage->median_ms;
    if (!(table->flags[task] & ROW_FIRST) || start->n * 2 > stage->n_counted) return FALSE;

    *explains_ms = 0;
    if (start->n <= 1) return TRUE;
    if (start->median_ms < STRAGGLER_RATIO * stage->median_ms) return FALSE;
    *explains_ms = CLAMP(start->median_ms - stage->median_ms, 0, MAX(excess_ms, 0));
    return TRUE;
}
