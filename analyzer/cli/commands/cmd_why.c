#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

/* Ids of traces, as `plumb traces` prints them, or of one of their spans; ids of applications have other characters. */
static gboolean is_trace(const char *text) {
    const gsize length = strlen(text);
    return (length == 16 || length == 32) && strspn(text, "0123456789abcdefABCDEF") == length;
}

static CliExit why_run(Invocation *invocation) {
    const char *what = invocation->arguments[0];
    const gboolean trace = is_trace(what);
    if (trace &&
        (option_text(invocation, "stage") || option_text(invocation, "task") || option_text(invocation, "method")))
        return invocation_usage(invocation, "--stage, --task and --method are of an application, and %s is a trace",
                                what);
    g_autoptr(Ask) ask = invocation_ask(invocation, "why");
    ask_add(ask, trace ? "trace" : "app", what);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "looking for causes", trace ? show_why_trace : show_why, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "N[.A]", "stage", "only this stage, or this attempt of it", NULL},
    {"task", OPTION_NUMBER, "ID", "task", "only this task attempt (Spark's TID)", NULL},
    {"method", OPTION_CHOICE, "bigroots|ledger", "method",
     "how the cause that comes first is found (of an application)", NULL},
    {"brief", OPTION_FLAG, NULL, NULL, "without the features that were compared", NULL},
    {"limit", OPTION_NUMBER, "N", "limit",
     "at most N stragglers (0: all; default: 20), or of a trace, N that it waited for (default: 8)", NULL},
    OPTION_THE_END,
};

const Command command_why = {
    .name = "why",
    .arguments = "APP|TRACE",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "of what? Give the id of a trace ('plumb traces' lists them), or an application of Spark: its id, the "
               "beginning of it, its name, or 'latest' ('plumb apps' lists them)",
    .summary = "why a trace, or tasks of a Spark application, were slow",
    .about =
        "Of a TRACE, whatever client of HDFS it is of: where its time went, by host and resource (disk, network,\n"
        "processor, lock, queue, client), compared with what is normal for these calls on other hosts.\n"
        "Of an application: its stragglers (tasks that took at least 1.5 times the median of their stage), those that\n"
        "lost most time first: what made each slow, and where its calls of HDFS were traced, which DataNode or\n"
        "NameNode it waited for, with the calls as evidence and what is normal for them.",
    .example = "  plumb why 4be1c2a09d3f5577\n"
               "  plumb why latest\n"
               "  plumb why app-20260101120000-0001 --stage 3\n"
               "  plumb why latest --task 57 --json\n",
    .csv = "stragglers|waits",
    .options = options,
    .run = why_run,
};
