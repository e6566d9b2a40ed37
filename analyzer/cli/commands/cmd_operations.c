#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit operations_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "operations");
    ask_add(ask, "app", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "ranking operations", show_operations, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "STAGE[.ATTEMPT]", "stage", "only this stage's", NULL},
    {"top", OPTION_TEXT, "SHARE", "top", "of all instances, how many are looked at closely: 10%, 0.05", "10%"},
    {"brief", OPTION_FLAG, NULL, NULL, "stages and their operations only, no instances and no JVM", NULL},
    {"clusters", OPTION_CHOICE, "true|false", "clusters", "whether the JVM's state is clustered", NULL},
    {"scale", OPTION_CHOICE, "minmax|max", "scale", "of the JVM's state: from the least to the most, or from 0",
     "minmax"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N instances of a stage (0: all of the top)", "10"},
    OPTION_THE_END,
};

const Command command_operations = {
    .name = "operations",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "of which application? Give its id, the beginning of it, its name, or \"latest\"",
    .summary = "operations (RDDs) that made tasks and stages slow",
    .about =
        "Ranks the instances of each stage's operations by their inefficiency score: long ones, in long tasks, that\n"
        "took longer than the same operation elsewhere. For each stage: its pattern (A to G), its operations, the\n"
        "instances on top with their traces of HDFS, and how the JVM's state differed meanwhile. docs/spark.md\n"
        "defines all of them.",
    .example = "  plumb operations latest\n"
               "  plumb operations app-20261121205309-0001 --stage 3 --top 5%\n",
    .csv = "stages.operations",
    .options = options,
    .run = operations_run,
};
