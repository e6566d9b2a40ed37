#include "analyzer/query/shared/params.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

typedef struct Param {
    char *name;
    char *value;
} Param;

struct QueryParams {
    GArray *list; /* Param, as given */
};

gboolean query_params_equal(const QueryParams *a, const QueryParams *b) {
    if (a->list->len != b->list->len) return FALSE;
    for (guint i = 0; i < a->list->len; i++) {
        const Param *x = &g_array_index(a->list, Param, i), *y = &g_array_index(b->list, Param, i);
        if (strcmp(x->name, y->name) != 0 || strcmp(x->value, y->value) != 0) return FALSE;
    }
    return TRUE;
}

static void param_clear(gpointer data) {
    Param *param = data;
    g_free(param->name);
    g_free(param->value);
}

QueryParams *query_params_new(void) {
    QueryParams *params = g_new0(QueryParams, 1);
    params->list = g_array_new(FALSE, FALSE, sizeof(Param));
    g_array_set_clear_func(params->list, param_clear);
    return params;
}

void query_params_free(QueryParams *params) {
    if (!params) return;
    g_array_unref(params->list);
    g_free(params);
}

void query_params_add(QueryParams *params, const char *name, const char *value) {
    Param param = {g_strdup(name), g_strdup(value)};
    g_array_append_val(params->list, param);
}

const char *params_nth(const QueryParams *params, const char *name, guint i) {
    for (guint k = 0; k < params->list->len; k++) {
        const Param *param = &g_array_index(params->list, Param, k);
        if (strcmp(param->name, name) == 0 && i-- == 0) return param->value;
    }
    return NULL;
}

const char *params_text(const QueryParams *params, const char *name) { return params_nth(params, name, 0); }

static gboolean repeatable(const char *name) {
    static const char *const names[] = {"exclude", "annotation", NULL};
    return g_strv_contains(names, name);
}

/* What is not text is not repeated in a message either: that must be text. */
static gboolean check_text(const Param *param, GError **error) {
    if (!g_utf8_validate(param->name, -1, NULL))
        return fail(error, PLUMB_ERROR_INPUT, "a parameter's name is not UTF-8");
    if (!g_utf8_validate(param->value, -1, NULL))
        return fail(error, PLUMB_ERROR_INPUT, "the value of \"%s\" is not UTF-8", param->name);
    return TRUE;
}

gboolean params_check(const QueryParams *params, const char *question, const char *const *allowed, GError **error) {
    for (guint k = 0; k < params->list->len; k++) {
        const Param *param = &g_array_index(params->list, Param, k);
        const char *name = param->name;
        if (!check_text(param, error)) return FALSE;
        if (!g_strv_contains(allowed, name)) {
            const char *nearest = nearest_name(name, allowed);
            if (nearest)
                return fail(error, PLUMB_ERROR_INPUT, "\"%s\" has no parameter \"%s\": did you mean \"%s\"?", question,
                            name, nearest);
            g_autofree char *known = g_strjoinv(", ", (char **)allowed);
            return fail(error, PLUMB_ERROR_INPUT, "\"%s\" has no parameter \"%s\": it knows %s", question, name,
                        *known ? known : "none");
        }
        if (!repeatable(name) && params_nth(params, name, 1))
            return fail(error, PLUMB_ERROR_INPUT, "parameter \"%s\" is given twice", name);
    }
    return TRUE;
}

gboolean params_check_text(const QueryParams *params, GError **error) {
    for (guint k = 0; k < params->list->len; k++)
        if (!check_text(&g_array_index(params->list, Param, k), error)) return FALSE;
    return TRUE;
}

static gboolean bad_value(GError **error, const char *name, const char *value, const char *allowed) {
    return fail(error, PLUMB_ERROR_INPUT, "%s \"%s\" is not understood: use %s", name, value, allowed);
}

/* ---- numbers ---- */

/* Exactly n digits. */
static gboolean take_digits(const char **at, guint n, gint *value) {
    gint sum = 0;
    for (guint i = 0; i < n; i++, (*at)++) {
        if (!g_ascii_isdigit(**at)) return FALSE;
        sum = sum * 10 + (**at - '0');
    }
    *value = sum;
    return TRUE;
}

/* As many digits as there are, at least one. */
static gboolean take_number(const char **at, guint64 *value) {
    if (!g_ascii_isdigit(**at)) return FALSE;
    guint64 sum = 0;
    for (; g_ascii_isdigit(**at); (*at)++) {
        if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, (guint64)(**at - '0'), &sum))
            return FALSE;
    }
    *value = sum;
    return TRUE;
}

