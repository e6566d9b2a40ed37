#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit samples_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "samples");
    ask_add(ask, "host", invocation->arguments[0]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "reading samples", show_samples, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"step", OPTION_TEXT, "DURATION", "step", "a row for each such time, a second or more (default: about 100 rows)",
     NULL},
    OPTION_THE_END,
};

const Command command_samples = {
    .name = "samples",
    .arguments = "HOST",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "of which host? Give its name as 'plumb nodes' has it",
    .summary = "a host's processor, busiest disk and network over time",
    .about = "What plumb-bridge sends of a host (sar, mpstat, iostat), as means over steps: shares of the processors,\n"
             "utilisation of the busiest disk, bytes of all interfaces. '-': no sample of that step tells it.",
    .example = "  plumb nodes                          # which host?\n"
               "  plumb samples 10.0.3.17 --since 1h\n"
               "  plumb samples 10.0.3.17 --since 15m --step 10s --csv\n",
    .csv = "rows",
    .rows = samples_rows,
    .options = options,
    .run = samples_run,
};
