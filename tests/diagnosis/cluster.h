/* A simulated cluster: nodes that differ by design, jobs, and faults. The same seed gives the same times. */
#pragma once

#include "analyzer/diagnosis/nodes/nodes.h"

typedef struct SimulatedJob {
    WorkClass class;
    double mean_ns;
} SimulatedJob;

/* From window 'first' to 'last' calls of a class take 'times' as long. */
typedef struct SimulatedFault {
    guint32 node; /* G_MAXUINT32: all */
    WorkClass class;
    guint32 first, last;
    double times;
    double late; /* of the first window, the share that is over when it begins */
} SimulatedFault;

/* A node that does nothing from window 'first' to 'last', when 'late' of the first one is over; meanwhile others wait
 * for it, so much in a window. */
typedef struct SimulatedSilence {
    guint32 node, first, last;
    double late;
    gint64 waited_ns;
} SimulatedSilence;

typedef struct Simulation {
    guint32 seed;
    guint32 n_nodes, n_windows;
    guint32 calls;     /* of a job on a node in a window */
    double variation;  /* standard deviation of a call's time over its mean */
    double difference; /* nodes are up to so many times as slow as the fastest */
    double missing;    /* share of observations that are not there */
    double bursts;     /* share of a node's windows in which the calls of a job take six times as long */
    double load_slope; /* times grow with the load by this power; loads vary by a factor of three */
    const SimulatedJob *jobs;
    guint32 n_jobs;
    const SimulatedFault *faults;
    guint32 n_faults;
    const SimulatedSilence *silences;
    guint32 n_silences;
} Simulation;

/* Map tasks of two kinds, as in the paper: one needs the processor, one writes; each as three functions. */
extern const SimulatedJob map_jobs[6];
/* 14 nodes, 40 windows of a minute, no fault. */
Simulation simulation_of_14(guint32 seed);
NodeGrid *simulate(const Simulation *simulation);
