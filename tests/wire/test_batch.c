/* Our encoder and decoder of submit against each other and against c_glib. */
#include <string.h>

#include "common/wire/message.h"
#include "tests/wire/batches.h"

static const WireProtocol protocols[] = {PROTOCOL_BINARY, PROTOCOL_COMPACT};

static WireHeader header_of(const GByteArray *bytes) {
    FrameCut cut;
    WireHeader header;
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(frame_cut((Bytes){bytes->data, bytes->len}, bytes->len, &cut), ==, FRAME_WHOLE);
    g_assert_cmpuint(cut.frame.size_bytes + FRAME_HEADER_BYTES, ==, bytes->len);
    wire_header_decode(cut.frame, &header, &error);
    g_assert_no_error(error);
    g_assert_cmpint(header.call, ==, CALL_SUBMIT);
    return header;
}

static void check_both_ways(const SpanBatch *batch, WireProtocol protocol, gint32 sequence) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    wire_batch_encode(batch, protocol, sequence, bytes);
    const WireHeader header = header_of(bytes);
    g_assert_cmpint(header.protocol, ==, protocol);
    g_assert_cmpint(header.sequence, ==, sequence);
    g_assert_false(header.oneway);

    g_autoptr(SpanBatch) ours = batch_new(), reference = batch_new();
    WireVersions versions, expected;
    g_autoptr(GError) error = NULL;
    wire_batch_decode(&header, ours, &versions, &error);
    g_assert_no_error(error);
    batches_assert_equal(batch, ours);
    wire_batch_decode_reference(&header, reference, &expected, &error);
    g_assert_no_error(error);
    batches_assert_equal(ours, reference);
    g_assert_cmpint(versions.version, ==, WIRE_VERSION);
    g_assert_cmpint(versions.needs, ==, 1);
    g_assert_cmpint(expected.version, ==, versions.version);
    g_assert_cmpint(expected.needs, ==, versions.needs);
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    for (gint32 round = 0; round < 3000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 0, 12));
        for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) check_both_ways(batch, protocols[p], round * 715827 - 5);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/batch/random", test_random);
    return g_test_run();
}
