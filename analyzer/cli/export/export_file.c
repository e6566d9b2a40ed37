#include "analyzer/cli/export/export_file.h"

#include "analyzer/cli/export/chosen.h"
#include "analyzer/cli/export/line_counts.h"
#include "analyzer/cli/export/otlp_lines.h"
#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/format/progress.h"
#include "analyzer/cli/format/units.h"
#include "common/base/error.h"

typedef struct Export {
    const volatile sig_atomic_t *stop;
    OutFile *file;
    Source *source;
    Progress *progress;
    LineCounts counts;
    guint64 bytes;
    OtlpLines *otlp; /* NULL: JSON lines of HTrace are wanted */
} Export;

static gboolean put(Export *export, Bytes bytes, GError **error) {
    if (*export->stop) return fail(error, PLUMB_ERROR_IO, "stopped; nothing was kept");
    progress_update(export->progress, export->counts.spans, 0, "spans");
    export->bytes += bytes.size_bytes;
    return bytes.size_bytes == 0 || out_file_write(export->file, bytes, error);
}

static gboolean write_piece(void *arg, Bytes piece, GError **error) {
    Export *export = arg;
    line_counts_add(&export->counts, piece);
    if (export->otlp == NULL) return put(export, piece, error);
    g_autoptr(GString) text = g_string_new(NULL);
    otlp_lines_feed(export->otlp, piece, text);
    return put(export, (Bytes){text->str, text->len}, error);
}

static gboolean write_rest(Export *export, GError **error) {
    if (export->otlp == NULL) return TRUE;
    g_autoptr(GString) text = g_string_new(NULL);
    otlp_lines_finish(export->otlp, text);
    export->counts.records = 0; /* they have no such form */
    return put(export, (Bytes){text->str, text->len}, error);
}

static gboolean write_spans(void *arg, const json_t *document, GError **error) {
    Export *export = arg;
    if (chosen_is_cut(document)) return chosen_fail_cut(document, error);
    g_autoptr(GString) text = g_string_new(NULL);
    export->counts.spans += json_array_size(field_list(document, "spans"));
    for (gsize at = 0; otlp_lines_add(export->otlp, document, &at, text);) {
    }
    return put(export, (Bytes){text->str, text->len}, error);
}

static gboolean write_trace(void *arg, const json_t *row, GError **error) {
    Export *export = arg;
    const ChosenSpans spans = {write_spans, export};
    return chosen_load(export->source, field_text(row, "trace"), &spans, error);
}

static gboolean export_all(const Invocation *invocation, Export *export, GError **error) {
    g_autoptr(Source) source = source_open(&invocation->source, error);
    if (source == NULL) return FALSE;
    export->source = source;
    const ChosenVisitor visitor = {write_trace, export};
    const SourceSink sink = {write_piece, export};
    g_autoptr(Ask) ask = invocation_ask(invocation, "export");
    const gboolean written = chosen_is_asked(invocation) ? chosen_visit(invocation, source, NULL, &visitor, error)
                                                         : source_export(source, ask, &sink, error);
    return written && write_rest(export, error) && out_file_finish(export->file, error);
}

static CliExit report(const Invocation *invocation, const Export *export, const char *path) {
    const LineCounts *counts = &export->counts;
    if (invocation->json) {
        json_t *document = json_pack("{s:s, s:I, s:I, s:I}", "file", path, "spans", (json_int_t)counts->spans,
                                     "records", (json_int_t)counts->records, "json_bytes", (json_int_t) export->bytes);
        CliExit exit_code = invocation_print(invocation, document, NULL, NULL);
        json_decref(document);
        return exit_code;
    }
    if (path == NULL) return CLI_OK;
    GString *text = g_string_new(NULL);
    g_autofree char *spans = show_count((double)counts->spans, "span", "spans");
    g_autofree char *bytes = unit_bytes((double)export->bytes);
    g_autofree char *records = show_count((double)counts->records, "record of Spark, ", "records of Spark, ");
    g_string_append_printf(text, "%s: %s, %s%s of JSON lines\n", path, spans, counts->records > 0 ? records : "",
                           bytes);
    CliExit exit_code = invocation_print_text(invocation, text);
    g_string_free(text, TRUE);
    return exit_code;
}

CliExit export_to_file(const Invocation *invocation, const volatile sig_atomic_t *stop) {
    const char *path = option_text(invocation, "output");
    GError *error = NULL;
    g_autoptr(OutFile) file = out_file_open(path, &error);
    if (file == NULL) return invocation_failed(invocation, error);
    g_autoptr(OtlpLines) otlp = option_flag(invocation, "otlp") ? otlp_lines_new() : NULL;
    Export export = {
        .stop = stop, .file = file, .progress = progress_start(&invocation->style, "exporting"), .otlp = otlp};
    gboolean done = export_all(invocation, &export, &error);
    progress_stop(export.progress);
    return done ? report(invocation, &export, path) : invocation_failed(invocation, error);
}
