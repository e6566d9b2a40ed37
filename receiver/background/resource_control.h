/* What has to happen every now and then, on a thread of its own: the store is asked to write out its memory, journal
 * segments that nothing needs go, memory is shared out, free space is watched, a failing journal is tried again, the
 * rate is sampled, what senders are to sample is told. */
#pragma once

#include "common/base/clock.h"
#include "receiver/net/intake.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/name_quota.h"
#include "receiver/shared/space.h"
#include "receiver/state/control_view.h"
#include "receiver/state/rate.h"
#include "receiver/traces/recorder.h"
#include "receiver/traces/shard.h"

/* So long may the journal have to keep what lies in the store's memory, when that does not fill up before: what a start
 * after kill -9 has to take in again, and how far behind `plumb --store` may be. */
#define RESOURCE_CONTROL_FLUSH_NS (10 * NS_PER_SEC)

/* The journal, and all that may need what is in it. */
typedef struct JournalUsers {
    Journal *journal;
    Archive *archive;
    Shard *const *shards;
    guint n_shards;
    Recorder *recorder;
} JournalUsers;

typedef struct ResourceControlOptions {
    JournalUsers users;
    Admission *admission;
    CounterSet *counters;
    NameQuota *quota;
    const SpaceView *space;
    Rate *rate;        /* fed here */
    ControlView *view; /* said here */
    const char *store_path, *journal_path;
    gboolean uses_journal;     /* ack is not memory */
    guint64 segment_bytes;     /* of the journal */
    SharedText *sampling;      /* kept up to date */
    guint64 queue_bytes;       /* of all shards */
    guint64 store_needs_bytes; /* free, to write out what it has in memory */
    void (*restart)(void);     /* the process is to end, and to be started anew */
    guint64 others_bytes;      /* memory that all but open traces will have under load */
} ResourceControlOptions;

/* What a reload may change. */
typedef struct ResourceControlLimits {
    guint64 min_free_bytes, thin_free_bytes;
    guint64 journal_limit_bytes;
    gint64 idle_ns, max_age_ns;   /* of open traces */
    const char *sampling;         /* outlives resource control */
    gboolean sampling_auto;       /* then advice.h decides */
    guint64 sampling_spans_per_s; /* its budget */
    guint64 memory_bytes;         /* of the whole process */
} ResourceControlLimits;

typedef struct ResourceControl ResourceControl;
ResourceControl *resource_control_start(const ResourceControlOptions *options, const ResourceControlLimits *limits);
/* Any thread: when it last began a round (monotonic). */
gint64 resource_control_seen_ns(ResourceControl *control);
void resource_control_set_limits(ResourceControl *control, const ResourceControlLimits *limits);
void resource_control_stop(ResourceControl *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResourceControl, resource_control_stop)

/* Deletes the journal segments that nothing needs; also for the end, when no resource control runs any more. */
void resource_control_trim(const JournalUsers *users);
