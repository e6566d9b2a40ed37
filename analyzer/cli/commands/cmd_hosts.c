#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit hosts_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "hosts");
    if (invocation->n_arguments > 0) ask_add(ask, "host", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "looking for causes", show_hosts, &options);
}

static const Option options[] = {
    {"app", OPTION_TEXT, "APP", "app", "only tasks of this application (default: the 20 that started last)", NULL},
    OPTION_PERIOD,
    {"limit", OPTION_NUMBER, "N", "limit", "at most N tasks (0: all)", "50"},
    OPTION_THE_END,
};

const Command command_hosts = {
    .name = "hosts",
    .arguments = "[HOST]",
    .max_arguments = 1,
    .summary = "hosts of HDFS that made Spark's tasks slow",
    .about =
        "Shows the DataNodes and NameNodes that stragglers waited for: what of them, how many tasks it cost how much,\n"
        "since when. With a HOST, each of its tasks.",
    .example = "  plumb hosts\n"
               "  plumb hosts 10.0.3.17 --since 2h\n",
    .csv = "hosts",
    .options = options,
    .run = hosts_run,
};
