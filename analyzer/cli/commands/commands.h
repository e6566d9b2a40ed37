/* The subcommands, one cmd_*.c each. A command has a table of options, turns it into the parameters of a question, gets
 * the document from a source (cli/source/) and has it shown (cli/show/). It computes nothing itself. */
#pragma once

#include "analyzer/cli/options/invocation.h"

extern const Command command_status, command_functions, command_forest, command_traces, command_trace, command_diff,
    command_import, command_verify, command_why, command_hosts, command_watch, command_stragglers, command_operations,
    command_apps, command_jobs, command_executors, command_stages, command_tasks, command_slow, command_nodes,
    command_token, command_advise;
