/* Zipkin's spans, version 2, as its reporters send them: a JSON list becomes a batch. docs/ecosystem.md says what
 * becomes of each field.
 *
 * In Zipkin, client and server of one call may share a span's id ("shared"). Here an id is one span's: the server's
 * gets another one, made of the client's, which is its parent. */
#pragma once

#include "common/wire/otlp/service_spans.h"

/* Into batch (cleared first). Errors: INPUT, LIMIT; the batch is then of no use. */
gboolean zipkin_decode(ServiceSpans *spans, Bytes body, SpanBatch *batch, GError **error);
