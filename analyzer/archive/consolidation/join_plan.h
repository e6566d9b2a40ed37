/* Which traces' late spans are to be joined now, in the order in which the records lie. Under maintenance_lock. */
#pragma once

#include "analyzer/archive/archive.h"

/* For which traces it is worth while. */
typedef struct JoinWhen {
    gint64 quiet_ns;    /* nothing came late for the trace for so long, */
    gint64 most_ns;     /* or the first of what waits came so long ago */
    guint64 few_spans;  /* as many spans wait, of all traces, or fewer */
    guint64 most_spans; /* more wait */
} JoinWhen;

/* A plan holds no more traces (16 bytes each); the next one goes on behind it. */
#define JOIN_PLAN_TRACES (1u << 19)

typedef struct JoinTrace {
    guint64 trace_id;
    guint32 second; /* of its record when the spans came; 0: not known, or of several parts */
} JoinTrace;

/* A trace is due when of its entries all have numbers below 'quiet', or one has a number below 'old'. */
typedef struct JoinBelow {
    guint64 quiet, old;
} JoinBelow;

typedef struct JoinPlan {
    GArray *traces; /* JoinTrace, by second and trace id */
    guint64 next;   /* trace id, from which on the next plan looks */
    gboolean ended; /* nothing waits behind it */
} JoinPlan;

/* FALSE: nothing can be due. Else *below is to be looked for. */
gboolean join_due(Archive *archive, const JoinWhen *when, JoinBelow *below);

/* Reads all entries of late spans from plan->next on; plan->traces is made anew. What is damaged is due, too. */
gboolean join_plan_read(Archive *archive, const JoinBelow *below, JoinPlan *plan, GError **error);
