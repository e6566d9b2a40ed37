#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit series_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "series");
    if (invocation->n_arguments > 0) ask_add(ask, "function", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "summing up steps", show_series, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    OPTION_HOST,
    OPTION_ROLE,
    {"by", OPTION_CHOICE, "host", "by", "a row for each host, against the median of all hosts", NULL},
    {"field", OPTION_CHOICE,
     "mean=mean_ns|std=std_ns|min=min_ns|max=max_ns|q25=q25_ns|q50=q50_ns|q75=q75_ns|q95=q95_ns|q99=q99_ns|calls|"
     "total=total_ns|self=self_ns|critical=critical_ns|bytes=bytes.total_bytes|rate=rate.mean_bytes_per_s|"
     "empty=bytes.zero_calls|small=bytes.small_calls",
     "field", "the figure", "mean"},
    {"step", OPTION_TEXT, "DURATION", "step", "whole minutes: 1m, 10m, 1h (default: about 100 steps)", NULL},
    {"sort", OPTION_CHOICE, "total=total_ns|ratio|host", "sort",
     "order: total time; with --by host also times the peers, or name", "total"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N rows (0: all)", "100"},
    OPTION_THE_END,
};

const Command command_series = {
    .name = "series",
    .arguments = "[FUNCTION]",
    .max_arguments = 1,
    .summary = "a figure of functions over time, by host against its peers",
    .about =
        "How one figure went: of one function a row for each step, of several a row with its curve for each. With\n"
        "--by host each host is a row; 'x peers' is its sum divided by that of the median of all hosts at the\n"
        "same steps. A step without calls is a gap. In a curve, the greatest of the steps that share a place.",
    .example = "  plumb functions --since 1h --role datanode --sort self --limit 1   # which function?\n"
               "  plumb series BlockReceiver#flushOrSync --since 1h --by host --sort ratio --limit 5\n"
               "  plumb series BlockReceiver#flushOrSync --host 10.0.3.17 --since 3h --field q95 --step 5m\n"
               "  plumb series --since 1d --field calls --csv\n",
    .csv = "rows",
    .rows = series_rows,
    .options = options,
    .run = series_run,
};
