/* What a plumbd that ended without being asked left in its journal goes through the same path as when it came. Spans
 * that were stored already are recognised by their ids further down; segments stay until all of theirs are stored, so a
 * crash in here loses nothing. */
#pragma once

#include "receiver/intake.h"

typedef struct RecoverOptions {
    Journal *journal;
    Intake *intake; /* of the calling thread */
    Shard *const *shards;
    guint n_shards;
    const atomic_bool *cancelled; /* a stop was asked for */
    Recorder *recorder;           /* NULL: none */
} RecoverOptions;

typedef struct RecoverResult {
    guint segments;
    guint64 frames, spans, bytes;
    guint damages; /* places in segments that could not be read */
    guint64 damaged_bytes;
} RecoverResult;

/* Before the first append; logs progress and every damage. Error BUSY: cancelled; NO_SPACE, IO: the dictionary cannot
 * be written. The journal is as before in both cases. */
gboolean recover_journal(const RecoverOptions *options, RecoverResult *result, GError **error);
