/* `plumb load run PLAN --find-max LIMITS`: runs of one plan at several rates. */
#pragma once

#include "analyzer/cli/load/executor.h"

CliExit find_run(Invocation *invocation);

/* Of cmd_load_run.c: what all runs tell the executor but the plan and the result. Errors: CONFIG. */
gboolean run_configure(const Invocation *invocation, Executor *executor, GError **error);
