#include "tests/wire/otlp_bodies.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/base/mix64.h"

#define TRACE_SPANS 20u

void otlp_put_number(GByteArray *out, guint field, guint64 value) {
    append_varint(out, field << 3);
    append_varint(out, value);
}

void otlp_put_fixed64(GByteArray *out, guint field, guint64 value) {
    const guint64 little = GUINT64_TO_LE(value);
    append_varint(out, field << 3 | 1);
    append_bytes(out, &little, sizeof little);
}

void otlp_put_bytes(GByteArray *out, guint field, const void *data, gsize length) {
    append_varint(out, field << 3 | 2);
    append_varint(out, length);
    append_bytes(out, data, length);
}

void otlp_put_string(GByteArray *out, guint field, const char *text) { otlp_put_bytes(out, field, text, strlen(text)); }

void otlp_put_message(GByteArray *out, guint field, GByteArray *message) {
    otlp_put_bytes(out, field, message->data, message->len);
    g_byte_array_unref(message);
}

static void put_pair(GByteArray *out, guint field, const char *key, GByteArray *value) {
    GByteArray *pair = g_byte_array_new();
    otlp_put_string(pair, 1, key);
    otlp_put_message(pair, 2, value);
    otlp_put_message(out, field, pair);
}

void otlp_put_attribute(GByteArray *out, guint field, const char *key, const char *value) {
    GByteArray *any = g_byte_array_new();
    otlp_put_string(any, 1, value);
    put_pair(out, field, key, any);
}

void otlp_put_int_attribute(GByteArray *out, guint field, const char *key, gint64 value) {
    GByteArray *any = g_byte_array_new();
    otlp_put_number(any, 3, (guint64)value);
    put_pair(out, field, key, any);
}

void otlp_put_span_head(GByteArray *out, const OtlpSpan *span) {
    const guint64 trace[2] = {GUINT64_TO_BE(span->trace_high), GUINT64_TO_BE(span->trace)};
    const guint64 id = GUINT64_TO_BE(span->span), parent = GUINT64_TO_BE(span->parent);
    otlp_put_bytes(out, 1, trace, sizeof trace);
    otlp_put_bytes(out, 2, &id, sizeof id);
    if (span->parent != 0) otlp_put_bytes(out, 4, &parent, sizeof parent);
    otlp_put_string(out, 5, span->name);
    otlp_put_number(out, 6, 2);
    otlp_put_fixed64(out, 7, span->begin_ns);
    otlp_put_fixed64(out, 8, span->end_ns);
}

static GByteArray *resource(void) {
    GByteArray *out = g_byte_array_new();
    otlp_put_attribute(out, 1, "telemetry.sdk.language", "python");
    otlp_put_attribute(out, 1, "telemetry.sdk.name", "opentelemetry");
    otlp_put_attribute(out, 1, "telemetry.sdk.version", "1.30.0");
    otlp_put_attribute(out, 1, "service.name", "checkout");
    otlp_put_attribute(out, 1, "deployment.environment", "production");
    otlp_put_attribute(out, 1, "host.name", "web-17.example.org");
    otlp_put_int_attribute(out, 1, "process.pid", 4711);
    return out;
}

static GByteArray *web_span(guint64 number, guint i) {
    static const char *const names[] = {"GET /cart", "SELECT shop.items", "redis GET", "charge card"};
    g_autofree char *url = g_strdup_printf("/cart/%u", (guint)(mix64(number) % 100000));
    const guint64 trace = number - i % TRACE_SPANS;
    const OtlpSpan span = {
        .trace_high = mix64(trace + 7),
        .trace = mix64(trace),
        .span = mix64(number + (G_GUINT64_CONSTANT(1) << 32)),
        .parent = i % TRACE_SPANS == 0 ? 0 : mix64(number - 1 + (G_GUINT64_CONSTANT(1) << 32)),
        .name = names[i % G_N_ELEMENTS(names)],
        .begin_ns = G_GUINT64_CONSTANT(1605956000000000000) + number * 1000,
        .end_ns = G_GUINT64_CONSTANT(1605956000010000000) + number * 1000 + mix64(number) % 1000000,
    };
    GByteArray *out = g_byte_array_new();
    otlp_put_span_head(out, &span);
    otlp_put_attribute(out, 9, "http.request.method", "GET");
    otlp_put_attribute(out, 9, "url.path", url);
    otlp_put_attribute(out, 9, "url.scheme", "https");
    otlp_put_int_attribute(out, 9, "http.response.status_code", 200);
    otlp_put_attribute(out, 9, "server.address", "shop.example.org");
    otlp_put_int_attribute(out, 9, "server.port", 443);
    otlp_put_attribute(out, 9, "user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0)");
    otlp_put_int_attribute(out, 9, "thread.id", (gint64)(mix64(number) % 64));
    return out;
}

GByteArray *otlp_body(guint number, guint spans) {
    GByteArray *scoped = g_byte_array_new(), *scope = g_byte_array_new(), *of_resource = g_byte_array_new();
    otlp_put_string(scope, 1, "opentelemetry.instrumentation.wsgi");
    otlp_put_string(scope, 2, "0.51b0");
    otlp_put_message(scoped, 1, scope);
    for (guint i = 0; i < spans; i++) otlp_put_message(scoped, 2, web_span((guint64)number * spans + i, i));
    otlp_put_message(of_resource, 1, resource());
    otlp_put_message(of_resource, 2, scoped);
    GByteArray *out = g_byte_array_new();
    otlp_put_message(out, 1, of_resource);
    return out;
}
