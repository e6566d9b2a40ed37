/* The messages of opentelemetry/proto/{collector/trace,trace,common,resource}/v1, by the numbers of their fields. */
#include <string.h>

#include "common/base/limits.h"
#include "common/wire/otlp/otlp_inside.h"
#include "common/wire/otlp/proto_read.h"

#define MESSAGE(number) PROTO_KEY(number, PROTO_BYTES)
#define TEXT(number)    PROTO_KEY(number, PROTO_BYTES)
#define NUMBER(number)  PROTO_KEY(number, PROTO_VARINT)
#define TIME(number)    PROTO_KEY(number, PROTO_FIXED64)

/* A fault of a reader is one of the body. */
static gboolean ended_well(ServiceSpans *spans, const ProtoReader *r) {
    return r->fault == NULL || service_fault(spans, PLUMB_ERROR_INPUT, r->fault);
}

/* ---- values ---- */

/* AnyValue; of several fields the last counts, as of any oneof. FALSE: none. */
static gboolean any_value(ServiceSpans *spans, ProtoReader value, ProtoField *field) {
    ProtoField next = {0};
    gboolean found = FALSE;
    while (proto_next(&value, &next)) {
        *field = next;
        found = TRUE;
    }
    return ended_well(spans, &value) && found;
}

static gboolean key_value(ServiceSpans *spans, ProtoReader pair, BatchString *key, ProtoReader *value) {
    ProtoField field = {0};
    *key = batch_literal("");
    *value = proto_reader("", 0);
    while (proto_next(&pair, &field)) {
        if (field.key == TEXT(1)) *key = proto_text(&field);
        if (field.key == MESSAGE(2)) *value = proto_inside(&field);
    }
    return ended_well(spans, &pair);
}

static void put_base64(GString *out, const ProtoField *field) {
    g_autofree char *text = g_base64_encode(field->data, field->length);
    g_string_append(out, text);
}

static void put_json(ServiceSpans *spans, GString *out, ProtoReader value, guint depth);

/* ArrayValue. */
static void put_list(ServiceSpans *spans, GString *out, ProtoReader list, guint depth) {
    ProtoField field = {0};
    const char *before = "[";
    while (proto_next(&list, &field) && service_is_good(spans)) {
        if (field.key != MESSAGE(1)) continue;
        g_string_append(out, before);
        put_json(spans, out, proto_inside(&field), depth);
        before = ",";
    }
    if (ended_well(spans, &list)) g_string_append(out, *before == '[' ? "[]" : "]");
}

/* Repeated KeyValue of that key: of a KeyValueList, of an event, of a link. */
static void put_map(ServiceSpans *spans, GString *out, ProtoReader message, guint64 pairs, guint depth) {
    ProtoField field = {0};
    const char *before = "{";
    while (proto_next(&message, &field) && service_is_good(spans)) {
        if (field.key != pairs) continue;
        BatchString key;
        ProtoReader value;
        if (!key_value(spans, proto_inside(&field), &key, &value)) return;
        g_string_append(out, before);
        otlp_put_text(out, key);
        g_string_append_c(out, ':');
        put_json(spans, out, value, depth);
        before = ",";
    }
    if (ended_well(spans, &message)) g_string_append(out, *before == '{' ? "{}" : "}");
}

static void put_json(ServiceSpans *spans, GString *out, ProtoReader value, guint depth) {
    ProtoField field = {0};
    if (depth >= OTLP_DEPTH || out->len > LIMIT_FRAME_BYTES) {
        service_fault(spans, PLUMB_ERROR_LIMIT, "a value has too many lists in lists, or is too long");
        return;
    }
    if (!any_value(spans, value, &field)) {
        g_string_append(out, "null");
        return;
    }

    double number;
    switch (field.key) {
    case TEXT(1): otlp_put_text(out, proto_text(&field)); break;
    case NUMBER(2): g_string_append(out, field.value != 0 ? "true" : "false"); break;
    case NUMBER(3): g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)field.value); break;
    case TIME(4):
        memcpy(&number, &field.value, sizeof number);
        otlp_put_double(out, number);
        break;
    case MESSAGE(5): put_list(spans, out, proto_inside(&field), depth + 1); break;
    case MESSAGE(6): put_map(spans, out, proto_inside(&field), MESSAGE(1), depth + 1); break;
    case TEXT(7):
        g_string_append_c(out, '"');
        put_base64(out, &field);
        g_string_append_c(out, '"');
        break;
    default: g_string_append(out, "null");
    }
}

