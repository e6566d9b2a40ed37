/* Records of Spark go by application, when it ended long ago; samples and marks of hosts by their time, but not while
 * an application that ran then stays. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "common/base/error.h"

gint64 spark_app_age_from_ms(const SparkApp *app, const SparkOwner *owner) {
    gint64 ended_ms = owner->written_ms;
    if (app != NULL) ended_ms = MAX(ended_ms, MAX(app->end_ms, app->last_event_ms));
    return ended_ms;
}

typedef struct Candidate {
    const char *name;
    guint64 records;
    gint64 from_ms;
    gint64 begin_ms, end_ms; /* of an application that says so; else -1, -1 */
} Candidate;

/* Times of which samples and marks stay. */
typedef struct Kept {
    gint64 since_ms, until_ms;
} Kept;

/* What happened so long before and after an application's run tells of it, too: edge detection looks there. */
#define AROUND_MS 60000

typedef struct Candidates {
    Archive *archive;
    SparkRecords *texts;
    GArray *list; /* Candidate */
    GArray *kept; /* Kept, by begin, apart from each other */
} Candidates;

static guint64 count_records(const SparkOwner *owner) {
    guint64 n = 0;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) n += owner->records[kind];
    return n;
}

static gboolean add_owner(void *arg, const SparkOwner *owner) {
    Candidates *candidates = arg;
    const Candidate candidate = {owner->name, count_records(owner), owner->written_ms, -1, -1};
    g_array_append_val(candidates->list, candidate);
    return TRUE;
}

/* Applications may say themselves when they ended. */
static gboolean look_at_apps(Candidates *candidates, GError **error) {
    for (guint i = 0; i < candidates->list->len; i++) {
        Candidate *candidate = &g_array_index(candidates->list, Candidate, i);
        const SparkSelect select = SPARK_SELECT(SPARK_APP, candidate->name);
        const guint before = candidates->texts->of[SPARK_APP]->len;
        if (!archive_spark_load(candidates->archive, &select, candidates->texts, error)) return FALSE;
        if (candidates->texts->of[SPARK_APP]->len == before) continue;
        const SparkApp *app = spark_app(candidates->texts, before);
        const SparkOwner owner = {.written_ms = candidate->from_ms};
        candidate->from_ms = spark_app_age_from_ms(app, &owner);
        candidate->begin_ms = app->start_ms;
        candidate->end_ms = app->end_ms >= 0 ? app->end_ms : MAX(app->last_event_ms, candidate->from_ms);
    }
    return TRUE;
}

static void delete_prefix(StoreBatch *batch, const SparkKey *prefix) {
    const SparkKey until = spark_key_after(prefix);
    store_batch_delete_range(batch, FAMILY_SPARK, spark_key_bytes(prefix), spark_key_bytes(&until));
}

static gboolean delete_way(void *arg, const void *record) {
    const SparkLink *link = record;
    const SparkKey way = spark_trace_key(spark_hash_text(link->app), link);
    store_batch_delete(arg, FAMILY_SPARK, spark_key_bytes(&way));
    return TRUE;
}

static gboolean remove_owner(Archive *archive, OwnerKind what, const char *name, GError **error) {
    const guint64 hash = spark_hash_text(name);
    const SparkSelect links = SPARK_SELECT(SPARK_LINK, name);
    g_autoptr(SparkRecords) texts = spark_records_new();
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    if (what == OWNER_APP && !archive_spark_visit(archive, &links, texts, (SparkVisitor){delete_way, batch}, error))
        return FALSE;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        if (spark_owner_kind((SparkKind)kind) != what) continue;
        const SparkKey prefix = spark_prefix((SparkKind)kind, hash);
        delete_prefix(batch, &prefix);
    }
    const SparkKey key = spark_owner_key(what, hash);
    store_batch_delete(batch, FAMILY_SPARK, spark_key_bytes(&key));
    return store_write(archive->store, batch, FALSE, error);
}

static int by_age(gconstpointer a, gconstpointer b) {
    const gint64 x = ((const Candidate *)a)->from_ms, y = ((const Candidate *)b)->from_ms;
    return x < y ? -1 : x > y;
}

static int by_begin(gconstpointer a, gconstpointer b) {
    const gint64 x = ((const Kept *)a)->since_ms, y = ((const Kept *)b)->since_ms;
    return x < y ? -1 : x > y;
}

/* The runs of applications that stay, those that overlap as one. */
static void keep_runs(Candidates *candidates, guint first, gint64 before_ms) {
    g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(Kept));
    for (guint i = first; i < candidates->list->len; i++) {
        const Candidate *app = &g_array_index(candidates->list, Candidate, i);
        const Kept run = {app->begin_ms - AROUND_MS, app->end_ms + AROUND_MS};
        if (app->begin_ms >= 0 && run.since_ms < before_ms) g_array_append_val(runs, run);
    }

    g_array_sort(runs, by_begin);
    for (guint i = 0; i < runs->len; i++) {
        const Kept *run = &g_array_index(runs, Kept, i);
        Kept *last = candidates->kept->len ? &g_array_index(candidates->kept, Kept, candidates->kept->len - 1) : NULL;
        if (last && run->since_ms <= last->until_ms)
            last->until_ms = MAX(last->until_ms, run->until_ms);
        else
            g_array_append_val(candidates->kept, *run);
    }
}

