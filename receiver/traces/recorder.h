/* The recorder: one thread that writes records of Spark and of hosts into the store, batch after batch as they came.
 * What a log says twice is found out there (archive/spark/spark.h), so batches that come again after a crash change
 * nothing.
 *
 * When the store fails, the batch stays, admission is shut and it is tried again with growing pauses; the mailbox fills
 * up, and senders are told to try later. */
#pragma once

#include "analyzer/archive/spark/spark.h"
#include "receiver/journal/journal.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/traces/waiter.h"

typedef struct RecorderOptions {
    Archive *archive;
    Admission *admission;
    CounterSet *counters;
    gsize mailbox_bytes;
} RecorderOptions;

typedef struct Recorder Recorder;
/* Starts the thread. What options point to must outlive it. */
Recorder *recorder_start(const RecorderOptions *options);
/* Writes what it has and ends the thread; gives up after give_up_ns of a failing store: FALSE when something remains
 * that only the journal holds now. */
gboolean recorder_stop(Recorder *recorder, gint64 give_up_ns, GError **error);
/* After recorder_stop(). */
void recorder_free(Recorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recorder, recorder_free)

/* ---- any thread ---- */
/* Takes the records over. segment (may be NULL) is where the journal has them; the recorder holds it until they are
 * written. */
void recorder_put(Recorder *recorder, SparkRecords *records, JournalSegment *segment);
gboolean recorder_full(Recorder *recorder);
/* One answer when everything that was put before is written; an error when the store fails. */
void recorder_flush(Recorder *recorder, Waiter *waiter);
/* Until everything that was put before is written, or the store has failed to take it. FALSE: neither by until_ns and
 * gone(arg), as of waiter_wait_until(). Costs nothing when nothing waits, and the thread no more than a look when
 * something does. */
gboolean recorder_settle(Recorder *recorder, gint64 until_ns, gboolean (*gone)(void *arg), void *arg);

/* As of shards: the oldest journal segment that is needed when this mark has been reached, and since when what is
 * written waits for a mark. */
guint64 recorder_needs(Recorder *recorder, guint64 reached_mark);
gint64 recorder_unflushed_since_ns(Recorder *recorder);
gsize recorder_queued_bytes(Recorder *recorder);
/* Records that were taken and are not in the store yet. */
guint64 recorder_waiting(Recorder *recorder);
