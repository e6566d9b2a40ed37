#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/open_traces.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit traces_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "traces");
    const ShowOptions options = invocation_show_options(invocation);
    const CliExit shown = invocation_show(invocation, ask, "searching", show_traces, &options);
    return shown == CLI_OK ? say_open_traces(invocation) : shown;
}

static const Option options[] = {
    OPTION_PERIOD,
    {"function", OPTION_TEXT, "FUNCTION", "function", "only traces that call this function", NULL},
    {"path", OPTION_TEXT, "PATH", "path", "only traces that touch it or what is below: /a/b, b/c, *.gz", NULL},
    OPTION_HOST,
    OPTION_ROLE,
    {"min-duration", OPTION_TEXT, "DURATION", "min_duration", "only traces that took this long: 10ms, 1.5s", NULL},
    {"max-duration", OPTION_TEXT, "DURATION", "max_duration", "only traces that took no longer", NULL},
    {"call-min-duration", OPTION_TEXT, "DURATION", "call_min_duration",
     "only traces with such a call (--function, --host, --role) that took this long", NULL},
    {"call-max-duration", OPTION_TEXT, "DURATION", "call_max_duration", "the same: that took no longer", NULL},
    {"min-spans", OPTION_NUMBER, "N", "min_spans", "only traces of at least N spans", NULL},
    {"max-spans", OPTION_NUMBER, "N", "max_spans", "only traces of at most N spans", NULL},
    {"annotation", OPTION_LIST, "KEY[=VALUE]", "annotation", "only traces with this annotation", NULL},
    {"incomplete", OPTION_FLAG, NULL, "incomplete", "only traces that lack spans", NULL},
    {"pattern", OPTION_TEXT, "ID", "pattern", "only traces of this pattern", NULL},
    {"sort", OPTION_CHOICE, "begin=begin_time_ns|duration=duration_ns|spans", "sort", "order", "begin"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N traces (0: all)", "20"},
    {"after", OPTION_TEXT, "CURSOR", "after", "those behind the last one that was listed: what the line below it says",
     NULL},
    OPTION_THE_END,
};

const Command command_traces = {
    .name = "traces",
    .arguments = "",
    .summary = "search traces by function, path, host, role, duration, time, annotation",
    .about = "Lists the traces that fit everything asked, newest first unless sorted otherwise.",
    .example = "  plumb traces --path /data/part-0001 --min-duration 100ms\n"
               "  plumb traces --function OpWriteBlockProto --since 15m --sort duration\n"
               "  plumb traces --function BlockReceiver#flushOrSync --host 10.0.3.17 --call-min-duration 50ms\n"
               "  plumb traces --incomplete --host 10.0.3.17\n",
    .csv = "traces",
    .options = options,
    .run = traces_run,
};
