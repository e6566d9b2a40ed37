/* When entries of late spans came is not stored: from time to time it is noted which number was the next. */
#pragma once

#include <glib.h>

typedef struct ArrivalClock {
    GArray *arrivals; /* of time and number, ascending */
    gint64 last_ns;   /* when traces were last looked through */
    gboolean looked;  /* ever */
} ArrivalClock;

void arrival_clock_init(ArrivalClock *clock);
void arrival_clock_clear(ArrivalClock *clock);
/* The next entry gets this number. Not noted when the last note is young, as seen from 'most_ns'. */
void arrival_clock_note(ArrivalClock *clock, gint64 now_ns, guint64 number, gint64 most_ns);
/* Entries with lower numbers were there at that time. */
guint64 arrival_clock_number_before(const ArrivalClock *clock, gint64 at_ns);
