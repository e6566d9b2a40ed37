/* What is kept, and for how long: removes what is past its age, and thins out when the store's file system runs short.
 * A thread of its own, which works in small steps; nobody waits for it. */
#pragma once

#include "analyzer/archive/retain.h"
#include "receiver/facts/space.h"
#include "receiver/journal/recovery_view.h"

/* What a reload may change. */
typedef struct KeeperLimits {
    RetainAges ages;
    gint64 applications_ns; /* of Spark; 0: for ever */
    SpaceMarks marks;
    guint keep;      /* traces of each pattern and hour that stay when it first thins out */
    gint64 whole_ns; /* nothing younger is thinned */
} KeeperLimits;

typedef struct KeeperOptions {
    Archive *archive;
    const RecoveryView *recovery;
    const char *store_path;
    SpaceView *view; /* for others to read */
} KeeperOptions;

typedef struct Keeper Keeper;
/* While the journal is replayed, nothing is removed for its age unless space is short: what the journal still has of a
 * trace would not be counted. */
Keeper *keeper_start(const KeeperOptions *options, const KeeperLimits *limits);
void keeper_set_limits(Keeper *keeper, const KeeperLimits *limits);
/* Waits for the step under way. */
void keeper_stop(Keeper *keeper);
