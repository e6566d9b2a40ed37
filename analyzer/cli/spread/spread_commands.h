/* Commands whose answers are curves and spreads: how a figure went over time, how calls are spread, what tells slow
 * traces from the others. The page draws the same answers. */
#pragma once

#include "analyzer/cli/options/invocation.h"

extern const Command command_distribution, command_series, command_contrast, command_samples, command_pipelines,
    command_skew, command_names, command_mark, command_marks, command_find, command_span;
