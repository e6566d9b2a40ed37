#include <signal.h>

#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/export/chosen.h"
#include "analyzer/cli/export/export_command.h"
#include "analyzer/cli/export/export_file.h"
#include "analyzer/cli/export/export_show.h"
#include "analyzer/cli/export/forward.h"
#include "analyzer/cli/export/parquet.h"

/* Set by SIGINT and SIGTERM, so that temporary files are taken away. */
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

static void hear_signals(void) {
    const struct sigaction action = {.sa_handler = ask_to_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static CliExit run_parquet(const Invocation *invocation) {
    const char *folder = option_text(invocation, "parquet");
    ParquetCounts counts = {0};
    GError *error = NULL;
    hear_signals();
    if (!parquet_export(invocation, &stop_asked, &counts, &error)) return invocation_failed(invocation, error);

    json_auto_t *document =
        json_pack("{s:s, s:I, s:I, s:I, s:I}", "folder", folder, "functions", (json_int_t)counts.functions, "traces",
                  (json_int_t)counts.traces, "spans", (json_int_t)counts.spans, "bytes", (json_int_t)counts.bytes);
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_print(invocation, document, show_parquet, &options);
}

/* What belongs to an option that is not given; NULL: all is well. */
static const char *misplaced(const Invocation *invocation) {
    static const struct {
        const char *option, *needs, *said;
    } pairs[] = {{"duckdb", "parquet", "--duckdb names the program for --parquet DIR"},
                 {"to-headers", "to", "--to-headers is for --to URL"},
                 {"to-ca", "to", "--to-ca is for --to URL"},
                 {"position", "to", "--position FILE is for --to URL --follow"}};
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
        if (option_text(invocation, pairs[i].option) != NULL && option_text(invocation, pairs[i].needs) == NULL)
            return pairs[i].said;
    const gboolean following = option_flag(invocation, "follow");
    if (following && option_text(invocation, "to") == NULL) return "--follow sends new traces on: it needs --to URL";
    if (following && option_text(invocation, "until") != NULL) return "--follow goes on: leave out --until";
    if (!following && option_text(invocation, "position") != NULL) return "--position FILE is for --follow";
    return NULL;
}

static CliExit run_forward(Invocation *invocation) {
    if (!option_flag(invocation, "otlp")) return invocation_usage(invocation, "--to URL takes OTLP: add --otlp");
    if (option_text(invocation, "output") != NULL || option_text(invocation, "parquet") != NULL)
        return invocation_usage(invocation, "--to sends spans: leave out --output and --parquet");
    hear_signals();
    return forward_spans(invocation, &stop_asked);
}

static CliExit export_run(Invocation *invocation) {
    const gboolean parquet = option_text(invocation, "parquet") != NULL, otlp = option_flag(invocation, "otlp");
    const char *path = option_text(invocation, "output");
    const char *wrong = misplaced(invocation);
    if (wrong != NULL) return invocation_usage(invocation, "%s", wrong);
    if (option_text(invocation, "to") != NULL) return run_forward(invocation);
    if (parquet && (otlp || path != NULL))
        return invocation_usage(invocation, "--parquet writes a folder of files: leave out --otlp and --output");
    if (parquet) return run_parquet(invocation);
    if (chosen_is_asked(invocation) && !otlp)
        return invocation_usage(invocation, "JSON lines of HTrace are of all spans of a period: choose traces with "
                                            "--otlp or --parquet");
    if (invocation->json && path == NULL)
        return invocation_usage(invocation, "--json reports on the file written: it needs --output FILE");
    if (path != NULL) hear_signals();
    return export_to_file(invocation, &stop_asked);
}

static const Option options[] = {
    OPTION_PERIOD,
    OPTIONS_CHOSEN,
    {"otlp", OPTION_FLAG, NULL, NULL, "as OTLP JSON lines: each is a body of POST /v1/traces; without records of Spark",
     NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "write to this file, compressed when it ends in .gz or .zst", NULL},
    {"parquet", OPTION_TEXT, "DIR", NULL, "write functions.parquet, traces.parquet and spans.parquet, by DuckDB", NULL},
    {"to", OPTION_TEXT, "URL", NULL, "with --otlp: send to whoever takes OTLP over HTTP; without a path, to /v1/traces",
     NULL},
    {"to-headers", OPTION_TEXT, "FILE", NULL, "headers for --to, 'Name: value' in each line; a file of mode 600", NULL},
    {"to-ca", OPTION_TEXT, "FILE", NULL, "certificates that --to trusts, instead of the system's", NULL},
    {"follow", OPTION_FLAG, NULL, NULL, "with --to: go on with each new trace until SIGTERM; --since 1h: and these",
     NULL},
    {"position", OPTION_TEXT, "FILE", NULL, "with --follow: what was sent, so that a restart goes on from there", NULL},
    {"reach", OPTION_TEXT, "DURATION", NULL, "with --follow: how long after its begin a trace may be stored", "1h"},
    {"duckdb", OPTION_TEXT, "FILE", NULL, "the program (default: duckdb, in the path)", NULL},
    OPTION_THE_END,
};

const Command command_export = {
    .name = "export",
    .arguments = "",
    .summary = "every span back, as HTrace JSON lines, OTLP or Parquet",
    .about =
        "Writes every stored span as an HTrace 4 JSON line, to standard output or to a file, which appears under its\n"
        "name only when it is whole. After them come the records of Spark of that time, lines that begin with\n"
        "{\"spark\":. 'plumb import' of it gives the same applications and the same forest, but for which shapes are\n"
        "rare once there are more than 32,768 nodes of patterns: what comes first then gets a pattern of its own.\n"
        "--parquet needs the program duckdb (pip install duckdb-cli).",
    .example = "  plumb export --since 1h | head\n"
               "  plumb export --output spans.json.zst\n"
               "  plumb export --since 1h --otlp --output spans.otlp.json.zst\n"
               "  plumb export --since 1d --parquet /tmp/day\n"
               "  plumb export --otlp --to http://collector:4318 --follow --min-duration 1s --position /var/tmp/sent\n"
               "  plumb export --store /var/lib/plumbline --output spans.json.gz\n",
    .options = options,
    .run = export_run,
};
