#include "spark-bridge/samples/samples_clock.h"

#include <string.h>

static gboolean is_blank(char c) { return c == ' ' || c == '\t'; }
static gboolean is_foreign(char c) { return (guchar)c >= 0x80; }

static const char *skip_blanks(const char *at) {
    while (is_blank(*at)) at++;
    return at;
}

/* ---- days ---- */

/* Days since 1970-01-01; FALSE: there is no such day, or none from 1970 to 2199. */
static gboolean clock_day(gint year, gint month, gint day, gint64 *days) {
    if (year < 1970 || year > 2199 || month < 1 || month > 12 || day < 1) return FALSE;
    if (day > g_date_get_days_in_month((GDateMonth)month, (GDateYear)year)) return FALSE;
    GDate date, epoch;
    g_date_clear(&date, 1);
    g_date_clear(&epoch, 1);
    g_date_set_dmy(&date, (GDateDay)day, (GDateMonth)month, (GDateYear)year);
    g_date_set_dmy(&epoch, 1, 1, 1970);
    *days = g_date_days_between(&epoch, &date);
    return TRUE;
}

/* ---- groups of digits ---- */

typedef struct Group {
    gint value;
    guint digits;
} Group;

/* At most 'most' digits; FALSE when there are none, or more. */
static gboolean read_group(const char **at, guint most, Group *group) {
    *group = (Group){0, 0};
    while (g_ascii_isdigit((*at)[group->digits])) {
        if (group->digits == most) return FALSE;
        group->value = group->value * 10 + ((*at)[group->digits] - '0');
        group->digits++;
    }
    *at += group->digits;
    return group->digits > 0;
}

/* What stands between two groups: one of 'marks', or a word in another writing (年, 时), either with blanks around. */
static gboolean read_separator(const char **at, const char *marks) {
    const char *p = skip_blanks(*at);
    if (*p != '\0' && strchr(marks, *p) != NULL) {
        p++;
    } else if (is_foreign(*p)) {
        while (is_foreign(*p)) p++;
    } else {
        return FALSE;
    }
    *at = skip_blanks(p);
    return TRUE;
}

/* ---- forenoon and afternoon ---- */

typedef enum { HALF_NONE, HALF_AM, HALF_PM } DayHalf;

static DayHalf read_half(const char **at) {
    static const struct {
        const char *text;
        DayHalf half;
    } marks[] = {
        {"AM", HALF_AM},   {"am", HALF_AM},   {"a.m.", HALF_AM}, {"PM", HALF_PM},   {"pm", HALF_PM},
        {"p.m.", HALF_PM}, {"上午", HALF_AM}, {"下午", HALF_PM}, {"午前", HALF_AM}, {"午後", HALF_PM},
        {"오전", HALF_AM}, {"오후", HALF_PM}, {"πμ", HALF_AM},   {"μμ", HALF_PM},   {"π.μ.", HALF_AM},
        {"μ.μ.", HALF_PM}, {"ص", HALF_AM},    {"م", HALF_PM},    {"凌晨", HALF_AM}, {"中午", HALF_PM},
        {"晚上", HALF_PM}, {"SA", HALF_AM},   {"CH", HALF_PM},
    };

    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        const gsize length = strlen(marks[i].text);
        if (strncmp(*at, marks[i].text, length) != 0) continue;
        const char after = (*at)[length];
        /* "AMD0" is no mark; "下午08时" is one. */
        if (!is_foreign(marks[i].text[0]) && after != '\0' && !is_blank(after) && after != '\r') continue;
        *at += length;
        return marks[i].half;
    }

    return HALF_NONE;
}

/* ---- times of day ---- */

gsize clock_read_time(const char *text, ClockTime *time) {
    const char *at = skip_blanks(text);
    DayHalf half = read_half(&at);
    at = skip_blanks(at);
    Group hour, minute, second;
    if (!read_group(&at, 2, &hour) || !read_separator(&at, ":.hH") || !read_group(&at, 2, &minute) ||
        !read_separator(&at, ":.mM") || !read_group(&at, 2, &second))
        return 0;

    /* The unit of seconds, attached or on its own; a fraction is no time of sysstat. */
    const char *unit = skip_blanks(at);
    if (half == HALF_NONE) half = read_half(&unit);
    if (is_foreign(*unit)) {
        while (is_foreign(*unit)) unit++;
    }
    if (unit != skip_blanks(at)) at = unit;
    if (*at == 's' && (at[1] == '\0' || is_blank(at[1]))) at++;

    if (half == HALF_NONE) {
        const char *mark = skip_blanks(at);
        half = read_half(&mark);
        if (half != HALF_NONE) at = mark;
    }
    if (*at != '\0' && !is_blank(*at) && *at != '+' && *at != '-' && *at != '\r') return 0;

    if (half != HALF_NONE && (hour.value < 1 || hour.value > 12)) half = HALF_NONE; /* 20:44 PM: some locales do so */
    if (half != HALF_NONE) hour.value = hour.value % 12 + (half == HALF_PM ? 12 : 0);
    if (hour.value > 23 || minute.value > 59 || second.value > 60) return 0;

    time->second_of_day = hour.value * 3600 + minute.value * 60 + MIN(second.value, 59);
    return (gsize)(skip_blanks(at) - text);
}

