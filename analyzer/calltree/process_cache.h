/* Role and host of the tracers seen last, so that the Lookup is not asked again for every span. */
#pragma once

#include "analyzer/calltree/lookup.h"

#define PROCESS_CACHE_SIZE 256u /* a power of two; a cluster's tracers, numbered as they came, mostly fit */

typedef struct ProcessEntry {
    guint32 tracer;
    guint32 host;
    guint8 role;
    guint8 known;
} ProcessEntry;

typedef struct ProcessCache {
    const Lookup *lookup;
    ProcessEntry entries[PROCESS_CACHE_SIZE];
} ProcessCache;

static inline const ProcessEntry *process_of(ProcessCache *cache, guint32 tracer) {
    ProcessEntry *entry = &cache->entries[tracer % PROCESS_CACHE_SIZE];
    if (entry->known && entry->tracer == tracer) return entry;
    Role role = ROLE_LOCAL;
    guint32 host = 0;
    cache->lookup->process(cache->lookup->arg, tracer, &role, &host);
    *entry = (ProcessEntry){tracer, host, (guint8)role, 1};
    return entry;
}
