#include "analyzer/diagnosis/advise/what_if.h"

#include <string.h>

#include "common/base/allowance.h"

#define EARLIER_LEAST 0.001 /* of the time */

typedef struct Altered {
    const SimApp *sim;
    const AdviseFacts *facts;
    const Advice *advice;
    GHashTable *stages; /* number -> index + 1 */
    guint32 slots;
    SimApp app; /* with stages and times of its own */
    gsize held;
} Altered;

/* ---- the tasks of one stage ---- */

static double sum_of(const double *ms, guint32 n) {
    double sum = 0;
    for (guint32 i = 0; i < n; i++) sum += ms[i];
    return sum;
}

static int longest_first(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* No task is longer than a bound, which takes so much off all of them together. */
static void cut_longest(double *ms, guint32 n, double lost_ms) {
    g_autofree double *sorted = g_memdup2(ms, n * sizeof *ms);
    allowance_sort(sorted, n, sizeof *sorted, longest_first, NULL);
    double sum = 0, bound = 0;
    for (guint32 i = 0; i < n; i++) {
        sum += sorted[i];
        bound = MAX((sum - lost_ms) / (i + 1), 0);
        if (i + 1 == n || bound >= sorted[i + 1]) break;
    }
    for (guint32 i = 0; i < n; i++) ms[i] = MIN(ms[i], bound);
}

/* ---- all that one rule found ---- */

static SimStage *stage_of(const Altered *altered, gint64 stage) {
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(altered->stages, &stage));
    return at > 0 ? &g_array_index(altered->app.stages, SimStage, at - 1) : NULL;
}

static double *times_of(const Altered *altered, gint64 stage, guint32 *n) {
    const SimStage *known = stage_of(altered, stage);
    *n = known != NULL ? known->tasks : 0;
    return *n > 0 ? &g_array_index(altered->app.task_ms, double, known->first_task) : NULL;
}

/* As many waves as it had, each of a task for every core, all equal: they take as long together as its tasks did. */
static void even_out(Altered *altered, gint64 number) {
    SimStage *stage = stage_of(altered, number);
    GArray *times = altered->app.task_ms;
    guint32 n;
    const double *ms = times_of(altered, number, &n);
    const double sum = sum_of(ms, n);
    const guint64 tasks = ((guint64)n + altered->slots - 1) / altered->slots * altered->slots;
    allowance_hold(&altered->held, (times->len + tasks) * sizeof(double));
    if (allowance_over() || tasks > G_MAXUINT32 - times->len) return;
    stage->first_task = times->len;
    stage->tasks = (guint32)tasks;
    for (guint64 i = 0; i < tasks; i++) {
        const double each = sum / (double)tasks;
        g_array_append_val(times, each);
    }
}

static guint32 without_hosts(const Altered *altered) {
    guint32 stages = 0, n;
    for (guint i = 0; i < altered->facts->stages->len && allowance_goes_on(); i++) {
        const AdviseStage *stage = advise_stage(altered->facts, i);
        double *ms = stage->attempt == 0 && stage->node_ms > 0 ? times_of(altered, stage->stage, &n) : NULL;
        if (ms == NULL) continue;
        cut_longest(ms, n, stage->node_ms);
        stages++;
    }
    return stages;
}

static guint32 without_finding(Altered *altered, const Finding *finding) {
    const gboolean uneven = strcmp(finding->rule, "skew") == 0 || strcmp(finding->rule, "few-partitions") == 0;
    double all_ms = 0;
    guint32 n, stages = 0;
    for (guint i = 0; i < finding->stages->len; i++) {
        const double *ms = times_of(altered, g_array_index(finding->stages, gint64, i), &n);
        if (ms != NULL) all_ms += sum_of(ms, n);
    }

    const double left = all_ms > 0 ? MAX(1 - finding->saves_ms / all_ms, 0) : 1;
    for (guint i = 0; i < finding->stages->len && (uneven || left < 1); i++) {
        const gint64 stage = g_array_index(finding->stages, gint64, i);
        double *ms = times_of(altered, stage, &n);
        if (ms == NULL) continue;
        if (uneven) even_out(altered, stage);
        for (guint32 t = 0; t < n && !uneven; t++) ms[t] *= left;
        stages++;
    }
    return stages;
}

static void add_rule(Altered *altered, const char *rule, double as_it_was_ms, GArray *found) {
    const GArray *times = altered->sim->task_ms, *all = altered->sim->stages;
    g_autoptr(GArray) own = g_array_sized_new(FALSE, FALSE, sizeof(double), times->len);
    g_autoptr(GArray) stages = g_array_sized_new(FALSE, FALSE, sizeof(SimStage), all->len);
    if (times->len > 0) g_array_append_vals(own, times->data, times->len);
    if (all->len > 0) g_array_append_vals(stages, all->data, all->len);
    altered->app = *altered->sim;
    altered->app.task_ms = own;
    altered->app.stages = stages;

    WhatIf what = {.rule = rule};
    if (strcmp(rule, "node") == 0) {
        what.stages = without_hosts(altered);
    } else {
        for (guint i = 0; i < altered->advice->findings->len && allowance_goes_on(); i++) {
            const Finding *finding = g_ptr_array_index(altered->advice->findings, i);
            if (strcmp(finding->rule, rule) == 0) what.stages += without_finding(altered, finding);
        }
    }
    if (what.stages == 0) return;
    what.time_ms = sim_app_time(&altered->app, altered->slots);
    if (what.time_ms < (1 - EARLIER_LEAST) * as_it_was_ms) g_array_append_val(found, what);
}

static gint by_time(gconstpointer a, gconstpointer b) {
    const WhatIf *x = a, *y = b;
    if (x->time_ms != y->time_ms) return x->time_ms < y->time_ms ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

GArray *what_ifs(const SimApp *sim, const AdviseFacts *facts, const Advice *advice, guint32 slots) {
    GArray *found = g_array_new(FALSE, FALSE, sizeof(WhatIf));
    g_autoptr(GHashTable) stages = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    Altered altered = {.sim = sim, .facts = facts, .advice = advice, .stages = stages, .slots = MAX(slots, 1)};
    const double as_it_was_ms = sim_app_time(sim, altered.slots);
    for (guint i = 0; i < sim->stages->len; i++) {
        SimStage *stage = &g_array_index(sim->stages, SimStage, i);
        g_hash_table_insert(stages, &stage->stage, GUINT_TO_POINTER(i + 1));
    }

    for (guint i = 0; i < advice->findings->len && allowance_goes_on(); i++) {
        const Finding *finding = g_ptr_array_index(advice->findings, i);
        if (g_hash_table_add(seen, (gpointer)finding->rule)) add_rule(&altered, finding->rule, as_it_was_ms, found);
    }
    allowance_release(altered.held);
    g_array_sort(found, by_time);
    return found;
}
