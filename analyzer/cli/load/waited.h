/* Whom the operations of a traced load waited for: what plumbd knows of it, in the report. */
#pragma once

#include "analyzer/cli/options/invocation.h"
#include "analyzer/load/results/result.h"

/* Of a traced run: sets "waited" of its report, the answer of "bottleneck" about it, or {"error"}. flush: plumbd is to
 * store what it has of it first. */
void waited_add(const Invocation *invocation, const LoadRun *run, gboolean flush, json_t *report);
