#include <string.h>

#include "analyzer/cli/commands/analysis.h"
#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/open_traces.h"
#include "analyzer/cli/commands/option_sets.h"

static void add_excludes(const Invocation *invocation, const Analysis *analysis, Ask *ask) {
    const char *const *given = option_list(invocation, "exclude");
    for (guint i = 0; analysis != NULL && analysis->exclude[i] != NULL; i++)
        ask_add(ask, "exclude", analysis->exclude[i]);
    for (guint i = 0; given[i] != NULL; i++) {
        if (strcmp(given[i], "default") != 0) {
            ask_add(ask, "exclude", given[i]);
            continue;
        }
        for (guint d = 0; analysis_default_excludes[d] != NULL; d++)
            ask_add(ask, "exclude", analysis_default_excludes[d]);
    }
}

static Ask *ask_of(const Invocation *invocation, const Analysis *analysis) {
    Ask *ask = invocation_ask(invocation, "forest");
    if (analysis != NULL) {
        if (option_text(invocation, "level") == NULL) ask_add(ask, "level", analysis->level);
        if (option_text(invocation, "role") == NULL && *analysis->roles != '\0') ask_add(ask, "role", analysis->roles);
    }
    add_excludes(invocation, analysis, ask);
    return ask;
}

static CliExit run_with(Invocation *invocation, const Analysis *analysis) {
    if (analysis != NULL) {
        memcpy(invocation->style.roles, analysis->colours, sizeof analysis->colours);
        invocation->style.progress = invocation->style.progress && analysis->progress;
    }
    g_autoptr(Ask) ask = ask_of(invocation, analysis);
    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "summing up patterns", &exit_code);
    if (document == NULL) return exit_code;
    if (analysis != NULL) analysis_apply_roles(analysis, document);
    ShowOptions options = invocation_show_options(invocation);
    options.set = option_flag(invocation, "bytes") ? MEASURE_BYTES : MEASURE_TIMES;
    exit_code = invocation_print(invocation, document, show_forest, &options);
    json_decref(document);
    return exit_code == CLI_OK ? say_open_traces(invocation) : exit_code;
}

static CliExit forest_run(Invocation *invocation) {
    const char *path = option_text(invocation, "config");
    if (path == NULL) return run_with(invocation, NULL);
    GError *error = NULL;
    g_autoptr(Analysis) analysis = analysis_load(path, &error);
    return analysis != NULL ? run_with(invocation, analysis) : invocation_failed(invocation, error);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"level", OPTION_CHOICE, "forest|tree", "level",
     "merge equal trees of all traces (forest, the default) or keep each trace", NULL},
    {"exclude", OPTION_LIST, "FUNCTION", NULL,
     "leave this function out, what it called moves up; default: OpWriteBlockProto, dataStreamer, waitForAckedSeqno",
     NULL},
    OPTION_HOST,
    OPTION_ROLE,
    {"function", OPTION_TEXT, "FUNCTION", "function", "only trees that call this function", NULL},
    {"pattern", OPTION_TEXT, "ID", "pattern", "only this pattern (the first digits will do)", NULL},
    {"bytes", OPTION_FLAG, NULL, NULL, "bytes and bytes per second instead of times", NULL},
    {"sort", OPTION_CHOICE, "calls|total=total_ns|critical=critical_ns|traces", "sort", "heaviest first, by this",
     "total"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N trees (0: all)", "10"},
    {"config", OPTION_TEXT, "FILE", NULL, "configuration of the analysis (conf/analysis.conf is a sample)", NULL},
    OPTION_THE_END,
};

const Command command_forest = {
    .name = "forest",
    .arguments = "",
    .summary = "the compressed call trees, heaviest first",
    .about = "Shows the patterns of calls that the traces have in common: equal calls merged into one row, with the\n"
             "statistics of all of them. Columns are those of 'plumb functions'.",
    .example = "  plumb forest --since 1h --limit 3\n"
               "  plumb forest --exclude default --sort critical\n"
               "  plumb forest --level tree --function OpWriteBlockProto --limit 1\n"
               "  plumb forest --config conf/analysis.conf\n",
    .csv = "patterns.nodes",
    .options = options,
    .run = forest_run,
};
