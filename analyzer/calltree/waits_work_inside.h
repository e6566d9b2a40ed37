/* What waits_work.c collects of one tree, and waits_weigh.c weighs. */
#pragma once

#include "analyzer/calltree/waits_work.h"

/* How much a station has to do. */
typedef struct Load {
    guint64 weight;   /* the time in which anything works there; half of it for a link */
    guint64 received; /* in which it receives */
    guint64 rest;     /* in which it does anything else */
    gboolean link;    /* more than half of all is receiving */
    gboolean follows; /* what it receives comes slowly, since the station before it has a slow network */
} Load;

/* Where a node is. */
typedef struct Context {
    guint64 stream;    /* its own, or that of the nearest above it that has one */
    guint32 top;       /* child of the trace */
    guint32 call;      /* of the NameNode; 0: none */
    guint32 station;   /* nearest; 0: none */
    guint32 chain;     /* of the station */
    guint32 loaded_in; /* of a station: number of the last scope in which it works; 0: in none */
    Load load;         /* there */
    /* Of a station: for how long it was seen to stand still, and for how long packets had been sent to it already that
     * it did not take. */
    guint64 still_ns, late_ns;
    guint32 responder; /* of a station: its call that acknowledges packets; 0: none, or more than one */
    guint32 responders;
    gboolean asks; /* of a station: another one hangs below it */
    /* Of a caller of stations: its first call that the last of them came not after, and when all before had ended. */
    guint32 next;
    gint64 ready_ns;
} Context;

typedef struct Collector {
    const CallTree *tree;
    const guint32 *node_of;
    const WaitPart *parts;
    WaitTable *table;
    TimesRule rule;
    Context *contexts;
    GArray *waits, *work, *sends, *receives;
    GArray *blocks;    /* Block */
    GArray *answers;   /* Receive: waits for acknowledgements */
    gboolean paths;    /* something works by its station's critical path */
    guint32 other;     /* of the work that is looked at (Work.other) */
    GArray *weighed;   /* guint32: stations, of one scope */
    GHashTable *loads; /* of processes: tracer id -> ProcessLoad */
    gsize charged;
} Collector;

static inline Context *station_before(const Collector *c, guint32 station) {
    return &c->contexts[c->contexts[c->tree->parent[station]].station];
}

/* Who has how much to do: sets the weights of all work, and moves to another station what that one is to blame for. */
void waits_weigh_stations(Collector *c);