/* ---- dates ---- */

static gint full_year(Group group) { return group.digits > 2 ? group.value : 2000 + group.value; }

/* Which of day and month comes first when the year does not. */
static DateOrder order_of(Group first, Group second, char mark, DateOrder asked, gboolean *ambiguous) {
    if (first.value > 12) return DATE_DAY_FIRST;
    if (second.value > 12) return DATE_MONTH_FIRST;
    if (asked == DATE_DAY_FIRST || asked == DATE_MONTH_FIRST) return asked;
    if (mark == '.') return DATE_DAY_FIRST; /* no locale writes months first with points */
    if (first.value != second.value) *ambiguous = TRUE;
    return DATE_MONTH_FIRST;
}

gsize clock_read_date(const char *text, DateOrder order, ClockTime *time, gboolean *ambiguous) {
    const char *at = skip_blanks(text);
    Group first, second, third;
    if (!read_group(&at, 4, &first)) return 0;
    const char mark = *skip_blanks(at);
    if (!read_separator(&at, "/.-") || !read_group(&at, 2, &second) || !read_separator(&at, "/.-") ||
        !read_group(&at, 4, &third))
        return 0;

    if (mark == '.' && *at == '.') at++; /* "21. 11. 2026." */
    while (is_foreign(*at)) at++;        /* 日 */
    const char *unit = skip_blanks(at);
    if (is_foreign(*unit)) {
        while (is_foreign(*unit)) unit++;
        at = unit;
    }

    const gboolean year_first = first.digits > 2 || is_foreign(mark) || (order == DATE_YEAR_FIRST && third.digits <= 2);
    gboolean valid;
    if (year_first)
        valid = clock_day(full_year(first), second.value, third.value, &time->day);
    else if (order_of(first, second, mark, order, ambiguous) == DATE_DAY_FIRST)
        valid = clock_day(full_year(third), second.value, first.value, &time->day);
    else
        valid = clock_day(full_year(third), first.value, second.value, &time->day);

    return valid ? (gsize)(skip_blanks(at) - text) : 0;
}

/* ---- both ---- */

/* "+0000", "-05:30", "Z", "UTC"; nothing is fine, too. FALSE: something else is there. */
static gboolean read_offset(const char *at, ClockTime *time) {
    at = skip_blanks(at);
    if (strncmp(at, "UTC", 3) == 0 || *at == 'Z') {
        time->has_offset = TRUE;
        at += *at == 'Z' ? 1 : 3;
    } else if (*at == '+' || *at == '-') {
        const gint sign = *at == '-' ? -1 : 1;
        Group hours, minutes;
        at++;
        if (!g_ascii_isdigit(at[0]) || !g_ascii_isdigit(at[1])) return FALSE;
        hours = (Group){(at[0] - '0') * 10 + (at[1] - '0'), 2};
        at += at[2] == ':' ? 3 : 2;
        if (!read_group(&at, 2, &minutes) || minutes.digits != 2 || hours.value > 15 || minutes.value > 59)
            return FALSE;
        time->has_offset = TRUE;
        time->offset_s = sign * (hours.value * 3600 + minutes.value * 60);
    }
    at = skip_blanks(at);
    return *at == '\0' || *at == '\r';
}

gboolean clock_read_both(const char *text, DateOrder order, ClockTime *time, gboolean *ambiguous) {
    ClockTime both = CLOCK_NO_TIME;
    gboolean doubt = FALSE;
    gsize used = clock_read_date(text, order, &both, &doubt);
    if (used == 0) return FALSE;
    if (text[used] == 'T') used++;
    const gsize more = clock_read_time(text + used, &both);
    if (more == 0 || !read_offset(text + used + more, &both)) return FALSE;
    *time = both;
    *ambiguous = *ambiguous || doubt;
    return TRUE;
}
