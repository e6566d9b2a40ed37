/* Arguments of submit. The first byte chooses the protocol. What our decoder accepts, Thrift's own library must read
 * the same way, and our encoder must bring back in both protocols. */
#include "common/base/limits.h"
#include "common/wire/reference/reference.h"
#include "fuzz/target.h"
#include "tests/wire/batches.h"

static void check_text(BatchString text, guint32 limit_bytes) {
    g_assert_cmpuint(text.length, <=, limit_bytes);
    g_assert_true(g_utf8_validate_len(text.data, text.length, NULL));
}

static void check_slice(const GArray *array, guint32 at, guint32 n, guint32 limit) {
    g_assert_cmpuint(n, <=, limit);
    if (n > 0) g_assert_true(at <= array->len && n <= array->len - at);
}

static void check_batch(const SpanBatch *batch) {
    for (guint i = 0; i < batch->strings->len; i++) check_text(batch_string(batch, i), LIMIT_NAME_BYTES);
    for (guint i = 0; i < batch->spans->len; i++) {
        const BatchSpan *span = batch_span(batch, i);
        g_assert_cmpuint(span->name, <, batch->strings->len);
        g_assert_cmpuint(span->tracer, <, batch->strings->len);
        check_slice(batch->parents, span->parents_at, span->n_parents, LIMIT_SPAN_PARENTS);
        check_slice(batch->annotations, span->annotations_at, span->n_annotations, LIMIT_SPAN_ANNOTATIONS);
        check_slice(batch->notes, span->notes_at, span->n_notes, LIMIT_SPAN_ANNOTATIONS);
    }
    for (guint i = 0; i < batch->annotations->len; i++) {
        const BatchAnnotation *annotation = &g_array_index(batch->annotations, BatchAnnotation, i);
        g_assert_cmpuint(annotation->key, <, batch->strings->len);
        check_text(annotation->value, LIMIT_VALUE_BYTES);
    }
    for (guint i = 0; i < batch->notes->len; i++)
        check_text(g_array_index(batch->notes, BatchNote, i).message, LIMIT_VALUE_BYTES);
}

static void check_round_trip(const SpanBatch *batch, WireProtocol protocol) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(SpanBatch) back = batch_new();
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    WireHeader header;
    WireVersions versions;
    wire_batch_encode(batch, protocol, 1, bytes);
    g_assert_true(frame_cut((Bytes){bytes->data, bytes->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &header, NULL));
    wire_batch_decode(&header, back, &versions, &error);
    g_assert_no_error(error);
    batches_assert_spans_equal(batch, back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const WireHeader header = {.call = CALL_SUBMIT,
                               .protocol = data[0] & 1 ? PROTOCOL_COMPACT : PROTOCOL_BINARY,
                               .body = {data + 1, size - 1}};
    g_autoptr(SpanBatch) batch = batch_new(), reference = batch_new();
    WireVersions versions, expected;
    g_autoptr(GError) error = NULL;

    if (!wire_batch_decode(&header, batch, &versions, &error)) {
        g_assert_cmpuint(batch->spans->len + batch->strings->len + batch->annotations->len, ==, 0);
        return 0;
    }
    check_batch(batch);

    if (versions.needs > WIRE_VERSION) { /* c_glib would look into what is not for us */
        g_assert_cmpuint(batch->spans->len, ==, 0);
        return 0;
    }

    wire_batch_decode_reference(&header, reference, &expected, &error);
    g_assert_no_error(error);
    g_assert_cmpint(versions.version, ==, expected.version);
    g_assert_cmpint(versions.needs, ==, expected.needs);
    batches_assert_equal(batch, reference);

    check_round_trip(batch, PROTOCOL_BINARY);
    check_round_trip(batch, PROTOCOL_COMPACT);
    return 0;
}
