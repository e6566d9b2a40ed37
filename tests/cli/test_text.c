#include "analyzer/cli/format/text.h"
#include "common/base/nearest.h"

static void test_clean(void) {
    static const struct {
        const char *text;
        gboolean utf8;
        const char *clean;
    } cases[] = {
        {"plain", TRUE, "plain"},
        {"a\nb\tc\rd", TRUE, "a\\nb\\tc\\rd"},
        {"\x1b]0;title\x07", TRUE, "\\x1b]0;title\\x07"},
        {"\x7f\xc2\x9b"
         "31m",
         TRUE, "\\x7f\\x9b31m"},
        {"a\xe2\x80\xae z", TRUE, "a? z"}, /* right-to-left override */
        {"読み", TRUE, "読み"},
        {"読み", FALSE, "??"},
        {"\xff\xfe", TRUE, "\xef\xbf\xbd\xef\xbf\xbd"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Style style = style_plain();
        style.utf8 = cases[i].utf8;
        g_autofree char *clean = text_clean(&style, cases[i].text);
        g_assert_cmpstr(clean, ==, cases[i].clean);
    }
}

static void test_cut(void) {
    static const struct {
        const char *text;
        guint width;
        const char *cut;
    } cases[] = {
        {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"読み取り", 5, "読み…"}, {"読み取り", 4, "読…"}, {"abc", 1, "…"},
        {"abc", 0, ""},    {"", 0, ""}};
    Style style = style_plain();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *cut = text_cut(&style, cases[i].text, cases[i].width);
        g_assert_cmpstr(cut, ==, cases[i].cut);
        g_assert_cmpuint(text_width(cut), <=, cases[i].width);
    }
}

static void test_cut_name(void) {
    static const struct {
        const char *name;
        guint width;
        const char *cut;
    } cases[] = {{"Protocol#create", 15, "Protocol#create"}, {"Protocol#create", 14, "Protoc…#create"},
                 {"Protocol#create", 11, "Pro…#create"},     {"Protocol#create", 10, "Protocol#…"},
                 {"completeFile", 9, "complete…"},           {"Protocol#create", 0, ""}};
    Style style = style_plain();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *cut = text_cut_name(&style, cases[i].name, cases[i].width);
        g_assert_cmpstr(cut, ==, cases[i].cut);
    }
}

static void test_nearest(void) {
    static const char *const known[] = {"status", "functions", "forest", "traces", "trace",
                                        "diff",   "import",    "export", NULL};
    static const struct {
        const char *name, *nearest;
    } cases[] = {{"functons", "functions"}, {"stauts", "status"}, {"tracs", "traces"},
                 {"traec", "trace"},        {"exprt", "export"},  {"func", "functions"},
                 {"xyzzy", NULL},           {"", NULL},           {"d", NULL},
                 {"statuses", "status"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpstr(nearest_name(cases[i].name, known), ==, cases[i].nearest);
    g_assert_cmpuint(nearest_distance("", "abc"), ==, 3);
    g_assert_cmpuint(nearest_distance("abcd", "abdc"), ==, 1);
    g_assert_cmpuint(nearest_distance("kitten", "sitting"), ==, 3);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text/clean", test_clean);
    g_test_add_func("/text/cut", test_cut);
    g_test_add_func("/text/cut_name", test_cut_name);
    g_test_add_func("/text/nearest", test_nearest);
    return g_test_run();
}
