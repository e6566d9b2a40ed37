#include "analyzer/out/text.h"

#include <string.h>

static gboolean overrides_direction(gunichar c) {
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f;
}

static void append_clean(const Style *style, gunichar c, GString *out) {
    if (c == '\n') {
        g_string_append(out, "\\n");
    } else if (c == '\t') {
        g_string_append(out, "\\t");
    } else if (c == '\r') {
        g_string_append(out, "\\r");
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
        g_string_append_printf(out, "\\x%02x", c);
    } else if (overrides_direction(c) || c == 0x2028 || c == 0x2029 || (c >= 0x80 && !style->utf8)) {
        g_string_append_c(out, '?');
    } else {
        g_string_append_unichar(out, c);
    }
}

char *text_clean(const Style *style, const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_sized_new(strlen(valid));
    for (const char *p = valid; *p != '\0'; p = g_utf8_next_char(p)) append_clean(style, g_utf8_get_char(p), out);
    return g_string_free(out, FALSE);
}

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