static gboolean remove_apps(Candidates *candidates, const SparkRemoval *removal, SparkRemoved *removed,
                            GError **error) {
    if (!archive_spark_owners(candidates->archive, OWNER_APP, candidates->texts,
                              (SparkOwnerVisitor){add_owner, candidates}, error) ||
        !look_at_apps(candidates, error))
        return FALSE;
    g_array_sort(candidates->list, by_age);
    guint i = 0;
    for (; i < candidates->list->len; i++) {
        const Candidate *candidate = &g_array_index(candidates->list, Candidate, i);
        const gboolean for_room = i == 0 && removal->oldest && candidate->from_ms < removal->oldest_before_ms;
        if (candidate->from_ms >= removal->before_ms && !for_room) break;
        if (!remove_owner(candidates->archive, OWNER_APP, candidate->name, error)) return FALSE;
        removed->apps++;
        removed->records += candidate->records;
    }
    keep_runs(candidates, i, removal->before_ms);
    return TRUE;
}

/* ---- samples and marks ---- */

static gboolean count_one(void *arg, const void *record) {
    (void)record;
    ++*(guint64 *)arg;
    return TRUE;
}

static gboolean host_get(Archive *archive, guint64 hash, SparkRecords *texts, SparkOwner *owner, GError **error) {
    const SparkKey key = spark_owner_key(OWNER_HOST, hash);
    g_autoptr(GBytes) value = NULL;
    if (!store_get(archive->store, FAMILY_SPARK, spark_key_bytes(&key), &value, error)) return FALSE;
    if (value != NULL && spark_owner_decode(bytes_view(value), texts, owner)) return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT, "the store's entry of a host is missing or malformed");
}

/* Samples and marks of one host in [since_ms, until_ms): those of a kind. */
static gboolean count_timed(Candidates *hosts, SparkSelect *select, const Kept *gone, guint64 *n, GError **error) {
    select->since_ns = gone->since_ms * NS_PER_MS;
    select->until_ns = gone->until_ms * NS_PER_MS;
    return archive_spark_visit(hosts->archive, select, hosts->texts, (SparkVisitor){count_one, n}, error);
}

static void delete_timed(StoreBatch *batch, const SparkSelect *select) {
    SparkKey from = spark_prefix(select->kind, spark_hash_text(select->owner)), until = from;
    if (select->since_ns > 0) spark_key_u64(&from, select->since_ns);
    spark_key_u64(&until, select->until_ns);
    store_batch_delete_range(batch, FAMILY_SPARK, spark_key_bytes(&from), spark_key_bytes(&until));
}

static gboolean remove_timed(Candidates *hosts, const char *host, const Kept *gone, SparkRemoved *removed,
                             GError **error) {
    SparkSelect samples = SPARK_SELECT(SPARK_SAMPLE, host), marks = SPARK_SELECT(SPARK_MARK, host);
    guint64 n_samples = 0, n_marks = 0;
    if (!count_timed(hosts, &samples, gone, &n_samples, error) || !count_timed(hosts, &marks, gone, &n_marks, error))
        return FALSE;
    if (n_samples + n_marks == 0) return TRUE;

    const guint64 hash = spark_hash_text(host);
    SparkOwner owner;
    if (!host_get(hosts->archive, hash, hosts->texts, &owner, error)) return FALSE;
    removed->records += n_samples + n_marks;
    owner.records[SPARK_SAMPLE] -= MIN(n_samples, owner.records[SPARK_SAMPLE]);
    owner.records[SPARK_MARK] -= MIN(n_marks, owner.records[SPARK_MARK]);
    if (count_records(&owner) == 0) return remove_owner(hosts->archive, OWNER_HOST, host, error);

    g_autoptr(StoreBatch) batch = store_batch_new(hosts->archive->store);
    g_autoptr(GByteArray) value = g_byte_array_new();
    const SparkKey key = spark_owner_key(OWNER_HOST, hash);
    spark_owner_encode(&owner, value);
    delete_timed(batch, &samples);
    delete_timed(batch, &marks);
    store_batch_put(batch, FAMILY_SPARK, spark_key_bytes(&key), (Bytes){value->data, value->len});
    return store_write(hosts->archive->store, batch, FALSE, error);
}

/* All before the time, but for what is kept. */
static gboolean remove_between(Candidates *hosts, const char *host, gint64 before_ms, SparkRemoved *removed,
                               GError **error) {
    gint64 since_ms = 0;
    for (guint i = 0; i <= hosts->kept->len && since_ms < before_ms; i++) {
        const Kept *kept = i < hosts->kept->len ? &g_array_index(hosts->kept, Kept, i) : NULL;
        const Kept gone = {since_ms, MIN(before_ms, kept ? kept->since_ms : before_ms)};
        if (gone.until_ms > gone.since_ms && !remove_timed(hosts, host, &gone, removed, error)) return FALSE;
        if (kept) since_ms = MAX(since_ms, kept->until_ms);
    }
    return TRUE;
}

static gboolean remove_hosts(Candidates *hosts, const SparkRemoval *removal, SparkRemoved *removed, GError **error) {
    if (removal->before_ms <= 0) return TRUE;
    g_array_set_size(hosts->list, 0);
    if (!archive_spark_owners(hosts->archive, OWNER_HOST, hosts->texts, (SparkOwnerVisitor){add_owner, hosts}, error))
        return FALSE;
    for (guint i = 0; i < hosts->list->len; i++) {
        const char *host = g_array_index(hosts->list, Candidate, i).name;
        if (!remove_between(hosts, host, removal->before_ms, removed, error)) return FALSE;
    }
    return TRUE;
}

gboolean archive_spark_remove(Archive *archive, const SparkRemoval *removal, SparkRemoved *removed, GError **error) {
    g_autoptr(SparkRecords) texts = spark_records_new();
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Candidate));
    g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(Kept));
    Candidates candidates = {archive, texts, list, kept};
    *removed = (SparkRemoved){0};
    pthread_mutex_lock(&archive->spark_lock);
    const gboolean ok =
        remove_apps(&candidates, removal, removed, error) && remove_hosts(&candidates, removal, removed, error);
    pthread_mutex_unlock(&archive->spark_lock);
    return ok;
}
