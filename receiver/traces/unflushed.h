/* Groups of a shard that are in the store, but only in its memory: a crash would take them, so the journal must keep
 * what they were made of until a mark tells that they are on disk. */
#pragma once

#include <glib.h>
#include <pthread.h>

typedef struct Unflushed {
    pthread_mutex_t lock;
    GArray *groups; /* UnflushedGroup, in the order in which they were written */
} Unflushed;

void unflushed_init(Unflushed *unflushed);
void unflushed_clear(Unflushed *unflushed);

/* ---- any thread ---- */
/* A group was written; 'mark' covers it, 'segment' is the oldest that it needs (JOURNAL_NONE: nothing is noted). */
void unflushed_add(Unflushed *unflushed, guint64 mark, guint64 segment, gint64 now_ns);
/* The oldest segment needed when this mark has been reached; JOURNAL_NONE: none. */
guint64 unflushed_needs(Unflushed *unflushed, guint64 reached_mark);
/* When the first of them was written; 0: there is none. */
gint64 unflushed_since_ns(Unflushed *unflushed);
