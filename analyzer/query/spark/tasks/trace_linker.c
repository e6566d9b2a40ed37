#include "analyzer/query/spark/tasks/trace_linker.h"

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"

struct TraceLinker {
    Archive *archive;
    GHashTable *done; /* key of an application -> when it was last written, gint64 * */
};

TraceLinker *trace_linker_new(Archive *archive) {
    TraceLinker *linker = g_new0(TraceLinker, 1);
    linker->archive = archive;
    linker->done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return linker;
}

void trace_linker_free(TraceLinker *linker) {
    if (!linker) return;
    g_hash_table_unref(linker->done);
    g_free(linker);
}

/* What is known of applications without reading their records: most are done with, and asked for again and again. */
typedef struct Resting {
    const char *key;
    gint64 written_ms;
} Resting;

typedef struct Look {
    const TraceLinker *linker;
    gint64 now_ms;
    GArray *resting; /* Resting */
} Look;

static gboolean take_owner(void *arg, const SparkOwner *owner) {
    const Look *look = arg;
    const gint64 *done = g_hash_table_lookup(look->linker->done, owner->name);
    if (owner->records[SPARK_APP] == 0 || owner->records[SPARK_TASK] == 0) return TRUE;
    if (look->now_ms - owner->written_ms < LINKS_REST_MS) return TRUE;
    /* Of those that were linked before this retention was made, the links are there. */
    if (done ? *done == owner->written_ms : owner->records[SPARK_LINK] > 0) return TRUE;
    const Resting resting = {owner->name, owner->written_ms};
    g_array_append_val(look->resting, resting);
    return TRUE;
}

static gboolean is_due(TraceLinker *linker, const Resting *resting, gint64 now_ms, gboolean *due, GError **error) {
    g_autoptr(SparkRecords) records = spark_records_new();
    const SparkSelect select = SPARK_SELECT(SPARK_APP, resting->key);
    if (!archive_spark_load(linker->archive, &select, records, error)) return FALSE;
    const gboolean ended = records->of[SPARK_APP]->len > 0 && spark_app(records, 0)->end_ms >= 0;
    *due = now_ms - resting->written_ms >= (ended ? LINKS_REST_MS : LINKS_IDLE_REST_MS);
    return TRUE;
}

static gboolean link_app(TraceLinker *linker, const Resting *resting, gint64 now_ms, GError **error) {
    g_autoptr(AppTasks) tasks = app_tasks_load(linker->archive, resting->key, now_ms, error);
    if (!tasks) return FALSE;
    g_autoptr(SparkRecords) links = spark_records_new();
    if (!app_links_find(linker->archive, tasks, links, error)) return FALSE;
    SparkPut put = {0};
    gboolean any = links->of[SPARK_LINK]->len > 0;
    if (any && !archive_spark_put(linker->archive, links, now_ms, &put, error)) return FALSE;
    /* A link is one more record: that is no reason to look again. */
    const gint64 written_ms = put.added + put.changed > 0 ? now_ms : resting->written_ms;
    g_hash_table_insert(linker->done, g_strdup(resting->key), g_memdup2(&written_ms, sizeof(written_ms)));
    return TRUE;
}

gboolean trace_linker_run(TraceLinker *linker, gint64 now_ms, guint *linked, GError **error) {
    gboolean good = TRUE;
    *linked = 0;
    g_autoptr(SparkRecords) names = spark_records_new();
    g_autoptr(GArray) resting = g_array_new(FALSE, FALSE, sizeof(Resting));
    Look look = {linker, now_ms, resting};
    if (!archive_spark_owners(linker->archive, OWNER_APP, names, (SparkOwnerVisitor){take_owner, &look}, error))
        return FALSE;
    for (guint i = 0; i < resting->len; i++) {
        const Resting *app = &g_array_index(resting, Resting, i);
        gboolean due = FALSE;
        GError **first = good ? error : NULL;
        if (!is_due(linker, app, now_ms, &due, first) || (due && !link_app(linker, app, now_ms, first)))
            good = FALSE;
        else
            *linked += due;
    }
    return good;
}
