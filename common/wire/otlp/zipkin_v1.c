#include "common/wire/otlp/zipkin_v1.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/mix64.h"
#include "common/wire/codec.h"
#include "common/wire/otlp/otlp_inside.h"

/* The moments that a span of version 1 is made of; their names are annotations. */
enum { CLIENT_SEND, SERVER_RECEIVE, SERVER_SEND, CLIENT_RECEIVE, MOMENTS };
static const char *const moments[MOMENTS] = {"cs", "sr", "ss", "cr"};

typedef struct Moment {
    gboolean there;
    guint64 time_ns;
} Moment;

typedef struct V1Span {
    guint64 trace_high, trace, id, parent;
    BatchString name;
    Moment moments[MOMENTS];
    Moment first, last; /* of all annotations */
    Moment stamp;       /* the field of that name */
    guint64 duration_ns;
    V1Endpoint at;
    guint at_rank; /* how well it is known; 0: not */
} V1Span;

typedef struct V1Annotation {
    guint64 time_ns;
    BatchString value;
    V1Endpoint at;
} V1Annotation;

enum { KIND_BOOL, KIND_BYTES, KIND_I16, KIND_I32, KIND_I64, KIND_DOUBLE, KIND_STRING };
typedef struct V1Binary {
    BatchString key, value;
    gint32 kind;
    V1Endpoint at;
} V1Binary;

/* Past what 64 bits hold, or before 1970, it is out of range, and the span is refused alone. */
static guint64 ns_of(gint64 microseconds) {
    if (microseconds < 0 || microseconds > G_MAXINT64 / 1000) return G_MAXINT64;
    return (guint64)microseconds * 1000;
}

static void read_string(ThriftReader *r, BatchString *text) { thrift_string(r, &text->data, &text->length); }

static void read_endpoint(ThriftReader *r, V1Endpoint *at) {
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I32): at->ipv4 = (guint32)thrift_i32(r); break;
        case FIELD_KEY(3, TYPE_STRING): read_string(r, &at->service); break;
        case FIELD_KEY(4, TYPE_STRING): read_string(r, &at->ipv6); break;
        default: thrift_skip(r, field.type, TRUE);
        }
    }
}

static V1Annotation read_annotation(ThriftReader *r) {
    V1Annotation annotation = {.value = batch_literal("")};
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I64): annotation.time_ns = ns_of(thrift_i64(r)); break;
        case FIELD_KEY(2, TYPE_STRING): read_string(r, &annotation.value); break;
        case FIELD_KEY(3, TYPE_STRUCT): read_endpoint(r, &annotation.at); break;
        default: thrift_skip(r, field.type, TRUE);
        }
    }
    return annotation;
}

static V1Binary read_binary(ThriftReader *r) {
    V1Binary binary = {.key = batch_literal(""), .value = batch_literal(""), .kind = KIND_STRING};
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_STRING): read_string(r, &binary.key); break;
        case FIELD_KEY(2, TYPE_STRING): read_string(r, &binary.value); break;
        case FIELD_KEY(3, TYPE_I32): binary.kind = thrift_i32(r); break;
        case FIELD_KEY(4, TYPE_STRUCT): read_endpoint(r, &binary.at); break;
        default: thrift_skip(r, field.type, TRUE);
        }
    }
    return binary;
}

/* ---- what a span is, before what is said of it: the order of its fields is the sender's ---- */

static void place_span(V1Span *span, const V1Endpoint *at, guint rank) {
    if (rank <= span->at_rank || (at->service.length == 0 && at->ipv4 == 0)) return;
    span->at = *at;
    span->at_rank = rank;
}

