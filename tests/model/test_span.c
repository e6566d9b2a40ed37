#include <string.h>

#include "common/base/limits.h"
#include "common/model/span.h"

static void test_id_text(void) {
    static const struct {
        const char *text;
        gboolean ok;
        SpanId id;
    } cases[] = {
        {"0123456789abcdef0000000000000001", TRUE, {0x0123456789abcdef, 1}},
        {"FFFFFFFFFFFFFFFFffffffffffffffff", TRUE, {G_MAXUINT64, G_MAXUINT64}},
        {"00000000000000000000000000000000", TRUE, {0, 0}},
        {"0123456789abcdef000000000000001", FALSE, {0, 0}},
        {"0123456789abcdef00000000000000012", FALSE, {0, 0}},
        {"0123456789abcdeg0000000000000001", FALSE, {0, 0}},
        {"0x23456789abcdef0000000000000001", FALSE, {0, 0}},
        {" 123456789abcdef0000000000000001", FALSE, {0, 0}},
        {"", FALSE, {0, 0}},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        SpanId id = {7, 7};
        g_assert_cmpint(span_id_parse(cases[i].text, strlen(cases[i].text), &id), ==, cases[i].ok);
        if (!cases[i].ok) {
            g_assert_true(id.trace == 7 && id.span == 7);
            continue;
        }
        g_assert_true(span_id_equal(id, cases[i].id));
        char text[SPAN_ID_TEXT_BYTES];
        span_id_format(id, text);
        g_autofree char *lower = g_ascii_strdown(cases[i].text, -1);
        g_assert_cmpstr(text, ==, lower);
    }

    g_assert_false(span_id_valid((SpanId){0, 0}));
    g_assert_true(span_id_valid((SpanId){0, 1}) && span_id_valid((SpanId){1, 0}));
    /* Unsigned: the upper bit is no sign. */
    g_assert_cmpint(span_id_compare((SpanId){G_MAXUINT64, 0}, (SpanId){1, G_MAXUINT64}), >, 0);
    g_assert_cmpint(span_id_compare((SpanId){1, 1}, (SpanId){1, G_MAXUINT64}), <, 0);
    g_assert_cmpint(span_id_compare((SpanId){1, 1}, (SpanId){1, 1}), ==, 0);
}

/* What is put into a record, seen from outside; derived from a number so that walking back can check it. */
static void build(GByteArray *out, guint seed) {
    const SpanRec head = {.flags = SPAN_MILLISECONDS,
                          .id = {seed, ~(guint64)seed},
                          .begin_ns = -(gint64)seed * 1000003,
                          .duration_ns = (gint64)seed - 5,
                          .name = seed + 1,
                          .tracer = seed + 2,
                          .n_parents = 99, /* ignored */
                          .n_notes = 99};
    SpanBuilder builder = span_builder_begin(out, &head);
    for (guint i = 0; i < seed % 4; i++) span_builder_parent(&builder, (SpanId){seed, i});
    for (guint i = 0; i < seed % 7; i++) {
        g_autofree char *value = g_strnfill(i * 3, (gchar)('a' + i));
        span_builder_annotation(&builder, i + 10, value, i * 3);
    }
    for (guint i = 0; i < seed % 5; i++) span_builder_note(&builder, G_MININT64 + i, "message", i);
    span_builder_end(&builder);
}

static void check(const SpanRec *span, guint seed) {
    g_assert_cmpuint(span->size_bytes % 8, ==, 0);
    g_assert_cmpuint(span->id.trace, ==, seed);
    g_assert_cmpint(span->begin_ns, ==, -(gint64)seed * 1000003);
    g_assert_cmpuint(span->n_parents, ==, seed % 4);
    for (guint i = 0; i < span->n_parents; i++) g_assert_cmpuint(span_parents(span)[i].span, ==, i);

    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    guint n = 0;
    for (; span_next_annotation(&cursor, &annotation); n++) {
        g_assert_cmpuint(annotation.key, ==, n + 10);
        g_assert_cmpuint(annotation.length, ==, n * 3);
        for (guint i = 0; i < annotation.length; i++) g_assert_cmpint(annotation.value[i], ==, (char)('a' + n));
    }
    g_assert_cmpuint(n, ==, seed % 7);

    SpanNote note;
    for (n = 0; span_next_note(&cursor, &note); n++) {
        g_assert_cmpint(note.time_ns, ==, G_MININT64 + n);
        g_assert_cmpmem(note.message, note.length, "message", n);
    }
    g_assert_cmpuint(n, ==, seed % 5);

    /* The notes alone are the same. */
    SpanCursor again = span_cursor(span);
    for (n = 0; span_next_note(&again, &note); n++) g_assert_cmpint(note.time_ns, ==, G_MININT64 + n);
    g_assert_cmpuint(n, ==, seed % 5);
    g_assert_false(span_next_note(&again, &note));
    g_assert_false(span_next_annotation(&again, &annotation));
}

