#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit find_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "trace/find");
    ask_add(ask, "id", invocation->arguments[0]);
    ask_add(ask, "text", invocation->arguments[1]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "searching the trace", show_find, &options);
}

static const Option options[] = {
    {"part", OPTION_NUMBER, "N", "part", "of a trace that is kept in parts, from this one on (default: 1)", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N rows (0: all)", "10000"},
    OPTION_THE_END,
};

const Command command_find = {
    .name = "find",
    .arguments = "ID TEXT",
    .min_arguments = 2,
    .max_arguments = 2,
    .missing = "what is looked for, and where? plumb find 4be1c2a09d3f5577 /user/anna",
    .summary = "which calls of a trace have a text",
    .about = "Looks for TEXT in functions, descriptions, processes, annotations (KEY=VALUE) and notes of one trace,\n"
             "capitals or not, and lists the numbers of the rows, as 'plumb trace' shows them, counted from 0. Of\n"
             "millions of calls that takes a second.",
    .example = "  plumb find 4be1c2a09d3f5577 /user/anna\n",
    .options = options,
    .run = find_run,
};
