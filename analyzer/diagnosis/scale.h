/* A feature's values as they are compared: one F a task, and what is told of them over stages and the application. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

/* F of every task, NAN where the feature is not known or the row neither counts nor is judged. NUMERIC: the value by
 * the mean of the stage's counted tasks, 0 when that is 0. TIME: by the task's duration, 0 when that is 0. Of others
 * the value. A new array. */
double *feature_scaled(const TaskTable *table, const Stragglers *stragglers, guint feature);

/* The values of the counted tasks that are known, as quantiles are taken of. *n of them, a new array. */
double *feature_known(const TaskTable *table, const double *values, gsize *n);
