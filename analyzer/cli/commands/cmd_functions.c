#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/open_traces.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit functions_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "functions");
    ShowOptions options = invocation_show_options(invocation);
    options.set = option_flag(invocation, "bytes") ? MEASURE_BYTES : MEASURE_TIMES;
    const CliExit shown = invocation_show(invocation, ask, "summing up functions", show_functions, &options);
    return shown == CLI_OK ? say_open_traces(invocation) : shown;
}

static const Option options[] = {
    OPTION_PERIOD,
    OPTION_HOST,
    OPTION_ROLE,
    {"function", OPTION_TEXT, "FUNCTION", "function", "only this function", NULL},
    {"exclude", OPTION_LIST, "FUNCTION", "exclude", "without this function", NULL},
    {"by", OPTION_CHOICE, "host|minute|host,minute", "by", "a row for each host, minute, or both", NULL},
    {"bytes", OPTION_FLAG, NULL, NULL, "bytes and bytes per second instead of times", NULL},
    {"sort", OPTION_CHOICE,
     "function|role|host|minute=since_time_ns|"
     "mean=mean_ns|std=std_ns|min=min_ns|max=max_ns|q25=q25_ns|q50=q50_ns|q75=q75_ns|q95=q95_ns|"
     "q99=q99_ns|calls|total=total_ns|self=self_ns|critical=critical_ns|bytes=bytes.total_bytes|rate=rate.mean_bytes_"
     "per_s|"
     "empty=bytes.zero_calls|small=bytes.small_calls",
     "sort", "column to sort by (default: total; by minute: minute)", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N rows (0: all)", "0"},
    OPTION_THE_END,
};

const Command command_functions = {
    .name = "functions",
    .arguments = "",
    .summary = "time, calls and bytes per function",
    .about = "One row per function and role: mean, standard deviation, least, greatest and quartiles of the time of a\n"
             "call, calls, total time, self time (without the time of calls it made) and critical-path time (the part\n"
             "that the root of the trace really waited for). '~' marks quantiles from a sketch, within 0.8 %.",
    .example = "  plumb functions --since 1h --role datanode --sort self\n"
               "  plumb functions --by host --function OpWriteBlockProto\n"
               "  plumb functions --since 30m --by host,minute --function BlockReceiver#flushOrSync\n"
               "  plumb functions --since 1h --sort self --exclude PacketReceiver#receiveNextPacket\n"
               "  plumb functions --bytes --limit 10\n",
    .csv = "functions",
    .options = options,
    .run = functions_run,
};