/* Of an attribute: texts as they are, all else as JSON has it. */
static BatchString value_text(ServiceSpans *spans, ProtoReader value) {
    ProtoField field = {0};
    if (!any_value(spans, value, &field)) return batch_literal("");
    if (G_LIKELY(field.key == TEXT(1))) return proto_text(&field);
    if (field.key == NUMBER(2)) return batch_literal(field.value != 0 ? "true" : "false");
    if (field.key == NUMBER(3)) return service_digits(spans, (gint64)field.value);

    g_autoptr(GString) out = g_string_new(NULL);
    if (field.key == TEXT(7))
        put_base64(out, &field);
    else
        put_json(spans, out, value, 0);
    return service_text(spans, out->str, MIN(out->len, 2 * LIMIT_VALUE_BYTES));
}

typedef void (*TakeAttribute)(ServiceSpans *spans, BatchString key, BatchString value);

/* Where the bytes of a field with that head and a length of one byte begin; NULL: there is none such. */
static inline const guint8 *short_field(const guint8 *at, const guint8 *end, guint8 head, guint32 *length) {
    if (end - at < 2 || at[0] != head || at[1] >= 0x80 || at[1] > end - at - 2) return NULL;
    *length = at[1];
    return at + 2;
}

/* The bytes of an AnyValue that is a whole number and nothing else. */
static gboolean plain_number(const guint8 *at, const guint8 *end, guint64 *number) {
    ProtoReader reader = proto_reader(at, (gsize)(end - at));
    ProtoField field = {0};
    if (!proto_next(&reader, &field) || field.key != NUMBER(3) || reader.at != end) return FALSE;
    *number = field.value;
    return TRUE;
}

/* Nearly all attributes are a short key and a short text or a whole number, in this order. FALSE: another form. */
static gboolean plain_pair(ServiceSpans *spans, const ProtoField *pair, BatchString *key, BatchString *text) {
    enum { FIELD_1 = 1 << 3 | PROTO_BYTES, FIELD_2 = 2 << 3 | PROTO_BYTES };
    const guint8 *end = pair->data + pair->length;
    guint32 any_length;
    const guint8 *at = short_field(pair->data, end, FIELD_1, &key->length);
    if (at == NULL) return FALSE;
    key->data = (const char *)at;
    at = short_field(at + key->length, end, FIELD_2, &any_length);
    if (at == NULL || at + any_length != end) return FALSE;

    const guint8 *in_text = short_field(at, end, FIELD_1, &text->length);
    if (G_LIKELY(in_text != NULL && in_text + text->length == end)) {
        text->data = (const char *)in_text;
        return TRUE;
    }
    guint64 number;
    if (!plain_number(at, end, &number)) return FALSE;
    *text = service_digits(spans, (gint64)number);
    return TRUE;
}

static void attribute(ServiceSpans *spans, const ProtoField *field, TakeAttribute take) {
    BatchString key, plain;
    ProtoReader value;
    if (plain_pair(spans, field, &key, &plain)) {
        take(spans, key, plain);
        return;
    }
    if (!key_value(spans, proto_inside(field), &key, &value)) return;
    const BatchString text = value_text(spans, value);
    if (service_is_good(spans)) take(spans, key, text);
}

/* ---- a span ---- */

/* A note: the event's name and, when it has any, its attributes. */
static void event(ServiceSpans *spans, ProtoReader message) {
    const ProtoReader whole = message;
    ProtoField field = {0};
    BatchString name = batch_literal("");
    guint64 time_ns = 0;
    gboolean more = FALSE;
    while (proto_next(&message, &field)) {
        if (field.key == TIME(1)) time_ns = field.value;
        if (field.key == TEXT(2)) name = proto_text(&field);
        if (field.key == MESSAGE(3)) more = TRUE;
    }
    if (!ended_well(spans, &message)) return;
    if (!more) {
        service_span_event(spans, time_ns, name);
        return;
    }

    g_autoptr(GString) text = g_string_new_len(name.data, (gssize)name.length);
    if (text->len > 0) g_string_append_c(text, ' ');
    put_map(spans, text, whole, MESSAGE(3), 0);
    service_span_event(spans, time_ns, service_text(spans, text->str, MIN(text->len, 2 * LIMIT_VALUE_BYTES)));
}

static void put_hex(GString *out, const ProtoField *field) {
    for (guint32 i = 0; i < MIN(field->length, 16); i++) g_string_append_printf(out, "%02x", field->data[i]);
}

/* "trace id span id", and attributes when it has any. */
static void say_link(ServiceSpans *spans, ProtoReader message) {
    const ProtoReader whole = message;
    ProtoField field, trace = {0}, span = {0};
    gboolean more = FALSE;
    while (proto_next(&message, &field)) {
        if (field.key == TEXT(1)) trace = field;
        if (field.key == TEXT(2)) span = field;
        if (field.key == MESSAGE(4)) more = TRUE;
    }
    if (!ended_well(spans, &message)) return;

    g_autoptr(GString) text = g_string_new(NULL);
    put_hex(text, &trace);
    g_string_append_c(text, ' ');
    put_hex(text, &span);
    if (more) {
        g_string_append_c(text, ' ');
        put_map(spans, text, whole, MESSAGE(4), 0);
    }
    service_span_say(spans, SERVICE_LINK, service_text(spans, text->str, MIN(text->len, 2 * LIMIT_VALUE_BYTES)));
}

