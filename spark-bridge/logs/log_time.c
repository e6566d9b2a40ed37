#include "spark-bridge/logs/log_time.h"

#include <string.h>

/* Digits of milliseconds since the epoch: from 2001 to 2286. */
#define EPOCH_MS_DIGITS       13u
#define OLDEST_TWO_DIGIT_YEAR 2000

typedef struct Fields {
    gint year, month, day, hour, minute, second;
    gint64 nanos;

} Fields;

/* Exactly that many digits, or from 1 to that many when 'fewer'. */
static gboolean digits(LogText *at, guint most, gint *value) {
    gint sum = 0;
    guint n = 0;
    while (n < most && n < at->length && g_ascii_isdigit(at->data[n])) sum = sum * 10 + (at->data[n++] - '0');
    if (n != most) return FALSE;
    *at = log_text_after(*at, n);
    *value = sum;
    return TRUE;
}

static gboolean one_of(LogText *at, const char *characters) {
    if (at->length == 0 || at->data[0] == '\0' || strchr(characters, at->data[0]) == NULL) return FALSE;
    *at = log_text_after(*at, 1);
    return TRUE;
}

/* 2026-11-21, 2026/11/21, 26/11/21, each with the time behind T or a blank. */
static gboolean date(LogText *at, Fields *fields) {
    LogText four = *at;
    if (digits(&four, 4, &fields->year)) {
        *at = four;
    } else {
        if (!digits(at, 2, &fields->year)) return FALSE;
        fields->year += OLDEST_TWO_DIGIT_YEAR;
    }
    return one_of(at, "-/") && digits(at, 2, &fields->month) && one_of(at, "-/") && digits(at, 2, &fields->day) &&
           one_of(at, "T ");
}

static void fraction(LogText *at, Fields *fields) {
    LogText rest = *at;
    if (!one_of(&rest, ".,")) return;
    gint64 unit = 100000000;
    while (rest.length > 0 && g_ascii_isdigit(rest.data[0])) {
        fields->nanos += (rest.data[0] - '0') * unit;
        unit /= 10;
        rest = log_text_after(rest, 1);
    }
    *at = rest;
}

/* "Z", "+0100", "+01:00": minutes east; FALSE when there is none. */
static gboolean offset(LogText at, gint *minutes) {
    if (log_text_begins(at, "Z")) {
        *minutes = 0;
        return TRUE;
    }
    if (at.length == 0) return FALSE;
    const gint sign = at.data[0] == '-' ? -1 : 1;
    gint hours, rest;
    if (!one_of(&at, "+-") || !digits(&at, 2, &hours)) return FALSE;
    one_of(&at, ":");
    if (!digits(&at, 2, &rest) || hours > 23 || rest > 59) return FALSE;
    *minutes = sign * (hours * 60 + rest);
    return TRUE;
}

static gint64 epoch_ms(const Fields *fields, LogText rest, GTimeZone *zone) {
    gint minutes;
    const gboolean own = offset(rest, &minutes);
    g_autoptr(GTimeZone) utc = own || zone == NULL ? g_time_zone_new_utc() : NULL;
    g_autoptr(GDateTime) time = g_date_time_new(utc != NULL ? utc : zone, fields->year, fields->month, fields->day,
                                                fields->hour, fields->minute, (gdouble)fields->second);
    if (time == NULL) return -1;
    const gint64 ms = g_date_time_to_unix(time) * 1000 + fields->nanos / 1000000 - (own ? (gint64)minutes * 60000 : 0);
    return MAX(-1, ms);
}

gint64 log_time_ms(LogText line, GTimeZone *zone) {
    LogText at = line;
    if (at.length > 0 && at.data[0] == '[') at = log_text_after(at, 1);
    gsize n = 0;
    while (n < at.length && g_ascii_isdigit(at.data[n])) n++;
    if (n == EPOCH_MS_DIGITS) {
        gint64 ms = -1;
        log_text_natural((LogText){at.data, n}, &ms);
        return ms;
    }
    Fields fields = {0};
    if (!date(&at, &fields) || !digits(&at, 2, &fields.hour) || !one_of(&at, ":") || !digits(&at, 2, &fields.minute) ||
        !one_of(&at, ":") || !digits(&at, 2, &fields.second))
        return -1;
    fraction(&at, &fields);
    return epoch_ms(&fields, at, zone);
}
