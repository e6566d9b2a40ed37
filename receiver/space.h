/* How much room the store's file system has left, in levels with a distance between going up and coming back, so that
 * they do not flicker. The last one, store.min-free, is maintenance.c's: it shuts the gate. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef enum { SPACE_FINE, SPACE_LOW, SPACE_THIN } SpaceLevel;

typedef struct SpaceMarks {
    guint64 warn_bytes, thin_bytes; /* free; 0: never */
} SpaceMarks;

/* A level is left when a tenth more than its mark is free. */
SpaceLevel space_level(const SpaceMarks *marks, guint64 free_bytes, SpaceLevel before);
const char *space_level_name(SpaceLevel level); /* "fine", "low", "thinning" */
/* Of the file system that holds a folder; G_MAXUINT64 when that cannot be told. */
guint64 space_free_bytes(const char *path);

/* Written by the keeper's thread, read by any. */
typedef struct SpaceView {
    _Atomic guint64 free_bytes;
    _Atomic int level;
    _Atomic guint keep; /* traces of each pattern and hour that thinning leaves now; 0: it does not thin */
} SpaceView;
