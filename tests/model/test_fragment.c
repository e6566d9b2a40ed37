/* What was packed comes out of fragments as it went in, whatever it was. */
#include "common/model/fragment.h"

#include <string.h>

#include "common/base/clock.h"

/* Mostly what real spans are like, sometimes anything. */
static guint64 random_u64(void) { return (guint64)(guint32)g_test_rand_int() << 32 | (guint32)g_test_rand_int(); }

static guint64 random_id(void) {
    return g_test_rand_int_range(0, 3) == 0 ? random_u64() : (guint64)g_test_rand_int_range(0, 40);
}

static gint64 random_time(void) {
    switch (g_test_rand_int_range(0, 5)) {
    case 0: return (gint64)random_u64();
    case 1: return 0;
    case 2: return g_test_rand_int_range(-1000, 1000) * NS_PER_MS;
    default: return G_GINT64_CONSTANT(1605956000000000000) + (gint64)(random_u64() % 1000000000000u);
    }
}

static void random_text(char *text, guint32 length) {
    for (guint32 i = 0; i < length; i++) text[i] = (char)g_test_rand_int_range(1, 127);
}

static void random_lists(SpanBuilder *builder) {
    static char text[3000];
    gint32 most = g_test_rand_int_range(0, 50) == 0 ? 60 : 3;
    /* What all spans of a program say. */
    for (guint32 i = 0, n = (guint32)g_test_rand_int_range(0, 40); i < n && n < 34; i++)
        span_builder_annotation(builder, 130 + i, "constant", g_test_rand_int_range(0, 9) > 0 ? 8 : i % 8);
    for (gint32 i = g_test_rand_int_range(0, most); i > 0; i--) {
        guint32 length = (guint32)g_test_rand_int_range(0, most > 3 ? sizeof text : 20);
        random_text(text, length);
        span_builder_annotation(builder, (guint32)g_test_rand_int() >> g_test_rand_int_range(0, 31), text, length);
    }
    for (gint32 i = g_test_rand_int_range(0, most); i > 0; i--) {
        guint32 length = (guint32)g_test_rand_int_range(0, 20);
        random_text(text, length);
        span_builder_note(builder, random_time(), text, length);
    }
}

static void random_span(GByteArray *records, guint64 trace) {
    SpanRec head = {
        .id = {trace, random_id()},
        .begin_ns = random_time(),
        .duration_ns = random_time(),
        .name = (guint32)g_test_rand_int() >> g_test_rand_int_range(0, 31),
        .tracer = (guint32)g_test_rand_int_range(0, 3),
        .flags = (guint16)(g_test_rand_int_range(0, 9) == 0 ? g_test_rand_int() : g_test_rand_int_range(0, 2)),
    };
    SpanBuilder builder = span_builder_begin(records, &head);
    gint32 n_parents = g_test_rand_int_range(0, 20) == 0 ? g_test_rand_int_range(2, 300) : g_test_rand_int_range(0, 2);
    for (gint32 i = 0; i < n_parents; i++)
        span_builder_parent(&builder, (SpanId){g_test_rand_int_range(0, 4) > 0 ? trace : random_id(), random_id()});
    if (g_test_rand_int_range(0, 2) == 0) random_lists(&builder);
    span_builder_end(&builder);
}

static gboolean is_root(const SpanRec *span) {
    for (guint i = 0; i < span->n_parents; i++)
        if (span_parents(span)[i].trace == span->id.trace) return FALSE;
    return TRUE;
}

static gboolean has_root(const GByteArray *records) {
    for (gsize at = 0; at < records->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(records->data + at);
        if (is_root(span)) return TRUE;
        at += span->size_bytes;
    }
    return FALSE;
}

