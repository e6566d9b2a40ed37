/* How much is done for a question between two looks at the clock and at whether the asker is still there. Steps are
 * branches of the code: the modules that answer questions are compiled for this test with a call at each
 * (tests.cmake). So a loop over something stored that does not ask its allowance (common/base/allowance.h) shows,
 * whoever wrote it, and no time is measured. */
#include <execinfo.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/archive/spark/spark.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

/* Some milliseconds. What the store holds is many times as much for each loop over it. */
#ifdef __SANITIZE_ADDRESS__
#define STEPS_MAX 2000000u /* its checks are branches, too */
#else
#define STEPS_MAX 1000000u
#endif
/* Statistics are made of one trace, of a group of traces (GROUP_BYTES of verify.c), at once: as much as limits of their
 * size allow. */
#define STEPS_OF_TRACE (3 * STEPS_MAX)
#define STEPS_OF_GROUP (80 * STEPS_MAX)
/* A row for each host of each function: all are given back at once. */
#define STEPS_OF_SERIES (8 * STEPS_MAX)

static guint64 steps, watched; /* watched: where too many will have been done since the last look */

/* Who fails finds the loop here: addr2line -fe test_steps +0x..., for the lines in parentheses. */
static void tell_where(void) {
    void *frames[16];
    g_print("# no look for too long:\n");
    fflush(stdout);
    backtrace_symbols_fd(frames, backtrace(frames, G_N_ELEMENTS(frames)), STDOUT_FILENO);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    if (++steps == watched) tell_where();
}

/* ---- a store that somebody has filled to harm those who ask it ---- */

#ifdef __SANITIZE_ADDRESS__ /* what leaks when the asker is gone leaks with fewer; all takes longer by far */
#define NAMES      5000u
#define TASKS      3000u
#define WIDE_HOSTS 20u
#else
#define NAMES      20000u /* ever new functions, hosts, processes and shapes */
#define TASKS      12000u
#define WIDE_HOSTS 120u /* that the wide shape ran on, one trace each */
#endif
#define NAMES_BATCH 5000u
#define WIDE_NODES  1500u /* of one shape */
#define LONG_SPANS  3000u /* of one trace, in parts */
#define PART_SPANS  1000u
#define V3_PERIOD   "query.startTimeMin=2000-01-01T00:00:00Z&query.startTimeMax=2100-01-01T00:00:00Z"
#define LONG_TRACE  G_GUINT64_CONSTANT(0x1000000000000001)
#define BASE_MS     (SAMPLE_BASE_NS / NS_PER_MS)

static Fixture hostile;

static void add_names(guint from, guint until) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint i = from; i < until; i++) {
        char name[32], tracer[64], annotations[64];
        g_snprintf(name, sizeof name, "f%05u", i);
        g_snprintf(tracer, sizeof tracer, "DataNode/host%05u/1", i);
        g_snprintf(annotations, sizeof annotations, "path=/user/anna/%05u;kind=k%u", i, i % 7);
        const SpanRow row = {.trace = 1 + (guint64)i,
                             .span = 1,
                             .name = name,
                             .tracer = tracer,
                             .begin_us = 1000 * (gint64)i,
                             .duration_us = 1 + i,
                             .annotations = annotations};
        row_to_batch(&row, batch);
    }
    fixture_store_batch(&hostile, batch);
}

static void add_wide(guint host) {
    g_autoptr(SpanBatch) batch = batch_new();
    char tracer[64], name[32];
    g_snprintf(tracer, sizeof tracer, "NameNode/wide%u/1", host);
    for (guint i = 0; i < WIDE_NODES; i++) {
        g_snprintf(name, sizeof name, "w%u", i);
        const SpanRow row = {.trace = G_GUINT64_CONSTANT(0x2000000000000000) + host,
                             .span = 1 + i,
                             .parent = i / 2, /* a tree of two branches each */
                             .name = name,
                             .tracer = tracer,
                             .begin_us = 30000000,
                             .duration_us = 5000};
        row_to_batch(&row, batch);
    }
    fixture_store_batch(&hostile, batch);
}

static void add_long(void) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint i = 0; i < LONG_SPANS; i++) {
        char name[32], tracer[64];
        g_snprintf(name, sizeof name, "f%05u", i % NAMES);
        g_snprintf(tracer, sizeof tracer, "DataNode/host%05u/1", i % 500);
        const SpanRow row = {.trace = LONG_TRACE,
                             .span = 1 + i,
                             .parent = i == 0 ? 0 : 1,
                             .name = name,
                             .tracer = tracer,
                             .begin_us = 40000000 + i,
                             .duration_us = i == 0 ? 10 * LONG_SPANS : 1};
        row_to_batch(&row, batch);
    }
    fixture_store_batch(&hostile, batch);
}

