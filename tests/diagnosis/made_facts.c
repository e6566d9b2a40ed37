#include "tests/diagnosis/made_facts.h"

#include <string.h>

void made_plain(Made *made) {
    *made = (Made){.app = {.app = "app-1", .version = "3.5.6"}};
    made->app.properties.items = made->pairs;
    made->facts = advise_facts_new(&made->app);
}

void made_init(Made *made) {
    made_plain(made);
    AdviseFacts *facts = made->facts;
    facts->end_ms = 100000;
    facts->slots = facts->most_tasks = 4;
    facts->held_ms = 400000;
    facts->task_ms = facts->run_ms = 360000;
    for (guint i = 0; i < 2; i++) {
        const AdviseExecutor executor = {.id = i == 0 ? "0" : "1", .cores = 2, .tasks = 4, .end_ms = 100000};
        g_array_append_val(facts->executors, executor);
    }
    AdviseStage stage = {.stage = 7, .name = "Exchange", .sql = TRUE, .tasks = 8, .end_ms = 90000, .task_ms = 360000};
    stage.sums[METRIC_RUN_MS] = 360000;
    stage.time = stage.run = (AdviseSpread){8, 45000, 45000, 45000, 45000, 1, 1};
    g_array_append_val(facts->stages, stage);
}

void made_clear(Made *made) { advise_facts_free(made->facts); }

void made_set(Made *made, const char *key, const char *value) {
    for (guint i = 0; i < made->app.properties.n; i++)
        if (strcmp(made->pairs[i].key, key) == 0) {
            made->pairs[i].value = value;
            return;
        }
    made->pairs[made->app.properties.n++] = (SparkPair){key, value};
}

AdviseStage *made_stage(Made *made) { return advise_stage(made->facts, 0); }

AdviseSpread made_spread(double median, double max) {
    return (AdviseSpread){
        .n = 8, .median = median, .p75 = median, .mean = median, .max = max, .max_task = 3, .max_partition = 5};
}

/* What every finding has: what is wrong, what shows it, and what to do. A setting is never changed without why so much,
 * and what may become worse; nothing is said to be saved beyond what it costs. */
static void assert_whole(const Finding *finding) {
    g_assert_nonnull(finding->what);
    g_assert_cmpuint(finding->evidence->len, >, 0);
    g_assert_true(finding->advice != NULL || finding->changes->len > 0);
    g_assert_cmpfloat(finding->saves_ms, <=, finding->cost_ms + 1e-6);
    if (finding->changes->len == 0) return;
    g_assert_nonnull(finding->formula);
    g_assert_nonnull(finding->risk);
}

const Finding *finding_of(const Advice *advice, const char *rule) {
    const Finding *found = NULL;
    for (guint i = 0; i < advice->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(advice->findings, i);
        assert_whole(finding);
        if (found == NULL && strcmp(finding->rule, rule) == 0) found = finding;
    }
    return found;
}

const Change *change_of(const Finding *finding, guint i) {
    g_assert_cmpuint(i, <, finding->changes->len);
    return &g_array_index(finding->changes, Change, i);
}

void assert_cost(const Made *made, const char *rule, double ms) {
    g_autoptr(Advice) advice = advise(made->facts, FALSE);
    g_assert_cmpfloat_with_epsilon(finding_of(advice, rule)->cost_ms, ms, 1);
}

void assert_change(const Finding *finding, guint i, const char *key, const char *to) {
    g_assert_cmpstr(change_of(finding, i)->key, ==, key);
    g_assert_cmpstr(change_of(finding, i)->to, ==, to);
}
