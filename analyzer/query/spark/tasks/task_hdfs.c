#include "analyzer/query/spark/tasks/task_hdfs.h"

#include <math.h>
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/order.h"
#include "analyzer/query/spark/tasks/task_links.h"
#include "common/base/clock.h"
#include "common/base/error.h"

struct AppHdfs {
    Archive *archive;
    HdfsReader *reader;
    SparkRecords *links; /* sorted by task */
    guint32 *first_link; /* of each row; n_rows + 1 */
    guint32 *link_of;    /* indices into the links, those of one row together */
    TaskHdfs **facts;    /* of each row; NULL: not read, or none */
    guint8 *read;        /* of each row */
    const AppTasks *tasks;
    AppHdfsCounts counts;
};

static void task_hdfs_free(TaskHdfs *facts) {
    if (!facts) return;
    hdfs_facts_clear(&facts->facts);
    g_free(facts);
}

/* ---- links ---- */

/* What links are found by. The records of a million tasks are large: only what is needed is copied. */
static SparkRecords *records_to_link(const AppTasks *tasks) {
    SparkRecords *records = spark_records_new();
    const TaskTable *table = tasks->table;
    for (guint32 row = 0; row < table->count; row++) {
        SparkTask *task = spark_add_task(records);
        const char *host = app_host(tasks, row);
        task->task = tasks->tasks[row].task;
        task->host = host[0] ? spark_text_shared(records, host, strlen(host)) : NULL;
        const char *executor = g_ptr_array_index(tasks->executors, tasks->tasks[row].executor);
        task->executor = executor[0] ? spark_text_shared(records, executor, strlen(executor)) : NULL;
        task->launch_ms = table->begin_ms[row];
        task->finish_ms = table->end_ms[row];
    }
    return records;
}

gboolean app_links_find(Archive *archive, const AppTasks *tasks, SparkRecords *links, GError **error) {
    g_autoptr(SparkRecords) records = records_to_link(tasks);
    SparkSelect splits = SPARK_SELECT(SPARK_SPLIT, tasks->app.app);
    if (!archive_spark_load(archive, &splits, records, error)) return FALSE;
    const LinkAsk ask = {.app = tasks->app.app,
                         .app_id = tasks->app.id ? tasks->app.id : tasks->app.app,
                         .records = records,
                         .kinds = LINK_KINDS_ALL,
                         .slack_ns = LINK_SLACK_NS};
    return task_links_find(archive, &ask, links, error);
}

static gboolean load_links(AppHdfs *hdfs, GError **error) {
    const SparkSelect stored = SPARK_SELECT(SPARK_LINK, hdfs->tasks->app.app);
    if (!archive_spark_load(hdfs->archive, &stored, hdfs->links, error)) return FALSE;
    return hdfs->links->of[SPARK_LINK]->len > 0 || app_links_find(hdfs->archive, hdfs->tasks, hdfs->links, error);
}

static gboolean counts(const SparkLink *link) { return link->confidence >= LINK_CONFIDENCE_MIN; }

/* By what the traces of each row are known: exact-scope where it has that, and then other traces are none of its. Else
 * the least trusted kind of its links: a caller's context is only in traces that ask the NameNode, those that read
 * blocks are known by other means. */
static LinkKind *kinds_of_rows(const AppHdfs *hdfs, GHashTable *rows) {
    LinkKind *kinds = g_new0(LinkKind, MAX(hdfs->tasks->table->count, 1));
    for (guint i = 0; i < hdfs->links->of[SPARK_LINK]->len; i++) {
        const SparkLink *link = spark_link(hdfs->links, i);
        guint32 row = GPOINTER_TO_UINT(g_hash_table_lookup(rows, &link->task));
        if (row == 0 || !counts(link) || kinds[row - 1] == LINK_SCOPE) continue;
        kinds[row - 1] = link->kind == LINK_SCOPE ? LINK_SCOPE : MAX(kinds[row - 1], link->kind);
    }
    return kinds;
}

