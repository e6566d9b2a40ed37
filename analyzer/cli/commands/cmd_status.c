#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit status_run(Invocation *invocation) {
    gboolean senders = option_flag(invocation, "senders");
    g_autoptr(Ask) ask = invocation_ask(invocation, senders ? "senders" : "status");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "asking for the status", senders ? show_senders : show_status, &options);
}

static const Option options[] = {
    {"senders", OPTION_FLAG, NULL, NULL, "what became of each process's spans", NULL},
    OPTION_THE_END,
};

const Command command_status = {
    .name = "status",
    .arguments = "",
    .summary = "what plumbd does and holds: rates, open and stored traces, drops, lag",
    .about = "Shows rates, open traces, stored traces, spans, patterns, bytes per span, lag, and what was dropped or\n"
             "refused, by reason and by sender; and the accounts: what became of every span. --senders shows them for\n"
             "each process. With --store: what the store holds.",
    .example = "  plumb status\n  plumb status --senders\n  plumb status --server 10.0.0.7:9096 --json\n",
    .csv = "senders",
    .options = options,
    .run = status_run,
};