/* The digits behind a decimal point as billionths; those past the ninth are dropped. */
static gboolean take_fraction(const char **at, gint64 *billionths) {
    if (!g_ascii_isdigit(**at)) return FALSE;
    gint64 sum = 0, scale = NS_PER_SEC / 10;
    for (; g_ascii_isdigit(**at); (*at)++, scale /= 10) sum += scale * (**at - '0');
    *billionths = sum;
    return TRUE;
}

/* ---- lengths of time ---- */

static gint64 unit_ns(const char *unit) {
    static const struct {
        const char *name;
        gint64 ns;
    } units[] = {
        {"ns", 1},
        {"us", NS_PER_US},
        {"\xc2\xb5s", NS_PER_US},
        {"ms", NS_PER_MS},
        {"s", NS_PER_SEC},
        {"m", NS_PER_MINUTE},
        {"min", NS_PER_MINUTE},
        {"h", 60 * NS_PER_MINUTE},
        {"d", 24 * 60 * NS_PER_MINUTE},
        {"w", 7 * 24 * 60 * NS_PER_MINUTE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(unit, units[i].name) == 0) return units[i].ns;
    }
    return 0;
}

gboolean text_to_duration(const char *text, gint64 *ns) {
    guint64 whole = 0;
    gint64 billionths = 0, length = 0;
    if (!take_number(&text, &whole)) return FALSE;
    if (*text == '.') {
        text++;
        if (!take_fraction(&text, &billionths)) return FALSE;
    }
    if (*text == ' ') text++;
    gint64 unit = unit_ns(text);
    if (unit == 0) return FALSE;
    if (__builtin_mul_overflow(whole, unit, &length)) return FALSE;
    gint64 part = (gint64)((__int128)billionths * unit / NS_PER_SEC);
    if (__builtin_add_overflow(length, part, &length)) return FALSE;
    *ns = length;
    return TRUE;
}

/* ---- points in time ---- */

/* "Z", "+01:00", "+0100" or nothing. A plus that was not escaped in a URL arrives as a blank. */
static gboolean take_zone(const char **at, gint64 *offset_s) {
    *offset_s = 0;
    if (**at == 'Z' || **at == 'z') {
        (*at)++;
        return TRUE;
    }
    if (**at != '+' && **at != '-' && **at != ' ') return TRUE;
    gint64 sign = **at == '-' ? -1 : 1;
    gint hours, minutes;
    (*at)++;
    if (!take_digits(at, 2, &hours)) return FALSE;
    if (**at == ':') (*at)++;
    if (!take_digits(at, 2, &minutes) || hours > 23 || minutes > 59) return FALSE;
    *offset_s = sign * (hours * 3600 + minutes * 60);
    return TRUE;
}

/* RFC 3339, with the zone (UTC), the seconds or the whole time of day (midnight) left out at will. */
static gboolean calendar_to_time(const char *at, gint64 *ns) {
    gint year, month, day, hour = 0, minute = 0, second = 0;
    gint64 billionths = 0, offset_s = 0, result;

    if (!take_digits(&at, 4, &year) || *at++ != '-' || !take_digits(&at, 2, &month) || *at++ != '-' ||
        !take_digits(&at, 2, &day))
        return FALSE;

    if (*at == 'T' || *at == 't' || *at == ' ') {
        at++;
        if (!take_digits(&at, 2, &hour) || *at++ != ':' || !take_digits(&at, 2, &minute)) return FALSE;
        if (*at == ':') {
            at++;
            if (!take_digits(&at, 2, &second)) return FALSE;
            if (*at == '.' && (at++, !take_fraction(&at, &billionths))) return FALSE;
        }
        if (!take_zone(&at, &offset_s)) return FALSE;
    } else if (*at == 'Z') {
        at++;
    }
    if (*at != '\0') return FALSE;

    g_autoptr(GDateTime) date = g_date_time_new_utc(year, month, day, hour, minute, second);
    if (!date) return FALSE;

    if (__builtin_mul_overflow(g_date_time_to_unix(date) - offset_s, NS_PER_SEC, &result)) return FALSE;
    if (__builtin_add_overflow(result, billionths, &result)) return FALSE;

    *ns = result;
    return TRUE;
}

