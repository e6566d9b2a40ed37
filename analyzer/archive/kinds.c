#include "analyzer/archive/kinds.h"

#include "analyzer/archive/archive.h"
#include "analyzer/archive/internal.h"

void kind_set_init(KindSet *set) {
    pthread_mutex_init(&set->lock, NULL);
    set->functions = g_hash_table_new(NULL, NULL);
    set->hosts = g_hash_table_new(NULL, NULL);
}

void kind_set_clear(KindSet *set) {
    g_clear_pointer(&set->functions, g_hash_table_unref);
    g_clear_pointer(&set->hosts, g_hash_table_unref);
    pthread_mutex_destroy(&set->lock);
}

void kind_set_add(KindSet *set, const StatsKey *key) {
    g_hash_table_add(set->functions, GUINT_TO_POINTER(key->object));
    if (key->host != 0) g_hash_table_add(set->hosts, GUINT_TO_POINTER(key->host));
}

void kind_set_add_all(KindSet *set, const GArray *keys) {
    pthread_mutex_lock(&set->lock);
    for (guint i = 0; i < keys->len; i++) kind_set_add(set, &g_array_index(keys, StatsKey, i));
    pthread_mutex_unlock(&set->lock);
}

static void add_stored(void *arg, const StatsKey *key, StatsRow *row) {
    if (stats_row_size(row) > 0) g_array_append_vals(arg, key, 1);
}

gboolean archive_kinds(Archive *archive, ArchiveKinds *kinds, GError **error) {
    KindSet *set = &archive->kinds;
    pthread_mutex_lock(&set->lock);
    gboolean complete = set->complete;
    pthread_mutex_unlock(&set->lock);
    if (!complete) {
        /* Without the lock, so that nothing waits: what is written meanwhile adds itself. */
        g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(StatsKey));
        StatsFilter all = {.kind = STATS_FUNCTION, .since_ns = G_MININT64, .until_ns = G_MAXINT64, .role = -1};
        if (!archive_stats(archive, &all, add_stored, keys, error)) return FALSE;
        kind_set_add_all(set, keys);
    }
    pthread_mutex_lock(&set->lock);
    set->complete = TRUE;
    *kinds = (ArchiveKinds){g_hash_table_size(set->functions), g_hash_table_size(set->hosts)};
    pthread_mutex_unlock(&set->lock);
    return TRUE;
}
