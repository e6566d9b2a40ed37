#include "analyzer/query/spark/advise/cluster_facts.h"

#include "common/base/allowance.h"

static gint by_number(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gint64 number_at(const GArray *list, guint i) { return g_array_index(list, gint64, i); }

/* ---- what executors hold ---- */

/* From a time on so many cores more are held, or fewer. */
typedef struct Edge {
    gint64 at_ms, cores;
} Edge;

static gint edge_order(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const Edge *x = a, *y = b;
    return x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms;
}

/* Goes through the edges once, with times that rise. */
typedef struct Holding {
    GArray *edges; /* Edge */
    guint next;
    gint64 cores, at_ms;
    double held_ms; /* core-ms until at_ms */
} Holding;

static void holding_init(Holding *holding, const AdviseFacts *facts) {
    *holding = (Holding){.edges = g_array_new(FALSE, FALSE, sizeof(Edge))};
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        const gint64 cores = executor->cores;
        const Edge edges[] = {{executor->begin_ms, cores}, {executor->end_ms, -cores}};
        g_array_append_vals(holding->edges, edges, G_N_ELEMENTS(edges));
    }
    allowance_sort(holding->edges->data, holding->edges->len, sizeof(Edge), edge_order, NULL);
}

static double held_until(Holding *holding, gint64 at_ms) {
    for (; holding->next < holding->edges->len; holding->next++) {
        const Edge *edge = &g_array_index(holding->edges, Edge, holding->next);
        if (edge->at_ms > at_ms) break;
        holding->held_ms += (double)holding->cores * (double)(edge->at_ms - holding->at_ms);
        holding->cores += edge->cores;
        holding->at_ms = edge->at_ms;
    }
    return holding->held_ms + (double)holding->cores * (double)(at_ms - holding->at_ms);
}

/* ---- when no task ran ---- */

static void add_gap(AdviseFacts *facts, Holding *holding, gint64 begin_ms, gint64 end_ms) {
    if (end_ms <= begin_ms) return;
    const double before_ms = held_until(holding, begin_ms);
    facts->quiet_ms += (double)(end_ms - begin_ms);
    facts->quiet_held_ms += held_until(holding, end_ms) - before_ms;
    if (end_ms - begin_ms <= facts->gap_end_ms - facts->gap_begin_ms) return;
    facts->gap_begin_ms = begin_ms;
    facts->gap_end_ms = end_ms;
}

void cluster_facts_tasks(AdviseFacts *facts, GArray *begins, GArray *ends) {
    allowance_sort(begins->data, begins->len, sizeof(gint64), by_number, NULL);
    allowance_sort(ends->data, ends->len, sizeof(gint64), by_number, NULL);
    guint running = 0, ended = 0;
    gint64 quiet_since_ms = facts->end_ms;
    Holding holding;
    holding_init(&holding, facts);
    for (guint i = 0; i < facts->executors->len; i++)
        quiet_since_ms = MIN(quiet_since_ms, g_array_index(facts->executors, AdviseExecutor, i).begin_ms);

    for (guint i = 0; i < begins->len && allowance_goes_on(); i++) {
        const gint64 begin_ms = number_at(begins, i);
        for (; ended < ends->len && number_at(ends, ended) <= begin_ms && running > 0; ended++)
            if (--running == 0) quiet_since_ms = number_at(ends, ended);
        if (running == 0) add_gap(facts, &holding, quiet_since_ms, begin_ms);
        running++;
        facts->most_tasks = MAX(facts->most_tasks, running);
    }

    if (ends->len > 0) quiet_since_ms = number_at(ends, ends->len - 1);
    add_gap(facts, &holding, quiet_since_ms, facts->end_ms);
    g_array_unref(holding.edges);
    if (facts->slots == 0) facts->slots = facts->most_tasks;
}

/* Tasks that an executor runs at once: whole ones. */
static guint slots_of(const AdviseFacts *facts, const AdviseExecutor *executor) {
    const AdviseProfile *own = advise_profile(facts, executor->profile);
    double cpus = MAX(advise_number(facts, "spark.task.cpus"), 1);
    if (own != NULL && own->given.task_cpus > 0) cpus = own->given.task_cpus;
    return executor->cores > 0 ? (guint)MAX(executor->cores / cpus, 1) : 0;
}

/* Of the executors that live at a time; of one profile, where it is not -1. */
static guint slots_at(const AdviseFacts *facts, gint64 time_ms, gint64 profile) {
    guint slots = 0;
    for (guint i = 0; i < facts->executors->len && allowance_goes_on(); i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (executor->begin_ms > time_ms || executor->end_ms <= time_ms) continue;
        if (profile < 0 || executor->profile == profile) slots += slots_of(facts, executor);
    }
    return slots;
}

void cluster_facts_executors(AdviseFacts *facts) {
    const GArray *all = facts->executors;
    guint most = 0;
    for (guint i = 0; i < all->len; i++) {
        const AdviseExecutor *one = &g_array_index(all, AdviseExecutor, i);
        facts->held_ms += (double)(one->end_ms - one->begin_ms) * one->cores;
        most = MAX(most, slots_at(facts, one->begin_ms, -1));
        AdviseProfile *own = (AdviseProfile *)advise_profile(facts, one->profile);
        if (own != NULL) own->slots = MAX(own->slots, slots_at(facts, one->begin_ms, one->profile));
    }
    facts->slots = most;
}