gboolean text_to_time(const char *text, gint64 now_ns, gint64 *ns) {
    gint64 ago_ns, result;
    if (strcmp(text, "now") == 0) {
        *ns = now_ns;
        return TRUE;
    }
    if (text_to_duration(text, &ago_ns)) {
        if (__builtin_sub_overflow(now_ns, ago_ns, &result)) return FALSE;
        *ns = result;
        return TRUE;
    }
    const char *at = text;
    guint64 number;
    if (take_number(&at, &number) && *at == '\0') {
        if (number > G_MAXINT64) return FALSE;
        *ns = (gint64)number;
        return TRUE;
    }
    return calendar_to_time(text, ns);
}

static const char time_help[] = "15m, 2h or 3d (before now), now, 2026-11-21T10:00:00Z or nanoseconds since the epoch";

static gboolean check_period(const Period *period, GError **error) {
    if (period->since_ns <= period->until_ns) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "the period ends before it begins: since must come before until");
}

gboolean params_period(const QueryParams *params, gint64 now_ns, Period *period, GError **error) {
    Period result = {G_MININT64, G_MAXINT64};
    const char *since = params_text(params, "since"), *until = params_text(params, "until");
    if (since && !text_to_time(since, now_ns, &result.since_ns)) return bad_value(error, "since", since, time_help);
    if (until && !text_to_time(until, now_ns, &result.until_ns)) return bad_value(error, "until", until, time_help);
    if (!check_period(&result, error)) return FALSE;
    *period = result;
    return TRUE;
}

gboolean params_range(const QueryParams *params, const char *name, gint64 now_ns, Period *period, GError **error) {
    const char *text = params_text(params, name);
    if (!text) return TRUE;
    Period result = {G_MININT64, G_MAXINT64};
    const char *dots = strstr(text, "..");
    if (!dots) return bad_value(error, name, text, "SINCE..UNTIL, such as 2h..1h");
    g_autofree char *since = g_strndup(text, (gsize)(dots - text));
    const char *until = dots + 2;
    if (*since && !text_to_time(since, now_ns, &result.since_ns)) return bad_value(error, name, since, time_help);
    if (*until && !text_to_time(until, now_ns, &result.until_ns)) return bad_value(error, name, until, time_help);
    if (!check_period(&result, error)) return FALSE;
    *period = result;
    return TRUE;
}

/* ---- the rest ---- */

gboolean params_duration(const QueryParams *params, const char *name, gint64 *ns, GError **error) {
    const char *text = params_text(params, name);
    if (!text || text_to_duration(text, ns)) return TRUE;
    return bad_value(error, name, text, "a number and a unit: ns, us, ms, s, m, h, d");
}

gboolean params_count(const QueryParams *params, const char *name, guint64 *count, GError **error) {
    const char *text = params_text(params, name), *at = text;
    guint64 value;
    if (!text) return TRUE;
    if (!take_number(&at, &value) || *at != '\0' || value > G_MAXUINT32)
        return bad_value(error, name, text, "a whole number (0: all)");
    *count = value;
    return TRUE;
}

gboolean params_real(const QueryParams *params, const char *name, double *value, GError **error) {
    const char *text = params_text(params, name);
    if (!text) return TRUE;
    char *end = NULL;
    const double number = g_ascii_strtod(text, &end);
    if (!g_ascii_isdigit(text[0]) || *end != '\0' || !(number <= 1e9))
        return bad_value(error, name, text, "a number that is not negative, as 0.9");
    *value = number;
    return TRUE;
}

gboolean params_choice(const QueryParams *params, const char *name, const char *const *choices, guint *index,
                       GError **error) {
    const char *text = params_text(params, name);
    if (!text) return TRUE;
    for (guint i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return TRUE;
        }
    }
    g_autofree char *known = g_strjoinv(", ", (char **)choices);
    return bad_value(error, name, text, known);
}

gboolean params_flag(const QueryParams *params, const char *name, gboolean *flag, GError **error) {
    static const char *const choices[] = {"false", "true", "0", "1", NULL};
    guint choice = *flag ? 1 : 0;
    if (!params_choice(params, name, choices, &choice, error)) return FALSE;
    *flag = choice % 2 == 1;
    return TRUE;
}

gboolean params_roles(const QueryParams *params, guint32 *roles, GError **error) {
    const char *text = params_text(params, "role");
    if (!text) return TRUE;
    guint32 mask = 0;
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    for (char **name = names; *name; name++) {
        Role role;
        if (!role_parse(*name, &role))
            return bad_value(error, "role", *name, "client, namenode, datanode, journalnode or local");
        mask |= 1u << role;
    }
    if (mask == 0) return bad_value(error, "role", text, "client, namenode, datanode, journalnode or local");
    *roles = mask;
    return TRUE;
}
