#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit diff_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "diff");
    ask_add(ask, "a", invocation->arguments[0]);
    ask_add(ask, "b", invocation->arguments[1]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "comparing", show_diff, &options);
}

static const Option options[] = {
    {"kind", OPTION_CHOICE, "period|pattern|trace", "kind", "what A and B are, when they do not tell", NULL},
    OPTION_PERIOD,
    OPTION_HOST,
    OPTION_ROLE,
    {"by", OPTION_CHOICE, "host", "by", "of periods: a row for each host", NULL},
    {"sort", OPTION_CHOICE, "total=total_change_ns|mean=mean_change_ns|percent=mean_change_percent|z", "sort",
     "column to sort by", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N rows (0: all)", NULL},
    OPTION_THE_END,
};

const Command command_diff = {
    .name = "diff",
    .arguments = "A B",
    .min_arguments = 2,
    .max_arguments = 2,
    .missing = "compare what? Give two periods (2h..1h 1h..0m), two patterns or two traces",
    .summary = "two periods, patterns or traces: what became slower, what is new",
    .about =
        "Compares two periods (SINCE..UNTIL; an open end is left out, as in 1h..), two patterns or two traces. slower\n"
        "and faster are said when the means differ by at least 5 % and by 3 standard errors (z).",
    .example = "  plumb diff 2h..1h 1h..\n"
               "  plumb diff 2h..1h 1h.. --by host --role datanode --sort z\n"
               "  plumb diff 2026-11-20T10:00:00Z..2026-11-20T11:00:00Z 2026-11-21T10:00:00Z..2026-11-21T11:00:00Z\n"
               "  plumb diff 4be1c2a09d3f5577 90b3a5d1c07e6412\n",
    .options = options,
    .run = diff_run,
};
