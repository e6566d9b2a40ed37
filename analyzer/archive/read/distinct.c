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

/* What the store has is read once. The set is locked when it is TRUE. */
static gboolean lock_complete(Archive *archive, GError **error) {
    DistinctSet *set = &archive->distinct;
    pthread_mutex_lock(&set->lock);
    if (set->complete) return TRUE;
    pthread_mutex_unlock(&set->lock);

    /* Without the lock, so that nothing waits: what is written meanwhile adds itself. */
    g_autoptr(GArray) functions = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    Found found = {functions, seen, hosts};
    if (!find_stored(archive, &found, error)) return FALSE;
    distinct_set_add(set, functions, hosts);

    pthread_mutex_lock(&set->lock);
    set->complete = TRUE;
    return TRUE;
}

gboolean archive_distinct(Archive *archive, ArchiveDistinct *distinct, GError **error) {
    DistinctSet *set = &archive->distinct;
    if (!lock_complete(archive, error)) return FALSE;
    *distinct = (ArchiveDistinct){g_hash_table_size(set->functions), g_hash_table_size(set->hosts)};
    pthread_mutex_unlock(&set->lock);
    return TRUE;
}

gboolean archive_distinct_hosts(Archive *archive, GArray *hosts, GError **error) {
    DistinctSet *set = &archive->distinct;
    GHashTableIter iter;
    gpointer host;
    if (!lock_complete(archive, error)) return FALSE;
    g_hash_table_iter_init(&iter, set->hosts);
    while (g_hash_table_iter_next(&iter, &host, NULL)) {
        const guint32 id = GPOINTER_TO_UINT(host);
        g_array_append_val(hosts, id);
    }
    pthread_mutex_unlock(&set->lock);
    return TRUE;
}

static gboolean note_host(void *arg, const StatsKey *key, const StatsHosts *hosts) {
    (void)key;
    (void)hosts;
    *(gboolean *)arg = TRUE;
    return FALSE;
}

gboolean archive_has_host(Archive *archive, guint32 host, gboolean *has, GError **error) {
    const StatsFilter one = {.kind = STATS_FUNCTION,
                             .since_ns = G_MININT64,
                             .until_ns = G_MAXINT64,
                             .by_host = TRUE,
                             .host = host,
                             .role = -1};
    DistinctSet *set = &archive->distinct;
    pthread_mutex_lock(&set->lock);
    *has = g_hash_table_contains(set->hosts, GUINT_TO_POINTER(host));
    const gboolean sure = *has || set->complete;
    pthread_mutex_unlock(&set->lock);
    return sure || archive_stats_hosts(archive, &one, note_host, has, error);
}
