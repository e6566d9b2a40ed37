/* Files of plans. */
#pragma once

#include "analyzer/load/plan/plan.h"

/* Reads it whole, before a JVM is started for nothing. model: what it was drawn from; NULL: not asked. Errors: IO, and
 * those of load_plan_read() and load_plan_model(). */
gboolean plan_file_check(const char *path, LoadModel *model, GError **error);
/* Draws a plan into a file. sums may be NULL. Errors: IO, NO_SPACE, LIMIT. */
gboolean plan_file_draw(const char *path, const LoadModel *model, LoadPlanSums *sums, GError **error);
