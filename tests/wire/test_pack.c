/* Packs: whatever is in spans comes out of them, bad ones are refused. */
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/model/id_place.h"
#include "common/wire/reference/reference.h"
#include "tests/wire/batches.h"
#include "tests/wire/newer.h"
#include "tests/wire/packs.h"

#define FIRST_PLACE G_GUINT64_CONSTANT(0xfffffffffffffff0) /* so that some wrap round */

static const WireProtocol protocols[] = {PROTOCOL_BINARY, PROTOCOL_COMPACT};

static WireHeader header_of(const GByteArray *frame) {
    WireHeader header;
    g_assert_true(
        wire_header_decode((Bytes){frame->data + FRAME_HEADER_BYTES, frame->len - FRAME_HEADER_BYTES}, &header, NULL));
    return header;
}

/* Some annotations become numbers, some repeat: what batches_random hardly ever makes. */
static void make_numbers(GRand *rand, SpanBatch *batch) {
    for (guint i = 0; i < batch->annotations->len; i++) {
        BatchAnnotation *a = &g_array_index(batch->annotations, BatchAnnotation, i);
        const gint32 kind = g_rand_int_range(rand, 0, 4);
        if (kind == 0 && i > 0) a->value = g_array_index(batch->annotations, BatchAnnotation, i - 1).value;
        if (kind > 1) continue;
        g_autofree char *digits = g_strdup_printf(
            "%" G_GINT64_FORMAT, (gint64)((guint64)g_rand_int(rand) << 32 | g_rand_int(rand)) >> kind * 33);
        a->value = batch_copy(batch, digits, strlen(digits));
    }
}

/* Few functions, one tracer, the same keys: as threads make them. */
static void make_shapes(GRand *rand, SpanBatch *batch) {
    for (guint i = 1; i < batch->spans->len; i++) {
        if (g_rand_boolean(rand)) continue;
        BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
        const BatchSpan *earlier = batch_span(batch, (guint)g_rand_int_range(rand, 0, (gint32)i));
        span->name = earlier->name;
        span->tracer = earlier->tracer;
        span->n_annotations = earlier->n_annotations;
        span->annotations_at = earlier->annotations_at;
    }
}

/* Ids as our agent draws them: near each other. */
static void make_near(GRand *rand, SpanBatch *batch) {
    for (guint i = 0; i < batch->spans->len; i++) {
        BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
        if (!g_rand_boolean(rand)) span->id.span = id_at_place(FIRST_PLACE + g_rand_int_range(rand, 0, 300));
        for (guint p = 0; p < span->n_parents; p++)
            if (g_rand_boolean(rand))
                g_array_index(batch->parents, SpanId, span->parents_at + p).span = id_at_place(FIRST_PLACE + p);
    }
}

/* Version 2 or 3. */
static GByteArray *frame_of(GRand *rand, const SpanBatch *batch, const NewerOptions *how) {
    g_autoptr(GPtrArray) packs = packs_random(rand, batch, how->needs);
    NewerOptions options = *how;
    options.packs = packs;
    return newer_submit(batch, &options);
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(21);
    for (guint round = 0; round < 3000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 1, 30));
        g_autoptr(SpanBatch) decoded = batch_new(), reference = batch_new();
        make_numbers(rand, batch);
        make_shapes(rand, batch);
        make_near(rand, batch);

        const gint32 version = round % 3 == 0 ? 2 : 3;
        const NewerOptions options = {.protocol = protocols[round % 2],
                                      .version = version,
                                      .needs = version,
                                      .reversed = round % 10 == 3,
                                      .extras = round % 10 == 3};

        g_autoptr(GByteArray) frame = frame_of(rand, batch, &options);
        const WireHeader header = header_of(frame);
        WireVersions versions;
        g_autoptr(GError) error = NULL;
        wire_batch_decode(&header, decoded, &versions, &error);
        g_assert_no_error(error);
        g_assert_cmpint(versions.needs, ==, version);
        batches_assert_spans_equal(batch, decoded);

        wire_batch_decode_reference(&header, reference, &versions, &error);
        g_assert_no_error(error);
        batches_assert_equal(decoded, reference);
    }
}

