/* What goes through Thrift's c_glib: replies, exceptions, and the reference decoder of submit. */
#include <string.h>
#include <thrift/c_glib/thrift_application_exception.h>

#include "common/base/limits.h"
#include "common/wire/codec.h"
#include "common/wire/glib_transport.h"
#include "plumb_plumb_types.h"

#define REPLY_FIELD_SUCCESS 0

/* --- replies --- */

/* Begins a frame; returns where its length goes. */
static guint frame_begin(GByteArray *out) {
    static const guint8 length[FRAME_HEADER_BYTES];
    const guint begin = out->len;
    g_byte_array_append(out, length, sizeof length);
    return begin;
}

static void frame_end(GByteArray *out, guint begin) {
    const guint32 length = GUINT32_TO_BE(out->len - begin - FRAME_HEADER_BYTES);
    memcpy(out->data + begin, &length, sizeof length);
}

/* Writing to memory cannot fail, so the results of c_glib's write functions say nothing. */
void wire_reply_encode(const WireHeader *header, const WireReply *reply, GByteArray *out) {
    g_autoptr(GObject) owner = g_object_new(PLUMB_TYPE_REPLY, NULL);
    PlumbReply *message = PLUMB_REPLY(owner);
    g_object_set(message, "status", (gint)reply->status, "accepted", reply->accepted, "refused", reply->refused,
                 "waitMs", reply->wait_ms, "version", reply->version, NULL);
    if (reply->message[0] != '\0') g_object_set(message, "message", reply->message, NULL);

    const guint begin = frame_begin(out);
    ThriftProtocol *protocol = glib_protocol_writer(out, header->protocol);
    thrift_protocol_write_message_begin(protocol, header->method, T_REPLY, header->sequence, NULL);
    thrift_protocol_write_struct_begin(protocol, "result", NULL);
    thrift_protocol_write_field_begin(protocol, "success", T_STRUCT, REPLY_FIELD_SUCCESS, NULL);
    thrift_struct_write(THRIFT_STRUCT(message), protocol, NULL);
    thrift_protocol_write_field_end(protocol, NULL);
    thrift_protocol_write_field_stop(protocol, NULL);
    thrift_protocol_write_struct_end(protocol, NULL);
    thrift_protocol_write_message_end(protocol, NULL);
    g_object_unref(protocol);
    frame_end(out, begin);
}

void wire_exception_encode(const WireHeader *header, const char *message, GByteArray *out) {
    const gint type = header->call == CALL_UNKNOWN ? THRIFT_APPLICATION_EXCEPTION_ERROR_UNKNOWN_METHOD
                                                   : THRIFT_APPLICATION_EXCEPTION_ERROR_PROTOCOL_ERROR;
    g_autoptr(GObject) exception =
        g_object_new(THRIFT_TYPE_APPLICATION_EXCEPTION, "type", type, "message", message, NULL);
    const guint begin = frame_begin(out);
    ThriftProtocol *protocol = glib_protocol_writer(out, header->protocol);
    thrift_protocol_write_message_begin(protocol, header->method, T_EXCEPTION, header->sequence, NULL);
    thrift_struct_write(THRIFT_STRUCT(exception), protocol, NULL);
    thrift_protocol_write_message_end(protocol, NULL);
    g_object_unref(protocol);
    frame_end(out, begin);
}

/* Turns c_glib's error into ours. */
static gboolean fail_thrift(GError **error, PlumbError code, const GError *cause) {
    return fail(error, code, "Thrift message: %s", cause != NULL ? cause->message : "cannot be read");
}

static gboolean read_exception(ThriftProtocol *protocol, GError **error) {
    g_autoptr(GObject) owner = g_object_new(THRIFT_TYPE_APPLICATION_EXCEPTION, NULL);
    g_autoptr(GError) cause = NULL;
    if (thrift_struct_read(THRIFT_STRUCT(owner), protocol, &cause) < 0)
        return fail_thrift(error, PLUMB_ERROR_PEER, cause);
    const char *message = THRIFT_APPLICATION_EXCEPTION(owner)->message;
    return fail(error, PLUMB_ERROR_PEER, "the receiver answered: %s", message != NULL ? message : "an exception");
}

static gboolean take_reply(const PlumbReply *message, WireReply *reply, GError **error) {
    if (!message->__isset_status || (guint)message->status > REPLY_VERSION)
        return fail(error, PLUMB_ERROR_PEER, "the receiver's reply has no status that is known here");
    *reply = (WireReply){.status = (ReplyStatus)message->status,
                         .accepted = message->accepted,
                         .refused = message->refused,
                         .wait_ms = message->waitMs,
                         .version = message->version};
    if (message->message == NULL) return TRUE;
    g_strlcpy(reply->message, message->message, sizeof reply->message);
    /* Not cut in the middle of a character. */
    const char *end;
    if (!g_utf8_validate(reply->message, -1, &end)) reply->message[end - reply->message] = '\0';
    return TRUE;
}

/* The result struct: field 0 is the reply. */
static gboolean read_result(ThriftProtocol *protocol, WireReply *reply, GError **error) {
    g_autoptr(GObject) owner = g_object_new(PLUMB_TYPE_REPLY, NULL);
    g_autoptr(GError) cause = NULL;
    char *unused = NULL; /* c_glib has no names of structs to give, but writes here */
    gint32 done = thrift_protocol_read_struct_begin(protocol, &unused, &cause);
    gboolean found = FALSE;
    while (done >= 0) {
        ThriftType type = T_STOP;
        gint16 id = 0;
        g_autofree char *name = NULL;
        done = thrift_protocol_read_field_begin(protocol, &name, &type, &id, &cause);
        if (done < 0 || type == T_STOP) break;
        if (id == REPLY_FIELD_SUCCESS && type == T_STRUCT && !found) {
            done = thrift_struct_read(THRIFT_STRUCT(owner), protocol, &cause);
            found = TRUE;
        } else {
            done = thrift_protocol_skip(protocol, type, &cause);
        }
    }
    if (done < 0) return fail_thrift(error, PLUMB_ERROR_PEER, cause);
    if (!found) return fail(error, PLUMB_ERROR_PEER, "the receiver's answer holds no reply");
    return take_reply(PLUMB_REPLY(owner), reply, error);
}

gboolean reply_decode(Bytes frame, WireReply *reply, gint32 *sequence, GError **error) {
    ThriftReader r = thrift_reader(frame, frame_protocol(frame));
    ThriftHead head;
    if (!thrift_head(&r, &head)) return thrift_ok(&r, error);
    if (head.kind != KIND_REPLY && head.kind != KIND_EXCEPTION)
        return fail(error, PLUMB_ERROR_INPUT, "not the answer to a call");
    /* c_glib gets only what was found whole and of bounded depth. */
    const Bytes body = {r.at, thrift_left(&r)};
    if (!thrift_check_struct(body, r.protocol, error)) return FALSE;
    ThriftProtocol *protocol = glib_protocol_reader(body, r.protocol);
    const gboolean good =
        head.kind == KIND_REPLY ? read_result(protocol, reply, error) : read_exception(protocol, error);
    g_object_unref(protocol);
    if (good) *sequence = head.sequence;
    return good;
}

gboolean wire_reply_decode(Bytes frame, WireReply *reply, GError **error) {
    gint32 sequence;
    return reply_decode(frame, reply, &sequence, error);
}
