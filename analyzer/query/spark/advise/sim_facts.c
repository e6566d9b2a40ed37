#include "analyzer/query/spark/advise/sim_facts.h"

#include "common/base/allowance.h"

typedef struct Ordering {
    SimApp *sim;
    const AdviseFacts *facts;
    const AppPlans *plans;
    GHashTable *stages; /* number -> SimStage, as it came */
    GHashTable *taken;  /* numbers of those that are in a round */
    GArray *ordered;    /* SimStage */
    guint32 round;
    gint64 begin_ms, end_ms; /* of the round */
    double rounds_ms;
} Ordering;

static gint by_begin(gconstpointer a, gconstpointer b) {
    const SparkJob *x = *(SparkJob *const *)a, *y = *(SparkJob *const *)b;
    if (x->submitted_ms != y->submitted_ms) return x->submitted_ms < y->submitted_ms ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static int by_round(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const SimStage *x = a, *y = b;
    if (x->round != y->round) return x->round < y->round ? -1 : 1;
    return x->stage < y->stage ? -1 : x->stage > y->stage;
}

static gint64 end_of(const Ordering *ordering, const SparkJob *job) {
    return job->completed_ms >= 0 ? job->completed_ms : ordering->facts->end_ms;
}

/* A job that began before all earlier ones had ended is of their round. */
static void place_job(Ordering *ordering, const SparkJob *job) {
    if (job->submitted_ms >= ordering->end_ms) {
        ordering->rounds_ms += (double)MAX(ordering->end_ms - ordering->begin_ms, 0);
        ordering->round++;
        ordering->begin_ms = ordering->end_ms = job->submitted_ms;
    }
    ordering->end_ms = MAX(ordering->end_ms, end_of(ordering, job));

    for (guint32 i = 0; i < job->stages.n && allowance_goes_on(); i++) {
        const gint64 *number = &job->stages.items[i];
        const SimStage *known = g_hash_table_lookup(ordering->stages, number);
        if (!g_hash_table_add(ordering->taken, (gpointer)number)) continue;
        SimStage stage = known != NULL ? *known : (SimStage){.stage = *number};
        const SparkStage *record = app_plans_stage(ordering->plans, *number, 0);
        if (record != NULL) stage.parents = record->parents.items;
        if (record != NULL) stage.n_parents = record->parents.n;
        stage.round = ordering->round;
        stage.offset_ms = (double)(job->submitted_ms - ordering->begin_ms);
        g_array_append_val(ordering->ordered, stage);
    }
}

void sim_facts_order(SimApp *sim, const AdviseFacts *facts, const SparkRecords *jobs, const AppPlans *plans) {
    g_autoptr(GHashTable) stages = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    Ordering ordering = {.sim = sim, .facts = facts, .plans = plans, .stages = stages, .taken = taken};
    ordering.ordered = g_array_new(FALSE, TRUE, sizeof(SimStage));
    ordering.begin_ms = ordering.end_ms = G_MININT64 / 2;

    for (guint i = 0; i < sim->stages->len; i++) {
        SimStage *stage = &g_array_index(sim->stages, SimStage, i);
        g_hash_table_insert(stages, &stage->stage, stage);
    }
    for (guint i = 0; i < jobs->of[SPARK_JOB]->len; i++)
        if (spark_job(jobs, i)->submitted_ms >= 0) g_ptr_array_add(order, (gpointer)spark_job(jobs, i));
    g_ptr_array_sort(order, by_begin);
    for (guint i = 0; i < order->len && allowance_goes_on(); i++) place_job(&ordering, g_ptr_array_index(order, i));
    if (order->len > 0) ordering.rounds_ms += (double)MAX(ordering.end_ms - ordering.begin_ms, 0);

    allowance_sort(ordering.ordered->data, ordering.ordered->len, sizeof(SimStage), by_round, NULL);
    g_array_unref(sim->stages);
    sim->stages = ordering.ordered;
    sim->driver_ms = MAX((double)(facts->end_ms - facts->begin_ms) - ordering.rounds_ms, 0);
}
