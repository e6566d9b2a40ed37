#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit verify_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "verify");
    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "recomputing all statistics", &exit_code);
    if (document == NULL) return exit_code;
    ShowOptions options = invocation_show_options(invocation);
    exit_code = invocation_print(invocation, document, show_verify, &options);
    if (exit_code == CLI_OK && field_int(document, "differences") > 0) exit_code = CLI_DIFFERENT;
    json_decref(document);
    return exit_code;
}

static const Option options[] = {OPTION_THE_END};

const Command command_verify = {
    .name = "verify",
    .arguments = "",
    .summary = "recompute every stored statistic from the stored spans and compare",
    .about = "Reads every stored span, computes every statistic anew and compares it with the stored one, and looks\n"
             "whether searches find every trace. Says each difference; the exit code is 3 when there is one.",
    .example = "  plumb verify\n  plumb verify --store /var/lib/plumbline && echo sound\n",
    .options = options,
    .run = verify_run,
};
