/* How long tasks last, told by those that have ended and by those that still run: the product-limit estimate of Kaplan
 * and Meier (1958). A task that still runs is a time that was cut off: it lasts longer than it has so far. Without it
 * the first tasks to end, which are the short ones, would stand for all. */
#pragma once

#include <glib.h>

typedef struct Lifetime {
    double time;
    gboolean ended; /* FALSE: it still runs */
} Lifetime;

typedef struct Survival {
    double *times, *share; /* ascending; behind each time that a task ended at, this share lasts on */
    guint32 n;
    double last; /* the longest time seen, ended or not; nothing is known beyond, where */
    double mean; /* the rest lasts so long on average: all time that was seen, by the tasks that ended */
} Survival;

/* Changes the order of the lifetimes; at least one has ended. */
void survival_init(Survival *survival, Lifetime *lifetimes, guint32 n);
void survival_clear(Survival *survival);
/* How long a task lasts that has lasted for 'so_far': u is below 1 and not below 0, evenly distributed; 0.5 tells the
 * median. */
double survival_draw(const Survival *survival, double so_far, double u);
