/* Replies and exceptions: ours both ways, and as a client of Thrift's own library reads and writes them. */
#include <string.h>
#include <thrift/c_glib/thrift_application_exception.h>

#include "common/base/error.h"
#include "common/wire/message.h"
#include "common/wire/reference/glib_transport.h"
#include "plumb_plumb_types.h"

static const WireProtocol protocols[] = {PROTOCOL_BINARY, PROTOCOL_COMPACT};

static const WireReply replies[] = {
    {.status = REPLY_OK, .accepted = 5, .version = 1},
    {.status = REPLY_OK, .accepted = G_MAXINT32, .refused = 7, .wait_ms = 20, .version = 1},
    {.status = REPLY_TRY_LATER, .wait_ms = 1500, .version = 1, .message = "the store is behind"},
    {.status = REPLY_REFUSED, .version = 3, .message = "caf\xc3\xa9"},
    {.status = REPLY_VERSION, .accepted = -1, .version = G_MININT32},
};

/* That each of them may carry. */
static const char *const policies[] = {"", "never", "Workload#*=always; hflush=never; 0.01"};

static BatchString text_of(const char *text) { return (BatchString){text, (guint32)strlen(text)}; }

static WireHeader header_of(WireProtocol protocol, const char *method, WireCall call) {
    WireHeader header = {.call = call, .sequence = 77, .protocol = protocol};
    g_strlcpy(header.method, method, sizeof header.method);
    return header;
}

static Bytes payload(const GByteArray *bytes) {
    FrameCut cut;
    g_assert_cmpint(frame_cut((Bytes){bytes->data, bytes->len}, bytes->len, &cut), ==, FRAME_WHOLE);
    g_assert_cmpuint(cut.needed_bytes, ==, bytes->len);
    return cut.frame;
}

static void assert_reply_equal(const WireReply *a, const WireReply *b) {
    g_assert_cmpint(a->status, ==, b->status);
    g_assert_cmpint(a->accepted, ==, b->accepted);
    g_assert_cmpint(a->refused, ==, b->refused);
    g_assert_cmpint(a->wait_ms, ==, b->wait_ms);
    g_assert_cmpint(a->version, ==, b->version);
    g_assert_cmpstr(a->message, ==, b->message);
    g_assert_cmpmem(a->sampling.data, a->sampling.length, b->sampling.data, b->sampling.length);
}

/* As Thrift's client reads it. */
static void assert_thrift_reads(Bytes frame, WireProtocol wire, const WireReply *expected) {
    ThriftProtocol *protocol = glib_protocol_reader(frame, wire);
    g_autofree char *method = NULL;
    g_autofree char *field_name = NULL;
    char *name = NULL;
    ThriftMessageType kind;
    ThriftType type;
    gint32 sequence;
    gint16 id;
    PlumbReply *reply = g_object_new(PLUMB_TYPE_REPLY, NULL);

    g_assert_cmpint(thrift_protocol_read_message_begin(protocol, &method, &kind, &sequence, NULL), >, 0);
    g_assert_cmpstr(method, ==, "submit");
    g_assert_cmpint(kind, ==, T_REPLY);
    g_assert_cmpint(sequence, ==, 77);

    thrift_protocol_read_struct_begin(protocol, &name, NULL);
    thrift_protocol_read_field_begin(protocol, &field_name, &type, &id, NULL);
    g_assert_cmpint(type, ==, T_STRUCT);
    g_assert_cmpint(id, ==, 0);
    g_assert_cmpint(thrift_struct_read(THRIFT_STRUCT(reply), protocol, NULL), >, 0);

    WireReply whole = {(ReplyStatus)reply->status,
                       reply->accepted,
                       reply->refused,
                       reply->waitMs,
                       reply->version,
                       .sampling = text_of(reply->sampling != NULL ? reply->sampling : "")};
    g_strlcpy(whole.message, reply->message != NULL ? reply->message : "", sizeof whole.message);
    assert_reply_equal(&whole, expected);
    g_assert_true(reply->__isset_message == (expected->message[0] != '\0'));
    g_assert_true(reply->__isset_sampling == (expected->sampling.length > 0));
    g_assert_cmpuint(glib_protocol_left(protocol), ==, 1); /* the stop of the result */

    g_object_unref(protocol);
    g_object_unref(reply);
}

static void check_reply(WireProtocol protocol, const WireReply *sent) {
    const WireHeader header = header_of(protocol, "submit", CALL_SUBMIT);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    wire_reply_encode(&header, sent, bytes);
    WireReply reply;
    g_autoptr(GError) error = NULL;
    wire_reply_decode(payload(bytes), &reply, &error);
    g_assert_no_error(error);
    assert_reply_equal(&reply, sent);
    assert_thrift_reads(payload(bytes), protocol, sent);
}

static void test_replies(void) {
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (gsize i = 0; i < G_N_ELEMENTS(replies); i++)
            for (gsize s = 0; s < G_N_ELEMENTS(policies); s++) {
                WireReply sent = replies[i];
                sent.sampling = text_of(policies[s]);
                check_reply(protocols[p], &sent);
            }
}

