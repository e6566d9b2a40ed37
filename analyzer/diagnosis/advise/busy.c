#include "analyzer/diagnosis/advise/busy.h"

#include "common/base/allowance.h"

/* From then on the tasks of a profile's stages take 'rate' ms a ms, and took 'done_ms' before. */
typedef struct Edge {
    gint64 profile, at_ms;
    double rate, done_ms;
} Edge;

static Edge *edge_at(const GArray *busy, guint i) { return &g_array_index(busy, Edge, i); }

static gint edge_order(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const Edge *x = a, *y = b;
    if (x->profile != y->profile) return x->profile < y->profile ? -1 : 1;
    return x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms;
}

/* Of the executors that have it: 0 of those that the settings say. */
static gint64 profile_of(const AdviseFacts *facts, const AdviseStage *stage) {
    return advise_profile(facts, stage->profile) != NULL ? stage->profile : 0;
}

GArray *busy_times(const AdviseFacts *facts) {
    GArray *busy = g_array_new(FALSE, FALSE, sizeof(Edge));
    for (guint i = 0; i < facts->stages->len && allowance_goes_on(); i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const gint64 profile = profile_of(facts, stage);
        if (stage->end_ms <= stage->begin_ms) continue;
        const double rate = stage->task_ms / (double)(stage->end_ms - stage->begin_ms);
        const Edge edges[] = {{profile, stage->begin_ms, rate, 0}, {profile, stage->end_ms, -rate, 0}};
        g_array_append_vals(busy, edges, G_N_ELEMENTS(edges));
    }

    allowance_sort(busy->data, busy->len, sizeof(Edge), edge_order, NULL);
    for (guint i = 1; i < busy->len && allowance_goes_on(); i++) {
        const Edge *last = edge_at(busy, i - 1);
        Edge *edge = edge_at(busy, i);
        if (edge->profile != last->profile) continue;
        edge->done_ms = last->done_ms + last->rate * (double)(edge->at_ms - last->at_ms);
        edge->rate += last->rate;
    }
    return busy;
}

static double done_until(const GArray *busy, gint64 profile, gint64 at_ms) {
    const Edge wanted = {profile, at_ms, 0, 0};
    guint low = 0, high = busy->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (edge_order(edge_at(busy, middle), &wanted, NULL) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || edge_at(busy, low - 1)->profile != profile) return 0;
    const Edge *last = edge_at(busy, low - 1);
    return last->done_ms + last->rate * (double)(at_ms - last->at_ms);
}

double idle_beside(const AdviseFacts *facts, const GArray *busy, const AdviseStage *stage) {
    const gint64 profile = profile_of(facts, stage);
    const double cores = MAX(stage_slots(facts, stage), 1), wall_ms = (double)(stage->end_ms - stage->begin_ms);
    const double done_ms = done_until(busy, profile, stage->end_ms) - done_until(busy, profile, stage->begin_ms);
    return MAX(wall_ms * cores - done_ms, 0);
}
