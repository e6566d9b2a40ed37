#include "analyzer/query/nodes/spell_rows.h"

#include <math.h>
#include <string.h>

#include "analyzer/query/nodes/advice.h"
#include "analyzer/query/nodes/holders.h"
#include "analyzer/query/nodes/link_traces.h"
#include "common/base/clock.h"

static gboolean of_all(const Cluster *cluster, const Spell *spell) { return spell->node >= cluster->grid->n_nodes; }

/* ---- facts ---- */

/* What a spell is about, beside its figures. */
typedef struct SpellFacts {
    ClusterJob job; /* that cost most of it; of a host that does not answer, where others waited for it */
    gboolean has_job;
    guint32 job_host; /* dictionary id; 0: any */
    gint64 worst_ns;  /* the minute in which that cost most */
    gint64 begin_ns, end_ns;
    gint64 before_ns; /* the minute before the begin that was looked at: how sure the begin is. 0: none */
} SpellFacts;

/* How much longer than predicted an observation took, ns. */
static double lost_ns(const NodesReport *report, guint32 i, gboolean moments) {
    const NodeGrid *grid = report->grid;
    const Observation *observation = grid_at(grid, i);
    double ln_slowdown = report->residuals.of[MEASURE_MEAN][i];
    if (moments) {
        const Polish *polish = report->polish[MEASURE_MEAN];
        ln_slowdown =
            polish->moment[observation->job * grid->n_windows + observation->window] - polish->level[observation->job];
    }
    return ln_slowdown > 0 ? (double)observation->self_ns * (1 - exp(-ln_slowdown)) : 0;
}

typedef struct Costs {
    double *of_job, *of_window;
} Costs;

static void add_costs(const NodesReport *report, const Spell *spell, guint32 node, const Costs *costs) {
    const NodeGrid *grid = report->grid;
    for (guint32 at = grid->by_node.start[node]; at < grid->by_node.start[node + 1]; at++) {
        const guint32 i = grid->by_node.order[at];
        const Observation *observation = grid_at(grid, i);
        if (observation->window < spell->first || observation->window > spell->last) continue;
        if (grid_class(grid, observation->job) != spell->class) continue;
        const double lost = lost_ns(report, i, spell->node >= grid->n_nodes);
        costs->of_job[observation->job] += lost;
        costs->of_window[observation->window] += lost;
    }
}

static guint32 greatest(const double *values, guint32 n) {
    guint32 at = G_MAXUINT32;
    for (guint32 i = 0; i < n; i++)
        if (values[i] > 0 && (at == G_MAXUINT32 || values[i] > values[at])) at = i;
    return at;
}

static void add_times(const Cluster *cluster, const Spell *spell, SpellFacts *facts) {
    const NodeGrid *grid = cluster->grid;
    facts->begin_ns = spell->begin_ns;
    facts->end_ns = grid_window_ns(grid, spell->last) + grid->window_ns;
    facts->before_ns = spell->first > 0 ? grid_window_ns(grid, spell->first - 1) : 0;
}

static SpellFacts silent_facts(const Cluster *cluster, const Spell *spell) {
    const ClusterWait *wait = cluster_wait(cluster, spell->first, spell->last);
    SpellFacts facts = {.has_job = wait != NULL};
    if (wait) facts.job = (ClusterJob){wait->function, wait->role, -1};
    facts.worst_ns = grid_window_ns(cluster->grid, wait ? wait->window : spell->first);
    add_times(cluster, spell, &facts);
    return facts;
}

