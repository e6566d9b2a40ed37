#include <string.h>

#include "common/base/harmless.h"

static void test_text(void) {
    static const struct {
        const char *text;
        gboolean ascii_only;
        gsize most_bytes;
        const char *harmless;
    } cases[] = {
        {"plain", FALSE, 0, "plain"},
        {"", FALSE, 0, ""},
        {"a\nb\tc\rd", FALSE, 0, "a\\nb\\tc\\rd"},
        {"\x1b[2J\x07\x7f", FALSE, 0, "\\x1b[2J\\x07\\x7f"},
        {"\xc2\x85\xc2\x9b\xc2\xa0", FALSE, 0, "\\x85\\x9b\xc2\xa0"},
        {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", FALSE, 0, "???????"},
        {"\xe2\x80\xa8\xe2\x80\xa9", FALSE, 0, "??"},
        {"\xff\xfe\xc2", FALSE, 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc3\xa4", FALSE, 0, "\xc3\xa4"},
        {"\xc3\xa4", TRUE, 0, "?"},
        {"abcdef", FALSE, 6, "abcdef"},
        {"abcdefg", FALSE, 6, "abcdef..."},
        {"abcde\n", FALSE, 6, "abcde..."},       /* an escape is whole or not there */
        {"abcde\xc3\xa4", FALSE, 6, "abcde..."}, /* and so is a character */
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *harmless = harmless_text(cases[i].text, cases[i].ascii_only, cases[i].most_bytes);
        g_assert_cmpstr(harmless, ==, cases[i].harmless);
    }
}

static void test_line_is_cut(void) {
    g_autofree char *text = g_strnfill(60000, 'x');
    g_autofree char *line = harmless_line(text);
    g_assert_cmpuint(strlen(line), ==, HARMLESS_LINE_BYTES + strlen("..."));
}

static void test_word(void) {
    static const char *const cases[][2] = {{"datanode-2.example.org:9866", "datanode-2.example.org:9866"},
                                           {"FSDirectory#mkdirs", "FSDirectory#mkdirs"},
                                           {"#no-comment", "'#no-comment'"},
                                           {"", "''"},
                                           {"a;curl x|sh", "'a;curl x|sh'"},
                                           {"$(id)", "'$(id)'"},
                                           {"it's", "'it'\\''s'"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *word = harmless_word(cases[i][0]);
        g_assert_cmpstr(word, ==, cases[i][1]);
    }
}

/* Of all characters: what JSON's writers escape is what text does not keep, but for C0. */
static void test_json_agrees_with_text(void) {
    for (gunichar c = 0x20; c < 0x3000; c++) {
        char text[8] = "";
        const int bytes = g_unichar_to_utf8(c, text);
        gunichar found;
        const gsize harmful = harmless_json_find(text, text + bytes, &found);
        g_autofree char *kept = harmless_text(text, FALSE, 0);
        g_assert_cmpint(harmful == 0, ==, strcmp(kept, text) == 0);
        if (harmful == 0) continue;
        g_assert_cmpuint(harmful, ==, bytes);
        g_assert_cmpuint(found, ==, c);
    }
}

static void test_json_of_no_text(void) {
    gunichar c;
    static const char *const cut[] = {"\xc2", "\xe2\x80", "\xe2", "\xc2\x20", "\xe2\x80\x20", "\x80"};
    for (guint i = 0; i < G_N_ELEMENTS(cut); i++)
        g_assert_cmpuint(harmless_json_find(cut[i], cut[i] + strlen(cut[i]), &c), ==, 0);
    g_autoptr(GString) out = g_string_new("[");
    harmless_json_append(out, "\"\x7f\xc2\x9b\xff\"", 6);
    g_assert_cmpstr(out->str, ==, "[\"\\u007F\\u009B\xff\"");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/harmless/text", test_text);
    g_test_add_func("/harmless/line-is-cut", test_line_is_cut);
    g_test_add_func("/harmless/word", test_word);
    g_test_add_func("/harmless/json-agrees-with-text", test_json_agrees_with_text);
    g_test_add_func("/harmless/json-of-no-text", test_json_of_no_text);
    return g_test_run();
}
