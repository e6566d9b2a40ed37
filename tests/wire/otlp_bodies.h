/* Bodies of OTLP in protobuf, written from its description alone: for tests, seeds and measurements. */
#pragma once

#include <glib.h>

/* Fields of a message, behind what is in 'out'. */
void otlp_put_number(GByteArray *out, guint field, guint64 value);
void otlp_put_fixed64(GByteArray *out, guint field, guint64 value);
void otlp_put_bytes(GByteArray *out, guint field, const void *data, gsize length);
void otlp_put_string(GByteArray *out, guint field, const char *text);
/* The message is freed. */
void otlp_put_message(GByteArray *out, guint field, GByteArray *message);
/* KeyValues of a text and of a whole number, as that field of 'out'. */
void otlp_put_attribute(GByteArray *out, guint field, const char *key, const char *value);
void otlp_put_int_attribute(GByteArray *out, guint field, const char *key, gint64 value);

/* A span's ids and times; 'out' is its message. */
typedef struct OtlpSpan {
    guint64 trace_high, trace, span, parent; /* parent 0: none */
    const char *name;
    guint64 begin_ns, end_ns;
} OtlpSpan;
void otlp_put_span_head(GByteArray *out, const OtlpSpan *span);

/* A body as a web application's SDK sends it: so many spans of traces of 20, each span with 8 attributes, of a service
 * whose resource has 7. Ids depend on 'number' alone. */
GByteArray *otlp_body(guint number, guint spans);