static SpellFacts spell_facts(const Cluster *cluster, const NodesReport *report, const Spell *spell) {
    const NodeGrid *grid = cluster->grid;
    if (spell->class == WORK_SILENT) return silent_facts(cluster, spell);
    g_autofree double *of_job = g_new0(double, MAX(grid->n_jobs, 1)), *of_window = g_new0(double, grid->n_windows);
    const Costs costs = {of_job, of_window};
    const guint32 from = of_all(cluster, spell) ? 0 : spell->node;
    const guint32 until = of_all(cluster, spell) ? grid->n_nodes : spell->node + 1;
    for (guint32 node = from; node < until; node++) add_costs(report, spell, node, &costs);

    const guint32 worst = greatest(of_window, grid->n_windows);
    const guint32 job = greatest(of_job, grid->n_jobs);
    SpellFacts facts = {.has_job = job != G_MAXUINT32,
                        .job_host = of_all(cluster, spell) ? 0 : cluster_host(cluster, spell->node),
                        .worst_ns = grid_window_ns(grid, worst == G_MAXUINT32 ? spell->last : worst)};
    if (facts.has_job) facts.job = *cluster_job(cluster, job);
    add_times(cluster, spell, &facts);
    return facts;
}

gboolean spell_fits(const Cluster *cluster, const Spell *spell) {
    return spell->open || grid_window_ns(cluster->grid, spell->last) >= cluster->period.since_ns;
}

/* ---- JSON ---- */

static const char *state_of(const Spell *spell) {
    if (spell->busy) return "busier";
    if (spell->part_of != WORK_NONE) return "follows";
    return spell->open ? "suspected" : "recovered";
}

static void add_cost(const Spell *spell, const SpellFacts *facts, json_t *object) {
    json_object_set_new(object, "calls", json_count(spell->calls));
    json_object_set_new(object, "bad_minutes", json_count(spell->bad_windows));
    json_object_set_new(object, "self_ns", json_integer(spell->self_ns));
    json_object_set_new(object, "lost_ns", json_integer(spell->lost_ns));
    json_object_set_new(object, "waited_ns", json_integer(spell->lost_critical_ns));
    const double risk_ns = (spell->slowdown - 1) * (double)(facts->end_ns - facts->begin_ns);
    json_object_set_new(object, "risk_ns", json_integer((gint64)MAX(0, risk_ns)));
}

json_t *spell_json(const Cluster *cluster, const NodesReport *report, const Spell *spell) {
    const SpellFacts facts = spell_facts(cluster, report, spell);
    Role role = ROLE_COUNT;
    json_t *object = json_object();

    if (!of_all(cluster, spell))
        json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, spell->node)));
    else
        json_object_set_new(object, "all_hosts", json_true());
    json_object_set_new(object, "class", json_string(work_class_name(spell->class)));
    json_object_set_new(object, "layer", json_string(work_class_layer(spell->class)));
    if (facts.has_job) {
        role = spell->class == WORK_SILENT ? ROLE_DATANODE : facts.job.role;
        json_object_set_new(object, "function", json_name(cluster->archive, facts.job.function));
        json_object_set_new(object, "role", json_string(role_name(facts.job.role)));
    }

    json_object_set_new(object, "state", json_string(state_of(spell)));
    if (spell->part_of != WORK_NONE)
        json_object_set_new(object, "part_of", json_string(work_class_name(spell->part_of)));
    json_object_set_new(object, "slowdown", json_ratio(spell->slowdown));
    json_object_set_new(object, "z", json_ratio(spell->z));
    json_object_set_new(object, "measure", json_string(spell->measure == MEASURE_TAIL ? "tail" : "mean"));
    json_object_set_new(object, "compared", json_string(spell->alone ? "itself" : "peers"));
    if (spell->load_share > 0) json_object_set_new(object, "load_share", json_ratio(spell->load_share));

    json_object_set_new(object, "begin_time_ns", json_integer(facts.begin_ns));
    if (facts.before_ns > 0) json_object_set_new(object, "well_time_ns", json_integer(facts.before_ns));
    if (!spell->open) json_object_set_new(object, "end_time_ns", json_integer(facts.end_ns));
    add_cost(spell, &facts, object);
    if (spell_suspects(spell)) json_object_set_new(object, "advice", advice_json(spell->class, role));
    return object;
}

