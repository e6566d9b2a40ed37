/* OTLP's JSON: protobuf's, but that ids are in hexadecimal digits and enums are numbers. 64-bit numbers are decimal
 * texts; numbers are taken, too. Keys that are not known here are left out. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/otlp/otlp_inside.h"

static BatchString text_of(const json_t *value) {
    if (!json_is_string(value)) return batch_literal("");
    return (BatchString){json_string_value(value), (guint32)MIN(json_string_length(value), LIMIT_FRAME_BYTES)};
}

static guint64 number_of(ServiceSpans *spans, const json_t *value) {
    if (value == NULL || json_is_null(value)) return 0;
    if (json_is_integer(value) && json_integer_value(value) >= 0) return (guint64)json_integer_value(value);
    const char *text = json_string_value(value);
    char *end = NULL;
    errno = 0;
    const guint64 number = text != NULL ? g_ascii_strtoull(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || errno != 0 || *text == '-')
        service_fault(spans, PLUMB_ERROR_INPUT, "a number of OTLP must be a JSON number, or its digits as a text");
    return number;
}

/* Of so many hexadecimal digits from 'at' on. */
static gboolean hex_of(const char *at, guint64 *number) {
    char digits[17];
    memcpy(digits, at, 16);
    digits[16] = '\0';
    if (strspn(digits, "0123456789abcdefABCDEF") != 16) return FALSE;
    *number = g_ascii_strtoull(digits, NULL, 16);
    return TRUE;
}

static void take_trace_id(const json_t *value, ServiceSpan *span) {
    guint64 high, low;
    if (json_string_length(value) != 32) return;
    const char *text = json_string_value(value);
    if (!hex_of(text, &high) || !hex_of(text + 16, &low)) return;
    span->trace_high = high;
    span->trace = low;
}

static guint64 span_id(const json_t *value) {
    guint64 id = 0;
    if (json_string_length(value) == 16) hex_of(json_string_value(value), &id);
    return id;
}

/* ---- values ---- */

static void put_json(ServiceSpans *spans, GString *out, const json_t *value, guint depth);

static void put_list(ServiceSpans *spans, GString *out, const json_t *list, guint depth) {
    size_t i;
    json_t *value;
    g_string_append_c(out, '[');
    json_array_foreach(json_object_get(list, "values"), i, value) {
        if (i > 0) g_string_append_c(out, ',');
        put_json(spans, out, value, depth);
    }
    g_string_append_c(out, ']');
}

static void put_map(ServiceSpans *spans, GString *out, const json_t *pairs, guint depth) {
    size_t i;
    json_t *pair;
    g_string_append_c(out, '{');
    json_array_foreach(pairs, i, pair) {
        if (i > 0) g_string_append_c(out, ',');
        otlp_put_text(out, text_of(json_object_get(pair, "key")));
        g_string_append_c(out, ':');
        put_json(spans, out, json_object_get(pair, "value"), depth);
    }
    g_string_append_c(out, '}');
}

/* A number as it is meant: the digits of an integer, a double, or the name of one that is no number. */
static void put_number(GString *out, const json_t *value) {
    if (json_is_integer(value))
        g_string_append_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        otlp_put_double(out, json_real_value(value));
    else
        g_string_append_len(out, text_of(value).data, (gssize)text_of(value).length);
}

/* Is the value a text, and which? */
static const json_t *plain_text(const json_t *value) {
    const json_t *text = json_object_get(value, "stringValue");
    return text != NULL ? text : json_object_get(value, "bytesValue");
}

static void put_json(ServiceSpans *spans, GString *out, const json_t *value, guint depth) {
    if (depth >= OTLP_DEPTH || out->len > LIMIT_FRAME_BYTES) {
        service_fault(spans, PLUMB_ERROR_LIMIT, "a value has too many lists in lists, or is too long");
        return;
    }
    const json_t *is = plain_text(value);
    if (is != NULL)
        otlp_put_text(out, text_of(is));
    else if ((is = json_object_get(value, "boolValue")) != NULL)
        g_string_append(out, json_is_true(is) ? "true" : "false");
    else if ((is = json_object_get(value, "intValue")) != NULL || (is = json_object_get(value, "doubleValue")) != NULL)
        put_number(out, is);
    else if ((is = json_object_get(value, "arrayValue")) != NULL)
        put_list(spans, out, is, depth + 1);
    else if ((is = json_object_get(value, "kvlistValue")) != NULL)
        put_map(spans, out, json_object_get(is, "values"), depth + 1);
    else
        g_string_append(out, "null");
}

typedef void (*TakeAttribute)(ServiceSpans *spans, BatchString key, BatchString value);

static void attributes(ServiceSpans *spans, const json_t *list, TakeAttribute take) {
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair) {
        if (!service_is_good(spans)) return;
        const BatchString key = text_of(json_object_get(pair, "key"));
        const json_t *value = json_object_get(pair, "value"), *text = plain_text(value);
        g_autoptr(GString) made = g_string_new(NULL);
        if (text == NULL && json_object_size(value) > 0) put_json(spans, made, value, 0);
        const BatchString other = {made->str, (guint32)made->len};
        if (service_is_good(spans)) take(spans, key, text != NULL ? text_of(text) : other);
    }
}

