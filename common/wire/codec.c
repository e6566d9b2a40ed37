#include "common/wire/codec.h"

#include "common/base/limits.h"

gboolean thrift_list_of(ThriftReader *r, ThriftTypeCode type, gsize least_bytes, guint32 limit, guint32 *n) {
    guint8 element;
    guint32 count;
    if (!thrift_list(r, &element, &count)) return FALSE;
    if (count > 0 && element != (guint8)type)
        return thrift_fault(r, PLUMB_ERROR_INPUT, "a list of another type than expected");
    if (count > limit) return thrift_fault(r, PLUMB_ERROR_LIMIT, "a list is longer than its limit");
    if (count * least_bytes > thrift_left(r)) return thrift_fault(r, PLUMB_ERROR_INPUT, "more elements than bytes");
    *n = count;
    return TRUE;
}

void thrift_text(ThriftReader *r, guint32 limit_bytes, BatchString *text) {
    BatchString found;
    if (!thrift_string(r, &found.data, &found.length)) return;
    if (G_UNLIKELY(found.length > limit_bytes))
        thrift_fault(r, PLUMB_ERROR_LIMIT, "a text is longer than its limit");
    else if (G_UNLIKELY(!batch_text_valid(found.data, found.length)))
        thrift_fault(r, PLUMB_ERROR_INPUT, "a text is not UTF-8, or has a zero byte");
    else
        *text = found;
}

void thrift_require(ThriftReader *r, guint32 seen, guint32 required) {
    if (G_UNLIKELY((seen & required) != required)) thrift_fault(r, PLUMB_ERROR_INPUT, "a required field is missing");
}

void thrift_note(ThriftReader *r, BatchNote *note) {
    guint32 seen = 0;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I64): note->time_ns = thrift_i64(r); break;
        case FIELD_KEY(2, TYPE_STRING): thrift_text(r, LIMIT_VALUE_BYTES, &note->message); break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }
    thrift_require(r, seen, SEEN(1) | SEEN(2));
}

gboolean thrift_check_struct(Bytes bytes, WireProtocol protocol, GError **error) {
    ThriftReader r = thrift_reader(bytes, protocol);
    thrift_skip_message(&r);
    if (r.fault == NULL && r.at != r.end) thrift_fault(&r, PLUMB_ERROR_INPUT, "bytes are left over");
    return thrift_ok(&r, error);
}