/* What a transfer waited for. */
static void set_layer(json_t *object, WorkClass class) {
    json_object_set_new(object, "layer", json_string(work_class_layer(class)));
    json_object_set_new(object, "advice", advice_json(class, ROLE_DATANODE));
}

/* Who held the lock. */
static gboolean add_holder(const Cluster *cluster, const SpellFacts *facts, json_t *object, GError **error) {
    Holder holder;
    if (!holder_find(cluster->asked, facts->job_host, facts->worst_ns, &holder, error)) return FALSE;
    if (holder.function != 0) json_object_set_new(object, "holder", holder_json(cluster->asked, &holder));
    return TRUE;
}

/* Is it the network, of a host that is the end of links? Which of its transfers then tell: of reads, or of writes. */
static gboolean is_network(const Cluster *cluster, const Spell *spell, const SpellFacts *facts, LinkOf *of) {
    const char *function = dict_text(archive_dict(cluster->archive), facts->job.function, NULL);
    const guint32 class = 1u << spell->class, sends = 1u << WORK_TRANSFER | 1u << WORK_SENDING | 1u << WORK_DELIVERY;
    const guint32 network = sends | 1u << WORK_NETWORK | 1u << WORK_CLIENT_NETWORK;
    of->reads = (class & sends) || strcmp(function, "BlockReaderRemote2#readNextPacket") == 0;
    of->asks = spell->class == WORK_CLIENT_NETWORK;
    return !of_all(cluster, spell) && (class & network);
}

/* The one link that is slow, where it is only one. */
static gboolean add_link(const Cluster *cluster, const Spell *spell, const SpellFacts *facts, json_t *object,
                         GError **error) {
    LinkOf of = {.host = facts->job_host, .since_ns = facts->begin_ns, .until_ns = facts->end_ns};
    LinkFound found;
    if (!is_network(cluster, spell, facts, &of)) return TRUE;
    if (!link_find(cluster->asked, &of, &found, error)) return FALSE;
    if (found.link.from == 0) return TRUE;
    json_object_set_new(object, "link", link_json(cluster->asked, &found));
    json_t *advice = json_object_get(object, "advice");
    if (advice) json_array_insert_new(advice, 0, json_string(advice_of_link()));
    return TRUE;
}

gboolean spell_add_link(const Cluster *cluster, const NodesReport *report, const Spell *spell, json_t *object,
                        GError **error) {
    const SpellFacts facts = spell_facts(cluster, report, spell);
    return !facts.has_job || add_link(cluster, spell, &facts, object, error);
}

gboolean spell_add_example(const Cluster *cluster, const NodesReport *report, const Spell *spell, json_t *object,
                           GError **error) {
    const SpellFacts facts = spell_facts(cluster, report, spell);
    if (!facts.has_job) return TRUE;
    Example example;
    const ExampleOf of = {&facts.job, facts.job_host, facts.worst_ns, FALSE};
    if (!example_find(cluster->asked, &of, &example, error)) return FALSE;
    if (example.trace == 0) return TRUE;

    json_t *trace = json_object();
    json_object_set_new(trace, "trace", json_trace_id(example.trace));
    json_object_set_new(trace, "begin_time_ns", json_integer(example.begin_ns));
    json_object_set_new(trace, "duration_ns", json_integer(example.duration_ns));
    json_object_set_new(object, "example", trace);

    if (spell->class == WORK_LOCK && !add_holder(cluster, &facts, object, error)) return FALSE;
    const gboolean is_disk = example.transfer_ns > 0 && example.socket_ns <= example.transfer_ns;
    const gboolean transfers = spell->class == WORK_TRANSFER;
    if (transfers && example.socket_ns + example.transfer_ns > 0) {
        json_object_set_new(object, "socket_ns", json_integer(example.socket_ns));
        json_object_set_new(object, "transfer_ns", json_integer(example.transfer_ns));
        set_layer(object, is_disk ? WORK_DISK_READ : WORK_NETWORK);
    }
    return (transfers && is_disk) || add_link(cluster, spell, &facts, object, error);
}
