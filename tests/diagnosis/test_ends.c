/* When a stage ends: stages whose tasks are drawn, so that their true ends are known, looked at while they run. */
#include "analyzer/diagnosis/ends/stage_end.h"

#include <math.h>

#include "analyzer/diagnosis/ends/survival.h"

#define HOSTS 4u
#define CORES 4u
#define SLOTS (HOSTS * CORES)
#define TASKS 200u
#define SEEDS 20u

/* ---- survival ---- */

static void test_survival(void) {
    /* Kaplan and Meier by hand: 1, 2+, 3, 4 (2 still runs). */
    Lifetime lifetimes[] = {{3, TRUE}, {1, TRUE}, {4, TRUE}, {2, FALSE}};
    Survival survival;
    survival_init(&survival, lifetimes, 4);
    g_assert_cmpuint(survival.n, ==, 3);
    g_assert_cmpfloat(survival.share[0], ==, 0.75);
    g_assert_cmpfloat(survival.share[1], ==, 0.375);
    g_assert_cmpfloat(survival.share[2], ==, 0);
    g_assert_cmpfloat_with_epsilon(survival.mean, 10.0 / 3, 1e-12);

    g_assert_cmpfloat(survival_draw(&survival, 0, 0.9), ==, 1);
    g_assert_cmpfloat(survival_draw(&survival, 0, 0.5), ==, 3);
    g_assert_cmpfloat(survival_draw(&survival, 0, 0.1), ==, 4);
    g_assert_cmpfloat(survival_draw(&survival, 1.5, 0.6), ==, 3);
    g_assert_cmpfloat(survival_draw(&survival, 3, 0.5), ==, 4);
    /* Longer than all that was seen. */
    g_assert_cmpfloat_with_epsilon(survival_draw(&survival, 6, 0.5), 6 + log(2) * 10 / 3, 1e-9);
    survival_clear(&survival);
}

/* ---- stages ---- */

typedef struct Drawn {
    double begin_ms, end_ms;
    guint32 host;
} Drawn;

typedef struct Stage {
    Drawn tasks[TASKS];
    double end_ms;
} Stage;

typedef struct Case {
    const char *name;
    double slow;  /* times that a task takes on the last host */
    double known; /* of it before */
    double sigma; /* of ln of the durations */
} Case;

static const Case cases[] = {
    {"equal hosts", 1, 1, 0.3},
    {"a slow host, known", 3, 3, 0.3},
    {"a slow host, not known", 3, 1, 0.3},
    {"tasks that differ much", 1, 1, 0.8},
};

static double normal(GRand *rand) {
    return sqrt(-2 * log(1 - g_rand_double(rand))) * cos(2 * G_PI * g_rand_double(rand));
}

static void draw_stage(const Case *c, guint32 seed, Stage *stage) {
    GRand *rand = g_rand_new_with_seed(seed);
    double free_ms[SLOTS] = {0};
    stage->end_ms = 0;
    for (guint32 i = 0; i < TASKS; i++) {
        guint32 slot = 0;
        for (guint32 k = 1; k < SLOTS; k++)
            if (free_ms[k] < free_ms[slot]) slot = k;
        const guint32 host = slot % HOSTS;
        const double ms = 10000 * exp(c->sigma * normal(rand)) * (host == HOSTS - 1 ? c->slow : 1);
        stage->tasks[i] = (Drawn){free_ms[slot], free_ms[slot] + ms, host};
        free_ms[slot] += ms;
        stage->end_ms = MAX(stage->end_ms, free_ms[slot]);
    }
    g_rand_free(rand);
}

/* As it is seen at a time. */
static StageEnd look(const Case *c, const Stage *stage, double at_ms, const double *factors) {
    StageTask tasks[TASKS];
    const double known[HOSTS] = {1, 1, 1, c->known};
    StageNow now = {.tasks = tasks, .factors = factors ? factors : known, .n_hosts = HOSTS, .elapsed_ms = at_ms};
    for (guint32 i = 0; i < TASKS; i++) {
        const Drawn *task = &stage->tasks[i];
        if (task->begin_ms > at_ms) {
            now.waiting++;
            continue;
        }
        const gboolean ended = task->end_ms <= at_ms;
        tasks[now.n++] = (StageTask){(ended ? task->end_ms : at_ms) - task->begin_ms, task->host, ended};
    }
    StageEnd end;
    stage_end_predict(&now, &end);
    return end;
}

/* The interval has most true ends, and the median is near: nearer than progress alone where a host is
 * slow. */
static void test_case(gconstpointer data) {
    const Case *c = data;
    static const double looks[] = {0.2, 0.4, 0.6, 0.8};
    guint within = 0, n = 0;
    double error = 0, naive = 0;
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        Stage stage;
        draw_stage(c, seed, &stage);
        for (guint i = 0; i < G_N_ELEMENTS(looks); i++) {
            const double at_ms = looks[i] * stage.end_ms, left_ms = stage.end_ms - at_ms;
            const StageEnd end = look(c, &stage, at_ms, NULL);
            g_assert_true(end.known);
            g_assert_cmpfloat(end.least_ms, <=, end.left_ms);
            g_assert_cmpfloat(end.left_ms, <=, end.most_ms);
            within += left_ms >= end.least_ms && left_ms <= end.most_ms;
            error += fabs(end.left_ms - left_ms) / stage.end_ms;
            naive += fabs(end.naive_ms - left_ms) / stage.end_ms;
            n++;
        }
    }
    g_test_message("%s: within %u of %u, error %.3f, by progress alone %.3f", c->name, within, n, error / n, naive / n);
    g_assert_cmpuint(within, >=, n * 2 / 3);
    g_assert_cmpfloat(error / n, <=, 0.12);
    g_assert_cmpfloat(error, <=, naive);
}

