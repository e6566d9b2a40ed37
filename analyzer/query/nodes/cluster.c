#include "analyzer/query/nodes/cluster.h"

#include <math.h>

#include "analyzer/archive/read/period_stats.h"
#include "analyzer/calltree/stats/call_figures.h"
#include "analyzer/query/nodes/failed_rows.h"
#include "analyzer/query/nodes/sample.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

/* Tables have a place for each job on each host, and at each moment. */
#define PLACES_MAX (16u << 20)
/* Added to each time: calls of a microsecond and less tell nothing. */
#define SHORTEST_NS 1000.0
/* To stand still for this long in a call is nothing: connections take as long. */
#define SHORTEST_STANDSTILL_NS 10e6
/* Of what is on its way to a reader less does not count (docs/call-trees.md). */
#define SHORTEST_DELIVERY_NS 1e6
/* Of a function's time, that is its own when it calls no others. */
#define LEAF_SHARE 0.95

void cluster_free(Cluster *cluster) {
    if (!cluster) return;
    allowance_release(cluster->charged);
    node_grid_free(cluster->grid);
    g_array_unref(cluster->hosts);
    g_array_unref(cluster->jobs);
    g_array_unref(cluster->waits);
    g_free(cluster);
}

/* ---- reading ---- */

typedef struct Reader {
    Cluster *cluster;
    GHashTable *classes; /* function and role -> WorkClass + 1, and WAITS */
    GHashTable *jobs;    /* function, role and size -> job + 1 */
    GHashTable *nodes;   /* host -> node + 1 */
    guint64 last;        /* function and role that were looked up last */
    guint last_class;
    GArray *nested; /* gboolean of each job: its calls make others */
    FailedRows failed_rows;
    guint32 minute;
    guint32 minutes; /* that are to be read */
    gboolean failed; /* malformed rows */
} Reader;

/* A bit beside the class: its time is waited for a DataNode. */
#define WAITS 0x100u
/* Its critical time counts, not its own. */
#define WAITED 0x200u
/* All of its time counts, with what it calls; or it is a part of such a call. */
#define WHOLE  0x400u
#define BESIDE 0x800u

static guint look_up(Reader *reader, guint32 function, guint32 role) {
    const guint64 key = (guint64)function << 3 | role;
    if (key == reader->last) return reader->last_class;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->classes, GSIZE_TO_POINTER((gsize)key)));
    if (known == 0) {
        const char *name = dict_text(archive_dict(reader->cluster->archive), function, NULL);
        known = 1 + work_class(name, (Role)role);
        if (work_waits_for_datanode(name, (Role)role)) known |= WAITS;
        if (work_is_waited(name, (Role)role)) known |= WAITED;
        if (work_is_whole(name, (Role)role)) known |= WHOLE;
        if (work_is_beside(name, (Role)role)) known |= BESIDE;
        g_hash_table_insert(reader->classes, GSIZE_TO_POINTER((gsize)key), GUINT_TO_POINTER(known));
    }
    reader->last = key;
    reader->last_class = known;
    return known;
}

static gboolean has_place(Reader *reader, guint32 jobs, guint32 nodes) {
    const guint64 minutes = MAX(reader->minutes, 1);
    if ((guint64)jobs * nodes <= PLACES_MAX && jobs * minutes <= PLACES_MAX) return TRUE;
    reader->cluster->cut = TRUE;
    return FALSE;
}

static gboolean find_node(Reader *reader, guint32 host, guint32 *node) {
    Cluster *cluster = reader->cluster;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->nodes, GUINT_TO_POINTER(host)));
    if (known == 0) {
        if (!has_place(reader, cluster->grid->n_jobs, cluster->grid->n_nodes + 1)) return FALSE;
        known = 1 + node_grid_node(cluster->grid);
        g_array_append_val(cluster->hosts, host);
        g_hash_table_insert(reader->nodes, GUINT_TO_POINTER(host), GUINT_TO_POINTER(known));
    }
    *node = known - 1;
    return TRUE;
}

