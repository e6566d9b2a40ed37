#include "common/model/sampling.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"

#define CHOICES "always, never, a fraction from 0 to 1, or so many a second, like 5/s"

/* Decimal digits with at most one point among them and, behind, an exponent: what C and Java read alike. */
static gboolean parse_decimal(const char *text, gsize length, double *number) {
    gsize at = 0, digits = 0;
    for (gboolean point = FALSE; at < length; at++) {
        if (g_ascii_isdigit(text[at]))
            digits++;
        else if (text[at] == '.' && !point)
            point = TRUE;
        else
            break;
    }
    if (digits == 0) return FALSE;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '-' || text[at] == '+')) at++;
        if (at == length) return FALSE;
        while (at < length && g_ascii_isdigit(text[at])) at++;
    }
    if (at != length) return FALSE;
    g_autofree char *copy = g_strndup(text, length);
    *number = g_ascii_strtod(copy, NULL);
    return TRUE;
}

static gboolean choice_is_good(const char *choice) {
    double number;
    gsize length = strlen(choice);
    if (strcmp(choice, "always") == 0 || strcmp(choice, "never") == 0) return TRUE;
    if (g_str_has_suffix(choice, "/s"))
        return parse_decimal(choice, length - 2, &number) && number > 0 && number <= 1e9;
    return parse_decimal(choice, length, &number) && number <= 1;
}

static gboolean name_is_good(const char *name) {
    const char *star = strchr(name, '*');
    return name[0] != '\0' && (star == NULL || star[1] == '\0') && strlen(name) <= LIMIT_NAME_BYTES;
}

/* Takes the entry apart in place. */
static gboolean check_entry(char *entry, gboolean last, GError **error) {
    g_autofree char *whole = g_strdup(entry);
    char *choice = strrchr(entry, '=');
    if (entry[0] == '\0') return fail(error, PLUMB_ERROR_CONFIG, "an entry is empty: there is nothing beside a ';'");
    if (choice == NULL) {
        if (!choice_is_good(entry))
            return fail(error, PLUMB_ERROR_CONFIG, "'%s' is neither NAME=CHOICE nor a choice: " CHOICES, whole);
        if (last) return TRUE;
        return fail(error, PLUMB_ERROR_CONFIG, "'%s' is for all functions, so it must come last", whole);
    }
    *choice++ = '\0';
    if (!name_is_good(g_strstrip(entry)))
        return fail(error, PLUMB_ERROR_CONFIG, "'%s': a function is named by up to %u bytes, '*' only at its end",
                    whole, LIMIT_NAME_BYTES);
    if (!choice_is_good(g_strstrip(choice)))
        return fail(error, PLUMB_ERROR_CONFIG, "'%s': '%s' is no choice: " CHOICES, whole, choice);
    return TRUE;
}

gboolean sampling_check(const char *policy, GError **error) {
    if (strlen(policy) > LIMIT_POLICY_BYTES)
        return fail(error, PLUMB_ERROR_CONFIG, "%zu bytes are too long: at most %u", strlen(policy),
                    LIMIT_POLICY_BYTES);
    g_autofree char *text = g_strstrip(g_strdup(policy));
    if (text[0] == '\0') return TRUE;
    if (!g_utf8_validate(text, -1, NULL)) return fail(error, PLUMB_ERROR_CONFIG, "it is no UTF-8");
    g_auto(GStrv) entries = g_strsplit(text, ";", -1);
    for (guint i = 0; entries[i] != NULL; i++)
        if (!check_entry(g_strstrip(entries[i]), entries[i + 1] == NULL, error)) return FALSE;
    return TRUE;
}