/* Several fragments of one trace, bodies one behind the other as an open trace has them, opened into one array. */
static void test_random(void) {
    g_autoptr(GByteArray) fragment = g_byte_array_new(), bodies = g_byte_array_new();
    g_autoptr(GByteArray) records = g_byte_array_new(), all = g_byte_array_new(), back = g_byte_array_new();

    for (guint round = 0; round < 3000; round++) {
        const guint64 trace = random_id();
        g_byte_array_set_size(bodies, 0);
        g_byte_array_set_size(all, 0);

        for (gint32 n = g_test_rand_int_range(1, 5); n > 0; n--) {
            const guint32 n_spans = (guint32)g_test_rand_int_range(1, 20);
            g_byte_array_set_size(records, 0);
            for (guint32 i = 0; i < n_spans; i++) random_span(records, trace);
            g_byte_array_append(all, records->data, records->len);
            g_byte_array_set_size(fragment, 16); /* something before it stays */
            memset(fragment->data, 0x5a, 16);
            fragment_pack(fragment, records->data, records->len, n % 2 == 0);
            for (guint i = 0; i < 16; i++) g_assert_cmpuint(fragment->data[i], ==, 0x5a);

            const FragmentHead *head = (const FragmentHead *)(gconstpointer)(fragment->data + 16);
            g_assert_cmpuint(fragment_size_bytes(head), ==, fragment->len - 16);
            g_assert_cmpuint(head->trace, ==, trace);
            g_assert_cmpuint(head->n_spans, ==, n_spans);
            g_assert_cmpint(head->has_root, ==, has_root(records));
            g_byte_array_append(bodies, fragment_body(head), head->size_bytes);
        }

        const guint size_bytes = bodies->len;
        g_byte_array_set_size(bodies, size_bytes + FRAGMENT_SLACK_BYTES);
        memset(bodies->data + size_bytes, 0xff, FRAGMENT_SLACK_BYTES);
        g_byte_array_set_size(back, 0);
        g_assert_true(fragment_unpack(trace, bodies->data, size_bytes, back));
        g_assert_cmpmem(back->data, back->len, all->data, all->len);
    }
}

static void test_empty(void) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    FragmentWriter writer;
    g_byte_array_append(out, (const guint8 *)"12345678", 8);
    fragment_begin(&writer, out, 1);
    fragment_end(&writer);
    g_assert_cmpmem(out->data, out->len, "12345678", 8);
    fragment_pack(out, NULL, 0, FALSE);
    g_assert_cmpuint(out->len, ==, 8);
}

/* What spans of one process cost: ids once, times as differences. */
static void test_size(void) {
    g_autoptr(GByteArray) records = g_byte_array_new(), out = g_byte_array_new();
    guint64 parent = random_u64();
    for (guint i = 0; i < 100; i++) {
        SpanRec head = {.id = {7, random_u64()}, .name = 100, .tracer = 2000, .duration_ns = 70000};
        head.begin_ns = G_GINT64_CONSTANT(1605956000000000000) + i * 100000;
        SpanBuilder builder = span_builder_begin(records, &head);
        span_builder_parent(&builder, (SpanId){7, parent});
        span_builder_end(&builder);
    }
    fragment_pack(out, records->data, records->len, FALSE);
    g_assert_cmpuint(records->len, ==, 100 * 72);
    g_assert_cmpuint(out->len, <, 100 * 20);
}

/* n spans with k times the same text. */
static void repeat(GByteArray *records, guint n, guint k, const char *text) {
    g_byte_array_set_size(records, 0);
    for (guint i = 0; i < n; i++) {
        SpanRec head = {.id = {7, random_u64()}, .name = 100, .tracer = 2000};
        SpanBuilder builder = span_builder_begin(records, &head);
        for (guint j = 0; j < k; j++) span_builder_annotation(&builder, 20 + j, text, (guint32)strlen(text));
        span_builder_end(&builder);
    }
}

/* A value that is as the last in its place takes two bytes. */
static void test_repeated(void) {
    g_autoptr(GByteArray) records = g_byte_array_new(), tight = g_byte_array_new(), plain = g_byte_array_new();
    repeat(records, 100, 5, "a text of 15 B.");
    fragment_pack(tight, records->data, records->len, FALSE);
    fragment_pack(plain, records->data, records->len, TRUE);
    g_assert_cmpuint(plain->len, >, 100 * 5 * 17);
    g_assert_cmpuint(tight->len, <, 100 * (5 * 2 + 22) + 5 * 17);
}

