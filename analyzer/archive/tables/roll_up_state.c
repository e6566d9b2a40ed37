#include "analyzer/archive/tables/roll_up_state.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/thread.h"

void roll_up_init(RollUp *roll_up) {
    *roll_up = (RollUp){.unwritten = 0};
    rwlock_init_writers_first(&roll_up->sealing);
    roll_up->added_below[LEVEL_MINUTE] = roll_up->rolled_below[LEVEL_MINUTE] = G_MAXUINT32;
}

void roll_up_clear(RollUp *roll_up) { pthread_rwlock_destroy(&roll_up->sealing); }

gboolean roll_up_load(RollUp *roll_up, Store *store, GError **error) {
    g_autoptr(GBytes) value = NULL;
    if (!store_get(store, FAMILY_META, (Bytes){ROLLED_KEY, strlen(ROLLED_KEY)}, &value, error)) return FALSE;
    if (value == NULL) return TRUE;
    Bytes stored = bytes_view(value);
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    for (StatsLevel level = LEVEL_HOUR; level < LEVEL_COUNT; level++)
        roll_up->added_below[level] = roll_up->rolled_below[level] = read_u32be(&r);
    if (r.failed || reader_left(&r) != 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "the note of rolled statistics is malformed");
    return TRUE;
}
