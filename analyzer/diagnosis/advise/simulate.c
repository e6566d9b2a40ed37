#include "analyzer/diagnosis/advise/simulate.h"

#include "common/base/allowance.h"

SimApp *sim_app_new(void) {
    SimApp *app = g_new0(SimApp, 1);
    app->stages = g_array_new(FALSE, TRUE, sizeof(SimStage));
    app->task_ms = g_array_new(FALSE, FALSE, sizeof(double));
    return app;
}

void sim_app_free(SimApp *app) {
    if (app == NULL) return;
    g_array_unref(app->stages);
    g_array_unref(app->task_ms);
    g_free(app);
}

double sim_app_work(const SimApp *app) {
    double sum = 0;
    for (guint i = 0; i < app->task_ms->len; i++) sum += g_array_index(app->task_ms, double, i);
    return sum;
}

/* ---- what happens next: a binary heap by time ---- */

typedef struct SimEvent {
    double at_ms;
    guint32 stage;   /* index in the round */
    gboolean begins; /* its job does; else one of its tasks ends */
} SimEvent;

static SimEvent *event_at(const GArray *heap, guint i) { return &g_array_index(heap, SimEvent, i); }

static void swap(const GArray *heap, guint a, guint b) {
    const SimEvent kept = *event_at(heap, a);
    *event_at(heap, a) = *event_at(heap, b);
    *event_at(heap, b) = kept;
}

static void heap_push(GArray *heap, SimEvent event) {
    g_array_append_val(heap, event);
    for (guint i = heap->len - 1; i > 0 && event_at(heap, i)->at_ms < event_at(heap, (i - 1) / 2)->at_ms;
         i = (i - 1) / 2)
        swap(heap, i, (i - 1) / 2);
}

static SimEvent heap_pop(GArray *heap) {
    const SimEvent first = *event_at(heap, 0);
    *event_at(heap, 0) = *event_at(heap, heap->len - 1);
    g_array_set_size(heap, heap->len - 1);
    for (guint i = 0;;) {
        guint least = i;
        for (guint child = 2 * i + 1; child <= 2 * i + 2 && child < heap->len; child++)
            if (event_at(heap, child)->at_ms < event_at(heap, least)->at_ms) least = child;
        if (least == i) return first;
        swap(heap, i, least);
        i = least;
    }
}

/* ---- one round ---- */

typedef struct SimState {
    guint32 waits_for; /* parents that are not done, and its job's begin */
    guint32 begun, ended;
} SimState;

typedef struct Round {
    const SimApp *app;
    guint first, n; /* of its stages */
    SimState *states;
    GHashTable *numbers;  /* of a stage -> index + 1 in the round */
    guint32 *first_child; /* n + 1: of a stage's children in 'children' */
    GArray *children;     /* guint32 */
    GArray *heap;
    guint32 free_slots;
    guint32 *fresh; /* slots that have had no task, of all rounds */
    guint next;     /* no stage before it has tasks to begin */
    double now_ms;
} Round;

static const SimStage *stage_in(const Round *round, guint i) {
    return &g_array_index(round->app->stages, SimStage, round->first + i);
}

/* Index + 1; 0: it is not in the round, or the stage itself. */
static guint parent_in(const Round *round, guint i, guint32 parent) {
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(round->numbers, &stage_in(round, i)->parents[parent]));
    return at == i + 1 ? 0 : at;
}

/* One thing less that it waits for. What has no tasks is done at once: its shuffle was there already. */
static void release(Round *round, guint i) {
    if (--round->states[i].waits_for > 0) return;
    round->next = MIN(round->next, i);
    if (stage_in(round, i)->tasks == 0) heap_push(round->heap, (SimEvent){round->now_ms, i, FALSE});
}

static void stage_done(Round *round, guint done) {
    for (guint32 c = round->first_child[done]; c < round->first_child[done + 1]; c++)
        release(round, g_array_index(round->children, guint32, c));
}

