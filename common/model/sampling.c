#include "common/model/sampling.h"

#include <math.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"

#define CHOICES "'always', 'never', a fraction from 0 to 1, so many a second as '5/s', or 'every 100'"

/* As in Choice.java: what is accepted here must not be counted as unreadable there. */
#define MAX_PER_SECOND 1e6
#define MAX_PERIOD     1e12

static gsize digits_at(const char *text) {
    gsize n = 0;
    while (g_ascii_isdigit(text[n])) n++;
    return n;
}

/* Digits, perhaps with a point before the last of them, perhaps an exponent of up to three digits; nothing else that
 * C or Java would read as a number. */
static gboolean is_decimal(const char *text) {
    gsize before = digits_at(text), after = 0;
    if (text[before] == '.') {
        after = digits_at(text + before + 1);
        if (after == 0) return FALSE;
        after++;
    }
    if (before + after == 0) return FALSE;
    const char *at = text + before + after;
    if (*at == '\0') return TRUE;
    if (g_ascii_tolower(*at) != 'e') return FALSE;
    at += at[1] == '-' ? 2 : 1;
    gsize exponent = digits_at(at);
    return exponent >= 1 && exponent <= 3 && at[exponent] == '\0';
}

/* Takes blanks off in place. */
static gboolean number_up_to(char *text, double most, double *number) {
    g_strstrip(text);
    if (!is_decimal(text)) return FALSE;
    *number = g_ascii_strtod(text, NULL);
    return *number <= most;
}

static gboolean choice_is_good(const char *choice) {
    double number;
    if (strcmp(choice, "always") == 0 || strcmp(choice, "never") == 0) return TRUE;
    if (g_str_has_prefix(choice, "every ")) {
        g_autofree char *period = g_strdup(choice + strlen("every "));
        return number_up_to(period, MAX_PERIOD, &number) && number >= 1 && floor(number) == number;
    }
    gboolean rate = g_str_has_suffix(choice, "/s");
    g_autofree char *amount = g_strndup(choice, strlen(choice) - (rate ? strlen("/s") : 0));
    return number_up_to(amount, rate ? MAX_PER_SECOND : 1, &number);
}

static gboolean name_is_good(const char *name) {
    const char *star = strchr(name, '*');
    return name[0] != '\0' && (star == NULL || star[1] == '\0') && strlen(name) <= LIMIT_NAME_BYTES;
}

/* *all: the entry is for all functions that are left. */
static gboolean check_entry(const char *entry, gboolean *all, GError **error) {
    const char *equals = strrchr(entry, '=');
    g_autofree char *name = equals ? g_strstrip(g_strndup(entry, (gsize)(equals - entry))) : g_strdup("*");
    g_autofree char *choice = g_strstrip(g_strdup(equals ? equals + 1 : entry));
    if (!name_is_good(name))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "'%s': a function's name of up to %u bytes is needed before '=', with '*' only at its end", entry,
                    LIMIT_NAME_BYTES);
    if (!choice_is_good(choice))
        return fail(error, PLUMB_ERROR_CONFIG, "'%s': '%s' is no choice: " CHOICES " is needed", entry, choice);
    *all = strcmp(name, "*") == 0;
    return TRUE;
}

gboolean sampling_check(const char *policy, GError **error) {
    if (strlen(policy) > LIMIT_POLICY_BYTES)
        return fail(error, PLUMB_ERROR_CONFIG, "%zu bytes are too long: at most %u", strlen(policy),
                    LIMIT_POLICY_BYTES);
    if (!g_utf8_validate(policy, -1, NULL)) return fail(error, PLUMB_ERROR_CONFIG, "it is not UTF-8");
    g_auto(GStrv) entries = g_strsplit(policy, ";", -1);
    gboolean all = FALSE;
    guint found = 0;
    for (guint i = 0; entries[i] != NULL; i++) {
        const char *entry = g_strstrip(entries[i]);
        if (entry[0] == '\0') continue;
        if (all)
            return fail(error, PLUMB_ERROR_CONFIG,
                        "'%s' is never reached: the choice for all other functions comes last", entry);
        if (!check_entry(entry, &all, error)) return FALSE;
        found++;
    }
    if (found == 0 && strchr(policy, ';') != NULL) return fail(error, PLUMB_ERROR_CONFIG, "there is nothing but ';'");
    return TRUE;
}
