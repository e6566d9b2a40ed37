/* What is kept, and for how long: removes what is past its age, and thins out when the store's file system runs short.
 * A thread of its own, which works in small steps; nobody waits for it. */
#pragma once

#include "analyzer/archive/retention/expire.h"
#include "receiver/journal/recovery_view.h"
#include "receiver/shared/space.h"

/* What a reload may change. */
typedef struct RetentionLimits {
    ExpireAges ages;
    gint64 applications_ns; /* of Spark; 0: for ever */
    SpaceThresholds thresholds;
    guint keep;      /* traces of each pattern and hour that stay when it first thins out */
    gint64 whole_ns; /* nothing younger is thinned */
} RetentionLimits;

typedef struct RetentionOptions {
    Archive *archive;
    const RecoveryView *recovery;
    const char *store_path;
    SpaceView *view; /* for others to read */
} RetentionOptions;

typedef struct Retention Retention;
/* While the journal is replayed, nothing is removed for its age unless space is short: what the journal still has of a
 * trace would not be counted. */
Retention *retention_start(const RetentionOptions *options, const RetentionLimits *limits);
void retention_set_limits(Retention *retention, const RetentionLimits *limits);
/* Waits for the step under way. */
void retention_stop(Retention *retention);
