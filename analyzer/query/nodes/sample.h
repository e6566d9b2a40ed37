/* Which minutes are read of a large cluster, or a long period: the same each time. */
#pragma once

#include <glib.h>

/* Figures of one function on one host in one minute: some 70 bytes each in memory, judged in a microsecond each. */
#define OBSERVATIONS_MAX 1800000u

typedef struct MinuteSpan {
    guint32 learn, since, until; /* minutes: learned from 'learn' on, judged from 'since' on */
} MinuteSpan;

/* How many minutes may be read that have so many figures each. */
guint32 minutes_affordable(guint32 observations);
/* All, or the newest ones of the period without a gap and others spread evenly, before the period as many as in it. A
 * new array of guint32, ascending. */
GArray *minutes_choose(const MinuteSpan *span, guint32 most);
