#include "analyzer/query/spark/ledger/app_ledger.h"

#include <math.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/ledger/foreign.h"
#include "common/base/allowance.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"

/* What tasks use of a resource of their host, in the order of LedgerLoad's topics. */
enum { USE_CPU, USE_DISK, USE_NETWORK, N_USES };

static const struct {
    const char *feature;
    TaskMetric metrics[3]; /* which add up; the same again: nothing more */
} uses[N_USES] = {
    [USE_CPU] = {"cpu", {METRIC_CPU_NS, METRIC_DESERIALIZE_CPU_NS, METRIC_CPU_NS}},
    [USE_DISK] = {"disk", {METRIC_SHUFFLE_WRITE_BYTES, METRIC_DISK_SPILLED_BYTES, METRIC_SHUFFLE_LOCAL_BYTES}},
    [USE_NETWORK] = {"network", {METRIC_SHUFFLE_REMOTE_BYTES, METRIC_INPUT_BYTES, METRIC_OUTPUT_BYTES}},
};
G_STATIC_ASSERT(N_USES == LEDGER_LOADS_MAX);

/* Parts that event logs have; unit_ns: of the metric. */
static const struct {
    LedgerPart part;
    TaskMetric metric;
    gint64 unit_ns;
} measured[] = {
    {LEDGER_PROCESSOR, METRIC_CPU_NS, 1},
    {LEDGER_GC, METRIC_GC_MS, NS_PER_MS},
    {LEDGER_SHUFFLE_WAIT, METRIC_SHUFFLE_FETCH_WAIT_MS, NS_PER_MS},
    {LEDGER_SHUFFLE_WRITE, METRIC_SHUFFLE_WRITE_NS, 1},
    {LEDGER_DESERIALIZE, METRIC_DESERIALIZE_MS, NS_PER_MS},
    {LEDGER_SERIALIZE, METRIC_SERIALIZE_MS, NS_PER_MS},
};

/* ---- event logs ---- */

typedef struct Loading {
    AppLedger *ledger;
    guint32 next; /* rows come in the order of the records */
    double *uses[N_USES];
} Loading;

/* A sum of what is known; NAN when nothing is. */
static double sum_of(gint64 a, gint64 b) {
    if (a < 0 && b < 0) return NAN;
    return (double)MAX(a, 0) + (double)MAX(b, 0);
}

static void set_times(const SparkTask *task, TaskTimes *times) {
    const gint64 *metrics = task->metrics;
    times->run_ns = metrics[METRIC_RUN_MS] >= 0 ? clamped_mul(metrics[METRIC_RUN_MS], NS_PER_MS) : -1;
    for (guint i = 0; i < G_N_ELEMENTS(measured); i++) {
        const gint64 value = metrics[measured[i].metric];
        if (value >= 0) times->measured_ns[measured[i].part] = clamped_mul(value, measured[i].unit_ns);
    }
    const gboolean fetched = task->getting_result_ms > 0 && task->finish_ms >= task->getting_result_ms;
    if (task->finish_ms >= 0)
        times->measured_ns[LEDGER_RESULT] =
            fetched ? clamped_mul(task->finish_ms - task->getting_result_ms, NS_PER_MS) : 0;
    times->bytes = sum_of(metrics[METRIC_INPUT_BYTES], clamped_add(MAX(metrics[METRIC_SHUFFLE_REMOTE_BYTES], 0),
                                                                   MAX(metrics[METRIC_SHUFFLE_LOCAL_BYTES], 0)));
    times->records = sum_of(metrics[METRIC_INPUT_RECORDS], metrics[METRIC_SHUFFLE_READ_RECORDS]);
}

static double use_of(const SparkTask *task, guint use) {
    double sum = 0;
    for (guint i = 0; i < G_N_ELEMENTS(uses[use].metrics); i++) {
        if (i > 0 && uses[use].metrics[i] == uses[use].metrics[0]) break;
        sum += (double)MAX(task->metrics[uses[use].metrics[i]], 0);
    }
    return sum;
}

