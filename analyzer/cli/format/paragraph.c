#include "analyzer/cli/format/paragraph.h"

#include <string.h>

#include "analyzer/cli/format/text.h"

/* No line is broken before this many columns of text. */
#define LEAST 20u

void paragraph_append(const Style *style, guint indent, const char *text, GString *out) {
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    const guint most = style->width > 0 ? MAX(style->width, indent + LEAST) : G_MAXUINT;
    guint column = 0;

    for (guint i = 0; words[i] != NULL; i++) {
        const guint width = text_width(words[i]);
        if (column > 0 && column + 1 + width > most) {
            g_string_append_c(out, '\n');
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