/* The links of each row together. */
static void group_links(AppHdfs *hdfs) {
    const guint32 n = hdfs->tasks->table->count, n_links = hdfs->links->of[SPARK_LINK]->len;
    g_autoptr(GHashTable) rows = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint32 row = 0; row < n; row++)
        g_hash_table_insert(rows, &hdfs->tasks->tasks[row].task, GUINT_TO_POINTER(row + 1));

    g_autofree LinkKind *kinds = kinds_of_rows(hdfs, rows);
    g_autofree guint32 *row_of = g_new0(guint32, MAX(n_links, 1)); /* + 1; 0: not used */
    g_autofree guint32 *next = g_new0(guint32, n + 1);
    hdfs->first_link = g_new0(guint32, n + 1);
    hdfs->link_of = g_new0(guint32, MAX(n_links, 1));

    for (guint32 i = 0; i < n_links; i++) {
        const SparkLink *link = spark_link(hdfs->links, i);
        const guint32 row = GPOINTER_TO_UINT(g_hash_table_lookup(rows, &link->task));
        if (row == 0 || !counts(link)) continue;
        if (kinds[row - 1] == LINK_SCOPE && link->kind != LINK_SCOPE) continue;
        row_of[i] = row;
        hdfs->first_link[row]++;
    }

    for (guint32 row = 0; row < n; row++) {
        hdfs->first_link[row + 1] += hdfs->first_link[row];
        next[row] = hdfs->first_link[row];
        hdfs->counts.linked[kinds[row]]++;
    }

    for (guint32 i = 0; i < n_links; i++)
        if (row_of[i]) hdfs->link_of[next[row_of[i] - 1]++] = i;
}

AppHdfs *app_hdfs_new(Archive *archive, const AppTasks *tasks, GError **error) {
    g_autoptr(AppHdfs) hdfs = g_new0(AppHdfs, 1);
    hdfs->archive = archive;
    hdfs->tasks = tasks;
    hdfs->reader = hdfs_reader_new(archive);
    hdfs->links = spark_records_new();
    hdfs->facts = g_new0(TaskHdfs *, MAX(tasks->table->count, 1));
    hdfs->read = g_new0(guint8, MAX(tasks->table->count, 1));
    if (!load_links(hdfs, error)) return NULL;
    group_links(hdfs);
    return g_steal_pointer(&hdfs);
}

void app_hdfs_free(AppHdfs *hdfs) {
    if (!hdfs) return;
    for (guint32 row = 0; row < hdfs->tasks->table->count; row++) task_hdfs_free(hdfs->facts[row]);
    hdfs_reader_free(hdfs->reader);
    spark_records_free(hdfs->links);
    g_free(hdfs->first_link);
    g_free(hdfs->link_of);
    g_free(hdfs->facts);
    g_free(hdfs->read);
    g_free(hdfs);
}

AppHdfsCounts app_hdfs_counts(const AppHdfs *hdfs) { return hdfs->counts; }

/* ---- facts ---- */

static gboolean add_trace(AppHdfs *hdfs, TaskHdfs *facts, const SparkLink *link, GError **error) {
    const gint64 before_ns = facts->facts.hdfs_ns;
    gint64 begin_ns = 0;

    g_autoptr(GError) failure = NULL;
    if (!hdfs_reader_add(hdfs->reader, (guint64)link->trace, &facts->facts, &begin_ns, &failure)) {
        /* Removed since: by retention, or by thinning. */
        if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE;
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }

    const gint64 ns = facts->facts.hdfs_ns - before_ns;
    if (facts->traces == 0 || ns > facts->trace_ns) {
        facts->trace = (guint64)link->trace;
        facts->trace_ns = ns;
        facts->trace_begin_ns = begin_ns;
    }

    facts->kind = MAX(facts->kind, link->kind);
    facts->confidence = facts->traces == 0 ? link->confidence : MIN(facts->confidence, link->confidence);
    facts->traces++;
    return TRUE;
}

/* The task's own trace may have come after the links were stored. */
static gboolean add_own_trace(AppHdfs *hdfs, TaskHdfs *facts, guint32 row, GError **error) {
    const SparkApp *app = &hdfs->tasks->app;
    const guint64 trace = task_trace_id(app->id ? app->id : app->app, hdfs->tasks->tasks[row].task);
    const SparkLink link = {.trace = (gint64)trace, .kind = LINK_SCOPE, .confidence = 1};
    return add_trace(hdfs, facts, &link, error);
}