static void add_task(SparkRecords *records, guint i) {
    static const char *const hosts[] = {"host00001", "host00002", "host00003"};
    SparkTask *task = spark_add_task(records);
    task->app = "app-1", task->stage = i % 50, task->stage_attempt = 0, task->task = i;
    task->partition = (gint32)i, task->attempt = 0, task->speculative = 0;
    task->host = hosts[i % 3], task->executor = "1";
    task->launch_ms = BASE_MS + i, task->finish_ms = task->launch_ms + 1000 + (i % 97 == 0 ? 60000 : 0);
    task->status = TASK_SUCCESS;
    task->metrics[METRIC_INPUT_BYTES] = i;
}

static void add_operation(SparkRecords *records, guint i) {
    SparkOperation *operation = spark_add_operation(records);
    operation->app = "app-1", operation->stage = i % 50, operation->stage_attempt = 0, operation->task = i;
    operation->partition = (gint32)i, operation->instance = 0, operation->rdd = i % 5;
    operation->class_name = "org.apache.spark.rdd.HadoopRDD";
    operation->host = "host00001", operation->executor = "1";
    operation->begin_ns = SAMPLE_BASE_NS + i * NS_PER_MS, operation->end_ns = operation->begin_ns + NS_PER_MS;
}

static void add_link(SparkRecords *records, guint i) {
    SparkLink *link = spark_add_link(records);
    link->app = "app-1", link->task = i, link->operation = -1;
    link->trace = (gint64)(1 + i), link->span = 0, link->kind = LINK_TIME_HOST, link->confidence = 0.5;
}

static void add_sample(SparkRecords *records, guint i) {
    HostSample *sample = spark_add_sample(records);
    sample->host = "host00001", sample->source = "sar";
    sample->time_ns = SAMPLE_BASE_NS + i * NS_PER_MS, sample->interval_ns = NS_PER_MS;
    sample->user = 0.5;
}

