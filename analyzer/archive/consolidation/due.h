/* Which traces' late spans are to be joined now, in the order in which the records lie. Under settle_lock. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/settle.h"

/* A plan holds no more traces (16 bytes each); the next one goes on behind it. */
#define DUE_TRACES (1u << 19)

typedef struct DueTrace {
    guint64 trace_id;
    guint32 second; /* of its record when the spans came; 0: not known, or of several parts */
} DueTrace;

/* A trace is due when of its entries all have numbers below 'quiet', or one has a number below 'old'. */
typedef struct DueBelow {
    guint64 quiet, old;
} DueBelow;

typedef struct DuePlan {
    GArray *traces; /* DueTrace, by second and trace id */
    guint64 next;   /* trace id, from which on the next plan looks */
    gboolean ended; /* nothing waits behind it */
} DuePlan;

/* FALSE: nothing can be due. Else *below is to be looked for. */
gboolean due_now(Archive *archive, const SettleWhen *when, DueBelow *below);

/* Reads all entries of late spans from plan->next on; plan->traces is made anew. What is damaged is due, too. */
gboolean due_plan(Archive *archive, const DueBelow *below, DuePlan *plan, GError **error);
