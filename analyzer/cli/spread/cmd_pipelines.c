#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit pipelines_run(Invocation *invocation) {
    if (option_text(invocation, "stage") == NULL)
        return invocation_usage(invocation,
                                "of which stage? Give --stage N ('plumb operations %s' lists those with "
                                "operations)",
                                invocation->arguments[0]);
    g_autoptr(Ask) ask = invocation_ask(invocation, "pipelines");
    ask_add(ask, "app", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "reading operations", show_pipelines, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "N[.A]", "stage", "of this stage, or this attempt of it (default: the last one)", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N tasks (0: all)", "100"},
    OPTION_THE_END,
};

const Command command_pipelines = {
    .name = "pipelines",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "the tasks of a stage of Spark, each as a bar of its operations",
    .about = "One bar for each task, as long as it took, the longest first; a letter for each operation. A task whose\n"
             "bar has more of one letter than its neighbours was slow in that operation. Dots are time in none.",
    .example = "  plumb operations latest --brief      # which stage?\n"
               "  plumb pipelines latest --stage 2\n"
               "  plumb pipelines latest --stage 2 --limit 0 --csv\n",
    .csv = "rows",
    .rows = pipelines_rows,
    .options = options,
    .run = pipelines_run,
};
