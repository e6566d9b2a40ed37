/* Which functions and hosts have statistics. Rows of functions never go, so the sets only grow: they are what the store
 * had when it was first asked, and what has been written since the archive was opened. */
#pragma once

#include <pthread.h>

#include "analyzer/calltree/stats/stats.h"

typedef struct DistinctSet {
    pthread_mutex_t lock;
    GHashTable *functions, *hosts; /* dictionary ids */
    gboolean complete;             /* what the store had is in */
} DistinctSet;

void distinct_set_init(DistinctSet *set);
void distinct_set_clear(DistinctSet *set);
/* Ids (guint32) of functions and hosts with rows that were written. */
void distinct_set_add(DistinctSet *set, const GArray *functions, const GArray *hosts);
