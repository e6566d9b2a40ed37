#include <signal.h>
#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/commands/otlp_lines.h"
#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/format/progress.h"
#include "analyzer/cli/format/units.h"
#include "common/base/error.h"
#include "common/wire/json/record_json.h"

/* Set by SIGINT and SIGTERM, so that the temporary file is taken away. */
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

/* What the line of a record of Spark begins with. */
static const char record_begin[] = "{\"" RECORD_JSON_KEY "\":";
#define RECORD_BEGIN_BYTES (sizeof record_begin - 1)

typedef struct Export {
    OutFile *file;
    Progress *progress;
    guint64 spans, records, bytes;
    OtlpLines *otlp; /* NULL: JSON lines of HTrace are wanted */
    gsize matched;   /* bytes at the begin of the line that are those of a record's; G_MAXSIZE: it is none */
} Export;

/* Pieces may be cut anywhere. */
static void count_lines(Export *export, Bytes piece) {
    const char *at = piece.data, *end = at + piece.size_bytes;
    while (at < end) {
        while (at < end && export->matched < RECORD_BEGIN_BYTES && *at != '\n')
            export->matched = *at++ == record_begin[export->matched] ? export->matched + 1 : G_MAXSIZE;
        if (at == end || (at = memchr(at, '\n', (gsize)(end - at))) == NULL) return;
        export->records += export->matched == RECORD_BEGIN_BYTES;
        export->spans += export->matched != RECORD_BEGIN_BYTES;
        export->matched = 0;
        at++;
    }
}

static gboolean put(Export *export, Bytes bytes, GError **error) {
    export->bytes += bytes.size_bytes;
    return bytes.size_bytes == 0 || out_file_write(export->file, bytes, error);
}

static gboolean write_piece(void *arg, Bytes piece, GError **error) {
    Export *export = arg;
    if (stop_asked) return fail(error, PLUMB_ERROR_IO, "stopped; nothing was kept");
    count_lines(export, piece);
    progress_update(export->progress, export->spans, 0, "spans");
    if (export->otlp == NULL) return put(export, piece, error);
    g_autoptr(GString) text = g_string_new(NULL);
    otlp_lines_feed(export->otlp, piece, text);
    return put(export, (Bytes){text->str, text->len}, error);
}

static gboolean write_rest(Export *export, GError **error) {
    if (export->otlp == NULL) return TRUE;
    g_autoptr(GString) text = g_string_new(NULL);
    otlp_lines_finish(export->otlp, text);
    export->records = 0; /* they have no such form */
    return put(export, (Bytes){text->str, text->len}, error);
}

static gboolean export_all(const Invocation *invocation, Export *export, GError **error) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "export");
    g_autoptr(Source) source = source_open(&invocation->source, error);
    SourceSink sink = {write_piece, export};
    return source != NULL && source_export(source, ask, &sink, error) && write_rest(export, error) &&
           out_file_finish(export->file, error);
}

static CliExit report(const Invocation *invocation, const Export *export, const char *path) {
    if (invocation->json) {
        json_t *document = json_pack("{s:s, s:I, s:I, s:I}", "file", path, "spans", (json_int_t) export->spans,
                                     "records", (json_int_t) export->records, "json_bytes", (json_int_t) export->bytes);
        CliExit exit_code = invocation_print(invocation, document, NULL, NULL);
        json_decref(document);
        return exit_code;
    }
    if (path == NULL) return CLI_OK;
    GString *text = g_string_new(NULL);
    g_autofree char *spans = show_count((double)export->spans, "span", "spans");
    g_autofree char *bytes = unit_bytes((double)export->bytes);
    g_autofree char *records = show_count((double)export->records, "record of Spark, ", "records of Spark, ");
    g_string_append_printf(text, "%s: %s, %s%s of JSON lines\n", path, spans, export->records > 0 ? records : "",
                           bytes);
    CliExit exit_code = invocation_print_text(invocation, text);
    g_string_free(text, TRUE);
    return exit_code;
}

static CliExit export_run(Invocation *invocation) {
    const char *path = option_text(invocation, "output");
    if (invocation->json && path == NULL)
        return invocation_usage(invocation, "--json reports on the file written: it needs --output FILE");
    GError *error = NULL;
    g_autoptr(OutFile) file = out_file_open(path, &error);
    if (file == NULL) return invocation_failed(invocation, error);
    if (path != NULL) {
        struct sigaction action = {.sa_handler = ask_to_stop};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    g_autoptr(OtlpLines) otlp = option_flag(invocation, "otlp") ? otlp_lines_new() : NULL;
    Export export = {.file = file, .progress = progress_start(&invocation->style, "exporting"), .otlp = otlp};
    gboolean done = export_all(invocation, &export, &error);
    progress_stop(export.progress);
    return done ? report(invocation, &export, path) : invocation_failed(invocation, error);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"otlp", OPTION_FLAG, NULL, NULL, "as OTLP JSON lines: each is a body of POST /v1/traces; without records of Spark",
     NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "write to this file, compressed when it ends in .gz or .zst", NULL},
    OPTION_THE_END,
};

const Command command_export = {
    .name = "export",
    .arguments = "",
    .summary = "every span back, as HTrace JSON lines",
    .about =
        "Writes every stored span as an HTrace 4 JSON line, to standard output or to a file, which appears under its\n"
        "name only when it is whole. After them come the records of Spark of that time, lines that begin with\n"
        "{\"spark\":. 'plumb import' of it gives the same applications and the same forest, but for which shapes are\n"
        "rare once there are more than 32,768 nodes of patterns: what comes first then gets a pattern of its own.",
    .example = "  plumb export --since 1h | head\n"
               "  plumb export --output spans.json.zst\n"
               "  plumb export --since 1h --otlp --output spans.otlp.json.zst\n"
               "  plumb export --store /var/lib/plumbline --output spans.json.gz\n",
    .options = options,
    .run = export_run,
};
