/* Scribe's call Log (framed Thrift), with one span of Zipkin's version 1 (zipkin_v1.h) to an entry, in base64. A call
 * becomes a batch. */
#pragma once

#include "common/wire/message.h"
#include "common/wire/otlp/service_spans.h"

/* The arguments of Log into batch (cleared first). Errors: INPUT, LIMIT; the batch is then of no use. */
gboolean scribe_decode(ServiceSpans *spans, const WireHeader *header, SpanBatch *batch, GError **error);
