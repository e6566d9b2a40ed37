/* Which hours and days have rows of their own (rollup.h). */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/archive/tables/layout.h"
#include "common/store/store.h"

#define ROLLED_KEY "rolled"

typedef struct RollUp {
    /* Commits hold it shared from sealing to having written: so they agree on what they add to. Exclusively: a roll-up
     * begins. Taken before the commit lock. */
    pthread_rwlock_t sealing;
    guint32 added_below[LEVEL_COUNT];  /* under 'sealing': commits add to rows of these buckets */
    guint32 rolled_below[LEVEL_COUNT]; /* under the commit lock: these are whole; changed under maintenance_lock too */
    _Atomic guint unwritten;           /* groups that are sealed and could not be written */
    _Atomic gboolean stop;
} RollUp;

void roll_up_init(RollUp *roll_up);
void roll_up_clear(RollUp *roll_up);
gboolean roll_up_load(RollUp *roll_up, Store *store, GError **error);
