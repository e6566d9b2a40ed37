/* A host of which nothing is stored is most often mistyped: an empty answer would mislead. */
#include <string.h>

#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

static void add_host(void *arg, const StatsKey *key, StatsRow *row) {
    if (key->host != 0 && stats_row_size(row) > 0) g_hash_table_add(arg, GUINT_TO_POINTER(key->host));
}

static gboolean fail_unknown(Archive *archive, const GHashTable *hosts, const char *host, GError **error) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer id;
    g_hash_table_iter_init(&iter, (GHashTable *)hosts);
    while (g_hash_table_iter_next(&iter, &id, NULL))
        g_ptr_array_add(names, (gpointer)dict_text(archive_dict(archive), GPOINTER_TO_UINT(id), NULL));
    g_ptr_array_add(names, NULL);
    const char *nearest = nearest_name(host, (const char *const *)names->pdata);
    if (nearest == NULL)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "no call of a host \"%s\" is stored: plumb functions --by host shows which there are", host);
    return fail(error, PLUMB_ERROR_NOT_FOUND, "no call of a host \"%s\" is stored: did you mean \"%s\"?", host,
                nearest);
}

gboolean known_host(Archive *archive, const char *host, GError **error) {
    if (host == NULL) return TRUE;
    const guint32 id = dict_find(archive_dict(archive), host, strlen(host));
    const FunctionFilter filter = {.period = {G_MININT64, G_MAXINT64}, .roles = ALL_ROLES, .host = id, .by_host = TRUE};
    const StatsFilter stored = function_stats_filter(&filter);
    g_autoptr(GHashTable) hosts = g_hash_table_new(NULL, NULL);
    if (!archive_stats_slices(archive, &stored, add_host, hosts, error) || !allowance_check(error)) return FALSE;
    return (id != 0 && g_hash_table_size(hosts) > 0) || fail_unknown(archive, hosts, host, error);
}
