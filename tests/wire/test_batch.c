/* Our encoder and decoder of submit against each other and against c_glib, on good bytes and on bad ones. */
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/reference/reference.h"
#include "tests/wire/batches.h"
#include "tests/wire/newer.h"

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

/* Both decoders read these bytes as that batch (NULL: just the same from both). */
static void check_decoders(const GByteArray *bytes, const SpanBatch *expected, WireVersions versions) {
    const WireHeader header = header_of(bytes);
    g_autoptr(SpanBatch) ours = batch_new(), reference = batch_new();
    WireVersions found = {-1, -1}, found_reference = {-1, -1};
    g_autoptr(GError) error = NULL;
    wire_batch_decode(&header, ours, &found, &error);
    g_assert_no_error(error);
    wire_batch_decode_reference(&header, reference, &found_reference, &error);
    g_assert_no_error(error);
    batches_assert_equal(ours, reference);
    if (expected != NULL) batches_assert_equal(expected, ours);
    g_assert_cmpint(found.version, ==, versions.version);
    g_assert_cmpint(found.needs, ==, versions.needs);
    g_assert_cmpint(found_reference.version, ==, versions.version);
    g_assert_cmpint(found_reference.needs, ==, versions.needs);
}

static void expect_error(Bytes frame, int code) {
    WireHeader header;
    g_autoptr(SpanBatch) batch = batch_new();
    WireVersions versions = {-1, -1};
    g_autoptr(GError) error = NULL;
    g_assert_true(wire_header_decode(frame, &header, NULL));
    g_assert_false(wire_batch_decode(&header, batch, &versions, &error));
    g_assert_error(error, PLUMB_ERROR, code);
    g_assert_cmpuint(batch->spans->len + batch->strings->len, ==, 0);
    g_assert_cmpint(versions.version, ==, -1);
}

static GByteArray *encoded(const SpanBatch *batch, WireProtocol protocol) {
    GByteArray *bytes = g_byte_array_new();
    wire_batch_encode(batch, protocol, 7, bytes);
    return bytes;
}

static Bytes payload(const GByteArray *bytes) {
    return (Bytes){bytes->data + FRAME_HEADER_BYTES, bytes->len - FRAME_HEADER_BYTES};
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    for (gint32 round = 0; round < 3000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 0, 12));
        for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
            g_autoptr(GByteArray) bytes = g_byte_array_new();
            const gint32 sequence = (gint32)g_rand_int(rand);
            wire_batch_encode(batch, protocols[p], sequence, bytes);
            const WireHeader header = header_of(bytes);
            g_assert_cmpint(header.protocol, ==, protocols[p]);
            g_assert_cmpint(header.sequence, ==, sequence);
            g_assert_false(header.oneway);
            check_decoders(bytes, batch, (WireVersions){WIRE_VERSION, 1});
        }
    }
}

static void test_many_spans(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(SpanBatch) batch = batches_typical(rand, 20000);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GByteArray) bytes = encoded(batch, protocols[p]);
        check_decoders(bytes, batch, (WireVersions){WIRE_VERSION, 1});
    }
}

/* Frames one behind the other in one buffer: the second is not disturbed by the first. */
static void test_append(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    g_autoptr(SpanBatch) batch = batches_random(rand, 9);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    wire_batch_encode(batch, PROTOCOL_BINARY, 1, bytes);
    wire_batch_encode(batch, PROTOCOL_COMPACT, 2, bytes);
    gsize at = 0;
    for (gint32 sequence = 1; sequence <= 2; sequence++) {
        FrameCut cut;
        WireHeader header;
        g_assert_cmpint(frame_cut((Bytes){bytes->data + at, bytes->len - at}, bytes->len, &cut), ==, FRAME_WHOLE);
        g_assert_true(wire_header_decode(cut.frame, &header, NULL));
        g_assert_cmpint(header.sequence, ==, sequence);
        at += cut.needed_bytes;
    }
    g_assert_cmpuint(at, ==, bytes->len);
}

static void test_newer_sender(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (gint32 round = 0; round < 200; round++) {
            g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 0, 6));
            NewerOptions options = {.protocol = protocols[p], .version = 1 + round % 3, .needs = round % 2};
            options.extras = round % 5 != 0;
            options.reversed = round % 4 >= 2;
            g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
            check_decoders(bytes, batch, (WireVersions){options.version, 1});
        }
}

