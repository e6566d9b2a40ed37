/* Which tasks are stragglers: those that took at least 'ratio' times the median duration of their stage. */
#pragma once

#include "analyzer/diagnosis/tasks.h"

#define STRAGGLER_RATIO 1.5

typedef struct Straggler {
    guint32 task;
    double scale; /* duration / median; 0 when the median is 0 */
} Straggler;

typedef struct StageTasks {
    guint32 first, n; /* its tasks: order[first..first + n), those of one host together */
    guint32 n_counted;
    guint32 first_straggler, n_stragglers;
    double median_ms; /* of the counted ones */
} StageTasks;

typedef struct Stragglers {
    guint32 n_stages, count;
    StageTasks *stages; /* one a stage */
    guint32 *order;     /* tasks by stage, then host, then row */
    Straggler *list;    /* by stage, then as in order */
} Stragglers;

/* The median is that of the tasks with ROW_COUNTED; stragglers are found among those with ROW_JUDGED. Where it is 0
 * (tasks below the clock's millisecond), every task that lasted longer than 0 is one. */
Stragglers *stragglers_find(const TaskTable *table, double ratio);
void stragglers_free(Stragglers *stragglers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stragglers, stragglers_free)
