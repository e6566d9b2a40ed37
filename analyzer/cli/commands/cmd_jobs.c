#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit jobs_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "jobs");
    ask_add(ask, "app", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "looking for jobs", show_jobs, &options);
}

static const Option options[] = {
    {"limit", OPTION_NUMBER, "N", "limit", "at most N jobs (0: all)", "0"},
    OPTION_THE_END,
};

const Command command_jobs = {
    .name = "jobs",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "the jobs of an application of Spark: when, how long, which stages",
    .about = "One row for each job: what it is, as the program describes it or where it was begun; when it began and\n"
             "how long it took; its stages; their tasks, and those that failed, were killed or lost.",
    .example = "  plumb jobs latest\n"
               "  plumb jobs app-20260101120000-0001 --limit 5 --json\n",
    .options = options,
    .csv = "jobs",
    .run = jobs_run,
};
