/* Audit logs as files. */
#pragma once

#include "analyzer/load/plan/audit_plan.h"

/* Goes through the log twice, so that it is a file and no pipe, and does not have to fit in memory. Errors: IO, and
 * those of the plan with the log's name before them. */
gboolean audit_file_plan(const char *path, AuditPlan *plan, LoadPlanWrite write, void *arg, GError **error);
