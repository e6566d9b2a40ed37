#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit tasks_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "tasks");
    ask_add(ask, "app", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "looking for tasks", show_tasks, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "N[.A]", "stage", "only of this stage, or of this attempt of it", NULL},
    {"task", OPTION_NUMBER, "ID", "task", "only this task attempt (Spark's TID)", NULL},
    {"status", OPTION_CHOICE, "running|success|failed|killed|lost", "status", "only these", NULL},
    {"host", OPTION_TEXT, "HOST", "host", "only what ran on this host", NULL},
    {"sort", OPTION_CHOICE, "task|duration|begin|gc|input|shuffle", "sort", "order", "task"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N tasks (0: all)", "50"},
    OPTION_THE_END,
};

const Command command_tasks = {
    .name = "tasks",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "the tasks of an application of Spark",
    .about =
        "One row for each task attempt: where and when it ran, how long, how many times the median of its stage that\n"
        "is, and what it read, shuffled and spilled. The trace is that of the task's calls of HDFS, where the agent\n"
        "was in its executor: 'plumb trace ID' shows it. --json has all of Spark's numbers.",
    .example = "  plumb tasks latest --sort duration --limit 10\n"
               "  plumb tasks app-20260101120000-0001 --stage 3 --status failed\n"
               "  plumb tasks latest --task 57 --json\n",
    .csv = "tasks",
    .options = options,
    .run = tasks_run,
};