/* What is encoded here comes back, and Thrift's own library reads the same. Returns how many bytes it took. */
static guint check_encoded(const SpanBatch *batch) {
    g_autoptr(SpanBatch) decoded = batch_new(), reference = batch_new();
    g_autoptr(GByteArray) frame = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    WireVersions versions;
    wire_batch_encode_packed(batch, frame);
    const WireHeader header = header_of(frame);
    wire_batch_decode(&header, decoded, &versions, &error);
    g_assert_no_error(error);
    g_assert_cmpint(versions.needs, ==, 2);
    batches_assert_spans_equal(batch, decoded);
    wire_batch_decode_reference(&header, reference, &versions, &error);
    g_assert_no_error(error);
    batches_assert_equal(decoded, reference);
    return frame->len;
}

static void test_encoded(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(23);
    for (guint round = 0; round < 1000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 0, 30));
        if (batch->spans->len > 0) make_shapes(rand, batch);
        check_encoded(batch);
    }
}

/* More shapes than are kept, and more text that repeats than a decoder takes. */
static void test_encoded_limits(void) {
    g_autoptr(SpanBatch) batch = batch_new(), large = batch_new();
    for (guint i = 0; i < 10000; i++) {
        g_autofree char *key = g_strdup_printf("key %u", i / 2);
        BatchSpan *span = batch_begin_span(batch, (SpanId){1, i + 1});
        span->name = span->tracer = batch_intern(batch, "op", 2);
        batch_add_annotation(batch, batch_intern(batch, key, strlen(key)), (BatchString){"same", 4});
    }
    check_encoded(batch);

    g_autofree char *text = g_strnfill(LIMIT_VALUE_BYTES, 'x');
    for (guint i = 0; i < 600; i++) {
        BatchSpan *span = batch_begin_span(large, (SpanId){1, i + 1});
        span->name = span->tracer = batch_intern(large, "op", 2);
        batch_add_annotation(large, span->name, (BatchString){text, LIMIT_VALUE_BYTES});
    }
    g_assert_cmpuint(check_encoded(large), >, 80 * LIMIT_VALUE_BYTES);
}

/* Packs come behind the spans of the list. */
static void test_both(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(22);
    g_autoptr(SpanBatch) batch = batches_typical(rand, 7), decoded = batch_new();
    g_autoptr(GPtrArray) packs = packs_random(rand, batch, 3);
    g_autoptr(GByteArray) frame = g_byte_array_new();
    wire_batch_encode(batch, PROTOCOL_COMPACT, 1, frame);
    const WireHeader header = header_of(frame);

    g_autoptr(GByteArray) body = g_byte_array_new();
    append_bytes(body, header.body.data, header.body.size_bytes - 2); /* without the ends of batch and arguments */
    append_u8(body, 0x19);                                            /* field 6, a list, after the sender's 5 */
    append_u8(body, 0xf8);
    pack_varint(body, packs->len);
    for (guint i = 0; i < packs->len; i++) {
        const GByteArray *pack = g_ptr_array_index(packs, i);
        pack_varint(body, pack->len);
        append_bytes(body, pack->data, pack->len);
    }

    append_bytes(body, "\0\0", 2);
    const WireHeader both = {.call = CALL_SUBMIT, .protocol = PROTOCOL_COMPACT, .body = {body->data, body->len}};
    WireVersions versions;
    g_autoptr(GError) error = NULL;
    wire_batch_decode(&both, decoded, &versions, &error);
    g_assert_no_error(error);

    g_assert_cmpuint(decoded->spans->len, ==, 14);
    g_assert_cmphex(batch_span(decoded, 13)->id.span, ==, batch_span(batch, 6)->id.span);
    g_array_set_size(decoded->spans, 7);
    batches_assert_spans_equal(batch, decoded);
}

