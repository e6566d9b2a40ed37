#include "analyzer/commands.h"
#include "analyzer/option_sets.h"

static CliExit run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "apps");
    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "listing applications", &exit_code);
    if (document == NULL) return exit_code;
    ShowOptions options = invocation_show_options(invocation);
    exit_code = invocation_print(invocation, document, show_apps, &options);
    json_decref(document);
    return exit_code;
}

static const Option options[] = {
    {"limit", OPTION_NUMBER, "N", "limit", "at most N applications (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_apps = {
    .name = "apps",
    .arguments = "",
    .summary = "the applications of Spark whose logs were read",
    .about = "Lists applications of Spark, the newest first: when they ran, how long, and what is known of them.\n"
             "plumb-bridge sends the records of event logs to plumbd.",
    .example = "  plumb apps\n  plumb apps --limit 0 --json\n",
    .options = options,
    .run = run,
};