static void test_optional_fields_missing(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(6);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, 20);
        NewerOptions options = {
            .protocol = protocols[p], .version = 1, .leave_out = 0xf80, .leave_out_of_batch = 1 << 5};
        g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
        for (guint i = 0; i < batch->spans->len; i++) {
            BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
            span->n_parents = span->n_annotations = span->n_notes = span->flags = 0;
        }
        batch->sender.sender.length = 0;
        batch->sender.sequence = batch->sender.spans_sent = batch->sender.spans_queued = 0;
        g_array_set_size(batch->sender.drops, 0);
        check_decoders(bytes, batch, (WireVersions){1, 1});
    }
}

/* Without one of its first six fields a span has no valid id; the others of the batch are not touched. */
static void test_required_fields_missing(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (guint id = 1; id <= 6; id++) {
            g_autoptr(SpanBatch) batch = batches_typical(rand, 5), decoded = batch_new();
            const NewerOptions options = {.protocol = protocols[p], .version = 1, .leave_out = 1u << id};
            g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
            check_decoders(bytes, NULL, (WireVersions){1, 1});
            const WireHeader header = header_of(bytes);
            WireVersions versions;
            g_assert_true(wire_batch_decode(&header, decoded, &versions, NULL));
            g_assert_cmpuint(decoded->spans->len, ==, 5);
            for (guint i = 0; i < 5; i++) g_assert_false(span_id_valid(batch_span(decoded, i)->id));
        }
}

static void test_batch_fields_missing(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(8);
    g_autoptr(SpanBatch) batch = batches_typical(rand, 3);
    static const guint8 required[] = {1, 3, 4};
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (gsize i = 0; i < G_N_ELEMENTS(required); i++) {
            NewerOptions options = {.protocol = protocols[p], .version = 1, .leave_out_of_batch = 1u << required[i]};
            g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
            expect_error(payload(bytes), PLUMB_ERROR_INPUT);
        }
}

/* Whatever the batch of a sender that needs a newer receiver looks like, the answer is about versions. */
static void test_needs_newer(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    g_autoptr(SpanBatch) batch = batches_random(rand, 3), empty = batch_new();
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (guint kind = 0; kind < 4; kind++) {
            NewerOptions options = {.protocol = protocols[p], .version = 9, .needs = WIRE_VERSION + 1, .extras = TRUE};
            options.leave_out_of_batch = kind % 2 == 0 ? 0 : 1u << 3 | 1u << 4;
            options.reversed = kind / 2 == 1;
            g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
            check_decoders(bytes, empty, (WireVersions){9, WIRE_VERSION + 1});
        }
}

static void test_depth(void) {
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GByteArray) allowed = newer_deep(protocols[p], LIMIT_THRIFT_DEPTH);
        expect_error(payload(allowed), PLUMB_ERROR_INPUT); /* well-formed, but no batch in it */
        g_autoptr(GByteArray) deep = newer_deep(protocols[p], LIMIT_THRIFT_DEPTH + 1);
        expect_error(payload(deep), PLUMB_ERROR_LIMIT);
        g_autoptr(GByteArray) absurd = newer_deep(protocols[p], 2000000);
        expect_error(payload(absurd), PLUMB_ERROR_LIMIT);
    }
}

/* An unknown field as deep as it may be, in front of the batch: the reference must take it, too. */
static void test_depth_in_both(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_autoptr(SpanBatch) batch = batches_random(rand, 3);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        const NewerOptions options = {.protocol = protocols[p], .version = WIRE_VERSION, .deep = LIMIT_THRIFT_DEPTH};
        g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
        check_decoders(bytes, batch, (WireVersions){WIRE_VERSION, 1});
    }
}

static void test_truncation(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(10);
    g_autoptr(SpanBatch) decoded = batch_new();

    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
        for (int extras = 0; extras < 2; extras++) {
            g_autoptr(SpanBatch) batch = batches_random(rand, extras ? 2 : 12);
            const NewerOptions options = {.protocol = protocols[p], .version = 1, .extras = extras};
            g_autoptr(GByteArray) bytes = newer_submit(batch, &options);
            const Bytes whole = payload(bytes);

            for (gsize n = 0; n < whole.size_bytes; n++) {
                /* In a block of its own, so that a byte read past the end is seen by the sanitizer. */
                g_autofree guint8 *cut = g_memdup2(whole.data, n);
                WireHeader header;
                WireVersions versions;
                g_autoptr(GError) error = NULL;
                if (!wire_header_decode((Bytes){cut, n}, &header, &error)) continue;
                g_assert_false(wire_batch_decode(&header, decoded, &versions, &error));
                g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
            }
        }
}

