/* How long a job takes on a node, by two numbers that add up in logarithms: the moment's load, which all nodes share,
 * and the node's constant, which all moments share. Both are found together by median polish: half of the nodes may be
 * ill, and observations may be missing. */
#pragma once

#include <string.h>

#include "analyzer/diagnosis/nodes/node_grid.h"

typedef enum { MEASURE_MEAN, MEASURE_TAIL, MEASURES } NodeMeasure;

/* With fewer nodes at a moment nobody can tell the moment from the node: then a node is compared with its own past. */
#define POLISH_PEERS 3u
/* So many calls of a node weigh as much as all that is known of the other nodes. */
#define POLISH_PRIOR_CALLS 50.0

typedef struct Polish {
    NodeMeasure measure;
    float *level;  /* of each job: the moment's load at most times */
    float *node;   /* job * n_nodes + node; NAN: the job never ran there */
    float *moment; /* job * n_windows + window; NAN: fewer than POLISH_PEERS nodes */
} Polish;

/* All bits set are a NaN, and written at once. */
static inline void set_nan(float *values, gsize n) {
    if (n > 0) memset(values, 0xff, n * sizeof *values);
}

Polish *polish_new(const NodeGrid *grid, NodeMeasure measure);
void polish_free(Polish *polish);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Polish, polish_free)

/* Learns from the observations of windows before 'until' that are marked in 'used' (one byte for each). */
void polish_fit(Polish *polish, const NodeGrid *grid, const guint8 *used, guint32 until);
/* Of observations of windows before 'until': ln of how many times longer than predicted, the moment being told from
 * the other nodes. *alone: by its own past only. Both have a place for each observation. Sets those moments. */
void polish_residuals(Polish *polish, const NodeGrid *grid, guint32 until, float *residuals, guint8 *alone);
