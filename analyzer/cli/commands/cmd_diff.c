#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

/* Periods have dots, ids of traces and patterns nothing but hex digits; ids and names of applications begin with a
 * letter. */
static gboolean is_app(const char *text) {
    return g_ascii_isalpha(text[0]) && strspn(text, "0123456789abcdefABCDEF") < strlen(text) && !strstr(text, "..");
}

static gboolean of_apps(const Invocation *invocation) {
    const char *kind = option_text(invocation, "kind");
    if (kind) return strcmp(kind, "app") == 0;
    return is_app(invocation->arguments[0]) && is_app(invocation->arguments[1]);
}

static CliExit runs_run(Invocation *invocation) {
    static const char *const of_others[] = {"since", "until", "host", "role", "by", "sort"};
    for (guint i = 0; i < G_N_ELEMENTS(of_others); i++)
        if (option_text(invocation, of_others[i]))
            return invocation_usage(invocation, "--%s is not of applications: --stage and --limit are", of_others[i]);
    g_autoptr(Ask) ask = invocation_ask(invocation, "runs");
    ask_add(ask, "a", invocation->arguments[0]);
    ask_add(ask, "b", invocation->arguments[1]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "comparing", show_runs, &options);
}

static CliExit diff_run(Invocation *invocation) {
    if (of_apps(invocation)) return runs_run(invocation);
    if (option_text(invocation, "stage")) return invocation_usage(invocation, "--stage is of applications");
    g_autoptr(Ask) ask = invocation_ask(invocation, "diff");
    ask_add(ask, "a", invocation->arguments[0]);
    ask_add(ask, "b", invocation->arguments[1]);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "comparing", show_diff, &options);
}

static const Option options[] = {
    {"kind", OPTION_CHOICE, "period|pattern|trace|app", "kind", "what A and B are, when they do not tell", NULL},
    OPTION_PERIOD,
    OPTION_HOST,
    OPTION_ROLE,
    {"by", OPTION_CHOICE, "host", "by", "of periods: a row for each host", NULL},
    {"stage", OPTION_TEXT, "N[.A]", "stage", "of applications: only this stage of B", NULL},
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
    .missing = "compare what? Give two periods (2h..1h 1h..0m), two patterns, two traces or two runs of an "
               "application",
    .summary = "two periods, patterns, traces or runs of an application: what became slower",
    .about =
        "Compares two periods (SINCE..UNTIL; an open end is left out, as in 1h..), two patterns or two traces. slower\n"
        "and faster are said when the means differ by at least 5 % and by 3 standard errors (z).\n"
        "Of two applications of Spark, two runs of a job, by stage: whose tasks became slower, and for which host of\n"
        "HDFS they wait longer. Stages belong together by their names, in which Spark has the place in the program;\n"
        "where no stage of a query has a namesake, as of another version of Spark, those of the same call and as many\n"
        "tasks by their order.\n"
        "\"earlier\" is the newest run of B's name before B.",
    .example = "  plumb diff 2h..1h 1h..\n"
               "  plumb diff 2h..1h 1h.. --by host --role datanode --sort z\n"
               "  plumb diff 2026-11-20T10:00:00Z..2026-11-20T11:00:00Z 2026-11-21T10:00:00Z..2026-11-21T11:00:00Z\n"
               "  plumb diff 4be1c2a09d3f5577 90b3a5d1c07e6412\n"
               "  plumb diff earlier latest\n"
               "  plumb diff app-20260101120000-0001 app-20260102120000-0007 --stage 3\n",
    .csv = "rows|stages",
    .options = options,
    .run = diff_run,
};