static void test_left_over(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_autoptr(SpanBatch) batch = batches_random(rand, 3);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GByteArray) bytes = encoded(batch, protocols[p]);
        append_u8(bytes, 0);
        expect_error(payload(bytes), PLUMB_ERROR_INPUT);
    }
}

static void assert_in_bounds(const SpanBatch *batch) {
    for (guint i = 0; i < batch->spans->len; i++) {
        const BatchSpan *span = batch_span(batch, i);
        g_assert_cmpuint(span->name, <, batch->strings->len);
        g_assert_cmpuint(span->tracer, <, batch->strings->len);
        g_assert_cmpuint(span->parents_at + span->n_parents, <=, batch->parents->len);
        g_assert_cmpuint(span->annotations_at + span->n_annotations, <=, batch->annotations->len);
        g_assert_cmpuint(span->notes_at + span->n_notes, <=, batch->notes->len);
        for (guint32 a = 0; a < span->n_annotations; a++)
            g_assert_cmpuint(g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + a).key, <,
                             batch->strings->len);
    }
}

/* Changed bytes: refused, or read exactly as c_glib reads them. */
static void test_mutations(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(12);
    g_autoptr(SpanBatch) decoded = batch_new(), reference = batch_new();
    guint accepted = 0, refused = 0;

    for (guint round = 0; round < 20000; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 1, 5));
        g_autoptr(GByteArray) bytes = encoded(batch, protocols[round % 2]);
        const Bytes whole = payload(bytes);
        for (gint n = g_rand_int_range(rand, 1, 4); n > 0; n--)
            ((guint8 *)whole.data)[g_rand_int_range(rand, 0, (gint32)whole.size_bytes)] ^=
                1 << g_rand_int_range(rand, 0, 8);

        WireHeader header;
        WireVersions versions, expected;
        g_autoptr(GError) error = NULL;
        if (!wire_header_decode(whole, &header, NULL) || !wire_batch_decode(&header, decoded, &versions, NULL)) {
            refused++;
            continue;
        }

        accepted++;
        assert_in_bounds(decoded);
        wire_batch_decode_reference(&header, reference, &expected, &error);
        g_assert_no_error(error);
        batches_assert_equal(decoded, reference);
    }

    g_assert_cmpuint(accepted, >, 1000);
    g_assert_cmpuint(refused, >, 1000);
}

static void test_garbage(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(13);
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint round = 0; round < 100000; round++) {
        guint8 bytes[64];
        const gsize size = (gsize)g_rand_int_range(rand, 0, sizeof bytes + 1);
        for (gsize i = 0; i < size; i++) bytes[i] = (guint8)g_rand_int(rand);
        const WireHeader header = {.call = CALL_SUBMIT, .protocol = round % 2, .body = {bytes, size}};
        WireVersions versions;
        if (wire_batch_decode(&header, batch, &versions, NULL)) assert_in_bounds(batch);
    }
}

/* A submit frame whose batch is as the function makes it. */
typedef void (*Fill)(SpanBatch *batch, guint n);

static void fill_spans(SpanBatch *batch, guint n) {
    for (guint i = 0; i < n; i++) batch_begin_span(batch, (SpanId){1, i + 1});
}

static void fill_strings(SpanBatch *batch, guint n) {
    const BatchString empty = {"", 0};
    for (guint i = batch->strings->len; i < n; i++) g_array_append_val(batch->strings, empty);
}

static BatchString long_text(SpanBatch *batch, guint n) {
    g_autofree char *text = g_strnfill(n, 'x');
    return batch_copy(batch, text, n);
}

static void fill_name(SpanBatch *batch, guint n) {
    const BatchString text = long_text(batch, n);
    g_array_append_val(batch->strings, text);
}

static void fill_sender(SpanBatch *batch, guint n) { batch->sender.sender = long_text(batch, n); }

static void fill_reason(SpanBatch *batch, guint n) {
    const BatchDrop drop = {long_text(batch, n), 1};
    batch->sender.sender = (BatchString){"me", 2};
    g_array_append_val(batch->sender.drops, drop);
}