static void test_records_one_behind_the_other(void) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    for (guint seed = 0; seed < 200; seed++) build(out, seed);
    gsize at = 0;
    for (guint seed = 0; seed < 200; seed++) {
        const SpanRec *span = (const SpanRec *)(const void *)(out->data + at);
        check(span, seed);
        at += span->size_bytes;
    }
    g_assert_cmpuint(at, ==, out->len);
}

static void test_limits_fit(void) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    SpanBuilder builder = span_builder_begin(out, &(SpanRec){.id = {1, 2}});
    for (guint i = 0; i < LIMIT_SPAN_PARENTS; i++) span_builder_parent(&builder, (SpanId){1, i});
    for (guint i = 0; i < LIMIT_SPAN_ANNOTATIONS; i++) span_builder_annotation(&builder, i, "", 0);
    g_autofree char *value = g_strnfill(LIMIT_VALUE_BYTES, 'x');
    for (guint i = 0; i < LIMIT_SPAN_ANNOTATIONS; i++)
        span_builder_note(&builder, i, value, i == 0 ? LIMIT_VALUE_BYTES : 0);
    span_builder_end(&builder);
    const SpanRec *span = (const SpanRec *)(const void *)out->data;
    g_assert_cmpuint(span->size_bytes, ==, out->len);
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    guint n = 0;
    for (; span_next_note(&cursor, &note); n++) g_assert_cmpint(note.time_ns, ==, n);
    g_assert_cmpuint(n, ==, LIMIT_SPAN_ANNOTATIONS);
}

static SpanRec *one(const SpanRec *head, const char *value) {
    GByteArray *out = g_byte_array_new();
    SpanBuilder builder = span_builder_begin(out, head);
    if (value != NULL) span_builder_annotation(&builder, 1, value, (guint32)strlen(value));
    span_builder_end(&builder);
    return (SpanRec *)(void *)g_byte_array_free(out, FALSE);
}

static void test_order_is_total(void) {
    const SpanRec heads[] = {
        {.id = {1, 1}},
        {.id = {1, 1}, .begin_ns = -5},
        {.id = {1, 1}, .duration_ns = 9},
        {.id = {1, 1}, .name = G_MAXUINT32},
        {.id = {1, 1}, .tracer = 3},
        {.id = {1, 1}, .flags = 1},
        {.id = {1, 2}},
        {.id = {0, 9}},
    };

    const char *values[] = {NULL, "", "a", "b", "abcd", "abcde"};
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
        for (guint j = 0; j < G_N_ELEMENTS(values); j++) g_ptr_array_add(all, one(&heads[i], values[j]));

    for (guint i = 0; i < all->len; i++) {
        for (guint j = 0; j < all->len; j++) {
            int there = span_rec_compare(all->pdata[i], all->pdata[j], NULL),
                back = span_rec_compare(all->pdata[j], all->pdata[i], NULL);
            g_assert_cmpint((there > 0) - (there < 0), ==, (back < 0) - (back > 0));
            g_assert_cmpint(there == 0, ==, i == j);
            for (guint k = 0; k < all->len; k++) {
                if (there < 0 && span_rec_compare(all->pdata[j], all->pdata[k], NULL) < 0)
                    g_assert_cmpint(span_rec_compare(all->pdata[i], all->pdata[k], NULL), <, 0);
            }
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/span/id-text", test_id_text);
    g_test_add_func("/span/records", test_records_one_behind_the_other);
    g_test_add_func("/span/limits", test_limits_fit);
    g_test_add_func("/span/order", test_order_is_total);
    return g_test_run();
}
