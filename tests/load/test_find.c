/* The search for the greatest rate: on clusters that are functions of the rate; and the limits of runs. */
#include <math.h>
#include <string.h>

#include "analyzer/load/results/find_max.h"
#include "analyzer/load/results/report.h"
#include "common/base/error.h"
#include "common/base/mix64.h"
#include "tests/load/records.h"

#define MS G_GINT64_CONSTANT(1000000)
#define S  G_GINT64_CONSTANT(1000000000)

/* What a cluster says of a rate. */
typedef FindStep (*Cluster)(FindStep next, guint64 *state);

static FindStep sharp(FindStep next, guint64 *state) {
    (void)state;
    next.verdict = next.rate <= 437 ? STEP_HOLDS : STEP_FAILS;
    next.within = next.rate <= 437;
    return next;
}

/* Near 437 a run does not decide, and its value lies on either side. */
static FindStep noisy(FindStep next, guint64 *state) {
    const double distance = log(next.rate / 437), noise = (double)(mix64_next(state) % 1000) / 1000 - 0.5;
    next.within = distance + 0.2 * noise <= 0;
    next.verdict = fabs(distance) < 0.15 ? STEP_UNDECIDED : distance < 0 ? STEP_HOLDS : STEP_FAILS;
    return next;
}

static FindStep never(FindStep next, guint64 *state) {
    (void)state;
    next.verdict = STEP_FAILS;
    return next;
}

static FindStep always(FindStep next, guint64 *state) {
    (void)state;
    next.verdict = STEP_HOLDS;
    return next;
}

static FindStep slow_generator(FindStep next, guint64 *state) {
    next = sharp(next, state);
    if (next.verdict == STEP_FAILS) next.verdict = STEP_GENERATOR;
    return next;
}

static guint search(const FindSettings *settings, Cluster cluster, FindStep *steps) {
    guint64 state = 7;
    guint n = 0;
    FindStep next;
    while (find_next(settings, steps, n, &next)) {
        g_assert_cmpuint(n, <, FIND_STEPS_MOST);
        g_assert_cmpfloat(next.rate, >, 0);
        g_assert_cmpuint(next.search, >=, n > 0 ? steps[n - 1].search : 1);
        steps[n++] = cluster(next, &state);
    }
    return n;
}

static void test_searches(void) {
    const double starts[] = {1, 37, 300, 437, 5000};
    for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
        const FindSettings settings = {.start = starts[i], .precision = 0.1, .searches = 3};
        FindStep steps[FIND_STEPS_MOST];
        const guint n = search(&settings, sharp, steps);
        for (guint s = 1; s <= 3; s++) {
            const FindBracket bracket = find_bracket(steps, n, s);
            g_assert_cmpfloat(bracket.held, <=, 437);
            g_assert_cmpfloat(bracket.failed, >, 437);
            g_assert_cmpfloat(bracket.failed / bracket.held, <=, 1.1 + 1e-6);
            g_assert_false(bracket.generator);
        }
        g_assert_cmpuint(n, <=, 30);
    }
}

static void test_noise(void) {
    const FindSettings settings = {.start = 100, .precision = 0.05, .searches = 5};
    FindStep steps[FIND_STEPS_MOST];
    const guint n = search(&settings, noisy, steps);
    for (guint s = 1; s <= 5; s++) {
        const FindBracket bracket = find_bracket(steps, n, s);
        g_assert_cmpfloat(bracket.held, >, 437 * 0.8);
        g_assert_cmpfloat(bracket.failed, <, 437 * 1.25);
    }
    /* A rate that is not decided is tried again, three times at most. */
    for (guint i = 0; i < n; i++) {
        guint same = 0;
        for (guint j = 0; j < n; j++) same += steps[j].search == steps[i].search && steps[j].rate == steps[i].rate;
        g_assert_cmpuint(same, ==, steps[i].verdict == STEP_UNDECIDED ? 3 : 1);
    }
}

static void test_without_an_end(void) {
    const FindSettings settings = {.start = 10, .precision = 0.1, .searches = 2};
    FindStep steps[FIND_STEPS_MOST];
    guint n = search(&settings, never, steps);
    FindBracket bracket = find_bracket(steps, n, 1);
    g_assert_true(bracket.held <= 0 && bracket.failed > 0 && bracket.failed < 0.03);
    n = search(&settings, always, steps);
    bracket = find_bracket(steps, n, 1);
    g_assert_true(bracket.failed <= 0 && bracket.held > 5e5);
    n = search(&settings, slow_generator, steps);
    g_assert_true(find_bracket(steps, n, 2).generator);
}

