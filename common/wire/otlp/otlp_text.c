#include "common/wire/otlp/otlp_inside.h"

#include <math.h>
#include <string.h>

gboolean otlp_decode(ServiceSpans *spans, OtlpForm form, Bytes body, SpanBatch *batch, GError **error) {
    service_spans_begin(spans, batch, form == OTLP_JSON);
    if (form == OTLP_PROTOBUF)
        otlp_decode_proto(spans, body);
    else
        otlp_decode_json(spans, body);
    return service_spans_end(spans, error);
}

void otlp_put_text(GString *out, BatchString text) {
    g_string_append_c(out, '"');
    for (guint32 i = 0; i < text.length; i++) {
        const guint8 c = (guint8)text.data[i];
        if (c == '"' || c == '\\') g_string_append_c(out, '\\');
        if (c < ' ')
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_c(out, (char)c);
    }
    g_string_append_c(out, '"');
}

/* As few digits as give the number back. JSON has no word for what is none, so that is a text. */
void otlp_put_double(GString *out, double value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (!isfinite(value)) {
        g_string_append(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    g_ascii_formatd(text, sizeof text, "%.15g", value);
    if (g_ascii_strtod(text, NULL) != value) g_ascii_formatd(text, sizeof text, "%.17g", value);
    g_string_append(out, text);
}

const char *otlp_kind_name(guint64 kind) {
    static const char *const names[] = {NULL, "internal", "server", "client", "producer", "consumer"};
    return kind < G_N_ELEMENTS(names) ? names[kind] : NULL;
}

void otlp_say_status(ServiceSpans *spans, guint64 code, BatchString message) {
    enum { STATUS_OK = 1, STATUS_ERROR = 2 };
    if (code == STATUS_ERROR) service_span_say(spans, "error", batch_literal("true"));
    if (code == STATUS_ERROR || code == STATUS_OK)
        service_span_say(spans, "otel.status_code", batch_literal(code == STATUS_OK ? "OK" : "ERROR"));
    if (message.length > 0) service_span_say(spans, "otel.status_description", message);
}

void otlp_say_count(ServiceSpans *spans, const char *key, guint64 count) {
    char text[24];
    if (count == 0) return;
    const int length = g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, count);
    service_span_say(spans, key, service_text(spans, text, (gsize)length));
}

guint64 otlp_id(const guint8 *bytes) {
    guint64 big;
    memcpy(&big, bytes, sizeof big);
    return GUINT64_FROM_BE(big);
}