/* ---- a span ---- */

/* What is said of an event or a link, with its attributes behind it. */
static BatchString with_attributes(ServiceSpans *spans, GString *text, const json_t *list) {
    if (json_array_size(list) > 0) {
        if (text->len > 0) g_string_append_c(text, ' ');
        put_map(spans, text, list, 0);
    }
    return (BatchString){text->str, (guint32)MIN(text->len, LIMIT_FRAME_BYTES)};
}

static void events(ServiceSpans *spans, const json_t *list) {
    size_t i;
    json_t *event;
    json_array_foreach(list, i, event) {
        const BatchString name = text_of(json_object_get(event, "name"));
        const guint64 time_ns = number_of(spans, json_object_get(event, "timeUnixNano"));
        g_autoptr(GString) text = g_string_new_len(name.data, (gssize)name.length);
        const BatchString whole = with_attributes(spans, text, json_object_get(event, "attributes"));
        if (!service_is_good(spans)) return;
        service_span_event(spans, time_ns, whole);
    }
}

static void links(ServiceSpans *spans, const json_t *list) {
    size_t i;
    json_t *link;
    json_array_foreach(list, i, link) {
        ServiceSpan to = {0};
        take_trace_id(json_object_get(link, "traceId"), &to);
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_printf(text, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x %016" G_GINT64_MODIFIER "x",
                        to.trace_high, to.trace, span_id(json_object_get(link, "spanId")));
        const BatchString whole = with_attributes(spans, text, json_object_get(link, "attributes"));
        if (!service_is_good(spans)) return;
        service_span_say(spans, SERVICE_LINK, whole);
    }
}

static void say_counts(ServiceSpans *spans, const json_t *span) {
    otlp_say_count(spans, "otel.dropped_attributes_count",
                   number_of(spans, json_object_get(span, "droppedAttributesCount")));
    otlp_say_count(spans, "otel.dropped_events_count", number_of(spans, json_object_get(span, "droppedEventsCount")));
    otlp_say_count(spans, "otel.dropped_links_count", number_of(spans, json_object_get(span, "droppedLinksCount")));
}

static void read_span(ServiceSpans *spans, const json_t *object) {
    service_span_begin(spans);
    if (!service_is_good(spans)) return;
    ServiceSpan span = {.name = text_of(json_object_get(object, "name"))};
    take_trace_id(json_object_get(object, "traceId"), &span);
    span.span = span_id(json_object_get(object, "spanId"));
    span.parent = span_id(json_object_get(object, "parentSpanId"));
    span.begin_ns = number_of(spans, json_object_get(object, "startTimeUnixNano"));
    span.end_ns = number_of(spans, json_object_get(object, "endTimeUnixNano"));

    const BatchString state = text_of(json_object_get(object, "traceState"));
    if (state.length > 0) service_span_say(spans, "w3c.tracestate", state);
    const char *kind = otlp_kind_name(number_of(spans, json_object_get(object, "kind")));
    if (kind != NULL) service_span_say(spans, "span.kind", batch_literal(kind));
    attributes(spans, json_object_get(object, "attributes"), service_span_attribute);
    events(spans, json_object_get(object, "events"));
    links(spans, json_object_get(object, "links"));
    say_counts(spans, object);
    const json_t *status = json_object_get(object, "status");
    otlp_say_status(spans, number_of(spans, json_object_get(status, "code")),
                    text_of(json_object_get(status, "message")));
    service_span_end(spans, &span);
}

/* ---- what spans are in ---- */

static void scope_spans(ServiceSpans *spans, const json_t *object) {
    const json_t *scope = json_object_get(object, "scope");
    size_t i;
    json_t *span;
    service_scope(spans, text_of(json_object_get(scope, "name")), text_of(json_object_get(scope, "version")));
    json_array_foreach(json_object_get(object, "spans"), i, span) {
        if (service_is_good(spans)) read_span(spans, span);
    }
}

static void resource_spans(ServiceSpans *spans, const json_t *object) {
    size_t i;
    json_t *scope;
    service_begin(spans);
    attributes(spans, json_object_get(json_object_get(object, "resource"), "attributes"), service_attribute);
    json_array_foreach(json_object_get(object, "scopeSpans"), i, scope) scope_spans(spans, scope);
}

gboolean otlp_decode_json(ServiceSpans *spans, Bytes body) {
    json_error_t why;
    if (body.size_bytes > LIMIT_JSON_BYTES)
        return service_fault(spans, PLUMB_ERROR_LIMIT, "JSON may have 8 MiB: send fewer spans at a time, or protobuf");
    json_auto_t *document = json_loadb(body.data, body.size_bytes, JSON_ALLOW_NUL, &why);
    if (!json_is_object(document)) return service_fault(spans, PLUMB_ERROR_INPUT, "the body is no JSON object");

    size_t i;
    json_t *resource;
    json_array_foreach(json_object_get(document, "resourceSpans"), i, resource) resource_spans(spans, resource);
    return service_is_good(spans);
}
