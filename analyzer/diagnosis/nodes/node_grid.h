/* What was observed of a cluster: how long calls of each job took on each node in each window of time.
 *
 * A node is a host. A job is what is comparable: a function in a role, with calls of about the same size. Observations
 * are added in the order of their windows; then the grid is indexed, and may be judged (nodes.h). */
#pragma once

#include "analyzer/diagnosis/nodes/work_class.h"
#include "common/base/clock.h"

typedef struct Observation {
    guint32 job, node, window; /* from 0 */
    guint32 calls;
    float mean;   /* ln of the mean self time of a call, ns */
    float tail;   /* ln of the 95 % quantile of the calls' durations, ns; as mean where that is not known */
    float spread; /* squared coefficient of variation of one call: the mean of n calls varies by spread / n */
    float bytes;  /* of all calls; 0: not recorded */
    gint64 self_ns, critical_ns;
} Observation;

/* Calls of one function on a node in a window of which some failed. Most functions have no such calls. */
typedef struct Failures {
    guint32 node, window;
    WorkClass class;
    guint64 what;          /* the function, as the caller numbers it */
    guint32 calls, failed; /* all of them, and those that failed */
    guint32 left_out;      /* that are in no observation */
} Failures;

/* That a DataNode was heard in a window, whatever it did. */
typedef struct Heard {
    guint32 node, window;
    guint32 calls; /* that are observed */
} Heard;

/* What clients, and DataNodes for the next one of a pipeline, waited in a window; nobody is seen to work for them. */
typedef struct WindowWaits {
    gint64 waited_ns; /* critical time */
    guint32 calls;
} WindowWaits;

typedef struct GridJob {
    WorkClass class;
    gboolean beside; /* a part of another job of its class: only its critical time counts there */
} GridJob;

/* Observations by one of their keys: those of key k are order[start[k]] to order[start[k + 1] - 1], ascending. */
typedef struct GridIndex {
    guint32 *start, *order;
    guint32 n_keys;
} GridIndex;

typedef struct NodeGrid {
    guint32 n_jobs, n_nodes, n_windows;
    GArray *observations; /* Observation */
    GArray *jobs;         /* GridJob */
    GArray *windows;      /* gint64: begin of each window, ns; ascending */
    GArray *waits;        /* WindowWaits of each window */
    GArray *failures;     /* Failures, by window */
    GArray *heard;        /* Heard; by node, then window when it is indexed */
    GArray *heard_last;   /* guint32 of each node: its last one, plus 1 */
    gint64 window_ns;     /* length of each */
    GridIndex by_node;    /* key: node */
    GridIndex by_cell;    /* key: job * n_nodes + node */
    GridIndex by_moment;  /* key: job * n_windows + window */
} NodeGrid;

NodeGrid *node_grid_new(gint64 window_ns);
void node_grid_free(NodeGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeGrid, node_grid_free)

/* Numbers of new ones. Windows come in the order of time. */
guint32 node_grid_job(NodeGrid *grid, WorkClass class);
void node_grid_beside(NodeGrid *grid, guint32 job);
guint32 node_grid_node(NodeGrid *grid);
guint32 node_grid_window(NodeGrid *grid, gint64 begin_ns);
/* Of the last window. */
void node_grid_add(NodeGrid *grid, const Observation *observation);
void node_grid_fail(NodeGrid *grid, const Failures *failures);
void node_grid_hear(NodeGrid *grid, guint32 node, guint32 calls);
void node_grid_wait(NodeGrid *grid, gint64 waited_ns, guint32 calls);
/* After the last observation. */
void node_grid_index(NodeGrid *grid);
gsize node_grid_bytes(const NodeGrid *grid); /* of memory; roughly */

static inline const Observation *grid_at(const NodeGrid *grid, guint32 i) {
    return &g_array_index(grid->observations, Observation, i);
}
static inline WindowWaits *grid_waits(const NodeGrid *grid, guint32 window) {
    return &g_array_index(grid->waits, WindowWaits, window);
}
static inline guint32 grid_size(const NodeGrid *grid) { return grid->observations->len; }
static inline WorkClass grid_class(const NodeGrid *grid, guint32 job) {
    return g_array_index(grid->jobs, GridJob, job).class;
}
static inline gboolean grid_is_beside(const NodeGrid *grid, guint32 job) {
    return g_array_index(grid->jobs, GridJob, job).beside;
}
static inline gint64 grid_window_ns(const NodeGrid *grid, guint32 window) {
    return g_array_index(grid->windows, gint64, window);
}
