#include "common/wire/otlp/zipkin.h"

#include <jansson.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/base/mix64.h"
#include "common/wire/otlp/otlp_inside.h"

#define NS_PER_MICROSECOND 1000u

static BatchString text_of(const json_t *value) {
    if (!json_is_string(value)) return batch_literal("");
    return (BatchString){json_string_value(value), (guint32)MIN(json_string_length(value), LIMIT_FRAME_BYTES)};
}

static BatchString text_in(const json_t *object, const char *key) { return text_of(json_object_get(object, key)); }

/* Microseconds; absent: 0. Past what 64 bits hold it is out of range, and the span is refused alone. */
static guint64 time_in(ServiceSpans *spans, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (value == NULL || json_is_null(value)) return 0;
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        service_fault(spans, PLUMB_ERROR_INPUT, "a time of Zipkin must be a whole number of microseconds");
        return 0;
    }
    const guint64 us = (guint64)json_integer_value(value);
    return us > G_MAXINT64 / NS_PER_MICROSECOND ? (guint64)G_MAXINT64 : us * NS_PER_MICROSECOND;
}

/* 1 to 'most' hexadecimal digits; FALSE: it is none. */
static gboolean id_in(const json_t *object, const char *key, gsize most, guint64 *high, guint64 *low) {
    const BatchString text = text_in(object, key);
    if (text.length == 0 || text.length > most || strspn(text.data, "0123456789abcdefABCDEF") != text.length)
        return FALSE;
    char digits[17] = "";
    const gsize of_high = text.length > 16 ? text.length - 16 : 0;
    memcpy(digits, text.data, of_high);
    *high = g_ascii_strtoull(digits, NULL, 16);
    *low = g_ascii_strtoull(text.data + of_high, NULL, 16);
    return TRUE;
}

static BatchString address_of(const json_t *endpoint) {
    const BatchString address = text_in(endpoint, "ipv4");
    return address.length > 0 ? address : text_in(endpoint, "ipv6");
}

static void begin_service(ServiceSpans *spans, const json_t *endpoint) {
    service_begin(spans);
    const BatchString name = text_in(endpoint, "serviceName"), address = address_of(endpoint);
    if (name.length > 0) service_attribute(spans, batch_literal("service.name"), name);
    if (address.length > 0) service_attribute(spans, batch_literal("host.name"), address);
}

static void say_kind(ServiceSpans *spans, const json_t *object) {
    static const char *const kinds[] = {"client", "server", "producer", "consumer"};
    const BatchString kind = text_in(object, "kind");
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kind.length == strlen(kinds[i]) && g_ascii_strncasecmp(kind.data, kinds[i], kind.length) == 0)
            service_span_say(spans, "span.kind", batch_literal(kinds[i]));
}

static void say_peer(ServiceSpans *spans, const json_t *endpoint) {
    const BatchString name = text_in(endpoint, "serviceName"), address = address_of(endpoint);
    if (name.length > 0) service_span_say(spans, "peer.service", name);
    if (address.length > 0) service_span_say(spans, "peer.address", address);
}

static void take_ids(const json_t *object, ServiceSpan *span) {
    guint64 none, id = 0;
    const gboolean good =
        id_in(object, "traceId", 32, &span->trace_high, &span->trace) && id_in(object, "id", 16, &none, &id);
    id_in(object, "parentId", 16, &none, &span->parent);
    span->span = good ? id : 0;
    if (!good || !json_is_true(json_object_get(object, "shared"))) return;
    span->parent = id;
    span->span = mix64(id + MIX64_GOLDEN);
}

static void read_span(ServiceSpans *spans, const json_t *object) {
    service_span_begin(spans);
    if (!service_is_good(spans)) return;
    ServiceSpan span = {.name = text_in(object, "name")};
    take_ids(object, &span);
    span.begin_ns = time_in(spans, object, "timestamp");
    span.end_ns = span.begin_ns + MIN(time_in(spans, object, "duration"), (guint64)G_MAXINT64);
    say_kind(spans, object);
    say_peer(spans, json_object_get(object, "remoteEndpoint"));

    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(object, "tags"), key, value) {
        if (!service_is_good(spans)) return;
        service_span_attribute(spans, batch_literal(key), text_of(value));
    }

    size_t i;
    json_array_foreach(json_object_get(object, "annotations"), i, value) {
        const guint64 time_ns = time_in(spans, value, "timestamp");
        if (!service_is_good(spans)) return;
        service_span_event(spans, time_ns, text_in(value, "value"));
    }
    service_span_end(spans, &span);
}

static gboolean read_list(ServiceSpans *spans, Bytes body) {
    json_error_t why;
    if (body.size_bytes > LIMIT_JSON_BYTES)
        return service_fault(spans, PLUMB_ERROR_LIMIT, "JSON may have 8 MiB: send fewer spans at a time");
    json_auto_t *list = json_loadb(body.data, body.size_bytes, JSON_ALLOW_NUL, &why);
    if (!json_is_array(list)) return service_fault(spans, PLUMB_ERROR_INPUT, "the body is no JSON list of spans");

    const json_t *last = NULL, *span;
    size_t i;
    json_array_foreach(list, i, span) {
        /* Spans of one reporter are mostly of one service. */
        const json_t *endpoint = json_object_get(span, "localEndpoint");
        if (i == 0 || !(endpoint == last || json_equal(endpoint, last))) begin_service(spans, endpoint);
        last = endpoint;
        if (service_is_good(spans)) read_span(spans, span);
    }
    return service_is_good(spans);
}

gboolean zipkin_decode(ServiceSpans *spans, Bytes body, SpanBatch *batch, GError **error) {
    service_spans_begin(spans, batch, TRUE);
    read_list(spans, body);
    return service_spans_end(spans, error);
}
