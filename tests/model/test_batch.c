#include "common/model/batch.h"

#include <string.h>

static void assert_string(BatchString actual, const char *expected, gsize length) {
    g_assert_cmpmem(actual.data, actual.length, expected, length);
}

static void test_intern(void) {
    g_autoptr(SpanBatch) batch = batch_new();
    char text[] = "NameNode/10.0.0.1";
    const guint32 tracer = batch_intern(batch, text, strlen(text));
    memset(text, 'x', sizeof text - 1); /* the batch holds a copy */
    const guint32 empty = batch_intern(batch, NULL, 0);
    g_assert_cmpuint(batch_intern(batch, "NameNode/10.0.0.1", 17), ==, tracer);
    g_assert_cmpuint(batch_intern(batch, "", 0), ==, empty);
    g_assert_cmpuint(batch_intern(batch, "NameNode", 8), !=, tracer);
    g_assert_cmpuint(batch->strings->len, ==, 3);
    assert_string(batch_string(batch, tracer), "NameNode/10.0.0.1", 17);
    assert_string(batch_string(batch, empty), "", 0);
}

static void test_intern_many(void) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (int round = 0; round < 2; round++)
        for (guint i = 0; i < 50000; i++) {
            g_autofree char *text = g_strdup_printf("name %u", i);
            g_assert_cmpuint(batch_intern(batch, text, strlen(text)), ==, i);
        }
    g_assert_cmpuint(batch->strings->len, ==, 50000);
    assert_string(batch_string(batch, 49999), "name 49999", 10);
}

static void test_builder(void) {
    g_autoptr(SpanBatch) batch = batch_new();

    for (guint i = 0; i < 1000; i++) {
        BatchSpan *span = batch_begin_span(batch, (SpanId){1, i + 1});
        span->begin_ns = i;
        for (guint p = 0; p < i % 3; p++) batch_add_parent(batch, (SpanId){2, p});
        for (guint a = 0; a < i % 4; a++) batch_add_annotation(batch, a, batch_copy(batch, "value", a));
        for (guint n = 0; n < i % 2; n++) batch_add_note(batch, i, batch_copy(batch, "message", 7));
    }

    for (guint i = 0; i < 1000; i++) {
        const BatchSpan *span = batch_span(batch, i);
        g_assert_true(span_id_equal(span->id, (SpanId){1, i + 1}));
        g_assert_cmpint(span->begin_ns, ==, i);
        g_assert_cmpuint(span->n_parents, ==, i % 3);
        g_assert_cmpuint(span->n_annotations, ==, i % 4);
        g_assert_cmpuint(span->n_notes, ==, i % 2);

        for (guint a = 0; a < span->n_annotations; a++) {
            const BatchAnnotation *annotation =
                &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + a);
            g_assert_cmpuint(annotation->key, ==, a);
            assert_string(annotation->value, "value", a);
        }
        if (span->n_notes > 0)
            assert_string(g_array_index(batch->notes, BatchNote, span->notes_at).message, "message", 7);
    }
}

static void test_clear(void) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (int round = 0; round < 3; round++) {
        g_assert_cmpuint(batch_intern(batch, "a", 1), ==, 0);
        batch_begin_span(batch, (SpanId){1, 2});
        batch_add_parent(batch, (SpanId){1, 1});
        batch->sender.sender = batch_copy(batch, "me", 2);
        batch->sender.sequence = 7;
        const BatchDrop drop = {{"full", 4}, 1};
        g_array_append_val(batch->sender.drops, drop);
        batch_clear(batch);
        g_assert_cmpuint(batch->strings->len + batch->spans->len + batch->parents->len, ==, 0);
        g_assert_cmpuint(batch->sender.sender.length, ==, 0);
        g_assert_cmpint(batch->sender.sequence, ==, 0);
        g_assert_cmpuint(batch->sender.drops->len, ==, 0);
    }
    batch_free(NULL);
}

/* Whether an array was given up or kept, the batch is as new. */
static void test_clear_large(void) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (int round = 0; round < 2; round++) {
        batch_begin_span(batch, (SpanId){1, 2});
        for (guint i = 0; i < 1500000; i++) batch_add_parent(batch, (SpanId){1, i});
        g_assert_cmpuint(batch_span(batch, 0)->n_parents, ==, 1500000);
        batch_clear(batch);
        g_assert_cmpuint(batch->parents->len + batch->spans->len, ==, 0);
    }
}

static void test_text(void) {
    static const struct {
        const char *text;
        gsize length;
        gboolean valid;
    } cases[] = {
        {"", 0, TRUE},
        {"ascii", 5, TRUE},
        {"exactly8", 8, TRUE},
        {"/user/anna/part-00001", 21, TRUE},
        {"caf\xc3\xa9", 5, TRUE},
        {"12345678caf\xc3\xa9", 13, TRUE},
        {"\xf0\x9f\x98\x80", 4, TRUE},
        {"a\0b", 3, FALSE},
        {"1234567\0", 8, FALSE},
        {"12345678\0", 9, FALSE},
        {"12345678\x80", 9, FALSE},
        {"\xff", 1, FALSE},
        {"cut \xc3", 5, FALSE},
        {"1234567\xc3", 8, FALSE},
        {"\xc0\x80", 2, FALSE},     /* overlong */
        {"\xed\xa0\x80", 3, FALSE}, /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", 4, FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_true(batch_text_valid(cases[i].text, cases[i].length) == cases[i].valid);
}

/* The fast path and GLib agree wherever the odd byte stands. */
static void test_text_positions(void) {
    char text[40];
    for (gsize length = 1; length <= sizeof text; length++)
        for (gsize at = 0; at < length; at++)
            for (int byte = 0; byte < 256; byte += byte == 1 ? 125 : 1) {
                memset(text, 'a', sizeof text);
                text[at] = (char)byte;
                g_assert_true(batch_text_valid(text, length) == g_utf8_validate_len(text, length, NULL));
            }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/batch/intern", test_intern);
    g_test_add_func("/batch/intern-many", test_intern_many);
    g_test_add_func("/batch/builder", test_builder);
    g_test_add_func("/batch/clear", test_clear);
    g_test_add_func("/batch/clear-large", test_clear_large);
    g_test_add_func("/batch/text", test_text);
    g_test_add_func("/batch/text-positions", test_text_positions);
    return g_test_run();
}
