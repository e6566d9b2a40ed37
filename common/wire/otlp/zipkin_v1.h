/* Zipkin's spans of version 1 in Thrift's binary protocol, as HTrace's receiver for Zipkin and old reporters write
 * them: by Scribe (scribe.h), or as messages of a topic of Kafka. docs/ecosystem.md says what becomes of each field.
 *
 * There a span has no begin and no end, but the moments at which its client sent (cs) and received (cr), and its server
 * received (sr) and sent (ss). Client and server of one call may share its id, as in version 2 (zipkin.h). A span that
 * has only the server's moments and no time stamp is such a server's: version 2 of Zipkin reads it so, too. */
#pragma once

#include "common/wire/otlp/service_spans.h"

/* Who was there when something was noted. */
typedef struct V1Endpoint {
    guint32 ipv4; /* 0: none */
    BatchString ipv6, service;
} V1Endpoint;

/* Where the span before was, so that a process is told once for its spans in a row. {0} before the first. */
typedef struct V1Place {
    gboolean known;
    V1Endpoint at;
} V1Place;

/* The span at the begin of bytes, into the batch of 'spans'. How many bytes it took; 0 after a fault (INPUT, LIMIT). */
gsize zipkin_v1_span(ServiceSpans *spans, Bytes bytes, V1Place *place);
/* Messages into batch (cleared first), whose texts point into them. A message is one span, or a list of spans. Errors:
 * INPUT, LIMIT; the batch is then of no use. */
gboolean zipkin_v1_decode(ServiceSpans *spans, const Bytes *messages, guint n, SpanBatch *batch, GError **error);
