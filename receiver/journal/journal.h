/* The journal: every frame as it came, on disk before its sender is told that it was taken.
 *
 * A folder of segment files (journal_format.h), "plumb-<number, 16 hex digits>.journal", written one after the other by
 * all network threads: one order for all, so that "stored up to segment n" is one number, and one write(2) for all
 * frames that a thread found readable. The lock is held for that write; checksums are computed before.
 *
 * A segment is done with when nothing in it is needed any more: no message on its way to a shard holds it, and all
 * shards say that what they still have to store begins in a later one (journal_trim). Its file becomes a later segment:
 * writing over pages that are in memory and blocks that are allocated costs a fifth of writing a new file (0.07 against
 * 0.35 ns a byte and more). At most 512 MiB of such spare files wait ("spare-<n>.journal"); what is not used for a
 * minute is deleted. A segment in which damage was found is renamed to *.damaged instead.
 *
 * A promise that something survives a power cut needs a sync that succeeded after it was written, of the descriptor it
 * was written with. After a sync that failed nothing of that segment is believed that no earlier sync covered: the
 * kernel tells of an error once and may then call the lost pages clean, so a second sync would succeed without them.
 * The segment is left and never synced again. Whoever waits for one of its records is told that it failed, its sender
 * has no acknowledgement and sends it again. The spans are with the shards already and go on into the store, so that
 * the second copy is a duplicate; the file stays until the store has them all on the disk, and is not used again. */
#pragma once

#include "receiver/journal/journal_file.h"

/* What journal_segment_number() says of no segment: needs nothing. */
#define JOURNAL_NONE G_MAXUINT64

typedef struct JournalOptions {
    const char *path;    /* folder, made when missing */
    gsize segment_bytes; /* a new segment is begun when the current one has grown past this */
    gboolean sync;       /* fdatasync when a segment is left, folder synced when one is made */
} JournalOptions;

typedef struct Journal Journal;
typedef struct JournalSegment JournalSegment;

/* Locks the folder and takes stock of the segments that are there; writes nothing else. Errors: BUSY, IO, VERSION (a
 * segment of another version). */
Journal *journal_open(const JournalOptions *options, GError **error);
/* Leaves all segments where they are; spare files go. */
void journal_close(Journal *journal);
/* Closes it, and removes the folder when journal_open() made it and nothing was written: a start that fails leaves
 * nothing half made. */
void journal_discard(Journal *journal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Journal, journal_close)

/* ---- what was there: one thread, oldest first; others may append and trim meanwhile ---- */
guint journal_found(Journal *journal);
/* The i-th segment found, and its content, to be closed by the caller. It is held since journal_open(). FALSE: it
 * cannot be read at all; it is then marked as damaged and done with. */
gboolean journal_found_open(Journal *journal, guint i, JournalSegment **segment, JournalFile **file, GError **error);

/* What the segment after it tells of it. */
typedef struct JournalNext {
    gboolean last;      /* there is none: nothing more is known */
    guint missing;      /* so many are missing between the two */
    guint64 size_bytes; /* where its records end; 0: unknown */
    gboolean exact;     /* else they may end before: an earlier version knew no better (journal_format.h) */
    guint64 salt;       /* 0: unknown */
} JournalNext;
JournalNext journal_found_next(Journal *journal, guint i);

/* Its frames are with the shards, which hold it as long as they need it. */
void journal_found_done(Journal *journal, JournalSegment *segment);
/* Its file will be kept as *.damaged. */
void journal_mark_damaged(Journal *journal, JournalSegment *segment);

/* ---- any thread ---- */
/* Appends n records with one write. On success *segment is where they are, with a hold on it. On failure (NO_SPACE, IO)
 * nothing is left behind. */
gboolean journal_append(Journal *journal, const JournalRecord *records, gsize n, JournalSegment **segment,
                        GError **error);
/* How many records were appended since journal_open(). */
guint64 journal_position(Journal *journal);
/* TRUE: all records appended after 'from' (a position) and before the call survive a power cut. FALSE: some may not,
 * and never will by another call. Callers that come together share one fdatasync. */
gboolean journal_sync(Journal *journal, guint64 from, GError **error);

/* Is there room for more, and can it be synced? Reserves a little; for finding out whether a failing journal works
 * again. */
gboolean journal_probe(Journal *journal, GError **error);

/* All take NULL: no segment. */
void journal_hold(JournalSegment *segment);
void journal_release(JournalSegment *segment);
guint64 journal_segment_number(const JournalSegment *segment);
const char *journal_segment_path(const JournalSegment *segment);

typedef struct JournalUsage {
    guint64 bytes;
    guint64 unread_bytes; /* of them, those that were found and are not replayed yet */
    guint64 spare_bytes;  /* of files that wait for later segments, beside those */
    guint segments;
    guint64 oldest, newest; /* numbers; 0 when there are none */
} JournalUsage;
JournalUsage journal_usage(Journal *journal);

/* Deletes spare files: their space is wanted. */
void journal_drop_spares(Journal *journal);

/* Deletes segments, oldest first, up to the first that is held or whose number is >= the answer of 'needed_from' (asked
 * anew for each segment, after its holds were seen to be gone). The current segment goes too when nothing needs it. */
typedef guint64 (*JournalNeeds)(void *arg);
void journal_trim(Journal *journal, JournalNeeds needed_from, void *arg);
