#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit executors_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "executors");
    ask_add(ask, "app", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "summing up executors", show_executors, &options);
}

static const Option options[] = {
    {"sort", OPTION_CHOICE, "executor|tasks|time|gc", "sort", "order", "executor"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N executors (0: all)", "0"},
    OPTION_THE_END,
};

const Command command_executors = {
    .name = "executors",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "the executors of an application of Spark: when they came and went, how busy they were",
    .about = "One row for each executor: its host and cores; when it came and how long it lived, and why it went; its\n"
             "tasks, the time in them, and what share of its cores they kept busy; garbage collection, what was read,\n"
             "shuffled and spilled, all in sums over its tasks.",
    .example = "  plumb executors latest\n"
               "  plumb executors 'Word count' --sort gc --limit 5\n",
    .options = options,
    .csv = "executors",
    .run = executors_run,
};
