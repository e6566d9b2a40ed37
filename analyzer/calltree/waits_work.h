/* Who worked when, for whom: the work of all stations of a tree, each piece in the scope whose waits it can explain. */
#pragma once

#include "analyzer/calltree/times_inside.h"

/* Waits and work of one scope belong together: of one chain, in the subtree of one child of the trace (of one call of
 * the NameNode; of reads of all roots), of one stream or of none. */
typedef struct WaitScope {
    guint64 stream; /* of the annotation's text; 0: none */
    guint32 anchor; /* node; 0: all roots */
    guint32 chain;  /* WaitChain */
} WaitScope;
int wait_scope_compare(const WaitScope *a, const WaitScope *b);

/* Time of a node that waits, or works. */
typedef struct Stretch {
    WaitScope scope;
    gint64 from_ns, to_ns;
    guint32 node;
} Stretch;

typedef enum {
    WORK_OWN,
    WORK_RECEIVING,
    WORK_LATE, /* receiving what was sent already: the one or the other */
    /* Of one of two stations, its own or the other one, whichever's process has more to do: */
    WORK_ANSWER, /* an acknowledgement is late; in the load of neither */
    WORK_ASKED,  /* one has not begun what the other was to ask it for; in its own load */
} WorkKind;

/* Own time of a call below a station, or of the station itself, in which it works. */
typedef struct Work {
    Stretch stretch;
    guint32 station;
    guint32 other; /* of a packet being received: the call of another station that sent it; or that station; 0: none */
    WorkKind kind;
    guint64 weight; /* of the station: the time in which anything works there, as waits_weigh.c compares it */
} Work;

/* A block that a reader asks for. */
typedef struct Block {
    Stretch stretch; /* until the station is through; node: its call that sent the last of the block, 0: none */
    gint64 sent_ns;  /* when it had done that: from then on the block is on its way */
    guint32 station; /* 0: it is asked for, no more */
} Block;

typedef struct WaitsAndWork {
    GArray *waits;  /* Stretch, by scope, then begin */
    GArray *work;   /* Work, by scope, then begin; only of scopes that have waits */
    GArray *blocks; /* Block, by scope, then begin */
    gsize charged;  /* to the thread's allowance (common/base/allowance.h), until they are cleared */
} WaitsAndWork;

/* gaps: TimesGap of functions that wait. What it takes is charged; where there is no room for TIMES_WAITS_BYTES of each
 * node, both are empty, and allowance_check() says so. */
WaitsAndWork waits_and_work(const Measured *measured, const WaitPart *parts, WaitTable *table, const GArray *gaps,
                            TimesRule rule);
void waits_and_work_clear(WaitsAndWork *both);
