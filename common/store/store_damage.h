/* Table files of a store of which something cannot be read.
 *
 * When a read of such a file fails, it is noted in the store's folder. Until the store is opened anew, it goes on
 * beside the damage: a read fails with CORRUPT, or, of a thread that asks for it (store_skip.h), goes past what cannot
 * be read; the family of the file is not merged by itself, and store_compact() fails on it. The next opening puts what
 * can be read of the file in its place (store_rocksdb_table.h). All functions may be called from any thread. */
#pragma once

#include "common/store/store.h"

typedef enum {
    DAMAGE_NEW,    /* found since the store was opened: the next opening mends it */
    DAMAGE_MENDED, /* what could be read of it is kept, the rest is lost; told until FILE.damaged is removed */
    DAMAGE_STAYS   /* it could not be mended */
} DamageState;

typedef struct StoreDamage {
    const char *file; /* its name, in the store's folder */
    StoreFamily family;
    gint64 noted_ns; /* wall time */
    const char *why; /* what the engine said */
    DamageState state;
    guint64 lost_bytes; /* of a mended one */
} StoreDamage;

typedef void (*StoreDamageVisit)(void *arg, const StoreDamage *damage);
/* Of what was read so far, or noted by an earlier opening. */
void store_damages(Store *store, StoreDamageVisit visit, void *arg);
/* What a family holds, for people: "traces". */
const char *store_holds(StoreFamily family);
/* What it means, for people. A new string. */
char *store_damage_text(const StoreDamage *damage);
/* Is some family not merged for it? */
gboolean store_has_damage(Store *store);
/* Reads these files again: those that can be read now are damage no more. */
void store_check_damages(Store *store);
