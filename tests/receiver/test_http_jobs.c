/* The queue of questions: who has a place in it, and how one leaves it. */
#include "receiver/http/http_jobs.h"

/* A gate and a recovery that goes on are all that a flush looks at before it is begun. */
typedef struct Setup {
    Admission *admission;
    RecoveryView recovery;
    AllowanceBudget questions;
    HttpJobs *jobs;
} Setup;

static void nobody_waits(void *arg) { (void)arg; }

static void setup_init(Setup *setup, guint n_threads, guint queue) {
    *setup = (Setup){.admission = admission_new()};
    atomic_init(&setup->recovery.goes_on, TRUE);
    setup->jobs = http_jobs_start(&(HttpJobsOptions){
        .n_threads = n_threads,
        .per_peer = MAX(n_threads, 1),
        .queue = queue,
        .backend = {.admission = setup->admission, .recovery = &setup->recovery, .questions = &setup->questions},
        .ready = nobody_waits});
}

/* How many answers are there, each to a job of its own, which is freed. */
static guint take_answers(HttpJobs *jobs, int code) {
    guint n = 0;
    for (HttpAnswer *answer = http_jobs_take(jobs), *next; answer != NULL; answer = next, n++) {
        next = answer->next;
        g_assert_true(answer->last);
        g_assert_cmpint(answer->code, ==, code);
        http_job_free(answer->job);
        http_answer_free(answer);
    }
    return n;
}

/* The number of answers to what still waited. */
static guint setup_end(Setup *setup) {
    http_jobs_stop(setup->jobs);
    const guint n = take_answers(setup->jobs, 503);
    http_jobs_free(setup->jobs);
    admission_free(setup->admission);
    return n;
}

static HttpJob *job_new(JobKind kind) { return http_job_new(kind, "status", query_params_new(), NULL); }

static HttpJob *put(HttpJobs *jobs, JobKind kind) {
    HttpJob *job = job_new(kind);
    g_assert_true(http_jobs_put(jobs, job));
    return job;
}

static void assert_full(HttpJobs *jobs) {
    HttpJob *job = job_new(JOB_QUERY);
    g_assert_false(http_jobs_put(jobs, job));
    http_job_free(job);
}

static void withdraw(HttpJobs *jobs, HttpJob *job) {
    g_assert_true(http_jobs_withdraw(jobs, job));
    g_assert_false(http_jobs_withdraw(jobs, job));
    http_job_free(job);
}

static void test_flushes_have_one_place(void) {
    Setup setup;
    setup_init(&setup, 0, 2);
    for (guint i = 0; i < 100; i++) put(setup.jobs, JOB_FLUSH);
    put(setup.jobs, JOB_QUERY);
    assert_full(setup.jobs);
    put(setup.jobs, JOB_FLUSH);
    g_assert_cmpuint(setup_end(&setup), ==, 102);
}

static void test_who_leaves_makes_room(void) {
    Setup setup;
    setup_init(&setup, 0, 2);
    HttpJob *flushes[3];
    for (guint i = 0; i < 3; i++) flushes[i] = put(setup.jobs, JOB_FLUSH);
    HttpJob *query = put(setup.jobs, JOB_QUERY);
    for (guint i = 0; i < 3; i++) {
        assert_full(setup.jobs);
        withdraw(setup.jobs, flushes[i]); /* the first, the last, the only one */
    }
    put(setup.jobs, JOB_FLUSH);
    assert_full(setup.jobs);
    withdraw(setup.jobs, query);
    put(setup.jobs, JOB_QUERY);
    assert_full(setup.jobs);
    g_assert_cmpuint(setup_end(&setup), ==, 2);
}

/* Those that are left are answered, each once, by one flush. */
static void test_one_answer_each(void) {
    Setup setup;
    setup_init(&setup, 2, 1);
    HttpJob *flushes[5];
    for (guint i = 0; i < 5; i++) flushes[i] = put(setup.jobs, JOB_FLUSH);
    withdraw(setup.jobs, flushes[0]);
    withdraw(setup.jobs, flushes[3]);
    g_assert_cmpuint(take_answers(setup.jobs, 503), ==, 0);
    admission_shut(setup.admission, ADMISSION_STORE_FAILS, "says the test");
    guint n = 0;
    while (n < 3) n += take_answers(setup.jobs, 503);
    g_assert_cmpuint(setup_end(&setup), ==, 0);
}

/* Put and withdrawn while threads look for what they may begin: each is answered or withdrawn. */
static void test_both_at_once(void) {
    Setup setup;
    setup_init(&setup, 3, 64);
    guint asked = 0, withdrawn = 0;
    for (guint turn = 0; turn < 3000; turn++) {
        HttpJob *jobs[4];
        for (guint i = 0; i < G_N_ELEMENTS(jobs); i++, asked++) jobs[i] = put(setup.jobs, JOB_FLUSH);
        if (turn % 50 == 20) admission_shut(setup.admission, ADMISSION_STORE_FAILS, "says the test");
        if (turn % 50 == 40) admission_open(setup.admission, ADMISSION_STORE_FAILS);
        for (guint i = 0; i < G_N_ELEMENTS(jobs); i += 1 + turn % 3)
            if (http_jobs_withdraw(setup.jobs, jobs[i])) {
                http_job_free(jobs[i]);
                withdrawn++;
            }
    }
    g_assert_cmpuint(withdrawn, >, 0);
    g_assert_cmpuint(setup_end(&setup), ==, asked - withdrawn);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http-jobs/one-place", test_flushes_have_one_place);
    g_test_add_func("/http-jobs/leave", test_who_leaves_makes_room);
    g_test_add_func("/http-jobs/one-answer", test_one_answer_each);
    g_test_add_func("/http-jobs/both", test_both_at_once);
    return g_test_run();
}