/* Early, when no task of the slow host has ended: what is known of it before is all that tells. */
static void test_host_known_before(void) {
    const Case c = {"", 3, 3, 0.2};
    const double equal[HOSTS] = {1, 1, 1, 1};
    double known = 0, unknown = 0;
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        Stage stage;
        draw_stage(&c, seed, &stage);
        const double at_ms = 15000, left_ms = stage.end_ms - at_ms;
        known += fabs(look(&c, &stage, at_ms, NULL).left_ms - left_ms) / stage.end_ms;
        unknown += fabs(look(&c, &stage, at_ms, equal).left_ms - left_ms) / stage.end_ms;
    }
    g_test_message("known %.3f, unknown %.3f", known / SEEDS, unknown / SEEDS);
    g_assert_cmpfloat(known, <, 0.7 * unknown);
}

/* All have begun: the one on the slow host is the last, though it began first. */
static void test_last(void) {
    StageTask tasks[12];
    const double factors[] = {1, 4};
    for (guint i = 0; i < 10; i++) tasks[i] = (StageTask){10000 + 100 * i, 0, TRUE};
    tasks[10] = (StageTask){12000, 1, FALSE};
    tasks[11] = (StageTask){2000, 0, FALSE};
    const StageNow now = {.tasks = tasks, .n = 12, .factors = factors, .n_hosts = 2, .elapsed_ms = 22000};
    StageEnd end;
    stage_end_predict(&now, &end);
    g_assert_cmpuint(end.last, ==, 10);
    g_assert_cmpfloat(end.last_factor, ==, 4);
    g_assert_cmpfloat_with_epsilon(end.last_left_ms, 4 * 10500 - 12000, 2000);
    g_assert_cmpfloat_with_epsilon(end.left_ms, end.last_left_ms, 2000);
}

static void test_too_few(void) {
    StageTask tasks[6] = {{10, 0, TRUE}, {10, 0, TRUE}, {10, 0, TRUE}, {10, 0, TRUE}, {5, 0, FALSE}, {10, 0, TRUE}};
    const double factor = 1;
    StageNow now = {.tasks = tasks, .n = 5, .factors = &factor, .n_hosts = 1, .waiting = 95, .elapsed_ms = 20};
    StageEnd end;
    stage_end_predict(&now, &end);
    g_assert_false(end.known);
    g_assert_cmpfloat_with_epsilon(end.progress, 0.045, 1e-9);
    now.n = 6;
    now.waiting = 94;
    stage_end_predict(&now, &end);
    g_assert_true(end.known);

    /* None runs at the moment: as many as there are slots begin. */
    tasks[4].ended = TRUE;
    now.slots = 47;
    stage_end_predict(&now, &end);
    g_assert_cmpuint(end.last, ==, G_MAXUINT32);
    g_assert_cmpfloat_with_epsilon(end.left_ms, 20, 10.1);
    now = (StageNow){.tasks = tasks, .n = 0, .factors = &factor, .n_hosts = 1};
    stage_end_predict(&now, &end);
    g_assert_false(end.known);
}

/* Of the slots that there are only some are taken: what waits begins on the others at once. */
static void test_free_slots(void) {
    StageTask tasks[36];
    const double factor = 1;
    for (guint i = 0; i < 36; i++) tasks[i] = (StageTask){10000 + 50 * (i % 20), 0, TRUE};
    for (guint running = 0; running <= 16; running++) {
        for (guint i = 0; i < running; i++) tasks[20 + i] = (StageTask){1000, 0, FALSE};
        const StageNow now = {.tasks = tasks,
                              .n = 20 + running,
                              .factors = &factor,
                              .n_hosts = 1,
                              .waiting = 100,
                              .slots = 16,
                              .elapsed_ms = 30000};
        StageEnd end;
        stage_end_predict(&now, &end);
        g_assert_cmpfloat_with_epsilon(end.left_ms, 76000, 12000);
    }
}

/* A million tasks wait: it takes no longer than others. */
static void test_many(void) {
    g_autofree StageTask *tasks = g_new(StageTask, 1000);
    const double factor = 1;
    for (guint i = 0; i < 1000; i++) tasks[i] = (StageTask){100 + i % 10, 0, i < 900};
    const StageNow now = {
        .tasks = tasks, .n = 1000, .factors = &factor, .n_hosts = 1, .waiting = 1000000, .elapsed_ms = 1000};
    StageEnd end;
    stage_end_predict(&now, &end);
    g_assert_cmpfloat_with_epsilon(end.left_ms, 1045000, 60000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/ends/survival", test_survival);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/diagnosis/ends/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/diagnosis/ends/host-known-before", test_host_known_before);
    g_test_add_func("/diagnosis/ends/last", test_last);
    g_test_add_func("/diagnosis/ends/too-few", test_too_few);
    g_test_add_func("/diagnosis/ends/free-slots", test_free_slots);
    g_test_add_func("/diagnosis/ends/many", test_many);
    return g_test_run();
}
