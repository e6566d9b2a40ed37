#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit slow_run(Invocation *invocation) {
    if (invocation->n_arguments > 0)
        return invocation_usage(invocation,
                                "it tells of all hosts: 'plumb nodes %s' tells of one, and 'plumb why' of a trace",
                                invocation->arguments[0]);
    g_autoptr(Ask) ask = invocation_ask(invocation, "slow");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "looking for what is slow", show_slow, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"limit", OPTION_NUMBER, "N", "limit", "at most N that are slow (0: all)", "5"},
    OPTION_THE_END,
};

const Command command_slow = {
    .name = "slow",
    .arguments = "",
    .max_arguments = 1, /* to say which command is meant */
    .summary = "what is slow now: host, disk or network or ..., since when, at what cost",
    .about =
        "Shows what is slower than it usually is, or than on other hosts: the host, what of it (disk, network,\n"
        "processor, lock or queue of the NameNode, edit log, client), the function, since when, what it costs, and a\n"
        "trace that shows it; what somebody waited longest for comes first. Then hosts of whose calls far more fail\n"
        "than of their peers', and what was looked at. Without --since the last hour is judged. Spark is not needed.",
    .example = "  plumb slow\n"
               "  plumb slow --since 15m\n"
               "  plumb slow --since 2026-11-21T10:00:00Z --until 2026-11-21T11:00:00Z --json\n",
    .csv = "slow",
    .options = options,
    .run = slow_run,
};
