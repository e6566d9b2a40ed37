/* Tasks of Spark that straggled, as they were counted last: one thread sets it, any reads it. */
#pragma once

#include <pthread.h>

#include "analyzer/query/spark/straggler_watch.h"

typedef struct Straggling {
    pthread_mutex_t lock;
    StragglerCounts counts;
} Straggling;

static inline void straggling_set(Straggling *straggling, const StragglerCounts *counts) {
    pthread_mutex_lock(&straggling->lock);
    straggling->counts = *counts;
    pthread_mutex_unlock(&straggling->lock);
}

static inline StragglerCounts straggling_get(Straggling *straggling) {
    pthread_mutex_lock(&straggling->lock);
    const StragglerCounts counts = straggling->counts;
    pthread_mutex_unlock(&straggling->lock);
    return counts;
}
