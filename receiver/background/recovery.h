/* What a plumbd that ended without being asked, or without the time to store it all, left in its journal goes through
 * the same path as when it came, while new spans come. Those of one trace may then reach its shard in any order: they
 * are a set. Spans that were stored already are recognised by their ids further down; segments stay until all of theirs
 * are stored, so a crash in here loses nothing.
 *
 * Senders and replay share the shards: of a mailbox the replay has half at most, senders have what it leaves. */
#pragma once

#include "receiver/journal/recovery_view.h"
#include "receiver/net/intake.h"

typedef struct RecoveryOptions {
    Journal *journal;
    IntakeOptions intake; /* shards and all; the replay has an Intake of its own */
    const PackLimit
        *limit;         /* of what it may add to the dictionary: names that were folded when they came are so again */
    Counters *counters; /* the replay's own block */
    RecoveryView *view;
} RecoveryOptions;

/* There is something to be replayed, if there is: before any thread looks at the view. */
void recovery_view_init(RecoveryView *view, Journal *journal);

typedef struct Recovery Recovery;
/* Starts the thread, which logs progress and every damage. While the store fails, it waits and tries again. What
 * options point to must outlive it. */
Recovery *recovery_start(const RecoveryOptions *options);
/* Ends the thread; what is not replayed by then stays in the journal. */
void recovery_stop(Recovery *recovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recovery, recovery_stop)
