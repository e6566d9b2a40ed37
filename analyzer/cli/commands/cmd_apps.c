#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit apps_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "apps");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "listing applications", show_apps, &options);
}

static const Option options[] = {
    {"advice", OPTION_FLAG, NULL, "advice", "how severe what plumb advise finds in each is, and what it costs", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N applications (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_apps = {
    .name = "apps",
    .arguments = "",
    .summary = "the applications of Spark whose logs were read",
    .about = "Lists applications of Spark, the newest first: when they ran, how long, and what is known of them.\n"
             "plumb-bridge sends the records of event logs to plumbd.",
    .example = "  plumb apps\n  plumb apps --advice\n  plumb apps --limit 0 --json\n",
    .csv = "apps",
    .options = options,
    .run = apps_run,
};
