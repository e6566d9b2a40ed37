#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit span_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "span");
    ask_add(ask, "id", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "fetching the span", show_span, &options);
}

static const Option options[] = {OPTION_THE_END};

const Command command_span = {
    .name = "span",
    .arguments = "ID",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "which span? Give its ID (32 hex digits; 'plumb trace ID --ids' lists them)",
    .summary = "all that is stored of one span",
    .about = "One call: when it began, how long it took, where it ran, all its annotations and notes.",
    .example = "  plumb span 4be1c2a09d3f557700000000000003e9\n",
    .options = options,
    .run = span_run,
};
