/* Documents as text: byte for byte what jansson writes, but for characters that harm a terminal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/query/shared/json_compact.h"
#include "common/base/harmless.h"

#define FLAGS (JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

static void assert_same(json_t *document) {
    g_autofree char *dumped = json_dumps(document, FLAGS);
    g_autoptr(GString) harmless = g_string_new(NULL);
    harmless_json_append(harmless, dumped, strlen(dumped));
    const char *expected = harmless->str;
    gsize size_bytes;
    g_autofree char *text = json_compact(document, &size_bytes);
    g_assert_cmpstr(text, ==, expected);
    g_assert_cmpuint(size_bytes, ==, strlen(expected));
}

static void test_values(void) {
    static const json_int_t integers[] = {0, 1, -1, 9, 10, -10, 1234567890123, G_MAXINT64, G_MININT64};
    static const double reals[] = {0, -0.0, 1, 0.1, 1e300, -1e-300, 1.0 / 3, 123456789012345680.0, 5e-324};
    for (gsize i = 0; i < G_N_ELEMENTS(integers); i++) {
        json_auto_t *value = json_integer(integers[i]);
        assert_same(value);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(reals); i++) {
        json_auto_t *value = json_real(reals[i]);
        assert_same(value);
    }
    json_auto_t *mixed = json_pack("{s:b, s:b, s:n, s:[], s:{}, s:[i,[s],{s:s}]}", "yes", 1, "no", 0, "none", "list",
                                   "object", "more", 1, "text", "\"\\\n", "");
    assert_same(mixed);
}

static void test_every_character(void) {
    for (guint32 c = 1; c < 0x3000; c++) {
        char text[16] = "before";
        g_unichar_to_utf8(c, text + 6);
        json_auto_t *value = json_pack("{s:s}", text, text);
        assert_same(value);
    }
    json_auto_t *with_zero = json_stringn("a\0b", 3);
    gsize size_bytes;
    g_autofree char *text = json_compact(with_zero, &size_bytes);
    g_assert_cmpstr(text, ==, "\"a\\u0000b\"");
}

static void test_harmful_characters(void) {
    const char *text = "a\x7f\xc2\x85\xc2\x9b\xc2\xa0\xd8\x9c\xd8\x9d\xe2\x80\xae\xe2\x80\xaf\xe2\x80\xa8\xe2\x81\xa6z";
    json_auto_t *value = json_string(text);
    gsize size_bytes;
    g_autofree char *written = json_compact(value, &size_bytes);
    g_assert_cmpstr(written, ==, "\"a\\u007F\\u0085\\u009B\xc2\xa0\\u061C\xd8\x9d\\u202E\xe2\x80\xaf\\u2028\\u2066z\"");
    json_auto_t *again = json_loads(written, JSON_DECODE_ANY, NULL);
    g_assert_cmpstr(json_string_value(again), ==, text);
}

/* Rows take the place of their member, of the outermost object only, and only if there are any. */
static void test_rows(void) {
    json_auto_t *document = json_pack("{s:i, s:n, s:{s:n}}", "before", 1, "rows", "after", "rows");
    g_auto(JsonRows) rows = {NULL, {NULL, 0, 0}};
    gsize size_bytes;
    g_autofree char *without = json_compact_rows(document, &rows, &size_bytes);
    g_assert_cmpstr(without, ==, "{\"before\":1,\"rows\":null,\"after\":{\"rows\":null}}");
    rows.member = "rows";
    json_put_bytes(&rows.text, "[", 1);
    json_put_string(&rows.text, "a\"b", 3);
    json_put_bytes(&rows.text, ",", 1);
    json_put_integer(&rows.text, -7);
    json_put_bytes(&rows.text, "]", 1);
    g_autofree char *with = json_compact_rows(document, &rows, &size_bytes);
    g_assert_cmpstr(with, ==, "{\"before\":1,\"rows\":[\"a\\\"b\",-7],\"after\":{\"rows\":null}}");
    g_assert_cmpuint(size_bytes, ==, strlen(with));
}

static json_t *made(GRand *rand, guint depth) {
    static const char alphabet[] = "ab\"\\/\b\f\n\r\t\v\x01\x1f\x7f z";
    char text[64];
    gsize length = (gsize)g_rand_int_range(rand, 0, sizeof text);
    for (gsize i = 0; i < length; i++) text[i] = alphabet[g_rand_int_range(rand, 0, sizeof alphabet - 1)];

    switch (g_rand_int_range(rand, 0, depth > 0 ? 6 : 4)) {
    case 0: return json_integer((json_int_t)((guint64)g_rand_int(rand) << 32 | g_rand_int(rand)));
    case 1: return json_real(ldexp(g_rand_double(rand) - 0.5, g_rand_int_range(rand, -300, 300)));
    case 2: return json_boolean(length % 2);
    case 3: return json_stringn(text, length);
    case 4: {
        json_t *list = json_array();
        for (gsize i = 0; i < length; i++) json_array_append_new(list, made(rand, depth - 1));
        return list;
    }
    default: {
        json_t *object = json_object();
        for (gsize i = 0; i < length; i++) {
            g_autofree char *name = g_strdup_printf("%.*s%u", (int)i, text, (guint)i);
            json_object_set_new(object, name, made(rand, depth - 1));
        }
        return object;
    }
    }
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (guint i = 0; i < 200; i++) {
        json_auto_t *document = made(rand, 2);
        assert_same(document);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/json-compact/values", test_values);
    g_test_add_func("/query/json-compact/every-character", test_every_character);
    g_test_add_func("/query/json-compact/harmful-characters", test_harmful_characters);
    g_test_add_func("/query/json-compact/rows", test_rows);
    g_test_add_func("/query/json-compact/random", test_random);
    return g_test_run();
}
