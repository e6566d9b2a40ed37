/* Spans of services, as other tracers describe them, become a batch. What a service says of itself once (resource,
 * scope) comes first, then its spans; the readers of each format call this in that order.
 *
 *   trace id   the lower 64 bits are the batch's; the upper ones, where there are any, stand in the annotation
 *              "trace_id.high" of the first span of each trace that a service sends in one body
 *   process    "service/host/pid" as far as they are known; a / in the service becomes a division slash (U+2215)
 *   function   "service: name", so that equal names of two services are two functions; the name alone for the roles of
 *              HDFS (model/role.h)
 *   resource   annotations "resource.KEY" of the same first spans: enough to find the trace, and no byte per span
 *   the rest   annotations named as OpenTelemetry names them where it maps to tracers without such fields: "span.kind",
 *              "error", "otel.status_code", "otel.scope.name", ...; links: "link"; events: notes
 *
 * Text that is longer than base/limits.h allows is cut, text that is not UTF-8 is mended, annotations beyond the limit
 * of a span are left out: each is counted in 'cut'. So is nothing of a body lost because of one value. What would make
 * a batch too large is a fault, and the body is refused. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/model/batch.h"

/* Texts of one batch, each as often as a span refers to it. */
#define SERVICE_TEXT_BYTES LIMIT_FRAME_BYTES
/* Keys of annotations that are read again. */
#define SERVICE_TRACE_HIGH "trace_id.high"
#define SERVICE_LINK       "link"

typedef struct ServiceSpans ServiceSpans;
ServiceSpans *service_spans_new(void);
void service_spans_free(ServiceSpans *spans);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ServiceSpans, service_spans_free)

/* A new body. copies: texts do not outlive it, so they are copied into the batch; else they point into it. The batch is
 * cleared. */
void service_spans_begin(ServiceSpans *spans, SpanBatch *batch, gboolean copies);
/* FALSE with *error (INPUT, LIMIT) after a fault; the batch is then of no use. */
gboolean service_spans_end(const ServiceSpans *spans, GError **error);
/* How many texts of the body were cut, mended or left out. */
guint32 service_spans_cut(const ServiceSpans *spans);
/* Ends the body. Always FALSE; the first fault stays. */
gboolean service_fault(ServiceSpans *spans, PlumbError code, const char *what);
gboolean service_is_good(const ServiceSpans *spans);

/* The next service; its attributes follow. */
void service_begin(ServiceSpans *spans);
void service_attribute(ServiceSpans *spans, BatchString key, BatchString value);
void service_scope(ServiceSpans *spans, BatchString name, BatchString version);

/* One span: begin, its annotations and notes, end. */
typedef struct ServiceSpan {
    guint64 trace_high, trace;
    guint64 span;   /* 0: the span has no valid id, and is refused alone */
    guint64 parent; /* 0: none */
    guint64 begin_ns, end_ns;
    BatchString name;
} ServiceSpan;
void service_span_begin(ServiceSpans *spans);
void service_span_attribute(ServiceSpans *spans, BatchString key, BatchString value);
/* The key is a word of ours. */
void service_span_say(ServiceSpans *spans, const char *key, BatchString value);
void service_span_event(ServiceSpans *spans, guint64 time_ns, BatchString text);
void service_span_end(ServiceSpans *spans, const ServiceSpan *span);

/* A copy that lasts as long as the batch. */
BatchString service_text(ServiceSpans *spans, const char *data, gsize length);
BatchString service_digits(ServiceSpans *spans, gint64 number);
static inline gboolean batch_text_is(BatchString text, const char *word) {
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}
static inline BatchString batch_literal(const char *text) { return (BatchString){text, (guint32)strlen(text)}; }
