/* Which minutes are read of a large cluster, or a long period: the same each time. */
#pragma once

#include <glib.h>

/* Figures of one function on one host in one minute: judged in a microsecond each. */
#define OBSERVATIONS_MAX 1800000u
/* Of memory for each: 70 bytes, and what is made of them. */
#define OBSERVATION_BYTES 110u

typedef struct MinuteSpan {
    guint32 learn, since, until; /* minutes: learned from 'learn' on, judged from 'since' on */
} MinuteSpan;

/* How many minutes may be read that have so many figures each, with so much memory. Where there is little, few: what is
 * found then is less sure. */
guint32 minutes_affordable(guint32 observations, gsize bytes);
/* All, or the newest ones of the period without a gap and others spread evenly, before the period as many as in it. A
 * new array of guint32, ascending. */
GArray *minutes_choose(const MinuteSpan *span, guint32 most);
