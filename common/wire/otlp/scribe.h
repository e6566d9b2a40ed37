/* Zipkin's spans of version 1, as HTrace's receiver for Zipkin and old reporters send them: Scribe's call Log (framed
 * Thrift) with one span to an entry, in Thrift's binary protocol and base64. A call becomes a batch. docs/ecosystem.md
 * says what becomes of each field.
 *
 * There a span has no begin and no end, but the moments at which its client sent (cs) and received (cr), and its server
 * received (sr) and sent (ss). Client and server of one call may share its id, as in version 2 (zipkin.h). A span that
 * has only the server's moments and no time stamp is such a server's: version 2 of Zipkin reads it so, too. */
#pragma once

#include "common/wire/message.h"
#include "common/wire/otlp/service_spans.h"

/* The arguments of Log into batch (cleared first). Errors: INPUT, LIMIT; the batch is then of no use. */
gboolean scribe_decode(ServiceSpans *spans, const WireHeader *header, SpanBatch *batch, GError **error);
