/* Tables of the store that cannot be read are told in the log: once, and when they can be read again. One thread. */
#pragma once

#include "common/store/store_damage.h"

typedef struct DamageWatch {
    GHashTable *told; /* texts; NULL: none yet */
} DamageWatch;

void damage_watch_look(DamageWatch *watch, Store *store);
void damage_watch_clear(DamageWatch *watch);
