#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit predict_run(Invocation *invocation) {
    if (invocation->n_arguments > 0)
        return invocation_usage(invocation, "--predict is of all hosts: --on %s asks about one",
                                invocation->arguments[0]);
    g_autoptr(Ask) ask = invocation_ask(invocation, "predict");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "predicting", show_predict, &options);
}

static CliExit nodes_run(Invocation *invocation) {
    const gboolean hint = option_flag(invocation, "hint");
    if (option_text(invocation, "predict")) return predict_run(invocation);
    if (option_text(invocation, "on")) return invocation_usage(invocation, "--on says where: --predict APP says what");
    g_autoptr(Ask) ask = invocation_ask(invocation, "nodes");
    if (invocation->n_arguments > 0) ask_add(ask, "host", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "comparing hosts with their predictions", hint ? show_hints : show_nodes,
                           &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"method", OPTION_CHOICE, "plumb|paper|peers", "method",
     "how: against each host's own prediction (plumb, the default), as Gupta and others do (paper), or against the "
     "median of all hosts (peers)",
     NULL},
    {"predict", OPTION_TEXT, "APP", "app", "how long the tasks of an application would take on each host", NULL},
    {"on", OPTION_TEXT, "HOST", "on", "with --predict: on this host alone", NULL},
    {"hint", OPTION_FLAG, NULL, "hint", "how much of each kind of work each host should get, and where to look", NULL},
    {"brief", OPTION_FLAG, NULL, NULL, "without what can be done", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N hosts and classes of work (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_nodes = {
    .name = "nodes",
    .arguments = "[HOST]",
    .max_arguments = 1,
    .summary = "hosts that are slower than they should be, since when",
    .about =
        "Compares every host with its own prediction, for each class of work: what calls usually take there, and\n"
        "how long they take on the other hosts at the moment. So hosts may differ by design. Without --since the\n"
        "last hour is judged; 7 days before it are learned from, as far as they are stored. With a HOST, each of\n"
        "its functions and how it went. --predict splits the time of an application's tasks by host and function, and\n"
        "scales each part by how fast another host is at it. docs/nodes.md has the method.",
    .example = "  plumb nodes\n"
               "  plumb nodes datanode2 --since 3h\n"
               "  plumb nodes --method peers\n"
               "  plumb nodes --predict latest --on worker7\n"
               "  plumb nodes --hint\n",
    .csv = "nodes|stages.hosts",
    .options = options,
    .run = nodes_run,
};
