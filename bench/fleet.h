/* The processes of a generated cluster and what their senders do: collect, flush, stall, repeat, lose. Part of
 * bench/cluster.h. */
#pragma once

#include "bench/cluster.h"
#include "common/base/mix64.h"

typedef struct ShapeLast {
    guint64 op;        /* whose path it was */
    guint32 values_at; /* of the template */
    gint32 number;
} ShapeLast;

typedef struct Process {
    Frame *frame;   /* being filled, or NULL */
    guint16 *local; /* string -> its place in the frame's table + 1; then, of packs, shape -> its number in the frame */
    ShapeLast *last; /* shape -> what its last span had */
    guint64 ids_at;  /* place in the sequence of its ids: of the block that its next thread takes */
    char *host_pid;  /* "/10.0.3.17/4242" */
    char *sender;
    guint64 sequence, sent, dropped;
    guint32 stalled_until; /* window; 0: not stalled */
} Process;

typedef struct Fleet {
    const ClusterOptions *options;
    const TemplateSet *set;
    Process *processes;
    guint32 n;
    guint16 *locals;
    ShapeLast *lasts;
    FramePool pool;
    guint64 random;
    ClusterCounts counts;
    guint64 lost_batches_spans, repeated_batches_spans;
    /* Every process is flushed once in a window, one after the other. */
    double next_flush, flush_step; /* in spans made */
    guint32 flushed;               /* in this window */
    guint32 window;
    GPtrArray **later; /* ring of windows: frames to deliver then */
    guint32 n_later, late_windows, stalled;
} Fleet;

void fleet_init(Fleet *fleet, const ClusterOptions *options, const TemplateSet *set);
void fleet_clear(Fleet *fleet);
/* The process's frame, begun if it has none. */
Frame *fleet_begin_frame(Fleet *fleet, Process *process);
guint32 fleet_add_string(Fleet *fleet, Process *process, guint32 string, guint64 number);
void fleet_flush_one(Fleet *fleet, guint32 process);
void fleet_flush_due(Fleet *fleet);
void fleet_flush_all(Fleet *fleet);
void fleet_deliver_later(Fleet *fleet);

/* Places that a thread takes from its process at once, as of our agent (SpanIds.java). */
#define BLOCK_OF_IDS 64u

/* The first place of the process's sequence. */
guint64 fleet_first_id(const Fleet *fleet, guint32 process);
/* The place of a thread's next id, which is *at; 0: it has none yet. */
static inline guint64 next_place(Process *process, guint64 *at) {
    if (*at % BLOCK_OF_IDS == 0) {
        *at = process->ids_at;
        process->ids_at += BLOCK_OF_IDS;
    }
    return (*at)++;
}

static inline guint64 next_random(guint64 *state) { return mix64_next(state); }
static inline double unit_of(guint64 random) { return (double)(random >> 11) / 9007199254740992.0; }

static inline Frame *fleet_frame(Fleet *fleet, Process *process) {
    return process->frame != NULL ? process->frame : fleet_begin_frame(fleet, process);
}

static inline guint32 fleet_string(Fleet *fleet, Process *process, guint32 string) {
    guint16 local = process->local[string];
    return local != 0 ? local - 1u : fleet_add_string(fleet, process, string, 0);
}

static inline void fleet_made(Fleet *fleet) {
    if ((double)fleet->counts.made >= fleet->next_flush) fleet_flush_due(fleet);
}
