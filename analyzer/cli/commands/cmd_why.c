#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit why_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "why");
    ask_add(ask, "app", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "looking for causes", show_why, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "N[.A]", "stage", "only this stage, or this attempt of it", NULL},
    {"task", OPTION_NUMBER, "ID", "task", "only this task attempt (Spark's TID)", NULL},
    {"brief", OPTION_FLAG, NULL, NULL, "without the features that were compared", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N stragglers (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_why = {
    .name = "why",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which application? Give its id, the beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "why tasks of a Spark application were slow",
    .about =
        "Shows the stragglers of an application (tasks that took at least 1.5 times the median of their stage), those\n"
        "that lost most time first: what made each slow, and where its calls of HDFS were traced, which DataNode or\n"
        "NameNode it waited for, with the calls as evidence and what is normal for them.",
    .example = "  plumb why latest\n"
               "  plumb why app-20260101120000-0001 --stage 3\n"
               "  plumb why latest --task 57 --json\n",
    .options = options,
    .run = why_run,
};
