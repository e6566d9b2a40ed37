#include "common/wire/frame.h"

#include <string.h>

#include "common/base/error.h"
#include "common/wire/message.h"

#define LIMIT 1000

static const struct {
    const char *what;
    const char *bytes;
    gsize size;
    FrameState state;
    gsize needed;
} cuts[] = {
    {"nothing", "", 0, FRAME_PARTIAL, 5},
    {"one byte", "\0", 1, FRAME_PARTIAL, 5},
    {"length only", "\0\0\0\3", 4, FRAME_PARTIAL, 5},
    {"begin of binary", "\0\0\0\3\x80", 5, FRAME_PARTIAL, 7},
    {"begin of compact", "\0\0\0\3\x82\1", 6, FRAME_PARTIAL, 7},
    {"whole", "\0\0\0\3\x82\1\2", 7, FRAME_WHOLE, 7},
    {"whole and more", "\0\0\0\3\x80\1\2\0\0", 9, FRAME_WHOLE, 7},
    {"shortest", "\0\0\0\1\x80", 5, FRAME_WHOLE, 5},
    {"length 0", "\0\0\0\0", 4, FRAME_GARBAGE, 0},
    {"at the limit", "\0\0\3\xe8\x80", 5, FRAME_PARTIAL, 1004},
    {"over the limit", "\0\0\3\xe9\x80", 5, FRAME_TOO_LARGE, 0},
    {"over the limit, first byte unknown", "\0\0\3\xe9", 4, FRAME_PARTIAL, 5},
    {"2 GB", "\x80\0\0\0\x80", 5, FRAME_TOO_LARGE, 0},
    {"largest", "\xff\xff\xff\xff\x82", 5, FRAME_TOO_LARGE, 0},
    {"HTTP", "GET / HTTP/1.1\r\n", 16, FRAME_GARBAGE, 0},
    {"TLS", "\x16\3\1\2\0\1", 6, FRAME_GARBAGE, 0},
    {"old binary without version", "\0\0\0\x14\0\0\0\6submit", 14, FRAME_GARBAGE, 0},
    {"unframed binary", "\x80\1\0\1\0\0\0\6submit", 14, FRAME_GARBAGE, 0},
};

static void test_cut(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(cuts); i++) {
        g_test_message("%s", cuts[i].what);
        FrameCut cut;
        const FrameState state = frame_cut((Bytes){cuts[i].bytes, cuts[i].size}, LIMIT, &cut);
        g_assert_cmpint(state, ==, cuts[i].state);
        if (cuts[i].needed != 0) g_assert_cmpuint(cut.needed_bytes, ==, cuts[i].needed);
        if (state != FRAME_WHOLE) continue;
        g_assert_true(cut.frame.data == cuts[i].bytes + FRAME_HEADER_BYTES);
        g_assert_cmpuint(cut.frame.size_bytes, ==, cuts[i].needed - FRAME_HEADER_BYTES);
        g_assert_cmpuint(cut.declared_bytes, ==, cut.frame.size_bytes);
    }
}

