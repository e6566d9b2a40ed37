#include "common/wire/otlp/scribe.h"

#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/otlp/zipkin_v1.h"

#define CATEGORY "zipkin"

static BatchString read_entry(ThriftReader *r) {
    BatchString category = batch_literal(""), message = batch_literal("");
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_STRING): thrift_string(r, &category.data, &category.length); break;
        case FIELD_KEY(2, TYPE_STRING): thrift_string(r, &message.data, &message.length); break;
        default: thrift_skip(r, field.type, TRUE);
        }
    }
    if (r->fault == NULL && !batch_text_is(category, CATEGORY))
        thrift_fault(r, PLUMB_ERROR_INPUT, "Log takes the category '" CATEGORY "' only");
    return message;
}

/* Line feeds within base64 are skipped: some clients break its lines. */
static Bytes unpack_entry(BatchString message, GByteArray *scratch) {
    gint state = 0;
    guint save = 0;
    g_byte_array_set_size(scratch, message.length / 4 * 3 + 4);
    const gsize size = g_base64_decode_step(message.data, message.length, scratch->data, &state, &save);
    return (Bytes){scratch->data, size};
}

static void read_entries(ThriftReader *r, ServiceSpans *spans) {
    g_autoptr(GByteArray) scratch = g_byte_array_new();
    V1Place place = {0};
    guint32 n = 0;
    thrift_list_of(r, TYPE_STRUCT, 1, LIMIT_BATCH_SPANS, &n);
    for (guint32 i = 0; i < n && r->fault == NULL && service_is_good(spans); i++) {
        const BatchString message = read_entry(r);
        if (r->fault == NULL) zipkin_v1_span(spans, unpack_entry(message, scratch), &place);
    }
}

gboolean scribe_decode(ServiceSpans *spans, const WireHeader *header, SpanBatch *batch, GError **error) {
    ThriftReader r = thrift_reader(header->body, header->protocol);
    service_spans_begin(spans, batch, TRUE);
    for (ThriftField field = {0}; service_is_good(spans) && thrift_next_field(&r, &field);) {
        if (field_key(&field) == FIELD_KEY(1, TYPE_LIST))
            read_entries(&r, spans);
        else
            thrift_skip(&r, field.type, TRUE);
    }
    if (service_is_good(spans) && r.fault == NULL && r.at != r.end)
        thrift_fault(&r, PLUMB_ERROR_INPUT, "bytes are left over");
    if (service_spans_end(spans, error)) return thrift_ok(&r, error);
    g_prefix_error(error, "Log: ");
    return FALSE;
}