static gboolean find_job(Reader *reader, const ClusterJob *job, WorkClass class, guint32 *number) {
    Cluster *cluster = reader->cluster;
    G_STATIC_ASSERT(WORK_CLASSES <= 32);
    const gsize key = (((gsize)job->function << 3 | job->role) << 7 | (gsize)(job->size_power + 1)) << 5 | class;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->jobs, GSIZE_TO_POINTER(key)));
    if (known == 0) {
        if (!has_place(reader, cluster->grid->n_jobs + 1, cluster->grid->n_nodes)) return FALSE;
        known = 1 + node_grid_job(cluster->grid, class);
        g_array_append_vals(cluster->jobs, job, 1);
        g_array_set_size(reader->nested, known);
        g_hash_table_insert(reader->jobs, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(known));
    }
    *number = known - 1;
    return TRUE;
}

static Observation observation_of(const CallFigures *figures) {
    const double calls = (double)figures->calls, mean = (double)figures->total_ns / calls;
    const double variance = MAX(0, figures->squares_ns2 / calls - mean * mean);
    const double self = MAX(0, (double)figures->self_ns / calls);
    return (Observation){.calls = (guint32)MIN(figures->calls, G_MAXUINT32),
                         .mean = (float)log(self + SHORTEST_NS),
                         .tail = (float)log(figures->q95_ns + SHORTEST_NS),
                         .spread = mean > 0 ? (float)(variance / (mean * mean)) : 0,
                         .bytes = (float)figures->bytes,
                         .self_ns = figures->self_ns,
                         .critical_ns = figures->critical_ns};
}

/* Of operations of a server it is only known for how long it stood still in them: what is critical of them. So it is of
 * receiving packets: all DataNodes of a slow pipeline wait for the next one, for as long, whoever is slow. */
static Observation observation_waited(const CallFigures *figures, WorkClass class) {
    Observation observation = observation_of(figures);
    const double mean = MAX(0, (double)figures->critical_ns / (double)figures->calls);
    const double shortest = class == WORK_STANDSTILL ? SHORTEST_STANDSTILL_NS : SHORTEST_NS;
    observation.mean = observation.tail = (float)log(mean + shortest);
    observation.self_ns = figures->critical_ns;
    return observation;
}

/* Of a call whose parts are recorded for some of many alone, all counts. */
static Observation observation_whole(const CallFigures *figures) {
    CallFigures whole = *figures;
    whole.self_ns = figures->total_ns;
    return observation_of(&whole);
}

/* What readers waited for when the DataNode had put a block into its socket is critical time of its last transfer,
 * beyond its own, and is taken from that. At least: not all of the transfers' own time is critical. */
static Observation observation_delivery(const CallFigures *figures, Observation *transfers) {
    const gint64 delivery_ns = MAX(0, figures->critical_ns - figures->self_ns);
    Observation delivery = *transfers;
    transfers->critical_ns -= delivery_ns;
    delivery.mean = delivery.tail = (float)log((double)delivery_ns / (double)figures->calls + SHORTEST_DELIVERY_NS);
    delivery.self_ns = delivery.critical_ns = delivery_ns;
    return delivery;
}

static gint size_power(const CallFigures *figures) {
    if (figures->byte_calls == 0) return -1;
    const guint64 mean = figures->bytes / figures->byte_calls;
    return mean == 0 ? 0 : 63 - __builtin_clzll(mean);
}

static void begin_minute(Reader *reader, guint32 minute) {
    Cluster *cluster = reader->cluster;
    const gint64 begin_ns = minute * NS_PER_MINUTE;
    const guint32 window = node_grid_window(cluster->grid, begin_ns);
    if (begin_ns < cluster->period.since_ns) cluster->since = window + 1;
    reader->minute = minute;
    allowance_hold(&cluster->charged, node_grid_bytes(cluster->grid));
}

static void add_wait(Reader *reader, const StatsKey *key, const CallFigures *figures) {
    Cluster *cluster = reader->cluster;
    const guint32 window = cluster->grid->n_windows - 1;
    node_grid_wait(cluster->grid, figures->critical_ns, (guint32)MIN(figures->calls, G_MAXUINT32));
    ClusterWait *last =
        cluster->waits->len > 0 ? &g_array_index(cluster->waits, ClusterWait, cluster->waits->len - 1) : NULL;
    if (last && last->window == window && last->function == key->object && last->role == (Role)key->role) {
        last->waited_ns += figures->critical_ns;
        return;
    }
    const ClusterWait wait = {key->object, (Role)key->role, window, figures->critical_ns};
    g_array_append_val(cluster->waits, wait);
}

