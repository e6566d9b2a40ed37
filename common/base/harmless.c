#include "common/base/harmless.h"

#include <string.h>

#define CUT_MARK "..."

static gboolean is_control(gunichar c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

static gboolean is_line_end(gunichar c) { return c == 0x2028 || c == 0x2029; }

static gboolean is_direction(gunichar c) {
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void append_control(GString *out, gunichar c) {
    switch (c) {
    case '\n': g_string_append(out, "\\n"); break;
    case '\r': g_string_append(out, "\\r"); break;
    case '\t': g_string_append(out, "\\t"); break;
    default: g_string_append_printf(out, "\\x%02x", c); break;
    }
}

static void append(GString *out, gunichar c, gboolean ascii_only) {
    if (is_control(c))
        append_control(out, c);
    else if (is_direction(c) || is_line_end(c) || (ascii_only && c >= 0x80))
        g_string_append_c(out, '?');
    else
        g_string_append_unichar(out, c);
}

char *harmless_text(const char *text, gboolean ascii_only, gsize most_bytes) {
    /* What is cut off need not be looked at; no character of the result is shorter than half of one here. */
    const gsize looked_at = most_bytes > 0 ? strnlen(text, 4 * most_bytes + 4) : strlen(text);
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)looked_at);
    GString *out = g_string_sized_new(looked_at);

    for (const char *p = valid; *p != '\0'; p = g_utf8_next_char(p)) {
        const gsize before = out->len;
        append(out, g_utf8_get_char(p), ascii_only);
        if (most_bytes == 0 || out->len <= most_bytes) continue;
        g_string_truncate(out, before);
        g_string_append(out, CUT_MARK);
        break;
    }
    return g_string_free(out, FALSE);
}

char *harmless_line(const char *text) { return harmless_text(text, FALSE, HARMLESS_LINE_BYTES); }

static gboolean is_plain_word(const char *text) {
    if (*text == '\0' || *text == '#') return FALSE;
    for (; *text != '\0'; text++)
        if (!g_ascii_isalnum(*text) && strchr("-_=./,:@%+#", *text) == NULL) return FALSE;
    return TRUE;
}

char *harmless_word(const char *text) { return is_plain_word(text) ? g_strdup(text) : g_shell_quote(text); }

gsize harmless_json_find(const char *at, const char *end, gunichar *c) {
    const gsize left = (gsize)(end - at);
    const guint8 *byte = (const guint8 *)at;
    gsize length = 0;
    if (left >= 1 && byte[0] == 0x7f)
        length = 1;
    else if (left >= 2 && (byte[0] == 0xc2 || byte[0] == 0xd8))
        length = 2;
    else if (left >= 3 && byte[0] == 0xe2 && (byte[1] == 0x80 || byte[1] == 0x81))
        length = 3;
    if (length == 0) return 0;

    const gunichar found = g_utf8_get_char_validated(at, (gssize)length);
    if (found >= 0x110000 || !(is_control(found) || is_direction(found) || is_line_end(found))) return 0;
    *c = found;
    return length;
}

void harmless_json_append(GString *out, const char *json, gsize size_bytes) {
    const char *from = json, *at = json, *end = json + size_bytes;
    while (at < end) {
        gunichar c;
        const gsize length = (guint8)*at < 0x7f ? 0 : harmless_json_find(at, end, &c);
        if (length == 0) {
            at++;
            continue;
        }
        g_string_append_len(out, from, at - from);
        g_string_append_printf(out, "\\u%04X", c);
        from = at += length;
    }
    g_string_append_len(out, from, end - from);
}
