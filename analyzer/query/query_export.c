/* Every stored span of a period, oldest trace first, as HTrace JSON lines. */
#include "analyzer/query/question.h"
#include "analyzer/query/trace_view.h"
#include "common/wire/span_json.h"

#define PIECE_BYTES (64u * 1024)

typedef struct Export {
    const QuerySink *sink;
    GString *text;
    gboolean stopped; /* by the consumer */
    guint32 dropped;  /* DroppedColumns of the record at hand */
} Export;

static void hand_over(Export *export) {
    if (export->text->len == 0 || export->stopped) return;
    export->stopped = !export->sink->write(export->sink->arg, (Bytes){export->text->str, export->text->len});
    g_string_truncate(export->text, 0);
}

/* What the line's span has lost by choice, as one more key, which readers of such lines ignore. */
static void mark_line(GString *text, guint32 dropped) {
    static const char *const marks[] = {
        "",          "\"ids\"",           "\"annotations\"",           "\"ids\",\"annotations\"",
        "\"notes\"", "\"ids\",\"notes\"", "\"annotations\",\"notes\"", "\"ids\",\"annotations\",\"notes\""};
    g_assert(g_str_has_suffix(text->str, "}\n"));
    g_string_truncate(text, text->len - 2);
    g_string_append_printf(text, ",\"dropped\":[%s]}\n", marks[dropped & (G_N_ELEMENTS(marks) - 1)]);
}

/* One span at a time goes through the batch, so that a trace of millions needs no second copy in memory. */
static void export_spans(Export *export, Archive *archive, const GByteArray *spans, SpanBatch *batch) {
    const SpanRec *span;
    for (gsize at = 0; !export->stopped && (span = spans_next(spans, &at)) != NULL;) {
        batch_clear(batch);
        query_span_to_batch(archive, span, batch);
        span_json_write(batch, 0, export->text);
        if (export->dropped != 0) mark_line(export->text, export->dropped);
        if (export->text->len >= PIECE_BYTES) hand_over(export);
    }
}

gboolean query_export(Archive *archive, const QueryParams *params, gint64 now_ns, const QuerySink *sink,
                      GError **error) {
    static const char *const allowed[] = {"since", "until", NULL};
    Period period;
    if (!params_check(params, "export", allowed, error) || !params_period(params, now_ns, &period, error)) return FALSE;
    g_autoptr(GString) text = g_string_sized_new(PIECE_BYTES + 4096);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(ArchiveScan) scan = archive_scan_new(archive, period.since_ns, period.until_ns, FALSE);
    g_autoptr(GError) failure = NULL;
    Export export = {sink, text, FALSE, 0};
    guint64 trace_id;
    TraceSummary summary;
    while (!export.stopped && archive_scan_next(scan, &trace_id, &summary, &failure)) {
        g_byte_array_set_size(spans, 0);
        if (!archive_scan_spans(scan, spans, error) ||
            !archive_dropped(archive, trace_id, &summary, &export.dropped, error)) {
            return FALSE;
        }
        export_spans(&export, archive, spans, batch);
    }
    hand_over(&export);
    if (!failure) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}
