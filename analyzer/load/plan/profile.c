#include "analyzer/load/plan/profile.h"

#include <math.h>
#include <string.h>

#include "common/base/error.h"

#define DAY_MINUTES 1440u
#define FACTOR_MOST 1000.0
#define NS          G_GINT64_CONSTANT(1000000000)

/* "8:05". */
static gboolean parse_time(const char *text, gsize length, guint *minute) {
    const char *colon = memchr(text, ':', length);
    if (colon == NULL || colon == text || colon - text > 2 || text + length - colon != 3) return FALSE;
    guint hours = 0;
    for (const char *at = text; at < colon; at++) {
        if (!g_ascii_isdigit(*at)) return FALSE;
        hours = hours * 10 + (guint)(*at - '0');
    }
    if (!g_ascii_isdigit(colon[1]) || !g_ascii_isdigit(colon[2])) return FALSE;
    const guint minutes = (guint)(colon[1] - '0') * 10 + (guint)(colon[2] - '0');
    *minute = hours * 60 + minutes;
    return hours < 24 && minutes < 60;
}

static gboolean parse_factor(const char *text, double *factor) {
    char *end = NULL;
    *factor = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*factor) && *factor >= 0 && *factor <= FACTOR_MOST;
}

static gboolean parse_part(const char *part, LoadProfile *profile, GError **error) {
    const gsize length = strcspn(part, " \t=");
    const char *factor = part + length + strspn(part + length, " \t=");
    guint minute = 0;
    double value = 0;
    if (!parse_time(part, length, &minute) || !parse_factor(factor, &value)) {
        g_autofree char *shown = g_utf8_make_valid(part, -1);
        return fail(error, PLUMB_ERROR_CONFIG,
                    "--profile: '%s' must be a time of day and a factor from 0 to %g: 08:00 1.5", shown, FACTOR_MOST);
    }
    if (profile->n > 0 && profile->minutes[profile->n - 1] >= minute)
        return fail(error, PLUMB_ERROR_CONFIG, "--profile: %02u:%02u comes after a time that is not before it",
                    minute / 60, minute % 60);
    if (profile->n == LOAD_PROFILE_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--profile: more than %u times", LOAD_PROFILE_MOST);
    profile->minutes[profile->n] = minute;
    profile->factors[profile->n++] = value;
    return TRUE;
}

gboolean load_profile_parse(const char *text, LoadProfile *profile, GError **error) {
    LoadProfile read = {.day_ns = profile->day_ns};
    double most = 0;
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line != NULL; line++) {
        (*line)[strcspn(*line, "#")] = '\0';
        g_auto(GStrv) parts = g_strsplit(*line, ",", 0);
        for (char **part = parts; *part != NULL; part++)
            if (*g_strstrip(*part) != '\0' && !parse_part(*part, &read, error)) return FALSE;
    }
    for (guint i = 0; i < read.n; i++) most = MAX(most, read.factors[i]);
    if (most == 0) return fail(error, PLUMB_ERROR_CONFIG, "--profile: no time has a factor above 0: 08:00 1.5");
    *profile = read;
    return TRUE;
}

char *load_profile_format(const LoadProfile *profile) {
    char factor[G_ASCII_DTOSTR_BUF_SIZE];
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < profile->n; i++)
        g_string_append_printf(text, "%s%02u:%02u=%s", i > 0 ? "," : "", profile->minutes[i] / 60,
                               profile->minutes[i] % 60,
                               g_ascii_formatd(factor, sizeof factor, "%.12g", profile->factors[i]));
    return g_string_free(text, FALSE);
}

double load_profile_factor(const LoadProfile *profile, gint64 at_ns) {
    if (profile->n == 0) return 1;
    const double minute = (double)(at_ns % profile->day_ns) / (double)profile->day_ns * DAY_MINUTES;
    guint next = 0;
    while (next < profile->n && profile->minutes[next] <= minute) next++;

    const guint before = (next + profile->n - 1) % profile->n, after = next % profile->n;
    double length = (double)profile->minutes[after] - profile->minutes[before];
    double into = minute - profile->minutes[before];
    if (length <= 0) length += DAY_MINUTES; /* across midnight; also when there is one time alone */
    if (into < 0) into += DAY_MINUTES;
    return profile->factors[before] + (profile->factors[after] - profile->factors[before]) * into / length;
}

double load_profile_mean(const LoadProfile *profile, gint64 length_ns) {
    const gint64 seconds = length_ns / NS;
    double sum = 0;
    if (profile->n == 0 || seconds == 0) return 1;
    for (gint64 second = 0; second < seconds; second++) sum += load_profile_factor(profile, second * NS + NS / 2);
    return sum / (double)seconds;
}
