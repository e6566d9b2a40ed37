/* Which places of a spill file (spill.h) are free. It is counted in units of 16 KiB; a unit of which no byte is needed
 * any more is used again before the file grows: writing over what is still in the page cache costs a third of writing
 * to pages that the kernel has to find first. The lowest free one comes first, so that those high up stay free and can
 * be given back to the file system. No I/O, no threads. */
#pragma once

#include <glib.h>

#define SPILL_UNIT_BYTES (16u * 1024)

typedef struct SpillSpace {
    GArray *needed;       /* guint16 for each unit: bytes of it that are needed, and 1 while somebody holds it */
    GArray *free, *holes; /* guint64 for 64 units: those free, and of these those the file system has back */
    guint n_units, n_free, n_holes;
    guint lowest; /* no word of 'free' below this one has a unit that is not a hole */
} SpillSpace;

typedef struct SpillRun {
    guint32 unit, n;
} SpillRun;

void spill_space_init(SpillSpace *space);
void spill_space_clear(SpillSpace *space);

/* Up to 'most' units, at least one, that lie side by side: free ones, those that the file system has not got back
 * first, or new ones at the end. They are held until spill_space_release(). */
SpillRun spill_space_take(SpillSpace *space, guint most);
void spill_space_release(SpillSpace *space, SpillRun run);
/* Some bytes of the file, which may lie in several units, are needed; or no longer. */
void spill_space_need(SpillSpace *space, guint64 at, guint32 size_bytes);
void spill_space_drop(SpillSpace *space, guint64 at, guint32 size_bytes);
/* The highest run of free units that are not holes, of 'least' to 64 of them, below *end, where to go on; begin with
 * G_MAXUINT. They count as holes from now on. FALSE: there are none. */
gboolean spill_space_trim(SpillSpace *space, guint least, guint *end, SpillRun *run);

static inline guint spill_space_used(const SpillSpace *space) { return space->n_units - space->n_free; }
/* Free, but not given back. */
static inline guint spill_space_spare(const SpillSpace *space) { return space->n_free - space->n_holes; }
gsize spill_space_memory_bytes(const SpillSpace *space);
