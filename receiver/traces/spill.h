/* Where large open traces lie until they close: a file without a name, one for each shard, of which nothing survives
 * the process. It need not: the journal has every span of an open trace.
 *
 * What is put at a time is a part of a list; a trace has one list. Parts are collected and written 64 KiB at a time, to
 * places that became free (spill_space.h) before the file grows. For that to be often, what will be needed for about as
 * long lies together (SpillKin). Places that stay free go back to the file system when there are many of them, compared
 * with those in use: what a load leaves behind is no more than SPILL_SPARE_BYTES. Each part has a checksum: what comes
 * back is what was written, or an error.
 *
 * What is too small for a list of its own (spill_put_small()) is kept by the caller, in 12 bytes. One thread. */
#pragma once

#include "common/base/bytes.h"

/* Free places that the file may keep, beside half as much as is in use. */
#define SPILL_SPARE_BYTES (1024u * 1024)

typedef struct Spill Spill;
/* The file is made when it is first written to. */
Spill *spill_new(const char *folder);
void spill_free(Spill *spill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spill, spill_free)

/* A list's number; 0: none. */
typedef guint32 SpillList;

/* Until when it will be needed. */
typedef enum {
    SPILL_GROWING,  /* of a large trace, of which more is to come */
    SPILL_COMPLETE, /* until its time is over */
    SPILL_WAITING,  /* until something comes that may never come */
    SPILL_KINS
} SpillKin;

/* How much may be taken from the file system in all; before the first call nothing. What is there stays when it is
 * more, but for free places. */
void spill_set_limit(Spill *spill, guint64 limit_bytes);
/* Adds a part to the list, or to a new one when *list is 0. PLUMB_ERROR_LIMIT: no room within the limit. On failure all
 * is as before, and what was put earlier can still be had. */
gboolean spill_put(Spill *spill, SpillKin kin, SpillList *list, Bytes bytes, GError **error);
/* Appends the next part to 'out'; begin with *at 0. After the last one nothing is appended. */
gboolean spill_get(Spill *spill, SpillList list, guint *at, GByteArray *out, GError **error);
/* Where a small part is. */
typedef struct SpillPlace {
    guint32 unit;
    guint32 at : 20; /* in it */
    guint32 size_bytes : 12;
    guint32 check; /* of its bytes */
} SpillPlace;

#define SPILL_SMALL_MAX_BYTES 4095u

/* Up to SPILL_SMALL_MAX_BYTES, of the kin SPILL_WAITING; fails as spill_put(). */
gboolean spill_put_small(Spill *spill, Bytes bytes, SpillPlace *where, GError **error);
/* Appends it to 'out'. */
gboolean spill_get_small(const Spill *spill, const SpillPlace *where, GByteArray *out, GError **error);
/* Makes it the first part of a list, which has its space from now on. */
SpillList spill_list_small(Spill *spill, const SpillPlace *where);
void spill_drop_small(Spill *spill, const SpillPlace *where);

/* Of all parts of the list. */
guint64 spill_list_bytes(const Spill *spill, SpillList list); /* for tests */
/* Gives the list's space back, and its number. */
void spill_drop(Spill *spill, SpillList list);

guint64 spill_live_bytes(const Spill *spill);    /* of all lists */
guint64 spill_file_bytes(const Spill *spill);    /* taken from the file system, for free places too */
guint64 spill_written_bytes(const Spill *spill); /* ever */
gsize spill_memory_bytes(const Spill *spill);    /* for the lists themselves */
