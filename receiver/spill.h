/* Where large open traces lie until they close: a file without a name, one for each shard, of which nothing survives
 * the process. It need not: the journal has every span of an open trace.
 *
 * What is written at a time is a part of a list; a trace has one list. The file is cut into slots of 1 MiB that are
 * filled one behind the other; a slot of which nothing is needed any more gives its space back to the file system at
 * once (what lived for seconds then mostly never reaches the disk) and is used again. Each part has a checksum: what
 * comes back is what was written, or an error.
 *
 * What is too small for a write of its own (spill_put_small()) is collected and written 64 KiB at a time, into slots
 * for such parts alone; the caller keeps where it is, in 12 bytes, instead of a list. One thread. */
#pragma once

#include "common/base/bytes.h"

#define SPILL_SLOT_BYTES (1024u * 1024)

typedef struct Spill Spill;
/* The file is made when it is first written to. */
Spill *spill_new(const char *folder);
void spill_free(Spill *spill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spill, spill_free)

/* A list's number; 0: none. */
typedef guint32 SpillList;

/* Adds a part to the list, or to a new one when *list is 0. No more than limit_bytes are taken from the file system in
 * all: PLUMB_ERROR_LIMIT. On failure all is as before. */
gboolean spill_put(Spill *spill, SpillList *list, Bytes bytes, guint64 limit_bytes, GError **error);
/* Appends the next part to 'out'; begin with *at 0. After the last one nothing is appended. */
gboolean spill_get(Spill *spill, SpillList list, guint *at, GByteArray *out, GError **error);
/* Where a small part is. */
typedef struct SpillPlace {
    guint32 slot;
    guint32 at : 20;
    guint32 size_bytes : 12;
    guint32 check; /* of its bytes */
} SpillPlace;

#define SPILL_SMALL_MAX_BYTES 4095u

/* Up to SPILL_SMALL_MAX_BYTES. On failure all is as before, and what was put earlier can still be had. */
gboolean spill_put_small(Spill *spill, Bytes bytes, guint64 limit_bytes, SpillPlace *where, GError **error);
/* Appends it to 'out'. */
gboolean spill_get_small(const Spill *spill, const SpillPlace *where, GByteArray *out, GError **error);
/* Makes it the first part of a list, which has its space from now on. */
SpillList spill_list_small(Spill *spill, const SpillPlace *where);
void spill_drop_small(Spill *spill, const SpillPlace *where);

/* Of all parts of the list. */
guint64 spill_list_bytes(const Spill *spill, SpillList list);
/* Gives the list's space back, and its number. */
void spill_drop(Spill *spill, SpillList list);

guint64 spill_live_bytes(const Spill *spill);    /* of all lists */
guint64 spill_file_bytes(const Spill *spill);    /* taken from the file system */
guint64 spill_written_bytes(const Spill *spill); /* ever */
gsize spill_memory_bytes(const Spill *spill);    /* for the lists themselves */