static gboolean add_observation(Reader *reader, const ClusterJob *job, WorkClass class, Observation *observation) {
    NodeGrid *grid = reader->cluster->grid;
    if (!find_job(reader, job, class, &observation->job)) return FALSE;
    observation->window = grid->n_windows - 1;
    node_grid_add(grid, observation);
    return TRUE;
}

/* What a row says of its calls. */
typedef struct RowFigures {
    CallFigures all, told; /* told: of those that tell how fast their host is */
    guint32 failed, left_out;
} RowFigures;

/* What is observed of them. */
static double time_of(const CallFigures *figures, guint known) {
    const double calls = (double)figures->calls;
    if (known & WHOLE) return (double)figures->total_ns / calls;
    return (double)(known & WAITED ? figures->critical_ns : figures->self_ns) / calls;
}

/* A call that failed ended before its work was done. So it says nothing of how fast its host is, unless it took longer
 * than those that succeeded then. An older program that joins late spans to a trace leaves the rows of its failed calls
 * as they were, which may then be no part of all: nothing is taken away. */
static gboolean row_figures(Reader *reader, const StatsKey *key, const StatsHosts *hosts, RowFigures *row) {
    StatsHosts of_failed = *hosts;
    CallFigures failed, others;
    *row = (RowFigures){.failed = 0};
    if (!stats_hosts_figures(hosts, &row->all)) return FALSE;
    row->told = row->all;
    if (!failed_rows_find(&reader->failed_rows, key, &of_failed.row)) return TRUE;
    if (!stats_hosts_figures(&of_failed, &failed)) return FALSE;
    if (failed.calls == 0 || !stats_hosts_figures_without(hosts, of_failed.row, &others)) return TRUE;

    const guint known = look_up(reader, key->object, key->role);
    row->failed = (guint32)MIN(failed.calls, G_MAXUINT32);
    if (others.calls > 0 && time_of(&failed, known) > time_of(&others, known)) return TRUE;
    row->told = others;
    row->left_out = row->failed;
    return TRUE;
}

static void add_failures(Reader *reader, const StatsKey *key, const RowFigures *row, WorkClass class, guint32 node) {
    if (row->failed == 0) return;
    const Failures failures = {.node = node,
                               .class = class,
                               .what = cluster_what(key->object, (Role)key->role),
                               .calls = (guint32)MIN(row->all.calls, G_MAXUINT32),
                               .failed = row->failed,
                               .left_out = row->left_out};
    node_grid_fail(reader->cluster->grid, &failures);
}

static gboolean read_row(void *arg, const StatsKey *key, const StatsHosts *hosts) {
    Reader *reader = arg;
    Cluster *cluster = reader->cluster;
    const guint known = look_up(reader, key->object, key->role);
    const WorkClass class = (WorkClass)((known & ~(WAITS | WAITED | WHOLE | BESIDE)) - 1);
    const gboolean is_datanode = key->role == ROLE_DATANODE, waits = known & WAITS;
    if (key->host == 0 || (class == WORK_NONE && !is_datanode && !waits)) return TRUE;
    if (key->kind == STATS_FAILED) {
        if (class != WORK_NONE || waits) failed_rows_note(&reader->failed_rows, key, hosts);
        return TRUE;
    }
    if (cluster->grid->n_windows == 0 || key->bucket != reader->minute) begin_minute(reader, key->bucket);
    guint32 node = 0;
    if ((class != WORK_NONE || is_datanode) && !find_node(reader, key->host, &node)) return TRUE;
    if (is_datanode) node_grid_hear(cluster->grid, node, 0);
    if (class == WORK_NONE && !waits) return TRUE;

    RowFigures row;
    const CallFigures *figures = &row.told;
    if (!row_figures(reader, key, hosts, &row)) {
        reader->failed = TRUE;
        return FALSE;
    }
    if (row.all.calls == 0) return TRUE;
    if (waits) add_wait(reader, key, &row.all);
    if (class == WORK_NONE) return TRUE;
    add_failures(reader, key, &row, class, node);
    if (key->bucket * NS_PER_MINUTE >= cluster->period.since_ns) cluster->calls += row.all.calls;
    if (figures->calls == 0) return TRUE;

    const ClusterJob job = {key->object, (Role)key->role, size_power(figures)};
    Observation observation = known & WAITED  ? observation_waited(figures, class)
                              : known & WHOLE ? observation_whole(figures)
                                              : observation_of(figures);
    observation.node = node;
    if (class == WORK_TRANSFER) {
        Observation delivery = observation_delivery(figures, &observation);
        add_observation(reader, &job, WORK_DELIVERY, &delivery);
    }
    if (!add_observation(reader, &job, class, &observation)) return TRUE;
    if (known & BESIDE) node_grid_beside(cluster->grid, observation.job);
    if (is_datanode) node_grid_hear(cluster->grid, node, observation.calls);
    if (!(known & WHOLE) && (double)figures->self_ns < LEAF_SHARE * (double)figures->total_ns)
        g_array_index(reader->nested, gboolean, observation.job) = TRUE;
    return TRUE;
}

