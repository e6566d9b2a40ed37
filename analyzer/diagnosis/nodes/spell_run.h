/* Where windows of which some are bad are a spell: it begins when BAD_LEAST of BAD_OF windows are bad, with the first
 * of these, and ends with the last bad one before GOOD_LEAST good ones in a row. Windows are told one by one. */
#pragma once

#include <glib.h>

#define BAD_LEAST  3u
#define BAD_OF     5u
#define GOOD_LEAST 5u

typedef struct SpellRun {
    gboolean ill;
    guint32 from, last_bad; /* windows of the spell: the first bad one, and the last so far */
    guint32 sure;           /* the window with which it was known */
    guint32 recent;         /* of the last BAD_OF since a spell which were bad: bit 0 is the last window */
    guint32 good;           /* so many in a row */
} SpellRun;

/* The next window; begin with a run of zeros. TRUE: a spell has ended, from .. last_bad. */
gboolean spell_run_ends(SpellRun *run, guint32 window, gboolean bad);