gboolean app_hdfs_task(AppHdfs *hdfs, guint32 row, const TaskHdfs **facts, GError **error) {
    *facts = hdfs->facts[row];
    if (hdfs->read[row]) return TRUE;
    TaskHdfs *read = g_new0(TaskHdfs, 1);
    hdfs_facts_init(&read->facts);
    gboolean good = TRUE;
    for (guint32 i = hdfs->first_link[row]; good && i < hdfs->first_link[row + 1]; i++)
        good = add_trace(hdfs, read, spark_link(hdfs->links, hdfs->link_of[i]), error);
    if (good && hdfs->first_link[row] == hdfs->first_link[row + 1]) good = add_own_trace(hdfs, read, row, error);
    if (!good || read->traces == 0) {
        task_hdfs_free(read);
        hdfs->read[row] = good;
        return good;
    }
    hdfs_facts_finish(&read->facts);
    hdfs->read[row] = TRUE;
    hdfs->counts.read++;
    *facts = hdfs->facts[row] = read;
    return TRUE;
}

const TaskHdfs *app_hdfs_known(const AppHdfs *hdfs, guint32 row) { return hdfs->facts[row]; }

gboolean app_hdfs_visit_stage(AppHdfs *hdfs, const Stragglers *stragglers, guint32 stage, TaskHdfsVisitor visitor,
                              GError **error) {
    const StageTasks *tasks = &stragglers->stages[stage];
    const guint32 n = MIN(tasks->n, visitor.most);
    for (guint32 i = 0; i < n; i++) {
        const guint32 row = stragglers->order[tasks->first + (guint32)((guint64)i * tasks->n / n)];
        const TaskHdfs *facts;
        if (!(hdfs->tasks->table->flags[row] & ROW_JUDGED)) continue;
        if (!app_hdfs_task(hdfs, row, &facts, error)) return FALSE;
        if (facts) visitor.visit(visitor.arg, row, facts);
    }
    return TRUE;
}

/* ---- sums ---- */

static void sum_share(GArray *shares, const HdfsShare *share) {
    for (guint i = 0; i < shares->len; i++) {
        HdfsShare *sum = &g_array_index(shares, HdfsShare, i);
        if (sum->name != share->name || sum->role != share->role || sum->resource != share->resource) continue;
        sum->ns += share->ns;
        sum->calls += share->calls;
        return;
    }
    HdfsShare sum = *share;
    sum.tracer = 0;
    g_array_append_val(shares, sum);
}

static gint most_first(gconstpointer a, gconstpointer b) {
    const HdfsShare *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (gint)x->resource - (gint)y->resource;
}

AppHdfsSum app_hdfs_sum(const AppHdfs *hdfs, GArray *shares) {
    const TaskTable *table = hdfs->tasks->table;
    AppHdfsSum sum = {0};
    for (guint32 row = 0; row < table->count; row++) {
        const TaskHdfs *facts = hdfs->facts[row];
        if (!facts) continue;
        sum.tasks++;
        sum.duration_ns += (gint64)task_duration_ms(table, row) * NS_PER_MS;
        sum.hdfs_ns += facts->facts.hdfs_ns;
        for (guint i = 0; i < facts->facts.shares->len; i++)
            sum_share(shares, &g_array_index(facts->facts.shares, HdfsShare, i));
    }
    g_array_sort(shares, most_first);
    return sum;
}

/* ---- columns ---- */

static double ms_of(gint64 ns) { return (double)ns / NS_PER_MS; }
static double time_in_hdfs(const HdfsFacts *facts) { return ms_of(facts->hdfs_ns); }
static double time_of_datanode(const HdfsFacts *facts) { return ms_of(facts->slowest_ns); }
static double time_of_namenode(const HdfsFacts *facts) { return ms_of(facts->namenode_ns); }
static double time_of_disk(const HdfsFacts *facts) { return ms_of(facts->of[HDFS_DISK]); }
static double time_of_network(const HdfsFacts *facts) {
    return ms_of(facts->of[HDFS_SOCKET] + facts->of[HDFS_NETWORK]);
}
static double time_of_lock(const HdfsFacts *facts) { return ms_of(facts->of[HDFS_LOCK] + facts->of[HDFS_QUEUE]); }
static double time_of_server(const HdfsFacts *facts) { return ms_of(facts->of[HDFS_SERVER]); }
static double time_of_client(const HdfsFacts *facts) { return ms_of(facts->of[HDFS_CLIENT]); }
static double failures(const HdfsFacts *facts) { return facts->failures; }
static double remote_bytes(const HdfsFacts *facts) { return (double)facts->remote_bytes; }