/* However long it is, and however often it comes: the size of a fragment says what its spans take. */
static void test_size_tells(void) {
    g_autoptr(GByteArray) records = g_byte_array_new(), tight = g_byte_array_new(), back = g_byte_array_new();
    const guint lengths[] = {0, 1, 5, 24, 100, 1000, 65535};
    for (guint i = 0; i < G_N_ELEMENTS(lengths) * 2; i++) {
        const guint n = lengths[i / 2] > 1000 ? 20 : 200;
        g_autofree char *text = g_strnfill(lengths[i / 2], 'x');
        repeat(records, n, i % 2 == 0 ? 1 : 30, text);
        g_byte_array_set_size(tight, 0);
        g_byte_array_set_size(back, 0);
        fragment_pack(tight, records->data, records->len, FALSE);
        g_assert_cmpuint(records->len, <=, FRAGMENT_MOST_TIMES * tight->len + n * (sizeof(SpanRec) + 8));
        if (lengths[i / 2] > 5) g_assert_cmpuint(records->len, >, 2 * tight->len);

        const guint32 size_bytes = ((const FragmentHead *)(gconstpointer)tight->data)->size_bytes;
        g_byte_array_set_size(tight, tight->len + FRAGMENT_SLACK_BYTES);
        g_assert_true(fragment_unpack(7, tight->data + sizeof(FragmentHead), size_bytes, back));
        g_assert_cmpmem(back->data, back->len, records->data, records->len);
    }
}

/* What is no fragment is refused, or is other spans; nothing is read beyond it. */
static void test_malformed(void) {
    g_autoptr(GByteArray) records = g_byte_array_new(), out = g_byte_array_new(), back = g_byte_array_new();
    guint refused = 0;
    for (guint round = 0; round < 20000; round++) {
        g_byte_array_set_size(records, 0);
        g_byte_array_set_size(out, 0);
        g_byte_array_set_size(back, 8);
        for (gint32 n = g_test_rand_int_range(1, 5); n > 0; n--) random_span(records, 7);
        fragment_pack(out, records->data, records->len, round % 2 == 0);
        const guint32 size_bytes = ((const FragmentHead *)(gconstpointer)out->data)->size_bytes;
        const guint32 cut = (guint32)g_test_rand_int_range(0, 10) == 0 ? size_bytes / 2 : size_bytes;
        g_autofree guint8 *body = g_malloc(cut + FRAGMENT_SLACK_BYTES);
        memcpy(body, out->data + sizeof(FragmentHead), cut);
        memset(body + cut, round % 3 == 0 ? 0xff : 0, FRAGMENT_SLACK_BYTES);
        for (gint32 n = g_test_rand_int_range(1, 4); n > 0; n--)
            body[g_test_rand_int_range(0, (gint32)cut)] = (guint8)g_test_rand_int_range(0, 256);
        if (fragment_unpack(7, body, cut, back)) continue;
        g_assert_cmpuint(back->len, ==, 8);
        refused++;
    }
    g_assert_cmpuint(refused, >, 1000);

    /* The first annotation of all is as the last. */
    guint8 one[23 + FRAGMENT_SLACK_BYTES] = {[8] = 128 | 8, [19] = 1, [21] = 0x80}; /* marks, annotations */
    g_assert_false(fragment_unpack(7, one, 23, back));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fragment/random", test_random);
    g_test_add_func("/fragment/empty", test_empty);
    g_test_add_func("/fragment/size", test_size);
    g_test_add_func("/fragment/repeated", test_repeated);
    g_test_add_func("/fragment/size-tells", test_size_tells);
    g_test_add_func("/fragment/malformed", test_malformed);
    return g_test_run();
}