/* The code of the error, or -1, of one pack beside a table of two names. */
static int decode_pack(const guint8 *bytes, gsize size, SpanBatch *decoded) {
    g_autoptr(GByteArray) body = g_byte_array_new();
    append_bytes(body, "\x1c\x15\4\x15\4\x19\x28\1f\1k\x19\x0c\x29\x18", 15);
    pack_varint(body, size);
    append_bytes(body, bytes, size);
    append_bytes(body, "\0\0", 2);
    /* In a block of its own, so that a byte read past the end is seen by the sanitizer. */
    g_autofree guint8 *exact = g_memdup2(body->data, body->len);
    const WireHeader header = {.call = CALL_SUBMIT, .protocol = PROTOCOL_COMPACT, .body = {exact, body->len}};
    WireVersions versions;
    g_autoptr(GError) error = NULL;
    if (wire_batch_decode(&header, decoded, &versions, &error)) {
        batch_clear(decoded); /* its strings lie in 'exact' */
        return -1;
    }
    g_assert_true(error->domain == PLUMB_ERROR);
    g_assert_cmpuint(decoded->spans->len + decoded->strings->len + decoded->annotations->len, ==, 0);
    return error->code;
}

/* 1 span, 2 names (both strings); shape 1 with function "f", tracer "k", a text "k" and a number "k". */
#define HEAD      "\1\2\0\1"
#define SHAPE     "\1\1\2\2\0\2\1\2"
#define SPAN      "\0TTTTTTTTSSSSSSSS\2\4"
#define TEXT      "\3ab"
#define NUMBER    "\6"
#define PACK(...) (const guint8 *)__VA_ARGS__, sizeof(__VA_ARGS__) - 1

