#include <string.h>

#include "analyzer/commands.h"
#include "analyzer/option_sets.h"

/* Periods have "..", traces 16 digits, patterns 32; NULL when it is none of them. */
static const char *kind_of(const char *side) {
    if (strstr(side, "..") != NULL) return "period";
    gsize length = strlen(side), digits = strspn(side, "0123456789abcdefABCDEF");
    if (length != digits) return NULL;
    return length == 16 ? "trace" : length == 32 ? "pattern" : NULL;
}

/* The kind of both sides; NULL after saying why not. */
static const char *find_kind(const Invocation *invocation) {
    const char *told = option_text(invocation, "kind");
    if (told != NULL) return told;
    const char *kinds[2];
    for (guint i = 0; i < 2; i++) {
        kinds[i] = kind_of(invocation->arguments[i]);
        if (kinds[i] != NULL) continue;
        invocation_usage(
            invocation,
            "'%s' is neither a period (SINCE..UNTIL, for example 2h..1h), nor a trace (16 hex digits), nor a "
            "pattern (32)",
            invocation->arguments[i]);
        return NULL;
    }
    if (strcmp(kinds[0], kinds[1]) == 0) return kinds[0];
    invocation_usage(invocation, "a %s and a %s cannot be compared: give two of a kind", kinds[0], kinds[1]);
    return NULL;
}

static CliExit run(Invocation *invocation) {
    const char *kind = find_kind(invocation);
    if (kind == NULL) return CLI_USAGE;
    g_autoptr(Ask) ask = invocation_ask(invocation, "diff");
    if (option_text(invocation, "kind") == NULL) ask_add(ask, "kind", kind);
    ask_add(ask, "a", invocation->arguments[0]);
    ask_add(ask, "b", invocation->arguments[1]);
    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "comparing", &exit_code);
    if (document == NULL) return exit_code;
    ShowOptions options = invocation_show_options(invocation);
    exit_code = invocation_print(invocation, document, show_diff, &options);
    json_decref(document);
    return exit_code;
}

static const Option options[] = {
    {"kind", OPTION_CHOICE, "period|pattern|trace", "kind", "what A and B are, where they do not tell", NULL},
    OPTION_HOST,
    OPTION_ROLE,
    {"sort", OPTION_CHOICE, "total=total_change_ns|mean=mean_change_ns|percent=mean_change_percent|z|function", "sort",
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
               "  plumb diff 2026-11-20T10:00:00Z..2026-11-20T11:00:00Z 2026-11-21T10:00:00Z..2026-11-21T11:00:00Z\n"
               "  plumb diff 4be1c2a09d3f5577 90b3a5d1c07e6412\n",
    .options = options,
    .run = run,
};