static void test_report(void) {
    const FindSettings settings = {.start = 100, .precision = 0.1, .searches = 2};
    FindStep steps[FIND_STEPS_MOST];
    LoadLimits limits;
    g_assert_true(load_limits_parse("p99<=50ms", &limits, NULL));
    json_auto_t *document = find_report_new("f", "p99<=50ms", &limits, &settings);
    json_auto_t *run = json_pack("{s:s, s:{}}", "end", "done", "head");
    const guint n = search(&settings, sharp, steps);
    for (guint i = 0; i < n; i++) find_report_add(document, &limits, &steps[i], "p99 is within", run);
    find_report_end(document, steps, n, TRUE);
    const double held = json_real_value(json_object_get(document, "held_per_s"));
    const double failed = json_real_value(json_object_get(document, "failed_per_s"));
    g_assert_true(held <= 437 && failed > 437 && failed / held < 1.22);
    g_assert_cmpuint(json_array_size(json_object_get(document, "searches")), ==, 2);
    g_assert_cmpuint(json_array_size(json_object_get(document, "steps")), ==, n);
    g_assert_cmpint(json_integer_value(json_object_get(document, "bound_ns")), ==, 50 * MS);
}

/* The latency beside a bound is of what the bound is of. */
static void test_report_of_a_kind(void) {
    static const struct {
        const char *limits, *kind;
        gint64 max_ns; /* 0: there is none */
    } cases[] = {{"lag<=1s,write:p99<=50ms,p99<=1s", "write", 7}, {"p50<=1s", "all", 9}, {"read:p50<=1s", "read", 0}};
    const FindSettings settings = {.start = 100, .precision = 0.1, .searches = 1};
    json_auto_t *run = json_pack("{s:s, s:{}, s:[{s:s, s:{s:i}}, {s:s, s:{s:i}}]}", "end", "done", "head", "kinds",
                                 "kind", "write", "latency", "max_ns", 7, "kind", "all", "latency", "max_ns", 9);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        LoadLimits limits;
        g_assert_true(load_limits_parse(cases[i].limits, &limits, NULL));
        json_auto_t *document = find_report_new("f", cases[i].limits, &limits, &settings);
        find_report_add(document, &limits, &(FindStep){.search = 1, .rate = 100}, "", run);
        g_assert_cmpstr(json_string_value(json_object_get(document, "kind")), ==, cases[i].kind);
        const json_t *step = json_array_get(json_object_get(document, "steps"), 0);
        const json_t *latency = json_object_get(step, "latency");
        g_assert_cmpint(json_integer_value(json_object_get(latency, "max_ns")), ==, cases[i].max_ns);
        g_assert_true(json_is_null(latency) == (cases[i].max_ns == 0));
    }
}

static const struct {
    const char *text, *error; /* NULL: it is sound */
} texts[] = {
    {"p99<=50ms", NULL},
    {"read:p999 <= 2s, errors<=0.5%, lag<=10ms", NULL},
    {"p50<=1ms,p90<=1ms,p95<=1ms,p99<=1ms,p999<=1ms,lag<=1s,errors<=0", NULL},
    {"", "a bound of a latency"},
    {"p99", "lacks its bound"},
    {"p99<50ms", "lacks its bound"},
    {"p98<=50ms", "'p98' is none of"},
    {"raed:p99<=50ms", "no kind 'raed'"},
    {"read:errors<=1%", "'errors' is none of"},
    {"p99<=50", "must be a time"},
    {"p99<=0ms", "must be a time"},
    {"p99<=2h", "an hour at most"},
    {"errors<=1%", "a bound of a latency"},
    {"p99<=1s,errors<=101%", "0 to 100 percent"},
    {"p99<=1s,errors<=x", "0 to 100 percent"},
    {"p99<=1s\nx", "more than one line"},
    {"p50<=1s,p50<=1s,p50<=1s,p50<=1s,p50<=1s,p50<=1s,p50<=1s,p50<=1s", "7 bounds at most"},
};

static void test_limits(void) {
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        LoadLimits limits;
        const gboolean sound = load_limits_parse(texts[i].text, &limits, &error);
        g_assert_true(sound == (texts[i].error == NULL));
        if (sound) g_assert_nonnull(load_limits_first(&limits));
        if (!sound) g_assert_nonnull(strstr(error->message, texts[i].error));
    }
}