static void status(ServiceSpans *spans, ProtoReader message) {
    ProtoField field = {0};
    BatchString text = batch_literal("");
    guint64 code = 0;
    while (proto_next(&message, &field)) {
        if (field.key == TEXT(2)) text = proto_text(&field);
        if (field.key == NUMBER(3)) code = field.value;
    }
    if (ended_well(spans, &message)) otlp_say_status(spans, code, text);
}

static void kind(ServiceSpans *spans, guint64 value) {
    const char *name = otlp_kind_name(value);
    if (name != NULL) service_span_say(spans, "span.kind", batch_literal(name));
}

static void take_trace_id(const ProtoField *field, ServiceSpan *span) {
    span->trace_high = field->length == 16 ? otlp_id(field->data) : 0;
    span->trace = field->length == 16 ? otlp_id(field->data + 8) : 0;
}

static guint64 span_id(const ProtoField *field) { return field->length == 8 ? otlp_id(field->data) : 0; }

static void read_span(ServiceSpans *spans, ProtoReader message) {
    ServiceSpan span = {.name = batch_literal("")};
    ProtoField field = {0};
    service_span_begin(spans);

    while (service_is_good(spans) && proto_next(&message, &field)) {
        switch (field.key) {
        case TEXT(1): take_trace_id(&field, &span); break;
        case TEXT(2): span.span = span_id(&field); break;
        case TEXT(3):
            if (field.length > 0) service_span_say(spans, "w3c.tracestate", proto_text(&field));
            break;
        case TEXT(4): span.parent = span_id(&field); break;
        case TEXT(5): span.name = proto_text(&field); break;
        case NUMBER(6): kind(spans, field.value); break;
        case TIME(7): span.begin_ns = field.value; break;
        case TIME(8): span.end_ns = field.value; break;
        case MESSAGE(9): attribute(spans, &field, service_span_attribute); break;
        case NUMBER(10): otlp_say_count(spans, "otel.dropped_attributes_count", field.value); break;
        case MESSAGE(11): event(spans, proto_inside(&field)); break;
        case NUMBER(12): otlp_say_count(spans, "otel.dropped_events_count", field.value); break;
        case MESSAGE(13): say_link(spans, proto_inside(&field)); break;
        case NUMBER(14): otlp_say_count(spans, "otel.dropped_links_count", field.value); break;
        case MESSAGE(15): status(spans, proto_inside(&field)); break;
        default: break; /* newer than this reader */
        }
    }

    if (ended_well(spans, &message)) service_span_end(spans, &span);
}

/* ---- what spans are in ---- */

/* What is said once may stand behind the spans that it is about, so it is looked for first. */
static void for_each(ServiceSpans *spans, ProtoReader message, guint64 key,
                     void (*read)(ServiceSpans *spans, ProtoReader inside)) {
    ProtoField field = {0};
    while (service_is_good(spans) && proto_next(&message, &field))
        if (field.key == key) read(spans, proto_inside(&field));
    ended_well(spans, &message);
}

static void resource(ServiceSpans *spans, ProtoReader message) {
    ProtoField field = {0};
    while (service_is_good(spans) && proto_next(&message, &field))
        if (field.key == MESSAGE(1)) attribute(spans, &field, service_attribute);
    ended_well(spans, &message);
}

static void scope(ServiceSpans *spans, ProtoReader message) {
    ProtoField field = {0};
    BatchString name = batch_literal(""), version = batch_literal("");
    while (proto_next(&message, &field)) {
        if (field.key == TEXT(1)) name = proto_text(&field);
        if (field.key == TEXT(2)) version = proto_text(&field);
    }
    if (ended_well(spans, &message)) service_scope(spans, name, version);
}

static void scope_spans(ServiceSpans *spans, ProtoReader message) {
    service_scope(spans, batch_literal(""), batch_literal(""));
    for_each(spans, message, MESSAGE(1), scope);
    for_each(spans, message, MESSAGE(2), read_span);
}

static void resource_spans(ServiceSpans *spans, ProtoReader message) {
    service_begin(spans);
    for_each(spans, message, MESSAGE(1), resource);
    for_each(spans, message, MESSAGE(2), scope_spans);
}

gboolean otlp_decode_proto(ServiceSpans *spans, Bytes body) {
    for_each(spans, proto_reader(body.data, body.size_bytes), MESSAGE(1), resource_spans);
    return service_is_good(spans);
}
