#include <signal.h>
#include <string.h>

#include "analyzer/commands.h"
#include "analyzer/option_sets.h"
#include "analyzer/out/progress.h"
#include "analyzer/out/units.h"
#include "analyzer/out_file.h"
#include "common/base/error.h"

/* Set by SIGINT and SIGTERM, so that the temporary file is taken away. */
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

typedef struct Export {
    OutFile *file;
    Progress *progress;
    guint64 spans, bytes;
} Export;

static gboolean write_piece(void *arg, Bytes piece, GError **error) {
    Export *export = arg;
    if (stop_asked) return fail(error, PLUMB_ERROR_IO, "stopped; nothing was kept");
    const char *at = piece.data, *end = at + piece.size_bytes;
    while (at < end && (at = memchr(at, '\n', (gsize)(end - at))) != NULL) {
        export->spans++;
        at++;
    }
    export->bytes += piece.size_bytes;
    progress_update(export->progress, export->spans, 0, "spans");
    return out_file_write(export->file, piece, error);
}

static gboolean export_all(const Invocation *invocation, Export *export, GError **error) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "export");
    g_autoptr(Source) source = source_open(&invocation->source, error);
    SourceSink sink = {write_piece, export};
    return source != NULL && source_export(source, ask, &sink, error) && out_file_finish(export->file, error);
}

static CliExit report(const Invocation *invocation, const Export *export, const char *path) {
    if (invocation->json) {
        json_t *document = json_pack("{s:s, s:I, s:I}", "file", path, "spans", (json_int_t) export->spans, "json_bytes",
                                     (json_int_t) export->bytes);
        CliExit exit_code = invocation_print(invocation, document, NULL, NULL);
        json_decref(document);
        return exit_code;
    }
    if (path == NULL) return CLI_OK;
    GString *text = g_string_new(NULL);
    g_autofree char *spans = show_count((double)export->spans, "span", "spans");
    g_autofree char *bytes = unit_bytes((double)export->bytes);
    g_string_append_printf(text, "%s: %s, %s of JSON lines\n", path, spans, bytes);
    CliExit exit_code = invocation_print_text(invocation, text);
    g_string_free(text, TRUE);
    return exit_code;
}

static CliExit run(Invocation *invocation) {
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
    Export export = {.file = file, .progress = progress_start(&invocation->style, "exporting")};
    gboolean done = export_all(invocation, &export, &error);
    progress_stop(export.progress);
    return done ? report(invocation, &export, path) : invocation_failed(invocation, error);
}

static const Option options[] = {
    OPTION_PERIOD,
    {"output", OPTION_TEXT, "FILE", NULL, "write to this file, compressed when it ends in .gz or .zst", NULL},
    OPTION_THE_END,
};

const Command command_export = {
    .name = "export",
    .arguments = "",
    .summary = "every span back, as HTrace JSON lines",
    .about =
        "Writes every stored span as an HTrace 4 JSON line, to standard output or to a file, which appears under its\n"
        "name only when it is whole. 'plumb import' of it gives the same forest.",
    .example = "  plumb export --since 1h | head\n"
               "  plumb export --output spans.json.zst\n"
               "  plumb export --store /var/lib/plumbline --output spans.json.gz\n",
    .options = options,
    .run = run,
};
