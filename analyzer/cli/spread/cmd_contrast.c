#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static CliExit contrast_run(Invocation *invocation) {
    static const char *const of_these[] = {"a-since", "a-until", "a-min-duration", "a-max-duration"};
    gboolean told = FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(of_these); i++) told = told || option_text(invocation, of_these[i]) != NULL;
    if (!told)
        return invocation_usage(invocation,
                                "which traces are to be told from the others? --a-min-duration 100ms: those that took "
                                "as long or longer; --a-since, --a-until: those of a time");
    g_autoptr(Ask) ask = invocation_ask(invocation, "contrast");
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_show(invocation, ask, "comparing traces", show_contrast, &options);
}

static const Option options[] = {
    {"a-min-duration", OPTION_TEXT, "DURATION", "a_min_duration", "these: took this long: 10ms, 1.5s", NULL},
    {"a-max-duration", OPTION_TEXT, "DURATION", "a_max_duration", "these: took no longer", NULL},
    {"a-since", OPTION_TEXT, "TIME", "a_since", "these: began then or later", NULL},
    {"a-until", OPTION_TEXT, "TIME", "a_until", "these: began before then", NULL},
    OPTION_PERIOD,
    {"function", OPTION_TEXT, "FUNCTION", "function", "look only at traces that call this function", NULL},
    {"path", OPTION_TEXT, "PATH", "path", "look only at traces that touch it or what is below: /a/b, b/c, *.gz", NULL},
    OPTION_HOST,
    OPTION_ROLE,
    {"min-duration", OPTION_TEXT, "DURATION", "min_duration", "look only at traces that took this long", NULL},
    {"max-duration", OPTION_TEXT, "DURATION", "max_duration", "look only at traces that took no longer", NULL},
    {"call-min-duration", OPTION_TEXT, "DURATION", "call_min_duration",
     "look only at traces with such a call (--function, --host, --role) that took this long", NULL},
    {"call-max-duration", OPTION_TEXT, "DURATION", "call_max_duration", "the same: that took no longer", NULL},
    {"min-spans", OPTION_NUMBER, "N", "min_spans", "look only at traces of at least N spans", NULL},
    {"max-spans", OPTION_NUMBER, "N", "max_spans", "look only at traces of at most N spans", NULL},
    {"annotation", OPTION_LIST, "KEY[=VALUE]", "annotation", "look only at traces with this annotation", NULL},
    {"incomplete", OPTION_FLAG, NULL, "incomplete", "look only at traces that lack spans", NULL},
    {"pattern", OPTION_TEXT, "ID", "pattern", "look only at traces of this pattern", NULL},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N rows (0: all)", "40"},
    OPTION_THE_END,
};

const Command command_contrast = {
    .name = "contrast",
    .arguments = "",
    .summary = "what tells slow traces from the others: hosts, functions, annotations",
    .about = "Takes some of the traces that are looked at (these: --a-...) and compares them with all others: which\n"
             "hosts, functions and annotations are in more of these than of the others, or in fewer. What is in\n"
             "nearly all of these and hardly any of the others is where to look. Of each side the newest 2,000\n"
             "traces are read.",
    .example =
        "  plumb traces --function OpWriteBlockProto --since 1h --sort duration --limit 5   # how long is long?\n"
        "  plumb contrast --function OpWriteBlockProto --since 1h --a-min-duration 500ms\n"
        "  plumb contrast --path /data --since 2h --a-since 15m --limit 10\n",
    .csv = "rows",
    .options = options,
    .run = contrast_run,
};