static void test_exceptions(void) {
    static const struct {
        const char *method;
        WireCall call;
        gint type;
    } cases[] = {
        {"frobnicate", CALL_UNKNOWN, THRIFT_APPLICATION_EXCEPTION_ERROR_UNKNOWN_METHOD},
        {"submit", CALL_SUBMIT, THRIFT_APPLICATION_EXCEPTION_ERROR_PROTOCOL_ERROR},
    };
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
            const WireHeader header = header_of(protocols[p], cases[i].method, cases[i].call);
            g_autoptr(GByteArray) bytes = g_byte_array_new();
            wire_exception_encode(&header, "what is wrong", bytes);
            WireReply reply = {.accepted = 9};
            g_autoptr(GError) error = NULL;
            g_assert_false(wire_reply_decode(payload(bytes), &reply, &error));
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
            g_assert_nonnull(strstr(error->message, "what is wrong"));
            g_assert_cmpint(reply.accepted, ==, 9);

            ThriftProtocol *protocol = glib_protocol_reader(payload(bytes), protocols[p]);
            g_autofree char *method = NULL;
            ThriftMessageType kind;
            gint32 sequence;
            g_assert_cmpint(thrift_protocol_read_message_begin(protocol, &method, &kind, &sequence, NULL), >, 0);
            g_assert_cmpint(kind, ==, T_EXCEPTION);
            ThriftApplicationException *exception = g_object_new(THRIFT_TYPE_APPLICATION_EXCEPTION, NULL);
            g_assert_cmpint(thrift_struct_read(THRIFT_STRUCT(exception), protocol, NULL), >, 0);
            g_assert_cmpint(exception->type, ==, cases[i].type);
            g_assert_cmpstr(exception->message, ==, "what is wrong");
            g_assert_cmpuint(glib_protocol_left(protocol), ==, 0);
            g_object_unref(exception);
            g_object_unref(protocol);
        }
}

/* What a receiver of another version, or of another kind, may answer. Compact protocol. */
static void test_strange_answers(void) {
    static const struct {
        const char *what;
        const char *bytes;
        gsize size;
        int code; /* -1: good */
    } cases[] = {
        {"status alone", "\x82\x41\1\6submit\x0c\0\x15\0\0\0", 16, -1},
        {"a policy", "\x82\x41\1\6submit\x0c\0\x15\0\x68\1x\0\0", 19, -1},
        {"a policy of another type", "\x82\x41\1\6submit\x0c\0\x15\0\x65\2\0\0", 18, -1},
        {"policy not UTF-8", "\x82\x41\1\6submit\x0c\0\x15\0\x68\1\xff\0\0", 19, PLUMB_ERROR_INPUT},
        {"new field in the reply", "\x82\x41\1\6submit\x0c\0\x15\0\x78\1x\0\0", 19, -1},
        {"new field in the result", "\x82\x41\1\6submit\x0c\0\x15\0\0\x11\0", 17, -1},
        {"status of tomorrow", "\x82\x41\1\6submit\x0c\0\x15\x14\0\0", 16, PLUMB_ERROR_VERSION},
        {"negative status", "\x82\x41\1\6submit\x0c\0\x15\1\0\0", 16, PLUMB_ERROR_VERSION},
        {"no status", "\x82\x41\1\6submit\x0c\0\0\0", 14, PLUMB_ERROR_INPUT},
        {"no reply", "\x82\x41\1\6submit\0", 11, PLUMB_ERROR_INPUT},
        {"a call", "\x82\x21\1\6submit\0", 11, PLUMB_ERROR_INPUT},
        {"left over", "\x82\x41\1\6submit\x0c\0\x15\0\0\0\0", 17, PLUMB_ERROR_INPUT},
        {"message not UTF-8", "\x82\x41\1\6submit\x0c\0\x15\0\x58\1\xff\0\0", 19, PLUMB_ERROR_INPUT},
        {"empty", "", 0, PLUMB_ERROR_INPUT},
        {"exception without anything", "\x82\x61\1\6submit\0", 11, PLUMB_ERROR_PEER},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].what);
        WireReply reply;
        g_autoptr(GError) error = NULL;
        const gboolean good = wire_reply_decode((Bytes){cases[i].bytes, cases[i].size}, &reply, &error);
        g_assert_true(good == (cases[i].code == -1));
        if (!good) g_assert_error(error, PLUMB_ERROR, cases[i].code);
        if (good || cases[i].code != PLUMB_ERROR_INPUT) continue;
        g_assert_true(strlen(error->message) > 0);
    }
}

static void test_truncation(void) {
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        const WireHeader header = header_of(protocols[p], "submit", CALL_SUBMIT);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        WireReply sent = replies[2];
        sent.sampling = text_of(policies[2]);
        wire_reply_encode(&header, &sent, bytes);
        const Bytes whole = payload(bytes);
        for (gsize n = 0; n < whole.size_bytes; n++) {
            g_autofree guint8 *cut = g_memdup2(whole.data, n);
            WireReply reply;
            g_assert_false(wire_reply_decode((Bytes){cut, n}, &reply, NULL));
        }
    }
}

/* A message of more than fits is cut between characters. */
static void test_long_message(void) {
    const WireHeader header = header_of(PROTOCOL_COMPACT, "submit", CALL_UNKNOWN);
    g_autoptr(GString) message = g_string_new("x");
    while (message->len < 1000) g_string_append(message, "\xc3\xa9");
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    wire_exception_encode(&header, message->str, bytes);
    WireReply reply;
    g_autoptr(GError) error = NULL;
    g_assert_false(wire_reply_decode(payload(bytes), &reply, &error));
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    g_assert_cmpuint(strlen(error->message), >, 200);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    glib_repair_class(PLUMB_TYPE_REPLY);
    glib_repair_class(THRIFT_TYPE_APPLICATION_EXCEPTION);
    g_test_add_func("/reply/replies", test_replies);
    g_test_add_func("/reply/exceptions", test_exceptions);
    g_test_add_func("/reply/strange-answers", test_strange_answers);
    g_test_add_func("/reply/truncation", test_truncation);
    g_test_add_func("/reply/long-message", test_long_message);
    return g_test_run();
}
