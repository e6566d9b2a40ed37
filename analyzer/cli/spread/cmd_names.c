#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit names_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "names");
    if (invocation->n_arguments > 0) ask_add(ask, "text", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "looking for names", show_names, &options);
}

static const Option options[] = {
    {"kind", OPTION_CHOICE, "function|host|annotation", "kind", "names of what", "function"},
    OPTION_PERIOD,
    OPTION_ROLE,
    {"limit", OPTION_NUMBER, "N", "limit", "at most N names (0: all)", "50"},
    OPTION_THE_END,
};

const Command command_names = {
    .name = "names",
    .arguments = "[TEXT]",
    .max_arguments = 1,
    .summary = "the functions, hosts and annotations that are stored, by a part of the name",
    .about = "Names with TEXT in them, in capitals or not: those that begin with it first, then those with the most\n"
             "calls. Other commands take whole names. Annotations are those of the newest 1,000 traces of the period.",
    .example = "  plumb names block --role datanode\n"
               "  plumb names 10.0.3 --kind host --since 1h\n"
               "  plumb names --kind annotation\n",
    .csv = "names",
    .options = options,
    .run = names_run,
};
