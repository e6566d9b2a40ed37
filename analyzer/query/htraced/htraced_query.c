/* Spans by predicates, trace by trace: oldest first, or newest first where the first predicate is "le". */
#include <string.h>

#include "analyzer/archive/read/scan.h"
#include "analyzer/query/htraced/htraced_inside.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/allowance.h"

#define DEFAULT_LIMIT 100

typedef struct SpanQuery {
    Archive *archive;
    HtracedPredicates predicates;
    gint64 limit;
    SpanId after;   /* answers go on behind this span; (0,0): they begin */
    gboolean waits; /* for that span */
    SpanBatch *batch;
    json_t *spans;
} SpanQuery;

static gboolean parse_after(const json_t *span, SpanQuery *query, GError **error) {
    if (span == NULL || json_is_null(span)) return TRUE;
    const char *id = json_string_value(json_object_get(span, "a"));
    if (id == NULL || !span_id_parse(id, strlen(id), &query->after))
        return fail(error, PLUMB_ERROR_INPUT, "query: \"prev\" is a span, with its id in \"a\"");
    query->waits = TRUE;
    return TRUE;
}

static gboolean parse_query(const char *text, SpanQuery *query, GError **error) {
    json_error_t why;
    json_auto_t *object = text != NULL ? json_loads(text, 0, &why) : NULL;
    if (!json_is_object(object))
        return fail(error, PLUMB_ERROR_INPUT, "parameter 'query' is required: {\"pred\": [...], \"lim\": 20}");
    const json_t *limit = json_object_get(object, "lim");
    if (limit != NULL && !json_is_integer(limit))
        return fail(error, PLUMB_ERROR_INPUT, "query: \"lim\" is a whole number");
    query->limit = limit != NULL ? CLAMP(json_integer_value(limit), 0, HTRACED_SPANS_MOST) : DEFAULT_LIMIT;
    return parse_after(json_object_get(object, "prev"), query, error) &&
           htraced_predicates_parse(json_object_get(object, "pred"), &query->predicates, error);
}

static gboolean wants_more(const SpanQuery *query) { return (gint64)json_array_size(query->spans) < query->limit; }

static void look_at_spans(SpanQuery *query, const GByteArray *spans) {
    const SpanRec *span;
    for (gsize at = 0;
         (span = spans_next(spans, &at)) != NULL && wants_more(query) && allowance_goes_on_with(span->size_bytes);) {
        if (query->waits) {
            query->waits = !span_id_equal(span->id, query->after);
            continue;
        }
        batch_clear(query->batch);
        query_span_to_batch(query->archive, span, query->batch);
        if (htraced_fits(&query->predicates, query->batch, batch_span(query->batch, 0)))
            json_array_append_new(query->spans, htraced_span(query->archive, span, query->batch));
    }
}

/* Spans of the record at hand. */
static gboolean look_at_record(SpanQuery *query, ArchiveScan *scan, GByteArray *spans, GError **error) {
    g_byte_array_set_size(spans, 0);
    if (!archive_scan_spans(scan, spans, error)) return FALSE;
    look_at_spans(query, spans);
    while (wants_more(query) && archive_scan_has_left(scan)) {
        if (!archive_scan_spans_left(scan, spans, error)) return FALSE;
        look_at_spans(query, spans);
    }
    return TRUE;
}

static gboolean may_fit(const SpanQuery *query, guint64 trace_id, const TraceSummary *summary) {
    if (query->waits) return query->after.trace == trace_id;
    return htraced_may_fit(&query->predicates, trace_id, summary->begin_ns, summary->end_ns);
}

static gboolean look_at_all(SpanQuery *query, GError **error) {
    g_autoptr(ArchiveScan) scan =
        archive_scan_new(query->archive, G_MININT64, G_MAXINT64, query->predicates.newest_first);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) failure = NULL;
    guint64 trace_id;
    TraceSummary summary;
    while (wants_more(query) && archive_scan_next(scan, &trace_id, &summary, &failure)) {
        if (!may_fit(query, trace_id, &summary)) continue;
        if (!look_at_record(query, scan, spans, error)) return FALSE;
    }
    if (failure == NULL) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

json_t *htraced_query(const Asked *asked, GError **error) {
    SpanQuery query = {.archive = asked->archive};
    if (!parse_query(params_text(asked->params, "query"), &query, error)) return NULL;
    query.batch = batch_new();
    query.spans = json_array();
    if (!look_at_all(&query, error)) g_clear_pointer(&query.spans, json_decref);
    htraced_predicates_clear(&query.predicates);
    batch_free(query.batch);
    return query.spans;
}
