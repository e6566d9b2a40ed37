/* OpenTelemetry's protocol over HTTP (OTLP 1.x, traces): an ExportTraceServiceRequest becomes a batch, and what it is
 * answered. docs/ecosystem.md says what becomes of each field; service_spans.h what both forms share.
 *
 * Protobuf is read in one pass and in place, by a reader of these few messages: Debian's libraries that know the format
 * build a tree of the whole body first, one allocation for each message and text, and are several times slower
 * (docs/experiments.md). JSON is read with jansson, for what is small or made by hand. */
#pragma once

#include "common/wire/otlp/service_spans.h"

/* Nesting of a value in lists and maps. */
#define OTLP_DEPTH 32u

typedef enum { OTLP_PROTOBUF, OTLP_JSON } OtlpForm;

/* Into batch (cleared first), whose texts then point into the body (protobuf). Errors: INPUT, LIMIT; the batch is
 * then of no use. */
gboolean otlp_decode(ServiceSpans *spans, OtlpForm form, Bytes body, SpanBatch *batch, GError **error);

/* The answer to what was taken: an ExportTraceServiceResponse, with a partial success when 'rejected' or a message says
 * so. */
GBytes *otlp_response(OtlpForm form, guint32 rejected, const char *message);
/* The answer to what was not: google.rpc.Status. */
GBytes *otlp_error(OtlpForm form, int code, const char *message);
const char *otlp_content_type(OtlpForm form);
/* google.rpc.Code: what a status of HTTP is there. */
int otlp_code_of_http(int http);
