/* The head of a Thrift message: who is called, and how. */
#include <string.h>

#include "common/wire/codec.h"

#define COMPACT_VERSION 1

gboolean thrift_head(ThriftReader *r, ThriftHead *head) {
    if (r->protocol == PROTOCOL_BINARY) {
        const guint32 mark = thrift_u32be(r);
        if (r->fault == NULL && mark >> 16 != 0x8001) return thrift_fault(r, PLUMB_ERROR_INPUT, "unknown version");
        head->kind = (guint8)mark;
        if (!thrift_string(r, &head->method.data, &head->method.length)) return FALSE;
        head->sequence = thrift_i32(r);
        return r->fault == NULL;
    }
    if (thrift_left(r) < 2) return thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    if (r->at[0] != THRIFT_COMPACT_MARK || (r->at[1] & 0x1f) != COMPACT_VERSION)
        return thrift_fault(r, PLUMB_ERROR_INPUT, "unknown version");
    head->kind = r->at[1] >> 5;
    r->at += 2;
    head->sequence = (gint32)thrift_varint32(r);
    return thrift_string(r, &head->method.data, &head->method.length);
}

static WireCall call_of(BatchString method) {
    static const struct {
        const char *name;
        WireCall call;
    } calls[] = {{"submit", CALL_SUBMIT},
                 {"submitPlain", CALL_SUBMIT_PLAIN},
                 {"submitRecords", CALL_SUBMIT_RECORDS},
                 {"Log", CALL_LOG}};
    for (gsize i = 0; i < G_N_ELEMENTS(calls); i++)
        if (method.length == strlen(calls[i].name) && memcmp(method.data, calls[i].name, method.length) == 0)
            return calls[i].call;
    return CALL_UNKNOWN;
}

gboolean wire_header_decode(Bytes frame, WireHeader *header, GError **error) {
    ThriftReader r = thrift_reader(frame, frame_protocol(frame));
    ThriftHead head;
    if (thrift_head(&r, &head)) {
        if (head.kind != KIND_CALL && head.kind != KIND_ONEWAY) thrift_fault(&r, PLUMB_ERROR_INPUT, "not a call");
        if (!batch_text_valid(head.method.data, head.method.length))
            thrift_fault(&r, PLUMB_ERROR_INPUT, "the method's name is not UTF-8");
    }
    if (!thrift_ok(&r, error)) return FALSE;

    const BatchString method = head.method;
    *header = (WireHeader){.call = call_of(method), .sequence = head.sequence, .oneway = head.kind == KIND_ONEWAY};
    header->protocol = r.protocol;
    header->body = (Bytes){r.at, thrift_left(&r)};
    gsize n = MIN(method.length, sizeof header->method - 1);
    /* Not in the middle of a character. */
    while (n < method.length && n > 0 && ((guint8)method.data[n] & 0xc0) == 0x80) n--;
    memcpy(header->method, method.data, n);
    return TRUE;
}
