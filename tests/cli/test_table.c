#include <string.h>

#include "analyzer/cli/format/table.h"

static const TableColumn columns[] = {
    {"name", TRUE, 8, 0}, {"first", FALSE, 0, 2}, {"last", FALSE, 0, 0}, {"rest", TRUE, 0, 3}};

static Table *table_of(const Style *style) {
    Table *table = table_new(style, columns, G_N_ELEMENTS(columns));
    static const char *const cells[] = {"a rather long name", "1", "22", "x", "b", "12345", "3", ""};
    for (guint i = 0; i < G_N_ELEMENTS(cells); i++) table_cell(table, g_strdup(cells[i]), COLOUR_NONE);
    return table;
}

static void test_layouts(void) {
    static const struct {
        guint width;
        const char *text;
    } cases[] = {
        {0, "name                first  last  rest\n"
            "a rather long name      1    22  x\n"
            "b                   12345     3\n"},
        /* The name is cut first. */
        {33, "name            first  last  rest\n"
             "a rather long…      1    22  x\n"
             "b               12345     3\n"},
        /* Then whole columns go, the highest number first, and the name gets what that gives. */
        {26, "name           first  last\n"
             "a rather lon…      1    22\n"
             "b              12345     3\n"
             "not shown for want of\n"},
        {20, "name            last\n"
             "a rather long…    22\n"
             "b                  3\n"
             "not shown for want of\n"},
        /* What may not go stays, however narrow the terminal. */
        {5, "name      last\n"
            "a rathe…    22\n"
            "b            3\n"
            "not shown for want of\n"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Style style = style_plain();
        style.width = cases[i].width;
        g_autoptr(Table) table = table_of(&style);
        GString *out = g_string_new(NULL);
        table_print(table, out);
        char *note = strstr(out->str, "not shown for want of");
        if (note != NULL) strcpy(note, "not shown for want of\n");
        g_assert_cmpstr(out->str, ==, cases[i].text);
        g_string_free(out, TRUE);
    }
}

/* A narrow table says what it left out; a wide one says nothing. */
static void test_dropped_are_named(void) {
    Style style = style_plain();
    style.width = 22;
    g_autoptr(Table) table = table_of(&style);
    GString *out = g_string_new(NULL);
    table_print(table, out);
    g_assert_nonnull(strstr(out->str, "not shown for want of"));
    g_assert_nonnull(strstr(out->str, "rest"));
    g_assert_null(strstr(out->str, "last,"));
    g_string_free(out, TRUE);
}

static void test_wide_characters(void) {
    Style style = style_plain();
    static const TableColumn two[] = {{"n", TRUE, 0, 0}, {"v", FALSE, 0, 0}};
    g_autoptr(Table) table = table_new(&style, two, 2);
    static const char *const cells[] = {"読み",
                                        "1",
                                        "e\xcc\x81"
                                        "f",
                                        "2",
                                        "abcd",
                                        "3"};
    for (guint i = 0; i < G_N_ELEMENTS(cells); i++) table_cell(table, g_strdup(cells[i]), COLOUR_NONE);
    GString *out = g_string_new(NULL);
    table_print(table, out);
    g_assert_cmpstr(out->str, ==,
                    "n     v\n読み  1\ne\xcc\x81"
                    "f    2\nabcd  3\n");
    g_string_free(out, TRUE);
}

static void test_lines_and_colours(void) {
    Style style = style_plain();
    style.colour = TRUE;
    static const TableColumn one[] = {{"n", TRUE, 0, 0}, {"v", FALSE, 0, 0}};
    g_autoptr(Table) table = table_new(&style, one, 2);
    table_line(table, g_strdup("above"), COLOUR_NONE);
    table_cell_tree(table, g_strdup("- "), g_strdup("x"), COLOUR_GREEN);
    table_cell(table, g_strdup("1"), COLOUR_NONE);
    g_assert_cmpuint(table_rows(table), ==, 1);
    GString *out = g_string_new(NULL);
    table_print(table, out);
    g_assert_cmpstr(out->str, ==, "\033[1mn\033[0m    \033[1mv\033[0m\nabove\n- \033[32mx\033[0m  1\n");
    g_string_free(out, TRUE);
}

static void test_empty(void) {
    Style style = style_plain();
    g_autoptr(Table) table = table_new(&style, columns, G_N_ELEMENTS(columns));
    GString *out = g_string_new(NULL);
    table_print(table, out);
    g_assert_cmpstr(out->str, ==, "");
    g_string_free(out, TRUE);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/table/layouts", test_layouts);
    g_test_add_func("/table/dropped_are_named", test_dropped_are_named);
    g_test_add_func("/table/wide_characters", test_wide_characters);
    g_test_add_func("/table/lines_and_colours", test_lines_and_colours);
    g_test_add_func("/table/empty", test_empty);
    return g_test_run();
}
