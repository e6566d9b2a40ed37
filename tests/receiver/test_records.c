/* Records of Spark from the frame to the store: acknowledged means in the journal, a crash takes none, a store that
 * fails makes senders wait, what comes again changes nothing, and who asks afterwards hears of it. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/http/http_jobs.h"
#include "receiver/net/intake.h"
#include "tests/model/records_random.h"
#include "tests/receiver/fixture.h"

typedef struct Setup {
    Fixture *fixture;
    Recorder *recorder;
    Counters *counters;
    Intake *intake;
} Setup;

static Setup setup_new(void) {
    Setup setup = {.fixture = fixture_new()};
    fixture_start(setup.fixture, 1);
    const RecorderOptions recorder = {setup.fixture->archive, setup.fixture->admission, setup.fixture->counters,
                                      1 << 17};
    setup.recorder = recorder_start(&recorder);
    setup.counters = counter_set_add(setup.fixture->counters);
    IntakeOptions intake = fixture_intake(setup.fixture);
    intake.recorder = setup.recorder;
    setup.intake = intake_new(&intake, setup.counters);
    return setup;
}

static void setup_free(Setup *setup) {
    intake_free(setup->intake);
    g_assert_true(recorder_stop(setup->recorder, 0, NULL));
    recorder_free(setup->recorder);
    fixture_free(setup->fixture);
}

static gboolean flush(Setup *setup) {
    Waiter *waiter = waiter_new(1);
    recorder_flush(setup->recorder, waiter);
    return waiter_wait(waiter, NULL, NULL);
}

static GByteArray *frame_of(const SparkRecords *records) {
    GByteArray *frame = g_byte_array_new();
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    g_byte_array_remove_range(frame, 0, FRAME_HEADER_BYTES);
    return frame;
}

static WireReply submit(Setup *setup, const GByteArray *frame) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    intake_frame(setup->intake, (Bytes){frame->data, frame->len}, out);
    intake_commit(setup->intake);
    intake_finish(setup->intake);
    WireReply reply;
    g_autoptr(GError) error = NULL;
    wire_reply_decode((Bytes){out->data + FRAME_HEADER_BYTES, out->len - FRAME_HEADER_BYTES}, &reply, &error);
    g_assert_no_error(error);
    return reply;
}

static guint64 stored(Setup *setup) {
    SparkTotals totals;
    guint64 sum = 0;
    g_assert_true(archive_spark_totals(setup->fixture->archive, &totals, NULL));
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) sum += totals.records[kind];
    return sum;
}

static void test_take(void) {
    Setup setup = setup_new();
    fixture_next_mark(5);
    g_autoptr(SparkRecords) records = spark_records_new();
    for (gint64 i = 0; i < 10; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = "app-1", task->stage = 0, task->stage_attempt = 0, task->task = i == 9 ? -1 : i;
    }

    g_autoptr(GByteArray) frame = frame_of(records);
    for (guint round = 0; round < 2; round++) {
        const WireReply reply = submit(&setup, frame);
        g_assert_cmpint(reply.status, ==, REPLY_OK);
        g_assert_cmpint(reply.accepted, ==, 9);
        g_assert_cmpint(reply.refused, ==, 1);
    }

    g_assert_true(flush(&setup));
    g_assert_cmpuint(stored(&setup), ==, 9);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS), ==, 18);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS_REFUSED), ==, 2);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS_STORED), ==, 9);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS_UNCHANGED), ==, 9);
    g_assert_cmpuint(recorder_waiting(setup.recorder), ==, 0);

    /* The journal keeps the frames until the store has them on disk. */
    g_assert_cmpuint(recorder_needs(setup.recorder, 4), !=, JOURNAL_NONE);
    g_assert_cmpuint(recorder_needs(setup.recorder, 5), ==, JOURNAL_NONE);
    setup_free(&setup);
}

static void test_malformed(void) {
    Setup setup = setup_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    g_autoptr(SparkRecords) records = records_random(rand, 3, 2);
    g_autoptr(GByteArray) frame = frame_of(records);
    g_byte_array_set_size(frame, frame->len - 3);
    g_assert_cmpint(submit(&setup, frame).status, ==, REPLY_REFUSED);
    g_assert_true(flush(&setup));
    g_assert_cmpuint(stored(&setup), ==, 0);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_FRAME_MALFORMED), ==, 1);
    setup_free(&setup);
}

