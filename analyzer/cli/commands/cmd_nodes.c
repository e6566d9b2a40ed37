#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit nodes_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "nodes");
    if (invocation->n_arguments > 0) ask_add(ask, "host", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "comparing hosts with their predictions", show_nodes, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"method", OPTION_CHOICE, "plumb|paper|peers", "method",
     "how: against each host's own prediction, as Gupta and others do, or against the median of all hosts", "plumb"},
    {"brief", OPTION_FLAG, NULL, NULL, "without what can be done", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N hosts and classes of work (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_nodes = {
    .name = "nodes",
    .arguments = "[HOST]",
    .max_arguments = 1,
    .summary = "hosts that are slower than they should be, since when",
    .about = "Compares every host with its own prediction, for each class of work: what calls usually take there, and\n"
             "how long they take on the other hosts at the moment. So hosts may differ by design. Without --since the\n"
             "last hour is judged; 7 days before it are learned from, as far as they are stored. With a HOST, each of\n"
             "its functions and how it went. docs/nodes.md has the method.",
    .example = "  plumb nodes\n"
               "  plumb nodes datanode2 --since 3h\n"
               "  plumb nodes --method peers\n",
    .options = options,
    .run = nodes_run,
};
