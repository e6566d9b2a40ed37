#include "analyzer/query/link_keeper.h"

#include "analyzer/query/asked_app.h"
#include "analyzer/query/task_hdfs.h"

struct LinkKeeper {
    Archive *archive;
    GHashTable *done; /* key of an application -> when it was last written, gint64 * */
};

LinkKeeper *link_keeper_new(Archive *archive) {
    LinkKeeper *keeper = g_new0(LinkKeeper, 1);
    keeper->archive = archive;
    keeper->done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return keeper;
}

void link_keeper_free(LinkKeeper *keeper) {
    if (!keeper) return;
    g_hash_table_unref(keeper->done);
    g_free(keeper);
}

static gboolean is_due(const LinkKeeper *keeper, const AppEntry *entry, gint64 now_ms) {
    const gboolean ended = entry->app && entry->app->end_ms >= 0;
    const gint64 *done = g_hash_table_lookup(keeper->done, entry->key);
    if (!entry->app || entry->records[SPARK_TASK] == 0) return FALSE;
    if (now_ms - entry->written_ms < (ended ? LINKS_REST_MS : LINKS_IDLE_REST_MS)) return FALSE;
    /* Of those that were linked before this keeper was made, the links are there. */
    return done ? *done != entry->written_ms : entry->records[SPARK_LINK] == 0;
}

static gboolean link_app(LinkKeeper *keeper, const AppEntry *entry, gint64 now_ms, GError **error) {
    g_autoptr(AppTasks) tasks = app_tasks_load(keeper->archive, entry->key, now_ms, error);
    if (!tasks) return FALSE;
    g_autoptr(SparkRecords) links = spark_records_new();
    if (!app_links_find(keeper->archive, tasks, links, error)) return FALSE;
    SparkPut put = {0};
    gboolean any = links->of[SPARK_LINK]->len > 0;
    if (any && !archive_spark_put(keeper->archive, links, now_ms, &put, error)) return FALSE;
    /* A link is one more record: that is no reason to look again. */
    const gint64 written_ms = put.added + put.changed > 0 ? now_ms : entry->written_ms;
    g_hash_table_insert(keeper->done, g_strdup(entry->key), g_memdup2(&written_ms, sizeof(written_ms)));
    return TRUE;
}

gboolean link_keeper_run(LinkKeeper *keeper, gint64 now_ms, guint *linked, GError **error) {
    gboolean good = TRUE;
    *linked = 0;
    g_autoptr(AppList) apps = app_list_load(keeper->archive, error);
    if (!apps) return FALSE;
    for (guint i = 0; i < apps->entries->len; i++) {
        const AppEntry *entry = &g_array_index(apps->entries, AppEntry, i);
        if (!is_due(keeper, entry, now_ms)) continue;
        if (link_app(keeper, entry, now_ms, good ? error : NULL))
            (*linked)++;
        else
            good = FALSE;
    }
    return good;
}
