/* How long an application takes with another number of executors, and without what rules found: schedules worked out by
 * hand. */
#include "analyzer/diagnosis/advise/what_if.h"
#include "tests/diagnosis/made_facts.h"

static void add_sim_stage(SimApp *sim, gint64 number, guint32 round, const SimStage *like, const double *ms) {
    SimStage stage = *like;
    stage.stage = number, stage.round = round, stage.first_task = sim->task_ms->len;
    if (stage.tasks > 0) g_array_append_vals(sim->task_ms, ms, stage.tasks);
    g_array_append_val(sim->stages, stage);
}

/* Two scans and their join, whose other input was there already; then, after the driver, a job of one stage. By hand:
 *   1 slot: 3 + 3 + 3 + 4 + 4 + 5 = 22, and 2 + 2 + 2
 *   2 slots: scans 3 3 | 3 4 | 4: the third of the first ends at 6, the second's at 7 and 10; the join then takes 5;
 *            then 4. With the driver's 10 s in any case. */
static void test_simulation(void) {
    static const double scan[] = {3000, 3000, 3000}, other[] = {4000, 4000}, join[] = {5000};
    static const double later[] = {2000, 2000, 2000};
    static const gint64 parents[] = {0, 1, 2};
    g_autoptr(SimApp) sim = sim_app_new();
    sim->driver_ms = 10000;
    add_sim_stage(sim, 0, 1, &(SimStage){.tasks = 3}, scan);
    add_sim_stage(sim, 1, 1, &(SimStage){.tasks = 2}, other);
    add_sim_stage(sim, 2, 1, &(SimStage){.tasks = 0, .parents = parents, .n_parents = 1}, NULL);
    add_sim_stage(sim, 3, 1, &(SimStage){.tasks = 1, .parents = parents, .n_parents = 3}, join);
    add_sim_stage(sim, 4, 2, &(SimStage){.tasks = 3}, later);

    g_assert_cmpfloat(sim_app_work(sim), ==, 28000);
    g_assert_cmpfloat(sim_app_time(sim, 1), ==, 10000 + 22000 + 6000);
    g_assert_cmpfloat(sim_app_time(sim, 2), ==, 10000 + 10000 + 5000 + 4000);
    g_assert_cmpfloat(sim_app_time(sim, 3), ==, 10000 + 7000 + 5000 + 2000);
    g_assert_cmpfloat(sim_app_time(sim, 5), ==, 10000 + 4000 + 5000 + 2000);
    g_assert_cmpfloat(sim_app_time(sim, 0), ==, sim_app_time(sim, 100));

    /* The first task of each slot takes 10 s more: of one slot one, of two two, of three the scans' first three. */
    sim->start_ms = 10000;
    g_assert_cmpfloat(sim_app_time(sim, 1), ==, 10000 + 22000 + 6000 + 10000);
    g_assert_cmpfloat(sim_app_time(sim, 2), ==, 10000 + 10000 + 5000 + 4000 + 10000);
    g_assert_cmpfloat(sim_app_time(sim, 3), ==, 10000 + 7000 + 5000 + 2000 + 10000);
    g_assert_cmpfloat(sim_app_time(sim, 0), ==, 10000 + 4000 + 5000 + 2000); /* all have started */

    /* A job that begins while another runs waits for its time, not for the other. */
    g_autoptr(SimApp) two = sim_app_new();
    add_sim_stage(two, 0, 1, &(SimStage){.tasks = 1}, join);
    add_sim_stage(two, 1, 1, &(SimStage){.tasks = 1, .offset_ms = 2000}, join);
    g_assert_cmpfloat(sim_app_time(two, 1), ==, 10000);
    g_assert_cmpfloat(sim_app_time(two, 2), ==, 7000);

    /* Stages that wait for each other, as a damaged log may say, are never done: it ends all the same. */
    static const gint64 circle[] = {1, 0};
    g_autoptr(SimApp) round = sim_app_new();
    add_sim_stage(round, 0, 1, &(SimStage){.tasks = 1, .parents = circle, .n_parents = 1}, join);
    add_sim_stage(round, 1, 1, &(SimStage){.tasks = 1, .parents = circle + 1, .n_parents = 1}, join);
    g_assert_cmpfloat(sim_app_time(round, 1), ==, 0);
    g_autoptr(SimApp) none = sim_app_new();
    g_assert_cmpfloat(sim_app_time(none, 3), ==, 0);
}

