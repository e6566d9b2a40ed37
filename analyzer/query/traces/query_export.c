#include "analyzer/query/traces/query_export.h"

/* Every stored span of a period, oldest trace first, as HTrace JSON lines; then the records of Spark of that time. */
#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/store/store_skip.h"
#include "common/wire/json/record_json.h"
#include "common/wire/json/span_json.h"

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

/* ---- records of Spark ---- */

typedef struct RecordExport {
    Export *export;
    Archive *archive;
    const Period *period;
    SparkKind kind;
} RecordExport;

static gboolean export_record(void *arg, const void *record) {
    const RecordExport *records = arg;
    record_json_write(records->kind, record, records->export->text);
    if (records->export->text->len >= PIECE_BYTES) hand_over(records->export);
    return !records->export->stopped;
}

static gboolean export_kind(RecordExport *records, SparkKind kind, const char *owner, GError **error) {
    SparkSelect select = SPARK_SELECT(kind, owner);
    select.since_ns = MAX(records->period->since_ns, 0);
    select.until_ns = records->period->until_ns;
    records->kind = kind;
    g_autoptr(SparkRecords) texts = spark_records_new();
    return records->export->stopped ||
           archive_spark_visit(records->archive, &select, texts, (SparkVisitor){export_record, records}, error);
}

/* Has the application run in the period? One without an end, up to its last event; one of which no log was read is
 * taken for as old as what was written of it. */
static gboolean is_wanted(const RecordExport *records, const SparkOwner *owner, gboolean *wanted, GError **error) {
    const SparkSelect select = SPARK_SELECT(SPARK_APP, owner->name);
    g_autoptr(SparkRecords) apps = spark_records_new();
    if (!archive_spark_load(records->archive, &select, apps, error)) return FALSE;
    const SparkApp *app = apps->of[SPARK_APP]->len > 0 ? spark_app(apps, 0) : NULL;
    const gint64 begin_ms = app != NULL && app->start_ms >= 0 ? app->start_ms : owner->written_ms;
    const gint64 last_ms = app == NULL || app->last_event_ms < 0 ? begin_ms : app->last_event_ms;
    const gint64 end_ms = app != NULL && app->end_ms >= 0 ? app->end_ms : last_ms;
    *wanted = begin_ms < records->period->until_ns / NS_PER_MS && end_ms >= records->period->since_ns / NS_PER_MS;
    return TRUE;
}

static gboolean export_app(RecordExport *records, const SparkOwner *owner, GError **error) {
    gboolean wanted;
    if (!is_wanted(records, owner, &wanted, error)) return FALSE;
    for (guint kind = 0; wanted && kind < SPARK_KIND_COUNT; kind++) {
        if (spark_owner_kind((SparkKind)kind) != OWNER_APP || owner->records[kind] == 0) continue;
        if (!export_kind(records, (SparkKind)kind, owner->name, error)) return FALSE;
    }
    return TRUE;
}

static gboolean add_owner(void *arg, const SparkOwner *owner) {
    g_array_append_vals(arg, owner, 1);
    return TRUE;
}

static gboolean export_owners(RecordExport *records, OwnerKind kind, GError **error) {
    g_autoptr(SparkRecords) names = spark_records_new();
    g_autoptr(GArray) owners = g_array_new(FALSE, FALSE, sizeof(SparkOwner));
    if (!archive_spark_owners(records->archive, kind, names, (SparkOwnerVisitor){add_owner, owners}, error))
        return FALSE;
    for (guint i = 0; i < owners->len && !records->export->stopped; i++) {
        const SparkOwner *owner = &g_array_index(owners, SparkOwner, i);
        const gboolean done = kind == OWNER_APP ? export_app(records, owner, error)
                                                : export_kind(records, SPARK_SAMPLE, owner->name, error) &&
                                                      export_kind(records, SPARK_MARK, owner->name, error);
        if (!done) return FALSE;
    }
    return TRUE;
}

/* ---- all ---- */

static gboolean export_traces(Export *export, Archive *archive, const Period *period, GError **error) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(ArchiveScan) scan = archive_scan_new(archive, period->since_ns, period->until_ns, FALSE);
    g_autoptr(GError) failure = NULL;
    guint64 trace_id;
    TraceSummary summary;

    while (!export->stopped && archive_scan_next(scan, &trace_id, &summary, &failure)) {
        g_byte_array_set_size(spans, 0);
        if (!archive_scan_spans(scan, spans, error) ||
            !archive_dropped(archive, trace_id, &summary, &export->dropped, error)) {
            return FALSE;
        }
        export_spans(export, archive, spans, batch);
        while (!export->stopped && archive_scan_has_left(scan)) {
            if (!archive_scan_spans_left(scan, spans, error)) return FALSE;
            export_spans(export, archive, spans, batch);
        }
    }

    if (!failure) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

gboolean query_export(Archive *archive, const QueryParams *params, gint64 now_ns, const QuerySink *sink,
                      GError **error) {
    static const char *const allowed[] = {"since", "until", NULL};
    Period period;
    if (!params_check(params, "export", allowed, error) || !params_period(params, now_ns, &period, error)) return FALSE;
    g_autoptr(GString) text = g_string_sized_new(PIECE_BYTES + 4096);
    Export export = {sink, text, FALSE, 0};
    RecordExport records = {&export, archive, &period, SPARK_APP};
    store_skip_begin();
    const gboolean done = export_traces(&export, archive, &period, error) &&
                          export_owners(&records, OWNER_APP, error) && export_owners(&records, OWNER_HOST, error);
    const gboolean lacks = store_skip_end().skipped;
    hand_over(&export);
    if (done && lacks && !export.stopped)
        return fail(error, PLUMB_ERROR_CORRUPT,
                    "this is all that can be read: the rest lies in a table that cannot be read, which `plumb status` "
                    "names");
    return done;
}