static void test_crafted(void) {
    static const struct {
        const char *what;
        const guint8 *bytes;
        gsize size;
        int code;
    } cases[] = {
        {"good", PACK(HEAD SHAPE SPAN TEXT NUMBER), -1},
        {"good, names written out", PACK(HEAD "\0\0\1x\0\0\0" SPAN), -1},
        {"no spans", PACK("\0\0"), -1},
        {"nothing", PACK(""), PLUMB_ERROR_INPUT},
        {"bytes left over", PACK(HEAD SHAPE SPAN TEXT NUMBER "\0"), PLUMB_ERROR_INPUT},
        {"more spans than bytes", PACK("\x02\2\0\1" SHAPE SPAN TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a string that is not there", PACK("\1\2\0\2" SHAPE SPAN TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a name that is not there", PACK(HEAD "\1\1\3\2\0\2\1\2" SPAN TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a shape that is not there", PACK(HEAD "\2\1\2\2\0\2\1\2" SPAN TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a kind that is none", PACK(HEAD "\1\1\2\2\0\2\2\2" SPAN TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a text that never was", PACK(HEAD SHAPE SPAN "\0" NUMBER), PLUMB_ERROR_INPUT},
        {"a text past the end", PACK(HEAD SHAPE SPAN "\5ab" NUMBER), PLUMB_ERROR_INPUT},
        {"no UTF-8", PACK(HEAD SHAPE SPAN "\3a\xff" NUMBER), PLUMB_ERROR_INPUT},
        {"a zero byte", PACK(HEAD SHAPE SPAN "\3a\0" NUMBER), PLUMB_ERROR_INPUT},
        {"near: trace, span and parent", PACK(HEAD SHAPE "\x66\x81\1\3\2\2\4" TEXT NUMBER), -1},
        {"near and the same trace", PACK(HEAD SHAPE "\x41\2SSSSSSSS\2\4" TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"unknown bits", PACK(HEAD SHAPE "\x80TTTTTTTTSSSSSSSS\2\4" TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"a parent beside lists", PACK(HEAD SHAPE "\x0cTTTTTTTTSSSSSSSSPPPPPPPP\2\4" TEXT NUMBER "\0"), -1},
        {"a difference of 11 bytes",
         PACK(HEAD SHAPE "\x20TTTTTTTT\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2\4" TEXT NUMBER), PLUMB_ERROR_INPUT},
        {"number of 11 bytes", PACK(HEAD SHAPE SPAN TEXT "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"),
         PLUMB_ERROR_INPUT},
        {"too long a text", PACK(HEAD SHAPE SPAN "\x82\x80\4" NUMBER), PLUMB_ERROR_LIMIT},
        {"too long a name", PACK(HEAD "\0\0\x81\x08"), PLUMB_ERROR_LIMIT},
        {"too many values", PACK(HEAD "\1\1\2\x81\x20" SPAN), PLUMB_ERROR_LIMIT},
        {"too many spans", PACK("\xc1\x9a\x0c\0"), PLUMB_ERROR_LIMIT},
        {"too many names", PACK("\1\xc1\x9a\x0c"), PLUMB_ERROR_INPUT},
    };

    g_autoptr(SpanBatch) decoded = batch_new();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].what);
        g_assert_cmpint(decode_pack(cases[i].bytes, cases[i].size, decoded), ==, cases[i].code);
        for (gsize n = 0; cases[i].code < 0 && n < cases[i].size; n++)
            g_assert_cmpint(decode_pack(cases[i].bytes, n, decoded), ==, PLUMB_ERROR_INPUT);
    }
}

/* A small pack must not become a large batch: a text of 65,536 bytes, repeated n times. */
static void repeat_text(GByteArray *pack, guint n) {
    g_autofree char *text = g_strnfill(LIMIT_VALUE_BYTES, 'x');
    pack_varint(pack, n + 1);
    append_bytes(pack, "\2\0\1\1\1\2\1\0\2", 9);
    for (guint i = 0; i <= n; i++) {
        if (i > 0) append_u8(pack, 1);
        append_bytes(pack, "\0TTTTTTTTSSSSSSSS\2\4", 19);
        pack_varint(pack, i == 0 ? LIMIT_VALUE_BYTES + 1 : 0);
        if (i == 0) append_bytes(pack, text, LIMIT_VALUE_BYTES);
    }
}

static void test_repeated_texts(void) {
    g_autoptr(SpanBatch) decoded = batch_new();
    const guint allowed = LIMIT_FRAME_BYTES / LIMIT_VALUE_BYTES;
    for (guint more = 0; more < 2; more++) {
        g_autoptr(GByteArray) pack = g_byte_array_new();
        repeat_text(pack, allowed + more);
        g_assert_cmpint(decode_pack(pack->data, pack->len, decoded), ==, more == 0 ? -1 : PLUMB_ERROR_LIMIT);
    }
}

/* Changed bytes: refused, or read as the reference reads them. */
static void test_mutations(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(23);
    g_autoptr(SpanBatch) decoded = batch_new(), reference = batch_new();
    guint accepted = 0, refused = 0;

    for (guint round = 0; round < 20000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 1, 6));
        make_numbers(rand, batch);
        make_shapes(rand, batch);
        make_near(rand, batch);
        const NewerOptions options = {.protocol = PROTOCOL_COMPACT, .version = 3, .needs = 3};
        g_autoptr(GByteArray) frame = frame_of(rand, batch, &options);
        const WireHeader header = header_of(frame);
        for (gint n = g_rand_int_range(rand, 1, 4); n > 0; n--)
            ((guint8 *)header.body.data)[g_rand_int_range(rand, 0, (gint32)header.body.size_bytes)] ^=
                1 << g_rand_int_range(rand, 0, 8);

        WireVersions versions;
        g_autoptr(GError) error = NULL;
        if (!wire_batch_decode(&header, decoded, &versions, NULL)) {
            refused++;
            continue;
        }
        accepted++;
        wire_batch_decode_reference(&header, reference, &versions, &error);
        g_assert_no_error(error);
        batches_assert_equal(decoded, reference);
    }

    g_assert_cmpuint(accepted, >, 1000);
    g_assert_cmpuint(refused, >, 1000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pack/random", test_random);
    g_test_add_func("/pack/encoded", test_encoded);
    g_test_add_func("/pack/encoded/limits", test_encoded_limits);
    g_test_add_func("/pack/both", test_both);
    g_test_add_func("/pack/crafted", test_crafted);
    g_test_add_func("/pack/repeated-texts", test_repeated_texts);
    g_test_add_func("/pack/mutations", test_mutations);
    return g_test_run();
}