/* A record that has come since the rows were read is passed over. */
static gboolean take_task(void *arg, const void *record) {
    Loading *loading = arg;
    const SparkTask *task = record;
    const AppTasks *tasks = loading->ledger->input.tasks;
    if (loading->next == tasks->table->count || tasks->tasks[loading->next].task != task->task) return TRUE;
    const guint32 row = loading->next++;
    for (guint i = 0; i < N_USES; i++) loading->uses[i][row] = use_of(task, i);
    TaskTimes *times = ledger_times_at(loading->ledger->times, row);
    if (times) set_times(task, times);
    return allowance_goes_on();
}

/* ---- HDFS ---- */

static const struct {
    LedgerPart part;
    guint32 resources;
} of_hdfs[] = {
    {LEDGER_HDFS_DISK, 1u << HDFS_DISK},
    {LEDGER_HDFS_NETWORK, 1u << HDFS_NETWORK | 1u << HDFS_SOCKET},
    {LEDGER_HDFS_LOCK, 1u << HDFS_LOCK | 1u << HDFS_QUEUE},
    {LEDGER_HDFS_SERVER, 1u << HDFS_SERVER},
};

guint32 ledger_part_resources(LedgerPart part) {
    for (guint i = 0; i < G_N_ELEMENTS(of_hdfs); i++)
        if (of_hdfs[i].part == part) return of_hdfs[i].resources;
    return 0;
}

LedgerPart ledger_part_of(HdfsResource resource) {
    for (guint i = 0; i < G_N_ELEMENTS(of_hdfs); i++)
        if (of_hdfs[i].resources & 1u << resource) return of_hdfs[i].part;
    return LEDGER_PART_COUNT;
}

/* What the client computes is in the processor's time. */
static void add_hdfs(const AppLedger *ledger) {
    for (guint32 row = 0; row < ledger->input.tasks->table->count && allowance_goes_on(); row++) {
        TaskTimes *times = ledger_times_at(ledger->times, row);
        const TaskHdfs *hdfs = times ? app_hdfs_known(ledger->input.hdfs, row) : NULL;
        if (!hdfs) continue;
        for (guint i = 0; i < G_N_ELEMENTS(of_hdfs); i++) {
            gint64 ns = 0;
            for (guint r = 0; r < HDFS_RESOURCE_COUNT; r++)
                if (of_hdfs[i].resources & 1u << r) ns = clamped_add(ns, hdfs->facts.of[r]);
            times->measured_ns[of_hdfs[i].part] = ns;
        }
        times->measured_ns[LEDGER_HDFS_SLEEP] = hdfs->facts.sleep_ns;
        times->measured_ns[LEDGER_PROCESSOR_WAIT] = hdfs->facts.run_delay_ns;
    }
}

/* ---- all of it ---- */

static void find_foreign(AppLedger *ledger, double *const *used) {
    const TaskTable *table = ledger->input.tasks->table;
    for (guint i = 0; i < N_USES; i++) {
        const gint feature = task_table_find(table, uses[i].feature);
        if (feature < 0) continue;
        const guint n = ledger->foreign.n++;
        ledger->foreign.features[n] = (guint)feature;
        ledger->foreign.values[n] = foreign_load(table, (guint)feature, used[i]);
    }
}

static gboolean load_times(AppLedger *ledger, GError **error) {
    const AppTasks *tasks = ledger->input.tasks;
    const gsize n = MAX(tasks->table->count, 1);
    g_autofree double *columns = g_new(double, n *N_USES);
    for (gsize i = 0; i < n * N_USES; i++) columns[i] = NAN;
    allowance_hold(&ledger->charged, ledger_times_bytes(ledger->times) + 2 * n * N_USES * sizeof(double));
    if (!allowance_check(error)) return FALSE;

    Loading loading = {.ledger = ledger};
    for (guint i = 0; i < N_USES; i++) loading.uses[i] = columns + i * n;
    const SparkSelect select = SPARK_SELECT(SPARK_TASK, tasks->app.app);
    g_autoptr(SparkRecords) texts = spark_records_new();
    if (!archive_spark_visit(ledger->input.archive, &select, texts, (SparkVisitor){take_task, &loading}, error))
        return FALSE;
    find_foreign(ledger, loading.uses);
    return TRUE;
}