static void fill_drops(SpanBatch *batch, guint n) {
    const BatchDrop drop = {{"", 0}, 1};
    batch->sender.sender = (BatchString){"me", 2};
    for (guint i = 0; i < n; i++) g_array_append_val(batch->sender.drops, drop);
}

static void fill_value(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    batch_add_annotation(batch, 0, long_text(batch, n));
}

static void fill_message(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    batch_add_note(batch, 0, long_text(batch, n));
}

static void fill_parents(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    for (guint i = 0; i < n; i++) batch_add_parent(batch, (SpanId){1, i});
}

static void fill_far_parents(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    for (guint i = 0; i < n; i++) batch_add_parent(batch, (SpanId){2, i});
}

static void fill_annotations(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    for (guint i = 0; i < n; i++) batch_add_annotation(batch, 0, (BatchString){"", 0});
}

static void fill_notes(SpanBatch *batch, guint n) {
    batch_begin_span(batch, (SpanId){1, 1});
    for (guint i = 0; i < n; i++) batch_add_note(batch, 0, (BatchString){"", 0});
}

/* n entries in all, on spans of 4000 each. */
static void fill_entries(SpanBatch *batch, guint n) {
    for (guint i = 0; i < n; i++) {
        if (i % 4000 == 0) batch_begin_span(batch, (SpanId){1, 1 + i});
        batch_add_annotation(batch, 0, (BatchString){"", 0});
    }
}

static void test_limits(void) {
    static const struct {
        const char *what;
        Fill fill;
        guint limit;
    } cases[] = {
        {"spans", fill_spans, LIMIT_BATCH_SPANS},
        {"strings", fill_strings, LIMIT_BATCH_STRINGS},
        {"name", fill_name, LIMIT_NAME_BYTES},
        {"sender", fill_sender, LIMIT_NAME_BYTES},
        {"reason", fill_reason, LIMIT_NAME_BYTES},
        {"drops", fill_drops, LIMIT_SENDER_DROPS},
        {"value", fill_value, LIMIT_VALUE_BYTES},
        {"message", fill_message, LIMIT_VALUE_BYTES},
        {"parents", fill_parents, LIMIT_SPAN_PARENTS},
        {"parents of another trace", fill_far_parents, LIMIT_SPAN_PARENTS},
        {"annotations", fill_annotations, LIMIT_SPAN_ANNOTATIONS},
        {"notes", fill_notes, LIMIT_SPAN_ANNOTATIONS},
        {"entries", fill_entries, LIMIT_BATCH_ENTRIES},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++)
            for (guint over = 0; over < 2; over++) {
                g_autoptr(SpanBatch) batch = batch_new(), decoded = batch_new();
                WireVersions versions;
                g_autoptr(GError) error = NULL;
                g_test_message("%s", cases[i].what);
                batch_intern(batch, "name", 4);
                cases[i].fill(batch, cases[i].limit + over);
                g_autoptr(GByteArray) bytes = encoded(batch, protocols[p]);
                const WireHeader header = header_of(bytes);
                wire_batch_decode(&header, decoded, &versions, &error);
                if (over)
                    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
                else
                    g_assert_no_error(error);
            }
}

/* Bad content in good structure. */
static void test_content(void) {
    static const struct {
        const char *what;
        BatchString text;
    } texts[] = {{"not UTF-8", {"\xff", 1}}, {"zero byte", {"a\0b", 3}}, {"cut character", {"caf\xc3", 4}}};

    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
            for (guint where = 0; where < 5; where++) {
                g_autoptr(SpanBatch) batch = batch_new();
                batch_intern(batch, "name", 4);
                batch_begin_span(batch, (SpanId){1, 1});
                const BatchDrop drop = {texts[i].text, 1};
                batch->sender.sender = (BatchString){"me", 2};
                if (where == 0) batch_intern(batch, texts[i].text.data, texts[i].text.length);
                if (where == 1) batch_add_annotation(batch, 0, texts[i].text);
                if (where == 2) batch_add_note(batch, 0, texts[i].text);
                if (where == 3) batch->sender.sender = texts[i].text;
                if (where == 4) g_array_append_val(batch->sender.drops, drop);
                g_autoptr(GByteArray) bytes = encoded(batch, protocols[p]);
                expect_error(payload(bytes), PLUMB_ERROR_INPUT);
            }

        static const guint32 indices[] = {1, 2, G_MAXINT32, (guint32)G_MININT32, G_MAXUINT32};
        for (gsize i = 0; i < G_N_ELEMENTS(indices); i++)
            for (guint where = 0; where < 3; where++) {
                g_autoptr(SpanBatch) batch = batch_new();
                batch_intern(batch, "name", 4);
                BatchSpan *span = batch_begin_span(batch, (SpanId){1, 1});
                if (where == 0) span->name = indices[i];
                if (where == 1) span->tracer = indices[i];
                if (where == 2) batch_add_annotation(batch, indices[i], (BatchString){"", 0});
                g_autoptr(GByteArray) bytes = encoded(batch, protocols[p]);
                expect_error(payload(bytes), PLUMB_ERROR_INPUT);
            }

        g_autoptr(SpanBatch) nameless = batch_new(); /* a span, but no strings at all */
        batch_begin_span(nameless, (SpanId){1, 1});
        g_autoptr(GByteArray) bytes = encoded(nameless, protocols[p]);
        expect_error(payload(bytes), PLUMB_ERROR_INPUT);
    }
}

