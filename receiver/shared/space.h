/* How much room the store's file system has left, in levels with a distance between going up and coming back, so that
 * they do not flicker. The last one, store.min-free, is resource_control.c's: it shuts admission. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef enum { SPACE_FINE, SPACE_LOW, SPACE_THIN } SpaceLevel;

typedef struct SpaceThresholds {
    guint64 warn_bytes, thin_bytes; /* free; 0: never */
} SpaceThresholds;

/* A level is left when a tenth more than its threshold is free. */
SpaceLevel space_level(const SpaceThresholds *thresholds, guint64 free_bytes, SpaceLevel before);
const char *space_level_name(SpaceLevel level); /* "fine", "low", "thinning" */
/* Of the file system that holds a folder; G_MAXUINT64 when that cannot be told. */
guint64 space_free_bytes(const char *path);

/* Do both lie on the same file system? */
gboolean space_is_shared(const char *path, const char *other);

/* How large the journal may become: journal.limit, but where the disk is small no more than a quarter of what it could
 * have. The journal grows to twice that before no more spans are taken, and large open traces (spill.h) may have as
 * much again; a quarter is left even so. Free space must never fall to where traces are thinned out (store.thin-free)
 * or spans refused (store.min-free) because of the journal: so they and a quarter more do not count as free. What it
 * has got already does, so that it does not shrink because it grows. At least four segments: with fewer it would be
 * emptied all the time. */
typedef struct JournalRoom {
    guint64 limit_bytes, segment_bytes; /* journal.limit, journal.segment */
    guint64 free_bytes;                 /* of its file system; G_MAXUINT64: cannot be told */
    guint64 used_bytes;                 /* by the journal, its spare files and large open traces */
    guint64 reserve_bytes;              /* the greatest threshold */
} JournalRoom;
guint64 space_for_journal(const JournalRoom *room);
/* TRUE: what the journal could do without is better given back. */
gboolean space_is_wanted(const JournalRoom *room);

/* Written by retention's thread, read by any. */
typedef struct SpaceView {
    _Atomic guint64 free_bytes;
    _Atomic int level;
    _Atomic guint keep; /* traces of each pattern and hour that thinning leaves now; 0: it does not thin */
} SpaceView;