static void add_records(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = spark_add_app(records);
    app->app = app->id = "app-1", app->name = "Join";
    app->start_ms = BASE_MS, app->end_ms = BASE_MS + 100000, app->log_complete = 1;
    for (guint i = 0; i < TASKS / 4; i++) { /* that say nothing else */
        g_autofree char *id = g_strdup_printf("other-%u", i);
        app = spark_add_app(records);
        app->app = app->id = spark_text(records, id, strlen(id)), app->start_ms = BASE_MS - 1 - i;
    }

    for (guint i = 0; i < TASKS; i++) {
        add_task(records, i);
        add_operation(records, i);
        add_link(records, i);
        add_sample(records, i);
    }

    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(hostile.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(put.refused, ==, 0);
}

static void fill(void) {
    fixture_init_parts(&hostile, PART_SPANS);
    for (guint from = 0; from < NAMES; from += NAMES_BATCH) add_names(from, from + NAMES_BATCH);
    for (guint host = 0; host < WIDE_HOSTS; host++) add_wide(host);
    add_long();
    add_records();
}

/* ---- looks ---- */

typedef struct Looks {
    guint64 n, last, gap; /* how many; steps at the last; most between two */
    guint64 gone_at;      /* 0: the asker stays */
    guint64 most;         /* steps that there may be between two */
} Looks;

static void note_look(Looks *looks) {
    looks->gap = MAX(looks->gap, steps - looks->last);
    looks->last = steps;
    watched = steps + looks->most;
}

static gboolean look(void *arg) {
    Looks *looks = arg;
    note_look(looks);
    return ++looks->n == looks->gone_at;
}

static void ask(const char *question, const char *params, Looks *looks, GError **error) {
    AllowanceBudget budget = {.limit_bytes = 0};
    Allowance allowance = {.budget = &budget, .gone = look, .arg = looks};
    allowance_begin(&allowance);
    looks->last = steps;
    note_look(looks);
    json_auto_t *answer = fixture_ask(&hostile, question, params, error);
    if (answer != NULL) {
        gsize size_bytes;
        g_free(json_compact(answer, &size_bytes));
        allowance_check(error);
    }
    json_decref(g_steal_pointer(&answer));
    note_look(looks);
    watched = 0;
    allowance_end();
}

/* Every question of the table, in the ways that lead to its loops. */
static const struct {
    const char *question, *params;
    guint64 most; /* 0: STEPS_MAX */
} cases[] = {
    {"status", "", 0},
    {"senders", "", 0},
    {"functions", "", 0},
    {"functions", "limit=20", 0},
    {"functions", "limit=20&by=host", 0},
    {"functions", "by=host&sort=q95_ns&limit=20", 0},
    {"functions", "by=host&sort=host&limit=20", 0},
    {"series", "", 0},
    {"series", "by=host&sort=ratio", STEPS_OF_SERIES},
    {"series", "by=host&field=q95_ns&sort=host&limit=0", STEPS_OF_SERIES},
    {"series/columns", "by=host&sort=ratio&limit=0", STEPS_OF_SERIES},
    {"distribution", "", 0},
    {"distribution", "of=bytes", 0},
    {"forest", "limit=20", 0},
    {"forest", "", 0},
    {"forest", "function=w7", 0},
    {"forest", "role=namenode&exclude=w3", 0},
    {"forest", "host=wide5", 0},
    {"forest", "level=tree&limit=3", 0},
    {"forest", "level=tree&function=w7&limit=3", 0},
    {"traces", "", 0},
    {"traces", "function=w7", 0},
    {"traces", "path=/user/anna/00017", 0},
    {"traces", "annotation=kind=k3&sort=spans", 0},
    {"traces", "annotation=kind=none", 0},
    {"traces", "host=host00007&sort=duration_ns", 0},
    {"traces", "incomplete=true", 0},
    {"traces", "summary=true", 0},
    {"traces", "limit=5&after=b.9000000000000000000.9000000000000000000.0000000000000001", 0},
    {"names", "", 0},
    {"names", "kind=host&text=host", 0},
    {"names", "kind=annotation", 0},
    {"contrast", "a_min_duration=10ms", 0},
    {"contrast", "a_max_duration=10ms&limit=0", 0},
    {"jaeger/services", "", 0},
    {"jaeger/operations", "service=NameNode", 0},
    {"jaeger/traces", "service=HDFS client&start=0&limit=1500", 0},
    {"jaeger/traces", "service=NameNode&operation=none&start=0&minDuration=1ms", 0},
    {"jaeger/dependencies", "lookback=2000000000000", 0},
    {"jaeger/v3/services", "", 0},
    {"jaeger/v3/operations", "service=NameNode", 0},
    {"jaeger/v3/traces/1000000000000001", "", 0},
    {"jaeger/v3/traces/2000000000000003", "", 0},
    {"jaeger/v3/traces", V3_PERIOD "&query.searchDepth=1500", 0},
    {"jaeger/v3/trace-summaries", V3_PERIOD "&query.serviceName=NameNode", 0},
    {"zipkin/services", "", 0},
    {"zipkin/spans", "serviceName=NameNode", 0},
    {"zipkin/traces", "lookback=2000000000000&limit=1500", 0},
    {"zipkin/traces", "serviceName=NameNode&spanName=none&lookback=2000000000000&minDuration=1000", 0},
    {"zipkin/trace/1000000000000001", "", 0},
    {"zipkin/traceMany", "traceIds=1000000000000001,2000000000000003", 0},
    {"zipkin/remoteServices", "serviceName=NameNode&lookback=2000000000000", 0},
    {"zipkin/dependencies", "lookback=2000000000000", 0},
    {"htraced/span/100000000000000100000000000003e9", "", 0},
    {"htraced/span/100000000000000100000000000003e9/children", "lim=ff", 0},
    {"htraced/query", "query={\"pred\":[{\"op\":\"eq\",\"field\":\"description\",\"val\":\"w7\"}],\"lim\":20}", 0},
    {"trace", "id=1000000000000001", 0},
    {"trace", "id=1000000000000001&limit=5", 0},
    {"trace", "id=2000000000000003", 0},
    {"trace/columns", "id=1000000000000001", 0},
    {"trace/columns", "id=2000000000000003&columns=self,critical", 0},
    {"trace/find", "id=1000000000000001&text=f0", 0},
    {"trace/notes", "id=1000000000000001", 0},
    {"span", "id=100000000000000100000000000003e9", 0},
    {"diff", "a=..1m&b=1m..", 0},
    {"diff", "a=..1m&b=1m..&sort=z&limit=5", 0},
    {"diff", "a=1000000000000001&b=2000000000000003", STEPS_OF_TRACE},
    {"skew", "", 0},
    {"skew", "limit=0", 0},
    {"verify", "", STEPS_OF_GROUP},
    {"stragglers", "app=app-1", 0},
    {"stragglers", "app=app-1&method=ledger", 0},
    {"operations", "app=app-1&stage=3", 0},
    {"pipelines", "app=app-1&stage=3", 0},
    {"samples", "host=host00001", 0},
    {"marks", "", 0},
    {"apps", "", 0},
    {"apps", "limit=0", 0},
    {"advise", "app=app-1", 0},
    {"advise", "app=app-1&simulate=true", 0},
    {"advise", "since=0", 0},
    {"apps", "advice=true", 0},
    {"stages", "app=app-1", 0},
    {"jobs", "app=app-1", 0},
    {"executors", "app=app-1&sort=time", 0},
    {"tasks", "app=app-1", 0},
    {"tasks", "app=app-1&limit=0&sort=duration", 0},
    {"tasks/columns", "app=app-1&stage=3", 0},
    {"tasks/columns", "app=app-1&stage=3&causes=true", 0},
    {"runs", "a=other-1&b=app-1", 0},
    {"why", "app=app-1", 0},
    {"why", "app=app-1&method=ledger", 0},
    {"why", "trace=1000000000000001", 0},
    {"why", "trace=2000000000000003", 0},
    {"nodes", "", 0},
    {"nodes", "method=paper", 0},
    {"nodes", "method=peers", 0},
    {"ends", "app=app-1", 0},
    {"predict", "app=app-1", 0},
    {"slow", "", 0},
    {"bottleneck", "root=*&traces=50", 0},
    {"bottleneck", "", 0},
    {"hosts", "", 0},
    {"hosts", "host=host00001", 0},
};

/* Looks come often, whatever is asked; and once the asker is gone, the answer ends with the next one. */
static void test_question(gconstpointer data) {
    const gsize i = GPOINTER_TO_SIZE(data);
    const guint64 most = cases[i].most > 0 ? cases[i].most : STEPS_MAX;
    Looks first = {.most = most}, all = {.most = most}; /* the first reads what is kept for others */
    g_autoptr(GError) error = NULL;
    ask(cases[i].question, cases[i].params, &first, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(first.gap, <, most);
    ask(cases[i].question, cases[i].params, &all, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(all.n, >, 0);
    g_test_message("%s: %" G_GUINT64_FORMAT " looks, at most %" G_GUINT64_FORMAT " steps from one to the next",
                   cases[i].params, first.n, first.gap);

    const guint64 at[] = {1, 1 + all.n / 3, all.n};
    for (gsize k = 0; k < G_N_ELEMENTS(at); k++) {
        g_autoptr(GError) gone = NULL;
        Looks looks = {.gone_at = at[k], .most = most};
        ask(cases[i].question, cases[i].params, &looks, &gone);
        g_assert_error(gone, PLUMB_ERROR, PLUMB_ERROR_PEER);
        g_assert_cmpuint(looks.n, ==, at[k]); /* and not one more */
        g_assert_cmpuint(looks.gap, <, most);
    }
}

static gsize most_held(const char *question, const char *params) {
    AllowanceBudget budget = {.limit_bytes = 0};
    Allowance allowance = {.budget = &budget};
    g_autoptr(GError) error = NULL;
    allowance_begin(&allowance);
    json_auto_t *answer = fixture_ask(&hostile, question, params, &error);
    json_decref(g_steal_pointer(&answer));
    allowance_end();
    g_assert_no_error(error);
    g_assert_cmpuint(budget.used_bytes, ==, 0);
    return budget.most_bytes;
}

/* What a question holds beside its answer counts: a row for each task of an application, the places of an hour. */
static void test_held(void) {
    g_assert_cmpuint(most_held("stragglers", "app=app-1&limit=1"), >, TASKS * 200);
    g_assert_cmpuint(most_held("traces", "annotation=kind=k3&limit=1&sort=begin_time_ns"), >,
                     NAMES / 7 * sizeof(guint64));
}

static void test_all_have_cases(void) {
    for (guint i = 0; question_name(i) != NULL; i++) {
        gboolean found = FALSE;
        for (gsize k = 0; k < G_N_ELEMENTS(cases); k++) found |= strcmp(cases[k].question, question_name(i)) == 0;
        if (!found) g_error("the question \"%s\" has no case in test_steps.c", question_name(i));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions(); /* so that one run tells of all */
    fill();
    g_test_add_func("/steps/all_have_cases", test_all_have_cases);
    g_test_add_func("/steps/held", test_held);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/steps/%s/%" G_GSIZE_FORMAT, cases[i].question, i);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_question);
    }
    const int failed = g_test_run();
    fixture_clear(&hostile);
    return failed;
}
