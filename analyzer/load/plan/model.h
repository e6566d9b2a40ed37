/* The random numbers of a plan: the model of AliCloud's HDFS (Ren and others, IISWC 2014), with units as docs/load.md
 * says. */
#pragma once

#include "analyzer/load/plan/plan.h"

/* Streams of random numbers of one seed, each independent of how much of the others is used. */
typedef enum {
    DRAW_RATE,
    DRAW_GAP,
    DRAW_KIND,
    DRAW_SIZE,
    DRAW_FILE,
    DRAW_OFFSET,
    DRAW_CLIENT,
    DRAW_POPULATION,
    DRAW_AGE,
    DRAW_STREAMS
} DrawStream;

typedef struct Draws {
    guint64 state[DRAW_STREAMS];
} Draws;

void draws_init(Draws *draws, guint64 seed);
/* One of them anew. */
void draws_seed(Draws *draws, DrawStream stream, guint64 seed);
double draw_uniform(Draws *draws, DrawStream stream);               /* above 0, below 1 */
guint64 draw_below(Draws *draws, DrawStream stream, guint64 bound); /* below bound, which is not 0 */
double draw_normal(Draws *draws, DrawStream stream);

/* Bytes of a request and of a file, before they are cut. */
gint64 draw_request_bytes(Draws *draws, const LoadModel *model);
gint64 draw_file_bytes(Draws *draws);
/* Of mean 1. */
double draw_gap(Draws *draws, LoadGaps gaps); /* for tests */

/* Due times, of sessions: gaps of mean 1, run through at the rate of each second. */
typedef struct Arrivals {
    const LoadModel *model;
    Draws *draws;
    double log_rate; /* of this second, less its mean, in deviations */
    double rate;     /* sessions a second */
    gint64 second;
    double at; /* in the second, 0 to 1 */
} Arrivals;

void arrivals_init(Arrivals *arrivals, const LoadModel *model, Draws *draws);
/* Of the next operation, in nanoseconds since the begin; beyond 'end_ns' it is just any time there. */
gint64 arrivals_next(Arrivals *arrivals, gint64 end_ns);
/* Operations a second, in the mean. */
double load_model_mean_rate(const LoadModel *model);
