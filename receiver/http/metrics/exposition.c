#include "receiver/http/metrics/exposition.h"

#include <string.h>

#include "common/base/digits.h"

void exposition_head(Exposition *out, const char *name, const char *type, const char *help) {
    const gboolean cut = out->open_metrics && g_str_has_suffix(name, "_total");
    const int length = (int)(strlen(name) - (cut ? strlen("_total") : 0));
    g_string_append_printf(out->text, "# HELP plumbd_%.*s %s\n# TYPE plumbd_%.*s %s\n", length, name, help, length,
                           name, type);
}

void exposition_label(Exposition *out, const char *text) {
    g_autofree char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
    for (const char *at = valid != NULL ? valid : text; *at != '\0';) {
        const gsize plain = strcspn(at, "\\\"\n");
        g_string_append_len(out->text, at, (gssize)plain);
        at += plain;
        if (*at == '\0') return;
        g_string_append_c(out->text, '\\');
        g_string_append_c(out->text, *at == '\n' ? 'n' : *at);
        at++;
    }
}

/* g_string_append_printf() would take half of the time of a scrape. */
void exposition_number(Exposition *out, guint64 number) {
    char digits[DIGITS_MOST], *end = digits + sizeof digits, *at = digits_before(end, number);
    g_string_append_len(out->text, at, end - at);
}

void exposition_seconds(Exposition *out, guint64 ns) {
    const guint64 per_second = 1000000000u;
    char digits[10] = ".";
    guint64 rest = ns % per_second;
    exposition_number(out, ns / per_second);
    for (guint i = 9; i >= 1; i--, rest /= 10) digits[i] = (char)('0' + rest % 10);
    guint length = sizeof digits;
    while (length > 2 && digits[length - 1] == '0') length--;
    g_string_append_len(out->text, digits, (gssize)length);
}

void exposition_end(Exposition *out) {
    if (out->open_metrics) g_string_append(out->text, "# EOF\n");
}