static void begin_tasks(Round *round) {
    for (; round->next < round->n && round->free_slots > 0 && allowance_goes_on(); round->next++) {
        const SimStage *stage = stage_in(round, round->next);
        SimState *state = &round->states[round->next];
        if (state->waits_for > 0) continue;
        for (; state->begun < stage->tasks && round->free_slots > 0; state->begun++, round->free_slots--) {
            double ms = g_array_index(round->app->task_ms, double, stage->first_task + state->begun);
            if (*round->fresh > 0) {
                (*round->fresh)--;
                ms += round->app->start_ms;
            }
            heap_push(round->heap, (SimEvent){round->now_ms + ms, round->next, FALSE});
        }
        if (state->begun < stage->tasks) return; /* the slots are full */
    }
}

/* Who waits for whom: first how many, then where each one's begin, then who they are. */
static void find_children(Round *round) {
    guint32 *first = round->first_child;
    for (guint i = 0; i < round->n && allowance_goes_on(); i++) {
        round->states[i].waits_for = 1; /* for its job's begin */
        for (guint32 p = 0; p < stage_in(round, i)->n_parents; p++) {
            const guint parent = parent_in(round, i, p);
            if (parent == 0) continue;
            round->states[i].waits_for++;
            first[parent]++;
        }
    }
    for (guint i = 0; i < round->n; i++) first[i + 1] += first[i];

    g_array_set_size(round->children, first[round->n]);
    g_autofree guint32 *at = g_memdup2(first, round->n * sizeof *at);
    for (guint i = 0; i < round->n && allowance_goes_on(); i++) {
        for (guint32 p = 0; p < stage_in(round, i)->n_parents; p++) {
            const guint parent = parent_in(round, i, p);
            if (parent > 0) g_array_index(round->children, guint32, at[parent - 1]++) = i;
        }
    }
}

static double round_time(Round *round) {
    for (guint i = 0; i < round->n; i++)
        g_hash_table_insert(round->numbers, (gpointer)&stage_in(round, i)->stage, GUINT_TO_POINTER(i + 1));
    find_children(round);
    for (guint i = 0; i < round->n; i++) heap_push(round->heap, (SimEvent){stage_in(round, i)->offset_ms, i, TRUE});

    while (round->heap->len > 0 && allowance_goes_on()) {
        const SimEvent event = heap_pop(round->heap);
        const guint32 tasks = stage_in(round, event.stage)->tasks;
        round->now_ms = event.at_ms;
        if (event.begins) {
            release(round, event.stage);
        } else {
            round->free_slots += tasks > 0;
            if (++round->states[event.stage].ended >= tasks) stage_done(round, event.stage);
        }
        begin_tasks(round);
    }
    return round->now_ms;
}

double sim_app_time(const SimApp *app, guint32 slots) {
    double time_ms = app->driver_ms;
    guint32 fresh = slots;
    for (guint first = 0; first < app->stages->len && allowance_goes_on();) {
        guint n = 0;
        const guint32 number = g_array_index(app->stages, SimStage, first).round;
        while (first + n < app->stages->len && g_array_index(app->stages, SimStage, first + n).round == number) n++;

        g_autofree SimState *states = g_new0(SimState, n);
        g_autoptr(GHashTable) numbers = g_hash_table_new(g_int64_hash, g_int64_equal);
        g_autofree guint32 *first_child = g_new0(guint32, n + 1);
        g_autoptr(GArray) heap = g_array_new(FALSE, FALSE, sizeof(SimEvent));
        g_autoptr(GArray) children = g_array_new(FALSE, TRUE, sizeof(guint32));
        Round round = {.app = app, .first = first, .n = n, .states = states, .numbers = numbers};
        round.first_child = first_child;
        round.children = children;
        round.heap = heap;
        round.fresh = &fresh;
        round.free_slots = slots > 0 ? slots : MAX(app->task_ms->len, 1);

        time_ms += round_time(&round);
        first += n;
    }
    return time_ms;
}
