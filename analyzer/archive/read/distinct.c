#include "analyzer/archive/read/distinct.h"

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/read/period_stats.h"

typedef struct Found {
    GArray *functions;
    GHashTable *seen; /* hosts */
    GArray *hosts;
} Found;

static void add_function(void *arg, const StatsKey *key, StatsRow *row) {
    Found *found = arg;
    guint n = found->functions->len;
    gboolean known = n > 0 && g_array_index(found->functions, guint32, n - 1) == key->object;
    if (stats_row_size(row) > 0 && !known) g_array_append_val(found->functions, key->object);
}

static gboolean add_host(void *arg, const StatsKey *key, const StatsHosts *hosts) {
    Found *found = arg;
    (void)key;
    if (g_hash_table_add(found->seen, GUINT_TO_POINTER(hosts->host))) g_array_append_val(found->hosts, hosts->host);
    return TRUE;
}

static gboolean find_stored(Archive *archive, Found *found, GError **error) {
    StatsFilter all = {.kind = STATS_FUNCTION, .since_ns = G_MININT64, .until_ns = G_MAXINT64, .role = -1};
    if (!archive_stats_slices(archive, &all, add_function, found, error)) return FALSE;
    all.by_host = TRUE;
    return archive_stats_hosts(archive, &all, add_host, found, error);
}

gboolean archive_distinct(Archive *archive, ArchiveDistinct *distinct, GError **error) {
    DistinctSet *set = &archive->distinct;
    pthread_mutex_lock(&set->lock);
    gboolean complete = set->complete;
    pthread_mutex_unlock(&set->lock);
    if (!complete) {
        /* Without the lock, so that nothing waits: what is written meanwhile adds itself. */
        g_autoptr(GArray) functions = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        Found found = {functions, seen, hosts};
        if (!find_stored(archive, &found, error)) return FALSE;
        distinct_set_add(set, functions, hosts);
    }
    pthread_mutex_lock(&set->lock);
    set->complete = TRUE;
    *distinct = (ArchiveDistinct){g_hash_table_size(set->functions), g_hash_table_size(set->hosts)};
    pthread_mutex_unlock(&set->lock);
    return TRUE;
}