static void note_moment(V1Span *span, const V1Annotation *annotation) {
    const Moment moment = {TRUE, annotation->time_ns};
    guint rank = 1;
    for (guint i = 0; i < MOMENTS; i++) {
        if (!batch_text_is(annotation->value, moments[i])) continue;
        span->moments[i] = moment;
        rank = 2 + MOMENTS - i;
    }
    if (!span->first.there || moment.time_ns < span->first.time_ns) span->first = moment;
    if (!span->last.there || moment.time_ns > span->last.time_ns) span->last = moment;
    place_span(span, &annotation->at, rank);
}

static gboolean is_peer(const V1Binary *binary) {
    return binary->kind == KIND_BOOL && (batch_text_is(binary->key, "sa") || batch_text_is(binary->key, "ca"));
}

static void find_annotations(ThriftReader *r, V1Span *span) {
    guint32 n = 0;
    thrift_list_of(r, TYPE_STRUCT, 1, LIMIT_BATCH_ENTRIES, &n);
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        const V1Annotation annotation = read_annotation(r);
        note_moment(span, &annotation);
    }
}

static void find_binaries(ThriftReader *r, V1Span *span) {
    guint32 n = 0;
    thrift_list_of(r, TYPE_STRUCT, 1, LIMIT_BATCH_ENTRIES, &n);
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        const V1Binary binary = read_binary(r);
        if (!is_peer(&binary)) place_span(span, &binary.at, 1);
    }
}

static V1Span find_span(ThriftReader *r) {
    V1Span span = {.name = batch_literal("")};
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I64): span.trace = (guint64)thrift_i64(r); break;
        case FIELD_KEY(3, TYPE_STRING): read_string(r, &span.name); break;
        case FIELD_KEY(4, TYPE_I64): span.id = (guint64)thrift_i64(r); break;
        case FIELD_KEY(5, TYPE_I64): span.parent = (guint64)thrift_i64(r); break;
        case FIELD_KEY(6, TYPE_LIST): find_annotations(r, &span); break;
        case FIELD_KEY(8, TYPE_LIST): find_binaries(r, &span); break;
        case FIELD_KEY(10, TYPE_I64): span.stamp = (Moment){TRUE, ns_of(thrift_i64(r))}; break;
        case FIELD_KEY(11, TYPE_I64): span.duration_ns = ns_of(thrift_i64(r)); break;
        case FIELD_KEY(12, TYPE_I64): span.trace_high = (guint64)thrift_i64(r); break;
        default: thrift_skip(r, field.type, TRUE);
        }
    }
    return span;
}

/* The earlier of client's and server's moment, those that are there; else any. */
static guint64 begin_of(const V1Span *span) {
    const Moment client = span->moments[CLIENT_SEND], server = span->moments[SERVER_RECEIVE];
    if (span->stamp.there) return span->stamp.time_ns;
    if (client.there && server.there) return MIN(client.time_ns, server.time_ns);
    if (client.there || server.there) return client.there ? client.time_ns : server.time_ns;
    return span->first.time_ns;
}

static guint64 end_of(const V1Span *span) {
    const Moment client = span->moments[CLIENT_RECEIVE], server = span->moments[SERVER_SEND];
    if (span->stamp.there) return span->stamp.time_ns + MIN(span->duration_ns, (guint64)G_MAXINT64);
    if (client.there && server.there) return MAX(client.time_ns, server.time_ns);
    if (client.there || server.there) return client.there ? client.time_ns : server.time_ns;
    return span->last.time_ns;
}

static gboolean has_client(const V1Span *span) {
    return span->moments[CLIENT_SEND].there || span->moments[CLIENT_RECEIVE].there;
}

static gboolean has_server(const V1Span *span) {
    return span->moments[SERVER_RECEIVE].there || span->moments[SERVER_SEND].there;
}

/* ---- into the batch ---- */

static BatchString address_of(ServiceSpans *spans, const V1Endpoint *at) {
    char text[16];
    if (at->ipv4 == 0) return batch_literal("");
    const int length = g_snprintf(text, sizeof text, "%u.%u.%u.%u", at->ipv4 >> 24, at->ipv4 >> 16 & 255,
                                  at->ipv4 >> 8 & 255, at->ipv4 & 255);
    return service_text(spans, text, (gsize)length);
}

