#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit trace_run(Invocation *invocation) {
    gboolean dot = option_flag(invocation, "dot"), chrome = option_flag(invocation, "chrome");
    gboolean otlp = option_flag(invocation, "otlp");
    if (dot + chrome + otlp + invocation->json + invocation->csv > 1)
        return invocation_usage(invocation, "--dot, --chrome, --otlp, --json and --csv exclude each other: give one");
    g_autoptr(Ask) ask = invocation_ask(invocation, "trace");
    ask_add(ask, "id", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.ids = option_flag(invocation, "ids");
    options.fold = option_flag(invocation, "fold");
    options.brief = option_flag(invocation, "brief");
    Show show = dot ? show_trace_dot : chrome ? show_trace_chrome : otlp ? show_trace_otlp : show_trace;
    return invocation_show(invocation, ask, "fetching the trace", show, &options);
}

static const Option options[] = {
    {"brief", OPTION_FLAG, NULL, NULL, "without annotations and notes", NULL},
    {"fold", OPTION_FLAG, NULL, NULL,
     "a run of equal calls (same function, process, no calls of their own) in one row, times added up", NULL},
    {"ids", OPTION_FLAG, NULL, NULL, "span ids too", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N spans (default: 20000; 0: all, at 2 KB of memory each)", NULL},
    {"part", OPTION_NUMBER, "N", "part",
     "of a trace that is kept in parts, from this one on (default: 1); half a million spans are read at once", NULL},
    {"dot", OPTION_FLAG, NULL, NULL, "as a graph for Graphviz", NULL},
    {"chrome", OPTION_FLAG, NULL, NULL, "as trace events for https://ui.perfetto.dev and chrome://tracing", NULL},
    {"otlp", OPTION_FLAG, NULL, NULL, "as OTLP JSON, to send on: a body of POST /v1/traces", NULL},
    OPTION_THE_END,
};

const Command command_trace = {
    .name = "trace",
    .arguments = "ID",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which trace? Give its ID (16 hex digits; 'plumb traces' lists them; or OpenTelemetry's 32) or that of "
               "one of its spans (32)",
    .summary = "one trace as a tree",
    .about =
        "Shows one trace as a tree: when each call began (after the begin of the trace), how long it took, where it\n"
        "ran, what was noted with it. Flags: orphan (its parent never came), cycle (cut there), reversed (ends before\n"
        "it begins), outside parent (runs out of its parent's time: often a clock that is off). Clock offsets between\n"
        "hosts are estimated and shown, never corrected.",
    .example = "  plumb trace 4be1c2a09d3f5577\n"
               "  plumb trace 4be1c2a09d3f5577 --chrome > trace.json   # open in https://ui.perfetto.dev\n"
               "  plumb trace 4be1c2a09d3f5577 --dot | dot -Tsvg > trace.svg\n"
               "  plumb trace 4be1c2a09d3f5577 --otlp > trace.json     # a body of POST /v1/traces, for a collector\n",
    .csv = "spans",
    .options = options,
    .run = trace_run,
};
