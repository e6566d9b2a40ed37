#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit distribution_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "distribution");
    if (invocation->n_arguments > 0) ask_add(ask, "function", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "counting calls", show_distribution, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    OPTION_HOST,
    OPTION_ROLE,
    {"pattern", OPTION_TEXT, "ID", "pattern", "of one call of this pattern, with --node (the first digits will do)",
     NULL},
    {"node", OPTION_NUMBER, "N", "node", "which call: its line in 'plumb forest --pattern ID', the first is 0", NULL},
    {"of", OPTION_CHOICE, "duration|bytes|rate", "of", "what calls are counted by (rate: bytes per second)",
     "duration"},
    {"step", OPTION_TEXT, "DURATION", "step", "a line for each such time, whole minutes: 1m, 10m, 1h", NULL},
    OPTION_THE_END,
};

const Command command_distribution = {
    .name = "distribution",
    .arguments = "[FUNCTION]",
    .max_arguments = 1,
    .summary = "how calls of a function are spread: counts by duration or bytes",
    .about = "How many calls took how long, four classes to a doubling: two humps are two kinds of calls, of which a\n"
             "mean says nothing. 'up to' is the share of calls of this class and all before it. With --step a line\n"
             "for each step of time, darker where there are more calls (by their logarithm). Comes from stored\n"
             "statistics, so the period costs little; a call within 0.8 % of an edge may be on its other side.",
    .example = "  plumb functions --since 1h --sort self --limit 5   # which function?\n"
               "  plumb distribution BlockReceiver#flushOrSync --since 1h\n"
               "  plumb distribution BlockReceiver#flushOrSync --host 10.0.3.17 --since 3h --step 5m\n"
               "  plumb distribution OpReadBlockProto --of bytes --csv\n"
               "  plumb distribution --pattern 3f9c --node 2\n",
    .csv = "rows",
    .rows = distribution_rows,
    .options = options,
    .run = distribution_run,
};
