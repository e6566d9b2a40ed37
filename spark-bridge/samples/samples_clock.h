/* Dates and times of day as sysstat writes them in its locales. */
#pragma once

#include <glib.h>

typedef enum { DATE_UNKNOWN, DATE_MONTH_FIRST, DATE_DAY_FIRST, DATE_YEAR_FIRST } DateOrder;

typedef struct ClockTime {
    gint32 second_of_day; /* -1: none */
    gint64 day;           /* since 1970-01-01; G_MININT64: none */
    gboolean has_offset;
    gint32 offset_s; /* east of UTC */
} ClockTime;

#define CLOCK_NO_TIME ((ClockTime){.second_of_day = -1, .day = G_MININT64})

/* A time of day at the begin of the text ("20:44:33", "08:44:33 PM", "20时44分35秒", "04 时 13 分 31 秒", "오후 08시
 * 44분 33초"). How many bytes it takes, blanks after it included; 0: there is none. */
gsize clock_read_time(const char *text, ClockTime *time);

/* A date ("11/21/26", "21.11.2026", "2026年11月21日", "2026-11-21", ...). *ambiguous is set when day and month could
 * change places and 'order' does not say. Returns as above. */
gsize clock_read_date(const char *text, DateOrder order, ClockTime *time, gboolean *ambiguous);

/* "2026-11-21T20:44:45+0000", or a date and a time of day: the whole of the text. */
gboolean clock_read_both(const char *text, DateOrder order, ClockTime *time, gboolean *ambiguous);
