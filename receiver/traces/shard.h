/* A shard: one thread that owns the open traces whose ids hash to it, and the ArchiveWriter that stores them.
 *
 * Spans come in chunks (one per network thread and round), questions as small messages; nothing else is shared. When
 * the store fails, the shard keeps what it has, shuts admission, and tries again with growing pauses: the group that
 * could not be written stays, closed traces stay open, the mailbox fills up, senders are told to try later. A trace
 * whose spilled part cannot be read back stays open, too, and is tried again each time it is due; it keeps its segments
 * of the journal, so that the next start of plumbd takes it in again, and holds up no other trace. */
#pragma once

#include "analyzer/archive/archive.h"
#include "receiver/journal/journal.h"
#include "receiver/shared/accounts.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/traces/open_traces.h"
#include "receiver/traces/waiter.h"

/* Closed traces are written in groups of this size, or this long after the first of a group. The more
 * spans a group has, the more of them share a row of statistics: with 3,000 hosts rows take 12 bytes a span in a group
 * of 200,000 spans, 8 in one of a million. What sealing a group takes in memory is in its size. */
#define SHARD_GROUP_BYTES   (24u * 1024 * 1024)
#define SHARD_GROUP_WAIT_NS G_GINT64_CONSTANT(2000000000)
/* Pauses between attempts while the store fails. */
#define SHARD_RETRY_MIN_NS G_GINT64_CONSTANT(100000000)
#define SHARD_RETRY_MAX_NS G_GINT64_CONSTANT(2000000000)

typedef struct ShardOptions {
    guint number;
    Archive *archive;
    Admission *admission;
    CounterSet *counters;
    Accounts *accounts;
    gsize mailbox_bytes;
    OpenLimits limits;        /* memory_bytes is this shard's share */
    const char *unstored_dir; /* where spans go that the store will never take */
    const char *spill_dir;    /* where large open traces lie; NULL: in memory */
    guint64 replayed;         /* journal segments up to this number are replayed: their spans may be stored already */
} ShardOptions;

typedef struct Shard Shard;
/* Starts the thread. What options point to must outlive the shard. */
Shard *shard_start(const ShardOptions *options);
/* From then on (monotonic) traces are left as they are, whoever asks for them: the journal has them. */
void shards_stop_by(Shard *const *shards, guint n, gint64 stop_by_ns);
/* Stores everything, unless the time of shards_stop_by() comes first, and ends the threads, all at the same time; gives
 * up after give_up_ns of a failing store: FALSE, and *error says why. What is not stored then, shard_state() tells:
 * shards stay readable until shard_free(). */
gboolean shards_stop(Shard *const *shards, guint n, gint64 give_up_ns, GError **error);
/* After shards_stop(). */
void shard_free(Shard *shard);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shard, shard_free)

/* Which of n shards owns a trace. */
static inline guint shard_of(guint64 trace_id, guint n) { return (guint)((trace_id_hash(trace_id) >> 32) % n); }

/* ---- any thread ---- */
/* Fragments (common/model/fragment.h), one behind the other; they are copied. segment (may be NULL) is where the
 * journal has them: the shard keeps a hold of its own until it has noted what it needs. */
void shard_put_spans(Shard *shard, Bytes fragments, JournalSegment *segment);
/* The same of what lies in an array, which is taken over: many are not to be in memory twice. */
void shard_give_spans(Shard *shard, GByteArray *fragments, JournalSegment *segment);
gboolean shard_full(Shard *shard);
/* Does half of what may wait come from the replay of the journal? Whatever senders do, it has this much. */
gboolean shard_replay_full(Shard *shard);

/* Questions and orders; each gives one answer to the waiter when done, an error when the store fails. */
void shard_flush(Shard *shard, Waiter *waiter);                         /* store all; sum: traces closed */
void shard_store_trace(Shard *shard, guint64 trace_id, Waiter *waiter); /* store this one, if it is open */
void shard_store_segments(Shard *shard, guint64 up_to_number);          /* all traces that need these; no answer */
void shard_set_limits(Shard *shard, const OpenLimits *limits);          /* no answer */

/* What open traces of this shard may have from now on, instead of what its limits say; no answer. */
typedef struct ShardShare {
    gsize memory_bytes;
    guint64 disk_bytes;
    gint64 idle_ns, large_idle_ns; /* see idle_rule.h */
} ShardShare;
void shard_set_share(Shard *shard, const ShardShare *share);

/* The oldest journal segment that traces need which are not stored yet, or only in the store's memory when this mark of
 * the store has been reached; JOURNAL_NONE: none. */
guint64 shard_needs(Shard *shard, guint64 reached_mark);
/* When the first group was written of those that the last shard_needs() found in the store's memory only, or that have
 * come since; monotonic. 0: there is none. */
gint64 shard_unflushed_since_ns(Shard *shard);

typedef struct ShardState {
    guint64 traces, spans, bytes, mailbox_bytes;
    guint64 large_traces; /* of traces, those that have their root and OPEN_LARGE_SPANS or more */
    guint64 spilled_spans, spilled_bytes, spill_file_bytes;
    guint64 arena_bytes, arena_held_bytes; /* of bytes, those of open traces; and what the system sees of those */
    gint64 oldest_ns; /* monotonic time at which the oldest span not yet stored came; 0: there is none */
} ShardState;
ShardState shard_state(Shard *shard);
