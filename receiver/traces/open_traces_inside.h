/* What is in OpenTraces, for the files that it is made of. */
#pragma once

#include "receiver/traces/open_traces.h"

#define OPEN_TICK_SHIFT 20

typedef struct Slot {
    guint32 tag; /* the upper half of the id's hash; its highest bits say where the slot should be */
    ArenaRef trace;
} Slot;

typedef struct Ends {
    ArenaRef first, last;
} Ends;

/* At the beginning of the head of a trace that is KEPT_SPILLED or KEPT_ASLEEP. */
typedef struct SpilledPart {
    SpillList list;   /* 0: all of it is at 'small' */
    SpillPlace small; /* of one that was KEPT_SHRUNK, until more is written */
    guint32 size_bytes, n_spans;
} SpilledPart;

/* The lists by activity. */
enum { HAS_ROOT = 1, ASLEEP = 2, LARGE = 4, ACTIVITIES = 8 };

struct OpenTraces {
    OpenLimits limits;
    OpenTick idle, large_idle, max_age;
    Arena arena;
    Slot *slots; /* 2^slot_bits; linear probing, no tombstones */
    guint slot_bits, count;
    guint64 seed; /* so that a sender cannot choose ids that collide */
    guint64 spans;
    gboolean shrinking; /* memory bound passed, not yet back at 7/8 */
    Ends by_age;
    Ends by_activity[ACTIVITIES];
    guint64 *recent;     /* ids, by hash */
    GByteArray *bodies;  /* of open_traces_unpack() */
    Spill *spill;        /* NULL: all stay in memory */
    OpenTick spill_from; /* no attempt before this while spill_paused */
    gboolean spill_paused;
    OpenTick asleep_from; /* those asleep are left alone before this while asleep_unreadable */
    gboolean asleep_unreadable;
    guint compact_slot;    /* the next one to look at; 0: no pass is under way */
    OpenTick compact_from; /* no pass begins before this while compact_paused */
    gboolean compact_paused;
    guint n_asleep, n_shrunk, n_large;
    guint64 spilled_spans, spill_failures;
    GError *spill_error;
};

static inline OpenTrace *trace_at(const OpenTraces *traces, ArenaRef ref) {
    return ref ? arena_at(&traces->arena, ref) : NULL;
}

static inline OpenTick tick_of(gint64 now_ns) { return (OpenTick)(now_ns >> OPEN_TICK_SHIFT); }

/* Rounded up, so that nothing closes early. */
static inline OpenTick ticks(gint64 ns) {
    return (OpenTick)MIN((ns + (1 << OPEN_TICK_SHIFT) - 1) >> OPEN_TICK_SHIFT, (gint64)G_MAXINT32);
}

static inline gboolean is_asleep(const OpenTrace *trace) { return trace->kept >= KEPT_ASLEEP; }

/* Nothing that waits for its root closes by activity: there the large ones need no list of their own. */
static inline gboolean among_large(const OpenTrace *trace) { return trace->has_root && trace->large; }

static inline Ends *activity_of(OpenTraces *traces, const OpenTrace *trace) {
    return &traces->by_activity[(trace->has_root ? HAS_ROOT : 0) + (is_asleep(trace) ? ASLEEP : 0) +
                                (among_large(trace) ? LARGE : 0)];
}

static inline guint slot_mask(const OpenTraces *traces) { return (1u << traces->slot_bits) - 1; }

/* The neighbours in the list by age of one that lies elsewhere now. */
static inline void relink_age(OpenTraces *traces, const OpenTrace *trace, ArenaRef to) {
    *(trace->older ? &trace_at(traces, trace->older)->younger : &traces->by_age.first) = to;
    *(trace->younger ? &trace_at(traces, trace->younger)->older : &traces->by_age.last) = to;
}
