#include "analyzer/cli/format/text.h"

#include <string.h>

#include "common/base/harmless.h"

/* Of a class so much is left at least, the mark included. */
#define CLASS_MIN 4u

char *text_clean(const Style *style, const char *text) { return harmless_text(text, !style->utf8, 0); }

static guint char_width(gunichar c) {
    if (c < 0x300) return 1;
    if (g_unichar_iszerowidth(c)) return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

guint text_width(const char *text) {
    guint width = 0;
    for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) width += char_width(g_utf8_get_char(p));
    return width;
}

char *text_cut(const Style *style, const char *text, guint width) {
    if (text_width(text) <= width) return g_strdup(text);
    const char *mark = style->utf8 ? "…" : "~";
    if (width == 0) return g_strdup("");
    guint taken = 0;
    const char *p = text;
    for (; *p != '\0'; p = g_utf8_next_char(p)) {
        guint next = char_width(g_utf8_get_char(p));
        if (taken + next > width - 1) break;
        taken += next;
    }
    return g_strdup_printf("%.*s%s", (int)(p - text), text, mark);
}

char *text_cut_name(const Style *style, const char *name, guint width) {
    const char *method = strchr(name, '#');
    const guint kept = method != NULL ? text_width(method) : 0;
    if (kept == 0 || text_width(name) <= width || kept + CLASS_MIN > width) return text_cut(style, name, width);
    g_autofree char *whole = g_strndup(name, (gsize)(method - name)), *class = text_cut(style, whole, width - kept);
    return g_strconcat(class, method, NULL);
}