static const struct {
    const char *what;
    const char *bytes;
    gsize size;
    gboolean good;
    WireCall call;
    gint32 sequence;
    gboolean oneway;
    const char *method;
    gsize body;
} headers[] = {
    {"binary", "\x80\1\0\1\0\0\0\6submit\0\0\0\x2a\0", 19, TRUE, CALL_SUBMIT, 42, FALSE, "submit", 1},
    {"compact", "\x82\x21\x2a\6submit\0", 11, TRUE, CALL_SUBMIT, 42, FALSE, "submit", 1},
    {"plain", "\x82\x21\1\x0bsubmitPlain\0", 16, TRUE, CALL_SUBMIT_PLAIN, 1, FALSE, "submitPlain", 1},
    {"oneway", "\x82\x81\1\6submit\0", 11, TRUE, CALL_SUBMIT, 1, TRUE, "submit", 1},
    {"unknown", "\x82\x21\1\7submitX\0", 12, TRUE, CALL_UNKNOWN, 1, FALSE, "submitX", 1},
    {"prefix of a call", "\x82\x21\1\5submi\0", 10, TRUE, CALL_UNKNOWN, 1, FALSE, "submi", 1},
    {"no method", "\x82\x21\1\0\0", 5, TRUE, CALL_UNKNOWN, 1, FALSE, "", 1},
    {"no body", "\x82\x21\1\6submit", 10, TRUE, CALL_SUBMIT, 1, FALSE, "submit", 0},
    {"negative sequence", "\x82\x21\xff\xff\xff\xff\x0f\6submit", 14, TRUE, CALL_SUBMIT, -1, FALSE, "submit", 0},
    {"binary, negative sequence", "\x80\1\0\1\0\0\0\6submit\xff\xff\xff\xff", 18, TRUE, CALL_SUBMIT, -1, FALSE,
     "submit", 0},
    {"empty", "", 0, FALSE, 0, 0, FALSE, NULL, 0},
    {"no Thrift", "GET", 3, FALSE, 0, 0, FALSE, NULL, 0},
    {"one byte", "\x80", 1, FALSE, 0, 0, FALSE, NULL, 0},
    {"other version", "\x80\2\0\1\0\0\0\6submit\0\0\0\x2a", 18, FALSE, 0, 0, FALSE, NULL, 0},
    {"other compact version", "\x82\x22\x2a\6submit", 10, FALSE, 0, 0, FALSE, NULL, 0},
    {"reply", "\x82\x41\x2a\6submit", 10, FALSE, 0, 0, FALSE, NULL, 0},
    {"exception", "\x80\1\0\3\0\0\0\6submit\0\0\0\x2a", 18, FALSE, 0, 0, FALSE, NULL, 0},
    {"kind 0", "\x82\1\x2a\6submit", 10, FALSE, 0, 0, FALSE, NULL, 0},
    {"method past the end", "\x82\x21\1\x7fsubmit", 10, FALSE, 0, 0, FALSE, NULL, 0},
    {"negative length", "\x80\1\0\1\xff\xff\xff\xffsubmit\0\0\0\x2a", 18, FALSE, 0, 0, FALSE, NULL, 0},
    {"sequence cut", "\x80\1\0\1\0\0\0\6submit\0\0\0", 17, FALSE, 0, 0, FALSE, NULL, 0},
    {"method not UTF-8", "\x82\x21\1\1\xff", 5, FALSE, 0, 0, FALSE, NULL, 0},
};

static void test_header(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(headers); i++) {
        g_test_message("%s", headers[i].what);
        WireHeader header;
        g_autoptr(GError) error = NULL;
        const gboolean good = wire_header_decode((Bytes){headers[i].bytes, headers[i].size}, &header, &error);
        g_assert_true(good == headers[i].good);
        if (!good) {
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
            continue;
        }
        g_assert_cmpint(header.call, ==, headers[i].call);
        g_assert_cmpint(header.sequence, ==, headers[i].sequence);
        g_assert_true(header.oneway == headers[i].oneway);
        g_assert_cmpstr(header.method, ==, headers[i].method);
        g_assert_cmpuint(header.body.size_bytes, ==, headers[i].body);
        g_assert_true((const char *)header.body.data + headers[i].body == headers[i].bytes + headers[i].size);
    }
}

/* Cut to what fits, and not in the middle of a character. */
static void test_long_method(void) {
    static const struct {
        const char *prefix;
        gsize kept;
    } cases[] = {{"", 62}, {"x", 63}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) method = g_string_new(cases[i].prefix);
        for (guint n = 0; n < 100; n++) g_string_append(method, "\xc3\xa9");
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        append_bytes(bytes, "\x82\x21\1", 3);
        append_varint(bytes, method->len);
        append_bytes(bytes, method->str, method->len);
        WireHeader header;
        g_assert_true(wire_header_decode((Bytes){bytes->data, bytes->len}, &header, NULL));
        g_assert_cmpmem(header.method, strlen(header.method), method->str, cases[i].kept);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/frame/cut", test_cut);
    g_test_add_func("/frame/header", test_header);
    g_test_add_func("/frame/long-method", test_long_method);
    return g_test_run();
}
