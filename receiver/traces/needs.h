/* Which journal segments a shard still needs: for each segment, how many of the shard's traces that are not stored yet
 * have their oldest span in it. Touched once per trace, not per span. One thread. */
#pragma once

#include <glib.h>

typedef struct Needs {
    GArray *entries; /* NeedsEntry, by rising number; few: journal.limit / journal.segment */
} Needs;

void needs_init(Needs *needs);
void needs_clear(Needs *needs);
/* number JOURNAL_NONE: does nothing. */
void needs_add(Needs *needs, guint64 number);
void needs_remove(Needs *needs, guint64 number);
/* The oldest one needed; JOURNAL_NONE: none. */
guint64 needs_oldest(const Needs *needs);