static const struct {
    const char *limits;
    gint64 p99_most_ns;
} stops[] = {
    {"p99<=50ms", 50 * MS},
    {"p50<=5ms", 0},
    {"read:p99<=50ms", 0},
    {"p50<=1ms,read:p99<=5ms,p99<=2s", 2 * S},
    {"p99<=50ms,p999<=1s", 1 * S},
    {"p999<=40ms,p99<=50ms", 50 * MS},
    {"p95<=9ms,lag<=1s,errors<=0", 0},
};

/* A step is stopped for the p99 of all operations, so only a bound of that may say when. */
static void test_stops(void) {
    for (guint i = 0; i < G_N_ELEMENTS(stops); i++) {
        LoadLimits limits;
        g_assert_true(load_limits_parse(stops[i].limits, &limits, NULL));
        g_assert_cmpint(load_limits_p99_most_ns(&limits), ==, stops[i].p99_most_ns);
    }
}

/* n operations of 1 to n ms, a twentieth of a second apart; failed of them. */
static json_t *report_of(guint n, guint failed, LoadRunEnd end) {
    g_autoptr(GByteArray) result = result_begin("");
    result_text(result, 1, "IOException");
    for (guint i = 0; i < n; i++) {
        const gint64 due = S + i * S / 20;
        const MadeOperation operation = {.kind = LOAD_READ,
                                         .error = i < failed,
                                         .number = 5 + i,
                                         .due_ns = due,
                                         .begin_ns = due,
                                         .end_ns = due + (gint64)(i * 7 % n + 1) * MS};
        result_operation(result, &operation);
    }
    result_end(result, end, 12 * S, 5 + n);
    g_autoptr(LoadRunReader) reader = load_run_reader_new();
    g_assert_true(load_run_read(reader, (Bytes){result->data, result->len}, NULL));
    g_autoptr(LoadRun) run = load_run_read_end(reader, NULL);
    return load_report(run, "r", &(LoadReportOptions){.slowest = 0});
}

static const struct {
    const char *limits;
    guint n, failed;
    LoadRunEnd end;
    LoadVerdict verdict;
    gboolean within;
} judged[] = {
    {"p50<=150ms", 200, 0, RUN_DONE, STEP_HOLDS, TRUE},
    {"p50<=50ms", 200, 0, RUN_DONE, STEP_FAILS, FALSE},
    {"p50<=101ms", 200, 0, RUN_DONE, STEP_UNDECIDED, TRUE},
    {"p50<=99ms", 200, 0, RUN_DONE, STEP_UNDECIDED, FALSE},
    {"p99<=500ms", 200, 0, RUN_DONE, STEP_UNDECIDED, TRUE}, /* too few for an upper end */
    {"read:p50<=150ms", 200, 0, RUN_DONE, STEP_HOLDS, TRUE},
    {"write:p50<=150ms", 200, 0, RUN_DONE, STEP_FAILS, FALSE},
    {"p50<=150ms", 200, 3, RUN_DONE, STEP_FAILS, FALSE}, /* 1 % may */
    {"p50<=150ms,errors<=2%", 200, 3, RUN_DONE, STEP_HOLDS, TRUE},
    {"p50<=150ms", 200, 0, RUN_LAG, STEP_FAILS, FALSE},
    {"p50<=150ms", 0, 0, RUN_DONE, STEP_FAILS, FALSE},
};

static void test_judgements(void) {
    for (guint i = 0; i < G_N_ELEMENTS(judged); i++) {
        LoadLimits limits;
        json_auto_t *report = report_of(judged[i].n, judged[i].failed, judged[i].end);
        g_assert_true(load_limits_parse(judged[i].limits, &limits, NULL));
        const LoadJudgement judgement = load_judge(&limits, report);
        g_test_message("%s: %s", judged[i].limits, judgement.why);
        g_assert_cmpint(judgement.verdict, ==, judged[i].verdict);
        g_assert_cmpint(judgement.within, ==, judged[i].within);
        g_free(judgement.why);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/find/searches", test_searches);
    g_test_add_func("/load/find/noise", test_noise);
    g_test_add_func("/load/find/without-an-end", test_without_an_end);
    g_test_add_func("/load/find/report", test_report);
    g_test_add_func("/load/find/report-of-a-kind", test_report_of_a_kind);
    g_test_add_func("/load/find/limits", test_limits);
    g_test_add_func("/load/find/stops", test_stops);
    g_test_add_func("/load/find/judgements", test_judgements);
    return g_test_run();
}