/* Quantiles are known of whole calls only, with all that they call: they tell of the function itself when it calls
 * nothing. */
static void drop_tails(const Reader *reader) {
    GArray *observations = reader->cluster->grid->observations;
    for (guint i = 0; i < observations->len && allowance_goes_on(); i++) {
        Observation *observation = &g_array_index(observations, Observation, i);
        if (g_array_index(reader->nested, gboolean, observation->job)) observation->tail = observation->mean;
    }
}

static gboolean count_row(void *arg, const StatsKey *key, const StatsHosts *hosts) {
    guint32 *rows = arg;
    (void)hosts;
    *rows += key->kind == STATS_FUNCTION;
    return *rows < OBSERVATIONS_MAX;
}

/* How many minutes may be read, told by the newest ones. */
static gboolean minutes_most(Archive *archive, const MinuteSpan *span, guint32 *most, GError **error) {
    enum { LOOKS = 3 };
    guint32 busiest = 1;
    for (guint i = 1; i <= LOOKS && span->until - i >= span->learn && span->until >= i; i++) {
        const guint32 minute = span->until - i;
        guint32 rows = 0;
        if (!archive_stats_minutes(archive, &(StatsMinutes){&minute, 1}, count_row, &rows, error)) return FALSE;
        busiest = MAX(busiest, rows);
    }
    *most = minutes_affordable(busiest, allowance_left() / 4 * 3);
    return TRUE;
}

static gboolean read_minutes(Cluster *cluster, const MinuteSpan *span, GError **error) {
    guint32 most;
    if (!minutes_most(cluster->archive, span, &most, error)) return FALSE;
    g_autoptr(GArray) minutes = minutes_choose(span, most);
    cluster->minutes = span->until - span->since;
    cluster->sampled = minutes->len < span->until - span->learn;

    Reader reader = {.cluster = cluster, .last = G_MAXUINT64, .minutes = minutes->len};
    reader.classes = g_hash_table_new(g_direct_hash, g_direct_equal);
    reader.jobs = g_hash_table_new(g_direct_hash, g_direct_equal);
    reader.nested = g_array_new(FALSE, TRUE, sizeof(gboolean));
    reader.nodes = g_hash_table_new(g_direct_hash, g_direct_equal);
    failed_rows_init(&reader.failed_rows);
    const StatsMinutes list = {&g_array_index(minutes, guint32, 0), minutes->len};
    gboolean ok = archive_stats_minutes(cluster->archive, &list, read_row, &reader, error);
    if (ok && reader.failed) ok = fail(error, PLUMB_ERROR_CORRUPT, "a stored statistics row is malformed");
    drop_tails(&reader);
    g_array_unref(reader.nested);
    failed_rows_clear(&reader.failed_rows);
    g_hash_table_unref(reader.classes);
    g_hash_table_unref(reader.jobs);
    g_hash_table_unref(reader.nodes);
    return ok && allowance_check(error);
}

/* ---- the whole ---- */