/* HTrace's ids of tracers are "NameNode/10.0.3.17"; others are services, which have an address beside them. */
static void begin_service(ServiceSpans *spans, const V1Endpoint *at) {
    const BatchString service = at->service;
    const char *slash = service.length > 0 ? memchr(service.data, '/', service.length) : NULL;
    BatchString name = service, host;
    if (slash != NULL) {
        name.length = (guint32)(slash - service.data);
        host = (BatchString){slash + 1, service.length - name.length - 1};
    } else {
        host = address_of(spans, at);
    }
    service_begin(spans);
    if (name.length > 0) service_attribute(spans, batch_literal("service.name"), name);
    if (host.length > 0) service_attribute(spans, batch_literal("host.name"), host);
}

static gboolean same_place(const V1Endpoint *a, const V1Endpoint *b) {
    return a->ipv4 == b->ipv4 && a->service.length == b->service.length &&
           (a->service.length == 0 || memcmp(a->service.data, b->service.data, a->service.length) == 0);
}

static guint64 big_endian(BatchString bytes) {
    guint64 value = 0;
    for (guint32 i = 0; i < bytes.length; i++) value = value << 8 | (guint8)bytes.data[i];
    return value;
}

static BatchString value_of(ServiceSpans *spans, const V1Binary *binary) {
    static const guint8 sizes[] = {[KIND_BOOL] = 1, [KIND_I16] = 2, [KIND_I32] = 4, [KIND_I64] = 8, [KIND_DOUBLE] = 8};
    const BatchString value = binary->value;
    if (binary->kind < KIND_BOOL || binary->kind >= KIND_STRING) return value;
    if (binary->kind == KIND_BYTES) {
        /* HTrace's receiver calls its texts so. */
        if (batch_text_valid(value.data, value.length)) return value;
        g_autofree char *text = g_base64_encode((const guchar *)value.data, MIN(value.length, LIMIT_VALUE_BYTES));
        return service_text(spans, text, strlen(text));
    }
    if (value.length != sizes[binary->kind]) return value;

    const guint64 number = big_endian(value);
    if (binary->kind == KIND_BOOL) return batch_literal(number != 0 ? "true" : "false");
    if (binary->kind != KIND_DOUBLE) {
        const guint unused = 64 - 8 * value.length;
        return service_digits(spans, (gint64)(number << unused) >> unused);
    }
    double real;
    g_autoptr(GString) text = g_string_new(NULL);
    memcpy(&real, &number, sizeof real);
    otlp_put_double(text, real);
    return service_text(spans, text->str, text->len);
}

static void say_annotations(ThriftReader *r, ServiceSpans *spans) {
    guint32 n = 0;
    thrift_list_of(r, TYPE_STRUCT, 1, LIMIT_BATCH_ENTRIES, &n);
    for (guint32 i = 0; i < n && r->fault == NULL && service_is_good(spans); i++) {
        const V1Annotation annotation = read_annotation(r);
        gboolean moment = FALSE;
        for (guint m = 0; m < MOMENTS; m++) moment = moment || batch_text_is(annotation.value, moments[m]);
        if (!moment) service_span_event(spans, annotation.time_ns, annotation.value);
    }
}

static void say_binaries(ThriftReader *r, ServiceSpans *spans) {
    guint32 n = 0;
    thrift_list_of(r, TYPE_STRUCT, 1, LIMIT_BATCH_ENTRIES, &n);
    for (guint32 i = 0; i < n && r->fault == NULL && service_is_good(spans); i++) {
        const V1Binary binary = read_binary(r);
        if (!is_peer(&binary)) {
            service_span_attribute(spans, binary.key, value_of(spans, &binary));
            continue;
        }
        const BatchString address = address_of(spans, &binary.at);
        if (binary.at.service.length > 0) service_span_say(spans, "peer.service", binary.at.service);
        if (address.length > 0) service_span_say(spans, "peer.address", address);
    }
}

