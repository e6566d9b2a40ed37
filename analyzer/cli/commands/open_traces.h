/* What answers from statistics lack: traces that plumbd still holds open. */
#pragma once

#include "analyzer/cli/options/invocation.h"

/* Prints a line that says how many traces wait, when some do; of a store nothing is known of them. */
CliExit say_open_traces(const Invocation *invocation);
