#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit marks_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "marks");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "reading marks", show_marks, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"host", OPTION_TEXT, "HOST", "host", "only what was done there, or on all hosts", NULL},
    {"kind", OPTION_TEXT, "KIND", "kind", "only this kind: fault, deployment, ...", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "the newest N (0: all)", "1000"},
    OPTION_THE_END,
};

const Command command_marks = {
    .name = "marks",
    .arguments = "",
    .summary = "what was done to the hosts: deployments, faults that were made",
    .about = "What 'plumb mark' noted, and what bench/faults did, the newest first.",
    .example = "  plumb marks --since 1d\n"
               "  plumb marks --host 10.0.3.17 --kind fault\n",
    .csv = "marks",
    .options = options,
    .run = marks_run,
};