static const struct {
    const char *name, *unit;
    FeatureKind kind;
    double (*value)(const HdfsFacts *facts);
    guint32 resources;
} columns[] = {
    {"hdfs_time", "ms", FEATURE_WAIT, time_in_hdfs, 0},
    {"hdfs_datanode_time", "ms", FEATURE_WAIT, time_of_datanode, 0},
    {"hdfs_namenode_time", "ms", FEATURE_WAIT, time_of_namenode, 0},
    {"hdfs_disk_time", "ms", FEATURE_WAIT, time_of_disk, 1u << HDFS_DISK},
    {"hdfs_network_time", "ms", FEATURE_WAIT, time_of_network, 1u << HDFS_NETWORK},
    {"hdfs_lock_time", "ms", FEATURE_WAIT, time_of_lock, 1u << HDFS_LOCK | 1u << HDFS_QUEUE},
    {"hdfs_server_time", "ms", FEATURE_WAIT, time_of_server, 1u << HDFS_SERVER},
    {"hdfs_client_time", "ms", FEATURE_WAIT, time_of_client, 1u << HDFS_CLIENT},
    {"hdfs_failures", "count", FEATURE_NUMERIC, failures, 0},
    {"hdfs_remote_bytes", "bytes", FEATURE_NUMERIC, remote_bytes, 0},
};
#define N_COLUMNS G_N_ELEMENTS(columns)

guint32 hdfs_column_resources(const char *name) {
    for (guint i = 0; i < N_COLUMNS; i++)
        if (strcmp(columns[i].name, name) == 0) return columns[i].resources;
    return 0;
}

/* Rows to be read of a stage: its stragglers, and peers in even steps. */
static GArray *rows_to_read(const AppTasks *tasks, const Stragglers *stragglers, const StageTasks *stage) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(guint32));
    const guint32 end = stage->first_straggler + stage->n_stragglers;
    for (guint32 i = stage->first_straggler; i < end && i < HDFS_STRAGGLERS_MAX; i++)
        g_array_append_val(rows, stragglers->list[i].task);
    if (rows->len == 0) return rows;
    const guint32 n = MIN(stage->n, HDFS_PEERS_MAX);
    for (guint32 i = 0; i < n; i++) {
        guint32 row = stragglers->order[stage->first + (guint32)((guint64)i * stage->n / n)];
        if (tasks->table->flags[row] & ROW_COUNTED) g_array_append_val(rows, row);
    }
    return rows;
}

/* The median of what the rows read from HDFS; 0 of none. */
static double usual_bytes(const AppHdfs *hdfs, const GArray *rows) {
    g_autofree double *bytes = g_new(double, rows->len + 1);
    gsize n = 0;
    for (guint i = 0; i < rows->len; i++) {
        const TaskHdfs *facts = hdfs->facts[g_array_index(rows, guint32, i)];
        if (facts && facts->facts.bytes > 0) bytes[n++] = (double)facts->facts.bytes;
    }
    return n ? order_quantile(bytes, n, 0.5) : 0;
}

gboolean app_hdfs_add_columns(AppHdfs *hdfs, AppTasks *tasks, const Stragglers *stragglers, GError **error) {
    guint first = 0;
    for (guint k = 0; k < N_COLUMNS; k++) {
        const Feature feature = {
            .name = (char *)columns[k].name,
            .unit = columns[k].unit,
            .kind = columns[k].kind,
            .topic = TOPIC_HDFS,
        };
        guint number = task_table_add(tasks->table, &feature);
        if (k == 0) first = number;
    }

    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        g_autoptr(GArray) rows = rows_to_read(tasks, stragglers, &stragglers->stages[s]);
        const TaskHdfs *facts;
        for (guint i = 0; i < rows->len; i++)
            if (!app_hdfs_task(hdfs, g_array_index(rows, guint32, i), &facts, error)) return FALSE;
        const double usual = usual_bytes(hdfs, rows);

        for (guint i = 0; i < rows->len; i++) {
            const guint32 row = g_array_index(rows, guint32, i);
            if (!(facts = hdfs->facts[row])) continue;
            const double bytes = (double)facts->facts.bytes;
            const double scale = usual > 0 && bytes > usual ? usual / bytes : 1;
            for (guint k = 0; k < N_COLUMNS; k++)
                task_feature(tasks->table, first + k)->values[row] =
                    columns[k].value(&facts->facts) * (columns[k].kind == FEATURE_WAIT ? scale : 1);
        }
    }

    return TRUE;
}
