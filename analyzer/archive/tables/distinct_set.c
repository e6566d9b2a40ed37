#include "analyzer/archive/tables/distinct_set.h"

void distinct_set_init(DistinctSet *set) {
    pthread_mutex_init(&set->lock, NULL);
    set->functions = g_hash_table_new(NULL, NULL);
    set->hosts = g_hash_table_new(NULL, NULL);
}

void distinct_set_clear(DistinctSet *set) {
    g_clear_pointer(&set->functions, g_hash_table_unref);
    g_clear_pointer(&set->hosts, g_hash_table_unref);
    pthread_mutex_destroy(&set->lock);
}

/* 0: processes that name no host. */
static void add_ids(GHashTable *set, const GArray *ids) {
    for (guint i = 0; i < ids->len; i++) {
        guint32 id = g_array_index(ids, guint32, i);
        if (id != 0) g_hash_table_add(set, GUINT_TO_POINTER(id));
    }
}

void distinct_set_add(DistinctSet *set, const GArray *functions, const GArray *hosts) {
    pthread_mutex_lock(&set->lock);
    add_ids(set->functions, functions);
    add_ids(set->hosts, hosts);
    pthread_mutex_unlock(&set->lock);
}
