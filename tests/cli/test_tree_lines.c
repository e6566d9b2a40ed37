#include <string.h>

#include "analyzer/cli/format/tree_lines.h"

/* Depths as digits; the lines joined by '/', a row's own line before those that go below it. */
static void test_shapes(void) {
    static const struct {
        const char *depths;
        gboolean utf8;
        const char *rows, *below;
    } cases[] = {
        {"0", TRUE, "", "   "},
        {"01", TRUE, "/└─ ", "│  /      "},
        {"011", TRUE, "/├─ /└─ ", "│  /│     /      "},
        {"01221", FALSE, "/|- /|  |- /|  `- /`- ", "|  /|  |  /|  |     /|        /      "},
        {"010", TRUE, "/└─ /", "│  /      /   "},
        {"0123", TRUE, "/└─ /   └─ /      └─ ", "│  /   │  /      │  /            "},
        /* No tree at all: depths are taken as one more than the row before at most. */
        {"0909", TRUE, "/└─ //└─ ", "│  /      /│  /      "},
        {"5", TRUE, "", "   "},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint32 depths[16];
        gsize n = strlen(cases[i].depths);
        for (gsize k = 0; k < n; k++) depths[k] = (guint32)(cases[i].depths[k] - '0');
        Style style = style_plain();
        style.utf8 = cases[i].utf8;
        g_autoptr(TreeLines) lines = tree_lines_new(&style, depths, n);
        g_autoptr(GString) rows = g_string_new(NULL);
        g_autoptr(GString) below = g_string_new(NULL);

        for (gsize k = 0; k < n; k++) {
            g_autofree char *row = tree_lines_next(lines);
            g_autofree char *under = tree_lines_below(lines);
            g_string_append_printf(rows, "%s%s", k > 0 ? "/" : "", row);
            g_string_append_printf(below, "%s%s", k > 0 ? "/" : "", under);
        }

        g_assert_cmpstr(rows->str, ==, cases[i].rows);
        g_assert_cmpstr(below->str, ==, cases[i].below);
    }
}

/* A chain of 100,000 calls costs what 100,000 rows cost, not 100,000 squared. */
static void test_deep(void) {
    gsize n = 100000, bytes = 0;
    g_autofree guint32 *depths = g_new(guint32, n);
    for (gsize i = 0; i < n; i++) depths[i] = (guint32)i;
    Style style = style_plain();
    g_autoptr(TreeLines) lines = tree_lines_new(&style, depths, n);
    for (gsize i = 0; i < n; i++) {
        g_autofree char *row = tree_lines_next(lines);
        bytes += strlen(row);
        if (i == n - 1) g_assert_true(g_str_has_prefix(row, "[+99959] "));
    }
    g_assert_cmpuint(bytes, <, n * 300);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tree_lines/shapes", test_shapes);
    g_test_add_func("/tree_lines/deep", test_deep);
    return g_test_run();
}