static void say_rest(ThriftReader r, ServiceSpans *spans) {
    for (ThriftField field = {0}; service_is_good(spans) && thrift_next_field(&r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(6, TYPE_LIST): say_annotations(&r, spans); break;
        case FIELD_KEY(8, TYPE_LIST): say_binaries(&r, spans); break;
        default: thrift_skip(&r, field.type, TRUE);
        }
    }
}

static ServiceSpan service_span_of(const V1Span *from, gboolean client, gboolean server) {
    ServiceSpan span = {from->trace_high, from->trace,  from->id,  from->parent,
                        begin_of(from),   end_of(from), from->name};
    if (server && !client && !from->stamp.there) {
        span.parent = from->id;
        span.span = mix64(from->id + MIX64_GOLDEN);
    }
    return span;
}

/* The same process as before does not say again who it is. */
static void enter_place(ServiceSpans *spans, const V1Endpoint *at, V1Place *place) {
    if (place->known && same_place(at, &place->at)) return;
    begin_service(spans, at);
    place->at = *at; /* the bytes may go before the next span comes */
    place->at.service = service_text(spans, at->service.data, at->service.length);
    place->known = TRUE;
}

gsize zipkin_v1_span(ServiceSpans *spans, Bytes bytes, V1Place *place) {
    ThriftReader r = thrift_reader(bytes, PROTOCOL_BINARY);
    const V1Span from = find_span(&r);
    if (r.fault != NULL) {
        service_fault(spans, r.code, "this is no span of Zipkin, version 1, in Thrift's binary protocol");
        return 0;
    }
    const gsize size = bytes.size_bytes - thrift_left(&r);
    /* HTrace's receiver makes both of the moments of each span. */
    const gboolean client = has_client(&from), server = has_server(&from);
    const ServiceSpan span = service_span_of(&from, client, server);

    enter_place(spans, &from.at, place);
    service_span_begin(spans);
    if (!service_is_good(spans)) return 0;
    if (client != server) service_span_say(spans, "span.kind", batch_literal(client ? "client" : "server"));
    say_rest(thrift_reader((Bytes){bytes.data, size}, PROTOCOL_BINARY), spans);
    if (service_is_good(spans)) service_span_end(spans, &span);
    return service_is_good(spans) ? size : 0;
}

/* ---- messages ---- */

/* A list in the binary protocol begins with the type of its elements; a span, with that of its first field, which is
 * never a struct. */
#define LIST_HEAD_BYTES 5u

static void add_message(ServiceSpans *spans, Bytes rest, V1Place *place) {
    const guint8 *at = rest.data;
    guint32 n = 1;
    if (rest.size_bytes >= LIST_HEAD_BYTES && at[0] == TYPE_STRUCT) {
        memcpy(&n, at + 1, sizeof n);
        n = GUINT32_FROM_BE(n);
        rest = (Bytes){at + LIST_HEAD_BYTES, rest.size_bytes - LIST_HEAD_BYTES};
    }
    for (guint32 i = 0; i < n; i++) {
        const gsize used = zipkin_v1_span(spans, rest, place);
        if (used == 0) return;
        rest = (Bytes){(const guint8 *)rest.data + used, rest.size_bytes - used};
    }
    if (rest.size_bytes > 0) service_fault(spans, PLUMB_ERROR_INPUT, "bytes are left over behind the spans");
}

gboolean zipkin_v1_decode(ServiceSpans *spans, const Bytes *messages, guint n, SpanBatch *batch, GError **error) {
    V1Place place = {0};
    service_spans_begin(spans, batch, FALSE);
    for (guint i = 0; i < n && service_is_good(spans); i++) add_message(spans, messages[i], &place);
    return service_spans_end(spans, error);
}