/* Bodies written by hand: what no encoder makes. Fields of the compact protocol. */
static void test_crafted(void) {
    static const struct {
        const char *what;
        const char *bytes;
        gsize size;
        int code;
    } cases[] = {
        {"empty", "", 0, PLUMB_ERROR_INPUT},
        {"no batch", "\0", 1, PLUMB_ERROR_INPUT},
        {"batch of another type", "\x15\2\0", 3, PLUMB_ERROR_INPUT},
        {"strings twice", "\x1c\x15\2\x29\x08\x09\6\x08\x19\x0c\0\0", 12, PLUMB_ERROR_INPUT},
        {"strings are numbers", "\x1c\x15\2\x29\x15\2\x19\x0c\0\0", 10, PLUMB_ERROR_INPUT},
        {"4 thousand million strings", "\x1c\x15\2\x29\xf8\xff\xff\xff\xff\x0f\0\0", 12, PLUMB_ERROR_INPUT},
        {"elements of no type", "\x1c\x15\2\x79\xf0\4\0\0\0\0\0\0", 12, PLUMB_ERROR_INPUT},
        {"empty list of no type", "\x1c\x15\2\x79\x0d\0\0", 7, PLUMB_ERROR_INPUT},
        {"field of no type", "\x1c\x1e\0\0", 4, PLUMB_ERROR_INPUT},
        {"number of 11 bytes", "\x1c\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0", 15, PLUMB_ERROR_INPUT},
        {"number of 33 bits", "\x1c\x15\xff\xff\xff\xff\x1f\0\0", 9, PLUMB_ERROR_INPUT},
        {"field number over 16 bits", "\x1c\x05\x80\x80\x04\0\0\0\0", 9, PLUMB_ERROR_INPUT},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].what);
        const WireHeader header = {
            .call = CALL_SUBMIT, .protocol = PROTOCOL_COMPACT, .body = {cases[i].bytes, cases[i].size}};
        g_autoptr(SpanBatch) batch = batch_new();
        WireVersions versions;
        g_autoptr(GError) error = NULL;
        g_assert_false(wire_batch_decode(&header, batch, &versions, &error));
        g_assert_error(error, PLUMB_ERROR, cases[i].code);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/batch/random", test_random);
    g_test_add_func("/batch/many-spans", test_many_spans);
    g_test_add_func("/batch/append", test_append);
    g_test_add_func("/batch/newer-sender", test_newer_sender);
    g_test_add_func("/batch/optional-fields-missing", test_optional_fields_missing);
    g_test_add_func("/batch/required-fields-missing", test_required_fields_missing);
    g_test_add_func("/batch/batch-fields-missing", test_batch_fields_missing);
    g_test_add_func("/batch/needs-newer", test_needs_newer);
    g_test_add_func("/batch/depth", test_depth);
    g_test_add_func("/batch/depth-in-both", test_depth_in_both);
    g_test_add_func("/batch/truncation", test_truncation);
    g_test_add_func("/batch/left-over", test_left_over);
    g_test_add_func("/batch/mutations", test_mutations);
    g_test_add_func("/batch/garbage", test_garbage);
    g_test_add_func("/batch/limits", test_limits);
    g_test_add_func("/batch/content", test_content);
    g_test_add_func("/batch/crafted", test_crafted);

    return g_test_run();
}
