/* How a node did in one class of work, window by window: what its jobs of the class say together.
 *
 * Of the processor the second measure is the time of all jobs together over what was predicted: a process that gets no
 * processor stands still for long, in few calls of whichever function, so that neither most jobs nor most calls show
 * it.
 *
 * Windows with few calls are put together until there are CLASS_CALLS_LEAST; what comes too seldom for that is not
 * judged. One more node, number n_nodes, stands for all nodes at once: its windows say how the moments were, which all
 * nodes share. */
#pragma once

#include "analyzer/diagnosis/nodes/node_grid.h"
#include "analyzer/diagnosis/nodes/polish.h"

#define CLASS_CALLS_LEAST 20u
/* Of time, when windows are put together. */
#define CLASS_WINDOW_MAX_NS (15 * NS_PER_MINUTE)

typedef struct ClassWindow {
    guint32 first, last; /* windows of the grid */
    guint32 calls;
    float residual[MEASURES];
    float variance; /* of the first residual, as far as few calls make it */
    float blamed;   /* share of the calls that another method blames (other_methods.h) */
    float alone;    /* share of the calls that have no peers */
    float unused;   /* share of the calls that the model does not learn from */
    float bytes;
    gint64 self_ns, critical_ns;
    gint64 lost_ns, lost_critical_ns; /* of these, what is above the prediction */
    gint64 lost_beside_ns;            /* of lost_critical_ns, what parts of its jobs lost (node_grid.h) */
    gboolean bad;                     /* judgement.h */
} ClassWindow;

typedef struct ClassSeries {
    WorkClass class;
    guint32 node;
    guint32 start, n; /* in the windows of all */
} ClassSeries;

/* What is known of each observation. */
typedef struct Residuals {
    float *of[MEASURES]; /* NAN: not known */
    guint8 *alone;
    guint8 *blamed;     /* NULL: no other method is asked */
    const guint8 *used; /* what the model learns from */
    guint8 *all_ill;    /* class * n_windows + window: all nodes at once are suspected, what is usual is not learned */
} Residuals;

typedef struct AllSeries {
    GArray *series;   /* ClassSeries, by node, then class */
    GArray *windows;  /* ClassWindow */
    gint64 window_ns; /* of a window of the grid */
    gsize charged;    /* of the allowance */
} AllSeries;

/* Of windows before 'until'. polish: of each measure; NULL: without the node that stands for all. */
AllSeries *all_series_new(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, guint32 until);
void all_series_free(AllSeries *all);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AllSeries, all_series_free)

/* Of one node (n_nodes: all) and class, each window of the grid by itself, however few calls it has: ClassWindow. */
GArray *class_minutes(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, guint32 node,
                      WorkClass class);

static inline ClassWindow *series_windows(const AllSeries *all, const ClassSeries *series) {
    return &g_array_index(all->windows, ClassWindow, series->start);
}
