/* The stored statistics of functions, by minute and host, as a grid that can be judged.
 *
 * Of a large cluster, or a long period, not all minutes are read but a sample of them that is the same each time: the
 * newest ones, and others spread evenly. So the answer costs the same, however much is stored. */
#pragma once

#include "analyzer/diagnosis/nodes/nodes.h"
#include "analyzer/query/shared/question.h"

/* What is judged where no period was asked for, and what is learned from before it. */
#define CLUSTER_PERIOD_NS  (60 * NS_PER_MINUTE)
#define CLUSTER_HISTORY_NS (7 * 24 * 60 * NS_PER_MINUTE)

typedef struct ClusterJob {
    guint32 function; /* dictionary id */
    Role role;
    gint size_power; /* its calls have 2^size_power bytes or more, less than twice as many; -1: none recorded */
} ClusterJob;

/* What was waited in a function in a minute, on all hosts together (node_grid.h, WindowWaits). */
typedef struct ClusterWait {
    guint32 function; /* dictionary id */
    Role role;
    guint32 window;
    gint64 waited_ns;
} ClusterWait;

typedef struct Cluster {
    const Asked *asked; /* lent */
    Archive *archive;
    NodeGrid *grid;
    GArray *hosts;    /* guint32: dictionary id of each node's host */
    GArray *jobs;     /* ClusterJob of each job */
    GArray *waits;    /* ClusterWait, by window */
    Period period;    /* that is judged, in whole minutes */
    gint64 begin_ns;  /* of the history that is learned from */
    guint32 since;    /* the first window of the period */
    guint32 minutes;  /* of the period */
    gboolean sampled; /* not all minutes were read */
    gboolean cut;     /* there are too many jobs or hosts: some were left out */
    guint64 calls;    /* in the period */
    gsize charged;
} Cluster;

/* "since", "until". */
Cluster *cluster_load(const Asked *asked, GError **error);
void cluster_free(Cluster *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cluster, cluster_free)

static inline guint32 cluster_host(const Cluster *cluster, guint32 node) {
    return g_array_index(cluster->hosts, guint32, node);
}
static inline const ClusterJob *cluster_job(const Cluster *cluster, guint32 job) {
    return &g_array_index(cluster->jobs, ClusterJob, job);
}
/* Failures.what: a function in a role. */
static inline guint64 cluster_what(guint32 function, Role role) { return (guint64)function << 3 | role; }
static inline ClusterJob cluster_job_of(guint64 what) {
    return (ClusterJob){(guint32)(what >> 3), (Role)(what & 7), -1};
}
/* Where most was waited in the windows from 'first' to 'last'. NULL: nowhere. */
const ClusterWait *cluster_wait(const Cluster *cluster, guint32 first, guint32 last);
/* A ratio, with three decimals: more were not measured. */
json_t *json_ratio(double value);
/* Adds the period, and what was looked at. */
void cluster_json(const Cluster *cluster, const NodesReport *report, json_t *object);
