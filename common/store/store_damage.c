#include "common/store/store_damage.h"

#include "common/store/store_ops.h"

void store_damages(Store *store, StoreDamageVisit visit, void *arg) {
    if (store->ops->damages != NULL) store->ops->damages(store, visit, arg);
}

static void note_any(void *arg, const StoreDamage *damage) { *(gboolean *)arg |= damage->state != DAMAGE_MENDED; }

gboolean store_has_damage(Store *store) {
    gboolean any = FALSE;
    store_damages(store, note_any, &any);
    return any;
}

const char *store_holds(StoreFamily family) {
    static const char *const holds[FAMILY_COUNT] = {
        [FAMILY_META] = "notes of the store itself",
        [FAMILY_DICT] = "names",
        [FAMILY_TRACE] = "traces",
        [FAMILY_TRACE_ID] = "places of traces by id",
        [FAMILY_PATTERN] = "patterns",
        [FAMILY_STATS] = "statistics",
        [FAMILY_INDEX] = "entries of the search index",
        [FAMILY_LATE] = "late spans that wait for their traces",
        [FAMILY_IDS] = "ids of spans",
        [FAMILY_SPARK] = "records of Spark",
    };
    return holds[family];
}

char *store_damage_text(const StoreDamage *damage) {
    const char *holds = store_holds(damage->family);
    switch (damage->state) {
    case DAMAGE_MENDED:
        return g_strdup_printf("%s of the store was damaged: %" G_GUINT64_FORMAT
                               " bytes of %s are lost, the rest is kept; as it was it is %s.damaged",
                               damage->file, damage->lost_bytes, holds, damage->file);
    case DAMAGE_STAYS:
        return g_strdup_printf("%s of the store cannot be read, and not be mended: %s are missing in answers, and "
                               "files of that kind are not merged",
                               damage->file, holds);
    case DAMAGE_NEW: break;
    }
    return g_strdup_printf("%s of the store cannot be read: %s are missing in answers until plumbd is started anew, "
                           "which keeps what can be read of it",
                           damage->file, holds);
}

void store_check_damages(Store *store) {
    if (store->ops->check_damages != NULL) store->ops->check_damages(store);
}