/* What the journal holds is taken in again by the same way. */
static void test_replay(void) {
    Setup setup = setup_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    g_autoptr(SparkRecords) records = records_random(rand, 5, 2);
    g_autoptr(GByteArray) frame = frame_of(records);
    g_assert_cmpint(submit(&setup, frame).status, ==, REPLY_OK);
    g_assert_true(flush(&setup));
    const guint64 once = stored(&setup);
    g_assert_cmpuint(once, >, 0);
    guint32 spans = 7;
    g_autoptr(GError) error = NULL;
    g_assert_true(intake_replay(setup.intake, (Bytes){frame->data, frame->len}, NULL, &spans, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(spans, ==, 0);
    g_assert_true(flush(&setup));
    g_assert_cmpuint(stored(&setup), ==, once);
    setup_free(&setup);
}

/* A full disk: what was acknowledged waits, flushes say so, senders are told to try later; then it goes on. */
static void test_store_fails(void) {
    Setup setup = setup_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    fixture_store_fails(TRUE);
    guint taken = 0;

    for (WireReply reply = {.status = REPLY_OK}; reply.status == REPLY_OK; taken++) {
        g_autoptr(SparkRecords) records = records_random(rand, 5, 2);
        g_autoptr(GByteArray) frame = frame_of(records);
        reply = submit(&setup, frame);
        if (reply.status != REPLY_OK) g_assert_cmpint(reply.status, ==, REPLY_TRY_LATER);
    }

    g_assert_false(flush(&setup));
    g_assert_true(admission_is_shut_for(setup.fixture->admission, ADMISSION_STORE_FAILS));
    g_assert_cmpuint(stored(&setup), ==, 0);
    g_assert_cmpuint(recorder_waiting(setup.recorder), ==, fixture_count(setup.fixture, COUNTER_RECORDS));

    fixture_store_fails(FALSE);
    WAIT_FOR(recorder_waiting(setup.recorder) == 0);
    g_assert_true(flush(&setup));
    g_assert_true(admission_is_open(setup.fixture->admission));
    g_assert_cmpuint(stored(&setup), >, 0);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS), ==,
                     fixture_count(setup.fixture, COUNTER_RECORDS_STORED) +
                         fixture_count(setup.fixture, COUNTER_RECORDS_UNCHANGED));
    setup_free(&setup);
}

/* Damage that no retry heals holds nothing up. */
static void test_store_damaged(void) {
    Setup setup = setup_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    g_autoptr(SparkRecords) records = records_random(rand, 5, 2);
    g_autoptr(GByteArray) frame = frame_of(records);
    fixture_store_damaged(TRUE);
    g_assert_cmpint(submit(&setup, frame).status, ==, REPLY_OK);
    g_assert_true(flush(&setup));
    fixture_store_damaged(FALSE);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_RECORDS_FAILED), ==, spark_records_count(records));
    g_assert_cmpint(submit(&setup, frame).status, ==, REPLY_OK);
    g_assert_true(flush(&setup));
    g_assert_cmpuint(stored(&setup), >, 0);
    setup_free(&setup);
}

static void submit_app(Setup *setup, const char *app) {
    g_autoptr(SparkRecords) records = spark_records_new();
    spark_add_app(records)->app = app;
    g_autoptr(GByteArray) frame = frame_of(records);
    g_assert_cmpint(submit(setup, frame).status, ==, REPLY_OK);
}

static gboolean stays(void *arg) {
    (void)arg;
    return FALSE;
}

static gboolean settled(const Setup *setup, gint64 wait_ns) {
    return recorder_settle(setup->recorder, clock_monotonic_ns(clock_system()) + wait_ns, stays, NULL);
}

/* While the store is held, nothing that was put is settled; what is given up then is no harm. */
static void test_settle(void) {
    Setup setup = setup_new();
    g_assert_true(settled(&setup, 0));
    Waiter *held = fixture_hold_shards(setup.fixture);
    submit_app(&setup, "app-1");
    g_assert_false(settled(&setup, 0));
    g_assert_false(settled(&setup, NS_PER_MS));
    g_assert_cmpuint(stored(&setup), ==, 0);
    fixture_let_go(held);
    g_assert_true(settled(&setup, 600 * NS_PER_SEC));
    g_assert_cmpuint(stored(&setup), ==, 1);

    fixture_store_fails(TRUE); /* there is nothing to wait for */
    submit_app(&setup, "app-2");
    g_assert_true(settled(&setup, 600 * NS_PER_SEC));
    g_assert_cmpuint(recorder_waiting(setup.recorder), ==, 1);
    fixture_store_fails(FALSE);
    setup_free(&setup);
}

static void nobody_waits(void *arg) { (void)arg; }

