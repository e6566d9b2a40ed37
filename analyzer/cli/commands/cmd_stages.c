#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit stages_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "stages");
    ask_add(ask, "app", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "summing up stages", show_stages, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "N[.A]", "stage", "only this stage, or this attempt of it, with its RDDs", NULL},
    {"sort", OPTION_CHOICE, "stage|duration|tasks|median|stragglers|input|shuffle", "sort", "order", "stage"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N stages (0: all)", "0"},
    OPTION_THE_END,
};

const Command command_stages = {
    .name = "stages",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "the stages of an application of Spark: times of their tasks, stragglers, bytes",
    .about = "One row for each attempt of a stage: how long it took; how many tasks it had, and the median, the 95 %\n"
             "quantile and the greatest of their times (of those that ended well); stragglers (tasks of 1.5 times the\n"
             "median and more); tasks that failed, were killed or lost; what was read, shuffled and spilled.",
    .example = "  plumb stages latest\n"
               "  plumb stages app-20260101120000-0001 --sort stragglers --limit 5\n"
               "  plumb stages 'Word count' --stage 3.0 --json\n",
    .csv = "stages",
    .options = options,
    .run = stages_run,
};
