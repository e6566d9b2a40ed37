#include "analyzer/cli/format/paragraph.h"

#include <string.h>

#include "analyzer/cli/format/text.h"

/* No line is broken before this many columns of text. */
#define LEAST 20u

/* What is counted stays with its number: "400 ms", "36 %". */
static gboolean is_number(const char *word) {
    return g_ascii_isdigit(word[0]) && word[strspn(word, "0123456789.,")] == '\0';
}

static void append(const char *text, guint indent, guint hanging, guint most, GString *out) {
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    guint column = 0;

    for (guint i = 0; words[i] != NULL; i++) {
        const guint width = text_width(words[i]);
        const guint counted = is_number(words[i]) && words[i + 1] ? 1 + text_width(words[i + 1]) : 0;
        if (column > 0 && column + 1 + width + counted > most) {
            g_string_append_c(out, '\n');
            indent = hanging;
            column = 0;
        }
        if (column == 0)
            g_string_append_printf(out, "%*s", (int)indent, "");
        else
            g_string_append_c(out, ' ');
        column = (column == 0 ? indent : column + 1) + width;
        g_string_append(out, words[i]);
    }

    g_string_append_c(out, '\n');
}

static guint most_of(const Style *style, guint indent) {
    return style->width > 0 ? MAX(style->width, indent + LEAST) : G_MAXUINT;
}

void paragraph_append(const Style *style, guint indent, const char *text, GString *out) {
    append(text, indent, indent, most_of(style, indent), out);
}

void paragraph_append_hanging(const Style *style, guint indent, const char *text, GString *out) {
    append(text, indent, indent + 2, most_of(style, indent + 2), out);
}