static HttpJobs *jobs_new(const Setup *setup, const RecoveryView *recovery, AllowanceBudget *questions,
                          gint64 timeout_ns) {
    const Fixture *fixture = setup->fixture;
    return http_jobs_start(&(HttpJobsOptions){
        .n_threads = 1,
        .per_peer = 1,
        .queue = 1,
        .question_timeout_ns = timeout_ns,
        .backend = {.archive = fixture->archive,
                    .shards = fixture->shards,
                    .n_shards = fixture->n_shards,
                    .recorder = setup->recorder,
                    .admission = fixture->admission,
                    .recovery = recovery,
                    .questions = questions},
        .ready = nobody_waits,
    });
}

static HttpJob *ask(HttpJobs *jobs) {
    HttpJob *job = http_job_new(JOB_QUERY, "apps", query_params_new(), NULL);
    g_assert_true(http_jobs_put(jobs, job));
    return job;
}

/* There is one thread, and place for one that waits. */
static void wait_begun(HttpJobs *jobs) {
    HttpJob *second = http_job_new(JOB_QUERY, "apps", query_params_new(), NULL);
    WAIT_FOR(http_jobs_put(jobs, second));
    g_assert_true(http_jobs_withdraw(jobs, second));
    http_job_free(second);
}

static void assert_answer(HttpJobs *jobs, int code, const char *has) {
    HttpAnswer *answer = NULL;
    WAIT_FOR((answer = http_jobs_take(jobs)) != NULL);
    g_autofree char *body = g_strndup(g_bytes_get_data(answer->body, NULL), g_bytes_get_size(answer->body));
    g_assert_cmpint(answer->code, ==, code);
    g_assert_nonnull(strstr(body, has));
    http_job_free(answer->job);
    http_answer_free(answer);
}

static void jobs_end(HttpJobs *jobs) {
    http_jobs_stop(jobs);
    http_jobs_free(jobs);
}

/* An application that was acknowledged is in the answer of whoever asks then, though the store was busy; or the answer
 * says that it is not there yet. */
static void test_asked_at_once(void) {
    Setup setup = setup_new();
    RecoveryView recovery = {0};
    AllowanceBudget questions = {0};
    HttpJobs *hasty = jobs_new(&setup, &recovery, &questions, 1);
    HttpJobs *jobs = jobs_new(&setup, &recovery, &questions, 600 * NS_PER_SEC);
    Waiter *held = fixture_hold_shards(setup.fixture);
    submit_app(&setup, "app-1");
    ask(hasty);
    assert_answer(hasty, 503, "not in the store yet");
    ask(jobs);
    fixture_let_go(held);
    assert_answer(jobs, 200, "app-1");
    jobs_end(hasty);
    jobs_end(jobs);
    setup_free(&setup);
}

/* Who waits for records waits no longer than its reader, and holds up no stop. */
static void test_asked_in_vain(void) {
    Setup setup = setup_new();
    RecoveryView recovery = {0};
    AllowanceBudget questions = {0};
    HttpJobs *jobs = jobs_new(&setup, &recovery, &questions, 600 * NS_PER_SEC);
    Waiter *held = fixture_hold_shards(setup.fixture);
    submit_app(&setup, "app-1");
    HttpJob *job = ask(jobs);
    wait_begun(jobs);
    http_job_cancel(job);
    HttpAnswer *unread = NULL;
    WAIT_FOR((unread = http_jobs_take(jobs)) != NULL);
    g_assert_cmpint(unread->code, !=, 200);
    http_job_free(unread->job);
    http_answer_free(unread);

    ask(jobs);
    wait_begun(jobs);
    http_jobs_leave_shards(jobs);
    assert_answer(jobs, 503, "not in the store yet");
    ask(jobs); /* while it stops */
    assert_answer(jobs, 503, "not in the store yet");
    fixture_let_go(held);
    WAIT_FOR(recorder_waiting(setup.recorder) == 0);
    ask(jobs);
    assert_answer(jobs, 200, "app-1");
    jobs_end(jobs);
    setup_free(&setup);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/receiver/records/take", test_take);
    g_test_add_func("/receiver/records/malformed", test_malformed);
    g_test_add_func("/receiver/records/replay", test_replay);
    g_test_add_func("/receiver/records/store-fails", test_store_fails);
    g_test_add_func("/receiver/records/store-damaged", test_store_damaged);
    g_test_add_func("/receiver/records/settle", test_settle);
    g_test_add_func("/receiver/records/asked-at-once", test_asked_at_once);
    g_test_add_func("/receiver/records/asked-in-vain", test_asked_in_vain);
    return g_test_run();
}