/* Open ends are those of what is stored: the last hour there is, also of a store that was put by. */
static gboolean parse_span(const Asked *asked, Cluster *cluster, MinuteSpan *span, GError **error) {
    Period period = {G_MININT64, G_MAXINT64};
    if (!params_period(asked->params, asked->now_ns, &period, error)) return FALSE;
    const ArchiveTotals totals = archive_totals(asked->archive);
    const gint64 first_ns = MAX(totals.first_ns, 0), last_ns = MIN(totals.last_ns, asked->now_ns);

    const gint64 until_ns = CLAMP(period.until_ns, 0, MAX(last_ns + 1, first_ns));
    const gint64 since_ns = period.since_ns == G_MININT64 ? until_ns - CLUSTER_PERIOD_NS : period.since_ns;
    span->until = stats_bucket(LEVEL_MINUTE, MAX(until_ns - 1, 0)) + (until_ns > 0);
    span->since = MIN(stats_bucket(LEVEL_MINUTE, MAX(since_ns, first_ns)), span->until);
    const guint32 first = MIN(stats_bucket(LEVEL_MINUTE, first_ns), span->since);
    span->learn = MAX(first, span->since - MIN(span->since, (guint32)(CLUSTER_HISTORY_NS / NS_PER_MINUTE)));

    cluster->period = (Period){span->since * NS_PER_MINUTE, span->until * NS_PER_MINUTE};
    cluster->begin_ns = span->learn * NS_PER_MINUTE;
    return TRUE;
}

Cluster *cluster_load(const Asked *asked, GError **error) {
    g_autoptr(Cluster) cluster = g_new0(Cluster, 1);
    cluster->asked = asked;
    cluster->archive = asked->archive;
    cluster->grid = node_grid_new(NS_PER_MINUTE);
    cluster->hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    cluster->jobs = g_array_new(FALSE, FALSE, sizeof(ClusterJob));
    cluster->waits = g_array_new(FALSE, FALSE, sizeof(ClusterWait));

    MinuteSpan span;
    if (!parse_span(asked, cluster, &span, error) || !read_minutes(cluster, &span, error)) return NULL;
    allowance_hold(&cluster->charged, node_grid_bytes(cluster->grid));
    if (!allowance_check(error)) return NULL;
    node_grid_index(cluster->grid);
    return g_steal_pointer(&cluster);
}

const ClusterWait *cluster_wait(const Cluster *cluster, guint32 first, guint32 last) {
    const ClusterWait *most = NULL;
    for (guint i = 0; i < cluster->waits->len && allowance_goes_on(); i++) {
        const ClusterWait *wait = &g_array_index(cluster->waits, ClusterWait, i);
        if (wait->window < first || wait->window > last) continue;
        if (!most || wait->waited_ns > most->waited_ns) most = wait;
    }
    return most;
}

json_t *json_ratio(double value) { return json_real(round(value * 1000) / 1000); }

/* Is anything known long enough to call it slow? */
static gboolean any_judged(const NodesReport *report) {
    for (guint i = 0; i < report->all->series->len && allowance_goes_on(); i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        if (series->node < report->grid->n_nodes && usual_of(report->all, series, report->learned).known) return TRUE;
    }
    return FALSE;
}

void cluster_json(const Cluster *cluster, const NodesReport *report, json_t *object) {
    const NodeGrid *grid = cluster->grid;
    const gint64 history_ns = cluster->period.until_ns - cluster->begin_ns;
    const gboolean learning = history_ns < CLUSTER_HISTORY_NS;
    json_object_set_new(object, "since_time_ns", json_integer(cluster->period.since_ns));
    json_object_set_new(object, "until_time_ns", json_integer(cluster->period.until_ns));
    json_object_set_new(object, "state", json_string(learning ? "learning" : "learned"));
    json_object_set_new(object, "history_ns", json_integer(history_ns));
    json_object_set_new(object, "minutes", json_count(cluster->minutes));
    json_object_set_new(object, "minutes_read", json_count(grid->n_windows - MIN(cluster->since, grid->n_windows)));
    json_object_set_new(object, "minutes_learned", json_count(report->learned));
    json_object_set_new(object, "hosts", json_count(grid->n_nodes));
    json_object_set_new(object, "jobs", json_count(grid->n_jobs));
    json_object_set_new(object, "calls", json_count(cluster->calls));
    json_object_set_new(object, "judged", json_boolean(any_judged(report)));
    if (cluster->sampled) json_object_set_new(object, "sampled", json_true());
    if (cluster->cut) json_object_set_new(object, "cut", json_true());
}
