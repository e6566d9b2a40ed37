#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit skew_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "skew");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "comparing clocks", show_skew, &options);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"limit", OPTION_NUMBER, "N", "limit", "look at the newest N traces (0: all)", "1000"},
    OPTION_THE_END,
};

const Command command_skew = {
    .name = "skew",
    .arguments = "",
    .summary = "how far the clocks of hosts are apart",
    .about =
        "A call on another host lies inside its caller's time, so calls tell how far the two clocks are apart, as\n"
        "in NTP. An offset beyond what it may be wrong by is real: mend the clock of that host. Nothing that is\n"
        "stored is corrected.",
    .example = "  plumb skew\n"
               "  plumb skew --since 1h --limit 5000\n",
    .csv = "pairs",
    .options = options,
    .run = skew_run,
};