/* Causes come by straggler. */
static guint32 *first_causes(const AppLedger *ledger) {
    const guint32 n = ledger->input.stragglers->count;
    guint32 *first = g_new0(guint32, (gsize)n + 1);
    for (guint i = 0; i < ledger->causes->len; i++)
        first[g_array_index(ledger->causes, LedgerCause, i).straggler + 1]++;
    for (guint32 i = 0; i < n; i++) first[i + 1] += first[i];
    return first;
}

AppLedger *app_ledger_load(const AppLedgerInput *input, GError **error) {
    g_autoptr(AppLedger) ledger = g_new0(AppLedger, 1);
    const TaskTable *table = input->tasks->table;
    ledger->input = *input;
    ledger->times = ledger_times_new(table, input->stragglers);
    if (!load_times(ledger, error)) return NULL;
    if (input->hdfs) add_hdfs(ledger);

    ledger->ledgers = ledgers_new(table, input->stragglers, ledger->times);
    const LedgerInput asked = {table, input->stragglers, ledger->ledgers, &ledger->foreign, input->options};
    ledger->causes = ledger_run(&asked, &ledger->loads);
    ledger->first = first_causes(ledger);
    return allowance_check(error) ? g_steal_pointer(&ledger) : NULL;
}

void app_ledger_free(AppLedger *ledger) {
    if (!ledger) return;
    allowance_release(ledger->charged);
    for (guint i = 0; i < ledger->foreign.n; i++) g_free(ledger->foreign.values[i]);
    if (ledger->causes) g_array_unref(ledger->causes);
    ledgers_free(ledger->ledgers);
    ledger_times_free(ledger->times);
    g_free(ledger->loads);
    g_free(ledger->first);
    g_free(ledger);
}

const LedgerCause *app_ledger_main(const AppLedger *ledger, guint32 straggler) {
    const guint32 first = ledger->first[straggler];
    if (first == ledger->first[straggler + 1]) return NULL;
    const LedgerCause *cause = &g_array_index(ledger->causes, LedgerCause, first);
    return cause->small ? NULL : cause;
}

gint ledger_cause_feature(const AppLedger *ledger, const LedgerCause *cause) {
    return cause->load >= 0 ? (gint)ledger->foreign.features[cause->load] : -1;
}

const char *ledger_cause_name(const AppLedger *ledger, const LedgerCause *cause) {
    const gint feature = ledger_cause_feature(ledger, cause);
    return feature < 0 ? ledger_part_name(cause->part) : task_feature(ledger->input.tasks->table, (guint)feature)->name;
}

/* ---- servers ---- */

static gint most_first(gconstpointer a, gconstpointer b) {
    const HdfsShare *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->tracer < y->tracer ? -1 : x->tracer > y->tracer;
}

/* Shares are sorted: the first of a process took most. */
GArray *ledger_servers(const TaskHdfs *hdfs, LedgerPart part) {
    const guint32 resources = ledger_part_resources(part);
    GArray *servers = g_array_new(FALSE, FALSE, sizeof(HdfsShare));
    const GArray *shares = hdfs->facts.shares;
    for (guint i = 0; i < shares->len && allowance_goes_on(); i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        if (!(resources & 1u << share->resource)) continue;
        HdfsShare *known = NULL;
        for (guint k = 0; !known && k < servers->len; k++) {
            HdfsShare *server = &g_array_index(servers, HdfsShare, k);
            if (server->tracer == share->tracer) known = server;
        }

        if (known) {
            known->ns += share->ns;
            known->calls += share->calls;
        } else {
            g_array_append_val(servers, *share);
        }
    }
    g_array_sort(servers, most_first);
    return servers;
}
