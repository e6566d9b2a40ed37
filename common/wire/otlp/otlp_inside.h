/* What the readers of both forms share. Private to this folder. */
#pragma once

#include "common/wire/otlp/otlp.h"

gboolean otlp_decode_proto(ServiceSpans *spans, Bytes body);
gboolean otlp_decode_json(ServiceSpans *spans, Bytes body);

/* JSON of texts and numbers, written as it is read. */
void otlp_put_text(GString *out, BatchString text);
void otlp_put_double(GString *out, double value);
/* Of the words of OpenTelemetry's enums; NULL: says nothing. */
const char *otlp_kind_name(guint64 kind);
void otlp_say_status(ServiceSpans *spans, guint64 code, BatchString message);
void otlp_say_count(ServiceSpans *spans, const char *key, guint64 count);
/* Bytes of an id, in the order of the wire. */
guint64 otlp_id(const guint8 *bytes);
