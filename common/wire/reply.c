/* Answers to calls: replies, and Thrift's exceptions. */
#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/thrift_write.h"

#define RESULT_SUCCESS 0
#define SCRIBE_OK      0 /* of Scribe's ResultCode; zero is coded alike in all protocols */

/* A peer's message or policy may be this long: more is no text for a person. */
#define MESSAGE_BYTES 65536u

/* Numbers of Thrift's TApplicationException. */
enum { EXCEPTION_UNKNOWN_METHOD = 1, EXCEPTION_INTERNAL_ERROR = 6, EXCEPTION_PROTOCOL_ERROR = 7 };

static BatchString text_of(const char *text) { return (BatchString){text, (guint32)strlen(text)}; }

static ThriftWriter answer_begin(const WireHeader *header, guint8 kind, gsize most_bytes, GByteArray *out) {
    const ThriftHead head = {.kind = kind, .sequence = header->sequence, .method = text_of(header->method)};
    ThriftWriter w = writer_begin(out, most_bytes + 3 * FIELD_BYTES + head.method.length, header->protocol);
    put_head(&w, &head);
    return w;
}

/* The result struct's field 0: in the compact protocol, where heads say how much is added, the long form. */
static void put_success(ThriftWriter *w, ThriftTypeCode type) {
    if (w->compact) {
        *w->at++ = compact_type(type);
        *w->at++ = RESULT_SUCCESS;
    } else {
        put_field(w, RESULT_SUCCESS, type);
    }
}

void wire_log_reply_encode(const WireHeader *header, GByteArray *out) {
    const guint begin = out->len;
    ThriftWriter w = answer_begin(header, KIND_REPLY, 3 * FIELD_BYTES, out);
    put_success(&w, TYPE_I32);
    put_size(&w, SCRIBE_OK);
    put_stop(&w);
    writer_end(&w, out);
    frame_close(out, begin);
}

void wire_reply_encode(const WireHeader *header, const WireReply *reply, GByteArray *out) {
    const guint begin = out->len;
    const BatchString message = text_of(reply->message);
    ThriftWriter w = answer_begin(header, KIND_REPLY, 10 * FIELD_BYTES + message.length + reply->sampling.length, out);

    put_success(&w, TYPE_STRUCT);
    put_i32(&w, 1, (gint32)reply->status);
    put_i32(&w, 2, reply->accepted);
    put_i32(&w, 3, reply->refused);
    put_i32(&w, 4, reply->wait_ms);
    put_i32(&w, 5, reply->version);

    if (message.length > 0) {
        put_field(&w, 6, TYPE_STRING);
        put_text(&w, message);
    }
    if (reply->sampling.length > 0) {
        put_field(&w, 7, TYPE_STRING);
        put_text(&w, reply->sampling);
    }

    put_stop(&w);
    put_stop(&w);
    writer_end(&w, out);
    frame_close(out, begin);
}

void wire_exception_encode(const WireHeader *header, const char *message, GByteArray *out) {
    const guint begin = out->len;
    const BatchString text = text_of(message);
    ThriftWriter w = answer_begin(header, KIND_EXCEPTION, 4 * FIELD_BYTES + text.length, out);
    put_field(&w, 1, TYPE_STRING);
    put_text(&w, text);
    const gint32 type = header->call == CALL_UNKNOWN ? EXCEPTION_UNKNOWN_METHOD
                        : header->call == CALL_LOG   ? EXCEPTION_INTERNAL_ERROR
                                                     : EXCEPTION_PROTOCOL_ERROR;
    put_i32(&w, 2, type);
    put_stop(&w);
    writer_end(&w, out);
    frame_close(out, begin);
}

static void copy_message(WireReply *reply, BatchString text) {
    gsize n = MIN(text.length, sizeof reply->message - 1);
    while (n < text.length && n > 0 && ((guint8)text.data[n] & 0xc0) == 0x80) n--; /* whole characters */
    memcpy(reply->message, text.data, n);
    reply->message[n] = '\0';
}

static void read_reply(ThriftReader *r, WireReply *reply) {
    guint32 seen = 0;
    BatchString message = {"", 0};
    gint32 status = 0;

    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I32): status = thrift_i32(r); break;
        case FIELD_KEY(2, TYPE_I32): reply->accepted = thrift_i32(r); break;
        case FIELD_KEY(3, TYPE_I32): reply->refused = thrift_i32(r); break;
        case FIELD_KEY(4, TYPE_I32): reply->wait_ms = thrift_i32(r); break;
        case FIELD_KEY(5, TYPE_I32): reply->version = thrift_i32(r); break;
        case FIELD_KEY(6, TYPE_STRING): thrift_text(r, MESSAGE_BYTES, &message); break;
        case FIELD_KEY(7, TYPE_STRING): thrift_text(r, MESSAGE_BYTES, &reply->sampling); break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }

    thrift_require(r, seen, SEEN(1));
    if (status < REPLY_OK || status > REPLY_VERSION) thrift_fault(r, PLUMB_ERROR_VERSION, "a status unknown here");
    reply->status = (ReplyStatus)status;
    copy_message(reply, message);
}

static void read_result(ThriftReader *r, WireReply *reply) {
    gboolean found = FALSE;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        if (field_key(&field) == FIELD_KEY(RESULT_SUCCESS, TYPE_STRUCT)) {
            *reply = (WireReply){.status = REPLY_OK};
            read_reply(r, reply);
            found = TRUE;
        } else {
            thrift_skip(r, field.type, TRUE);
        }
    }
    if (!found) thrift_fault(r, PLUMB_ERROR_INPUT, "no reply in the answer");
}

static void read_exception(ThriftReader *r, WireReply *reply) {
    BatchString message = {"an exception without a message", 30};
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        if (field_key(&field) == FIELD_KEY(1, TYPE_STRING))
            thrift_text(r, MESSAGE_BYTES, &message);
        else
            thrift_skip(r, field.type, TRUE);
    }
    copy_message(reply, message);
}

gboolean reply_decode(Bytes frame, WireReply *reply, gint32 *sequence, GError **error) {
    ThriftReader r = thrift_reader(frame, frame_protocol(frame));
    ThriftHead head = {.kind = 0};
    WireReply found = {.status = REPLY_OK};
    if (thrift_head(&r, &head)) {
        if (head.kind == KIND_REPLY)
            read_result(&r, &found);
        else if (head.kind == KIND_EXCEPTION)
            read_exception(&r, &found);
        else
            thrift_fault(&r, PLUMB_ERROR_INPUT, "not the answer to a call");
    }
    if (r.fault == NULL && r.at != r.end) thrift_fault(&r, PLUMB_ERROR_INPUT, "bytes are left over");
    if (!thrift_ok(&r, error)) return FALSE;
    if (head.kind == KIND_EXCEPTION) return fail(error, PLUMB_ERROR_PEER, "the receiver answered: %s", found.message);
    *reply = found;
    *sequence = head.sequence;
    return TRUE;
}

gboolean wire_reply_decode(Bytes frame, WireReply *reply, GError **error) {
    gint32 sequence;
    return reply_decode(frame, reply, &sequence, error);
}
