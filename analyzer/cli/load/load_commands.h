/* `plumb load`: plan, run, report, clean. What they do is in analyzer/load/ and in tracer-patches/load. */
#pragma once

#include "analyzer/cli/options/invocation.h"

extern const Command command_load_plan, command_load_run, command_load_report, command_load_clean;