/* ---- without what a rule found ---- */

static Finding *add_found(Advice *advice, const char *rule, gint64 stage, double saves_ms) {
    Finding *finding = advice_add(advice, rule, FINDING_LIKELY);
    finding->saves_ms = saves_ms;
    g_array_append_val(finding->stages, stage);
    return finding;
}

/* A stage of one task of 40 s and seven of 5 s on four cores takes 40 s: evenly spread it takes 75 / 4 s, without the
 * 35 s that a host cost 10 s, with half of the time of each task 20 s. */
static void test_what_if(void) {
    static const double tasks[] = {40000, 5000, 5000, 5000, 5000, 5000, 5000, 5000};
    g_auto(Made) made;
    made_init(&made);
    g_autoptr(SimApp) sim = sim_app_new();
    sim->driver_ms = 1000;
    add_sim_stage(sim, 7, 1, &(SimStage){.tasks = 8}, tasks);
    g_autoptr(Advice) advice = advice_new();
    add_found(advice, "spill", 7, 37500);
    add_found(advice, "skew", 7, 0);
    add_found(advice, "node", 7, 0);
    add_found(advice, "gc", 7, 0);         /* nothing is said to be saved */
    add_found(advice, "spill", 99, 10000); /* nothing is known of that stage */
    made_stage(&made)->node_ms = 35000;

    g_autoptr(GArray) found = what_ifs(sim, made.facts, advice, 4);
    static const WhatIf expected[] = {{"node", 1, 11000}, {"skew", 1, 19750}, {"spill", 1, 21000}};
    g_assert_cmpuint(found->len, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < found->len; i++) {
        const WhatIf *what = &g_array_index(found, WhatIf, i);
        g_assert_cmpstr(what->rule, ==, expected[i].rule);
        g_assert_cmpuint(what->stages, ==, expected[i].stages);
        g_assert_cmpfloat_with_epsilon(what->time_ms, expected[i].time_ms, 1e-6);
    }
    g_assert_cmpfloat(sim_app_time(sim, 4), ==, 41000); /* as it was */

    made_stage(&made)->node_ms = 1e9; /* more than there was */
    g_autoptr(GArray) all = what_ifs(sim, made.facts, advice, 4);
    g_assert_cmpfloat(g_array_index(all, WhatIf, 0).time_ms, ==, 1000);
}

/* On four cores: 40 s of work, evened out in two waves of 5 s, and then three tasks of 10 s beside none of it. */
static void test_what_if_beside(void) {
    static const double uneven[] = {30000, 3000, 3000, 2000, 2000}, other[] = {10000, 10000, 10000};
    g_auto(Made) made;
    made_init(&made);
    g_autoptr(SimApp) sim = sim_app_new();
    add_sim_stage(sim, 7, 1, &(SimStage){.tasks = 5}, uneven);
    add_sim_stage(sim, 8, 1, &(SimStage){.tasks = 3}, other);
    g_autoptr(Advice) advice = advice_new();
    add_found(advice, "skew", 7, 0);
    g_autoptr(GArray) found = what_ifs(sim, made.facts, advice, 4);
    g_assert_cmpuint(found->len, ==, 1);
    g_assert_cmpfloat_with_epsilon(g_array_index(found, WhatIf, 0).time_ms, 20000, 1e-6);
    g_assert_cmpfloat(sim_app_time(sim, 4), ==, 30000); /* as it was */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/simulation", test_simulation);
    g_test_add_func("/advise/what_if", test_what_if);
    g_test_add_func("/advise/what_if/beside", test_what_if_beside);
    return g_test_run();
}
