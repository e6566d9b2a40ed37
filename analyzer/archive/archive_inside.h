/* What the files of this folder share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/archive/archive.h"
#include "analyzer/archive/tables/account.h"
#include "analyzer/archive/tables/arrival_clock.h"
#include "analyzer/archive/tables/distinct_set.h"
#include "analyzer/archive/tables/known_traces.h"
#include "analyzer/archive/tables/layout.h"
#include "analyzer/archive/tables/mixed.h"
#include "analyzer/archive/tables/patterns.h"
#include "analyzer/archive/tables/processes.h"
#include "analyzer/archive/tables/roll_up_state.h"
#include "analyzer/archive/tables/rowmap.h"

#define BYTES_ANNOTATION        "bytes" /* its values are summed up */
#define DEFAULT_MAX_TRACE_SPANS 1000000u
/* A group of statistics can tell eight million calls apart (call_log.h); this is the most that one record adds. */
#define MOST_TRACE_SPANS 4000000u
/* Shapes that a compressor may keep, with their patterns up to 13 MB; each shard has one, and so have those who join
 * and verify. */
#define COMPRESSOR_SHAPES 50000u

/* removed_traces.h */
typedef struct RemovedTraces {
    _Atomic guint32 first, current; /* generations */
    _Atomic gboolean any;
    gboolean noted; /* in the current one; under maintenance_lock */
} RemovedTraces;

typedef struct TotalsSlot {
    gboolean taken;
    StoredTotals totals; /* as stored */
} TotalsSlot;

struct Archive {
    Store *store;
    Dict *dict;
    ProcessTable *processes;
    PatternTable *patterns;
    MixedTable *mixed;
    Lookup lookup;
    WaitTable *waits;
    TimesRule times_rule; /* of new records: the last, but in tests of what older programs stored */
    ArchiveOptions options;
    _Atomic guint32 bytes_key; /* 0: not in the dictionary yet */
    _Atomic gboolean tolerance_stored;

    /* Writers commit under a shared lock; who needs the store to stand still (several iterators that agree, a row
     * replaced) takes it exclusively, for moments. Waiting exclusive requests go first. */
    pthread_rwlock_t commit_lock;
    pthread_mutex_t maintenance_lock; /* who changes or removes what is stored; taken before all others */
    /* One group at a time is sealed and written, in twice its memory. Taken before 'commit_lock' and roll_up's. */
    pthread_mutex_t seal_lock;
    pthread_mutex_t large_trace_lock; /* large_trace.h; no other is taken under it but those of tables */
    RollUp roll_up;
    DistinctSet distinct;
    KnownTraces *known;
    guint64 known_upto; /* archive_fill_known() goes on here */

    pthread_mutex_t totals_lock; /* of the slots */
    GArray *slots;               /* TotalsSlot; their sum are the totals */
    GPtrArray *accounts;         /* AccountTable of each slot, or NULL */
    _Atomic guint64 duplicates;
    _Atomic guint64 late_spans;
    _Atomic guint64 late_expired;
    _Atomic guint64 late_apart;
    _Atomic guint64 late_next;              /* number of the next entry of late spans */
    _Atomic guint64 late_waiting;           /* spans in such entries */
    _Atomic guint32 kept_from[LEVEL_COUNT]; /* first bucket of each level's statistics that was not removed */
    pthread_mutex_t spark_lock;             /* one write of records of Spark at a time: they are read before */
    ArrivalClock arrivals;                  /* under maintenance_lock */
    RemovedTraces removed;
};

/* The slots as the store has them. */
gboolean totals_read(StoreIter *meta, GArray *slots, GError **error);

/* Iterators over families that show one and the same state of the store. */
typedef struct Snapshot {
    StoreIter *iters[FAMILY_COUNT];    /* of the families asked for; owned */
    guint32 rolled_below[LEVEL_COUNT]; /* rows of coarser levels may be read below these buckets */
} Snapshot;
void snapshot_take(Archive *archive, const StoreFamily *families, guint n, Snapshot *snapshot);
void snapshot_clear(Snapshot *snapshot);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Snapshot, snapshot_clear)

gboolean iter_finished(StoreIter *iter, GError **error); /* FALSE with *error when reading stopped for an error */
/* Are so many spans of so many bytes more than a part may have? */
static inline gboolean over_part_bytes(const ArchiveOptions *options, guint64 n_spans, guint64 bytes) {
    return bytes > options->max_trace_bytes + n_spans * ARCHIVE_SPAN_BYTES;
}

static inline gboolean iter_seek_key(StoreIter *iter, LayoutKey key) { return store_iter_seek(iter, key_bytes(&key)); }
gboolean iter_at_key(StoreIter *iter, const LayoutKey *key); /* is it at just this key? */

/* Makes sure that what the statistics of these spans depend on is in the dictionary. */
gboolean archive_prepare(Archive *archive, const GPtrArray *spans, GError **error);

/* *index NULL when the trace is not stored. CORRUPT when the entry is malformed. */
gboolean trace_index_get(Archive *archive, guint64 trace_id, GBytes **index, GError **error);
