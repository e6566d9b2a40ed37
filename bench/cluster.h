/* A cluster that makes spans without end: thousands of hosts with a client and a DataNode each, some NameNodes, and
 * jobs that run on them (bench/template.h). Its load is as unkind as life.
 *
 * Traces have 1 span to a million, most 5 to 500. A process collects what its own calls made and sends it each half
 * second or when a batch is full, so the spans of a trace come over many connections and in no order. Some processes
 * stall, and deliver minutes later what they collected; some batches come twice, at once or minutes later; some spans
 * are said twice, and some are lost at their sender, which says how many.
 *
 * Time is that of the cluster: so many spans a second, however fast they are taken. So what is made depends on the
 * options alone, not on the receiver. One thread at a time; several clusters ('lanes') share the hosts. */
#pragma once

#include "bench/frame.h"

typedef struct Cluster Cluster;

typedef struct ClusterOptions {
    const char *model_path; /* HTrace JSON */
    guint64 seed;
    guint32 lane, lanes;
    guint32 hosts, namenodes;
    gboolean structs;                /* spans as structs, not as packs */
    gboolean captured_only;          /* the captured traces one by one, no jobs and no other methods */
    gboolean random_ids;             /* of spans: as other programs draw them, not as the agent does */
    gboolean nanoseconds;            /* give times digits below the millisecond, as the agent does */
    gint64 begin_ns;                 /* of the first trace */
    double spans_per_s;              /* of the whole cluster */
    gint64 flush_ns;                 /* a process sends what it has after so long */
    guint32 batch_spans;             /* or when it has so many */
    guint32 jobs;                    /* running at the same time */
    gint64 largest_spans;            /* about the most of a trace */
    double late, repeated, withheld; /* shares of the spans */
    gint64 late_ns;
    /* Takes over one reference of the frame; gives it back with cluster_release(). */
    void (*deliver)(void *arg, Frame *frame);
    void *arg;
} ClusterOptions;

/* What was made, sums so far. made = sent + withheld; of the sent ones 'late' came late. 'repeated' were sent beside
 * them, a second time. */
typedef struct ClusterCounts {
    guint64 traces, made, sent, late, repeated, withheld, batches;
    guint64 largest; /* spans of the largest trace */
} ClusterCounts;

Cluster *cluster_new(const ClusterOptions *options, GError **error);
void cluster_free(Cluster *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cluster, cluster_free)

/* Runs on: a few operations of one job. Batches that become due are delivered from within. */
void cluster_step(Cluster *cluster);
/* Begins n more traces that lack half of their spans, the root among them; cluster_complete_open() sends the rest. */
void cluster_begin_open(Cluster *cluster, guint64 n);
void cluster_complete_open(Cluster *cluster, guint64 n);
/* All processes send what they have. */
void cluster_flush(Cluster *cluster);
/* Jobs end, everything is sent, stalled or not. */
void cluster_finish(Cluster *cluster);
ClusterCounts cluster_counts(const Cluster *cluster);
guint32 cluster_functions(const Cluster *cluster);

void cluster_release(Cluster *cluster, Frame *frame);
/* Numbers 2h and 2h+1 are the client and the DataNode of host h; the NameNodes come after all hosts. */
guint32 cluster_processes(const Cluster *cluster);
gboolean cluster_is_namenode(const Cluster *cluster, guint32 process);

typedef struct ClusterSender {
    const char *id;
    guint64 sent, dropped, batches;
} ClusterSender;
/* What the process's sender says of itself at the end. */
ClusterSender cluster_sender(const Cluster *cluster, guint32 process);
