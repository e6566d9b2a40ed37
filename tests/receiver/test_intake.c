/* From a frame to shards, journal and reply, without a socket. */
#include "tests/receiver/fixture.h"

#include <glib/gstdio.h>
#include <string.h>

#include "analyzer/archive/consolidation/join.h"
#include "common/base/error.h"
#include "receiver/background/recovery.h"

typedef struct Setup {
    Fixture *fixture;
    Counters *counters;
    Intake *intake;
    GByteArray *out;
} Setup;

static Setup setup_of(Fixture *fixture, guint n_shards) {
    Setup setup = {.fixture = fixture, .out = g_byte_array_new()};
    fixture_start(setup.fixture, n_shards);
    IntakeOptions options = fixture_intake(setup.fixture);
    setup.counters = counter_set_add(setup.fixture->counters);
    setup.intake = intake_new(&options, setup.counters);
    return setup;
}

static Setup setup_new(guint n_shards) { return setup_of(fixture_new(), n_shards); }

static void setup_clear(Setup *setup) {
    intake_free(setup->intake);
    g_byte_array_unref(setup->out);
    fixture_free(setup->fixture);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Setup, setup_clear)

static Bytes view(const GByteArray *array) { return (Bytes){array->data, array->len}; }

/* The i-th reply of those that were written. */
static WireReply reply_at(const Setup *setup, guint i) {
    Bytes stream = view(setup->out);
    WireReply reply;
    FrameCut cut;
    for (;; i--) {
        g_assert_cmpint(frame_cut(stream, 1 << 20, &cut), ==, FRAME_WHOLE);
        if (i == 0) break;
        gsize whole = FRAME_HEADER_BYTES + cut.frame.size_bytes;
        stream = (Bytes){(const guint8 *)stream.data + whole, stream.size_bytes - whole};
    }
    g_autoptr(GError) error = NULL;
    wire_reply_decode(cut.frame, &reply, &error);
    g_assert_no_error(error);
    return reply;
}

static void test_batch(void) {
    g_auto(Setup) setup = setup_new(3);
    g_autoptr(GPtrArray) frames = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);

    for (guint64 trace = 1; trace <= 50; trace++) {
        g_ptr_array_add(frames, fixture_frame(trace, 1, 10));
        g_assert_cmpint(intake_frame(setup.intake, view(g_ptr_array_index(frames, trace - 1)), setup.out), ==,
                        INTAKE_TAKEN);
    }

    g_assert_cmpuint(intake_pending_bytes(setup.intake), >, 0);
    g_assert_cmpuint(setup.out->len, ==, 0);
    g_assert_true(intake_commit(setup.intake));
    g_assert_cmpuint(intake_pending_bytes(setup.intake), ==, 0);
    g_assert_cmpuint(setup.out->len, ==, 0); /* no reply before the journal is as durable as promised */

    intake_finish(setup.intake);
    for (guint i = 0; i < 50; i++) {
        WireReply reply = reply_at(&setup, i);
        g_assert_cmpint(reply.status, ==, REPLY_OK);
        g_assert_cmpint(reply.accepted, ==, 10);
    }

    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_SPANS), ==, 500);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_BATCHES), ==, 50);
    g_assert_true(fixture_flush(setup.fixture, NULL));
    g_assert_cmpuint(archive_totals(setup.fixture->archive).spans, ==, 500);
}

/* Whatever the answer is, it carries the policy in force when it is written. */
static void test_sampling(void) {
    g_auto(Setup) setup = setup_new(1);
    g_autoptr(GByteArray) frame = fixture_frame(1, 1, 10);
    static const char *const policies[] = {"", "never", "5/s", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(policies); i++) {
        g_byte_array_set_size(setup.out, 0);
        intake_frame(setup.intake, view(frame), setup.out);
        admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, "make room");
        intake_frame(setup.intake, view(frame), setup.out);
        admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, NULL);
        intake_commit(setup.intake);
        atomic_store(&setup.fixture->sampling, policies[i]);
        intake_finish(setup.intake);
        g_assert_cmpint(reply_at(&setup, 1).status, ==, REPLY_TRY_LATER);
        for (guint reply = 0; reply < 2; reply++) {
            BatchString said = reply_at(&setup, reply).sampling;
            g_assert_cmpmem(said.data, said.length, policies[i], strlen(policies[i]));
        }
    }
}

static void test_not_a_call(void) {
    g_auto(Setup) setup = setup_new(1);
    g_assert_cmpint(intake_frame(setup.intake, (Bytes){"\x80\x01\x00\x01", 4}, setup.out), ==, INTAKE_BROKEN);
    intake_commit(setup.intake);
    intake_finish(setup.intake);
    g_assert_cmpuint(setup.out->len, ==, 0);
}

static void test_gate_is_shut(void) {
    g_auto(Setup) setup = setup_new(1);
    g_autoptr(GByteArray) frame = fixture_frame(1, 1, 10);
    admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, "make room");
    g_assert_cmpint(intake_pressure(setup.intake), ==, PRESSURE_SHUT);
    g_assert_cmpint(intake_frame(setup.intake, view(frame), setup.out), ==, INTAKE_LATER);
    admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, NULL);
    g_assert_cmpint(intake_frame(setup.intake, view(frame), setup.out), ==, INTAKE_TAKEN);
    intake_commit(setup.intake);
    intake_finish(setup.intake);
    WireReply reply = reply_at(&setup, 0);
    g_assert_cmpint(reply.status, ==, REPLY_TRY_LATER);
    g_assert_cmpint(reply.wait_ms, ==, INTAKE_WAIT_SHUT_MS);
    g_assert_cmpstr(reply.message, ==, "make room");
    g_assert_cmpint(reply_at(&setup, 1).status, ==, REPLY_OK);
}

static void test_journal_fails(void) {
    g_auto(Setup) setup = setup_new(2);
    g_autoptr(GByteArray) first = fixture_frame(1, 1, 10), second = fixture_frame(2, 1, 10);
    /* A file where the first segment would be. */
    g_autofree char *obstacle = g_build_filename(setup.fixture->folder, "plumb-0000000000000001.journal", NULL);
    g_assert_true(g_file_set_contents(obstacle, "x", 1, NULL));

    intake_frame(setup.intake, view(first), setup.out);
    intake_frame(setup.intake, view(second), setup.out);
    g_assert_false(intake_commit(setup.intake));
    intake_finish(setup.intake);

    for (guint i = 0; i < 2; i++) g_assert_cmpint(reply_at(&setup, i).status, ==, REPLY_TRY_LATER);
    g_assert_true(admission_is_shut_for(setup.fixture->admission, ADMISSION_JOURNAL_FAILS));
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_SPANS), ==, 0);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_JOURNAL_FAILURES), ==, 1);
    g_assert_false(journal_probe(setup.fixture->journal, NULL));
    g_unlink(obstacle);
    g_assert_true(journal_probe(setup.fixture->journal, NULL));
    admission_set(setup.fixture->admission, ADMISSION_JOURNAL_FAILS, NULL);

    g_byte_array_set_size(setup.out, 0);
    intake_frame(setup.intake, view(first), setup.out);
    g_assert_true(intake_commit(setup.intake));
    intake_finish(setup.intake);
    g_assert_cmpint(reply_at(&setup, 0).status, ==, REPLY_OK);
    g_assert_true(fixture_flush(setup.fixture, NULL));
    g_assert_cmpuint(archive_totals(setup.fixture->archive).spans, ==, 10);
}

/* The dictionary cannot take a new name: nothing of the batch is kept, the others of the round are. */
static void test_dictionary_fails(void) {
    g_auto(Setup) setup = setup_new(2);
    g_autoptr(GByteArray) frame = fixture_frame(1, 1, 10);
    fixture_store_fails(TRUE);
    g_assert_cmpint(intake_frame(setup.intake, view(frame), setup.out), ==, INTAKE_LATER);
    g_assert_cmpuint(intake_pending_bytes(setup.intake), ==, 0);
    fixture_store_fails(FALSE);
    g_assert_cmpint(intake_frame(setup.intake, view(frame), setup.out), ==, INTAKE_TAKEN);
    intake_commit(setup.intake);
    intake_finish(setup.intake);
    g_assert_cmpint(reply_at(&setup, 0).status, ==, REPLY_TRY_LATER);
    g_assert_cmpint(reply_at(&setup, 1).status, ==, REPLY_OK);
    g_assert_true(fixture_flush(setup.fixture, NULL));
    g_assert_cmpuint(archive_totals(setup.fixture->archive).spans, ==, 10);
}

/* A batch that came in another form: journaled as a frame, so a start takes it in as any other. */
static void test_without_a_frame(void) {
    g_auto(Setup) setup = setup_new(2);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) frame = fixture_frame(7, 1, 10);
    WireHeader header;
    WireVersions versions;
    WireReply later = {0}, taken = {0};
    g_assert_true(wire_header_decode(view(frame), &header, NULL));
    g_assert_true(wire_batch_decode(&header, batch, &versions, NULL));

    admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, "make room");
    g_assert_cmpint(intake_batch(setup.intake, batch, &later), ==, INTAKE_LATER);
    admission_set(setup.fixture->admission, ADMISSION_STORE_SPACE, NULL);
    g_assert_cmpint(intake_batch(setup.intake, batch, &taken), ==, INTAKE_TAKEN);
    intake_finish(setup.intake);
    g_assert_cmpint(later.status, ==, REPLY_TRY_LATER);
    g_assert_cmpstr(later.message, ==, "make room");
    g_assert_cmpint(taken.status, ==, REPLY_OK);
    g_assert_cmpint(taken.accepted, ==, 10);

    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_SPANS), ==, 10);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_JOURNAL_BYTES), >, 100);
    g_assert_true(fixture_flush(setup.fixture, NULL));
    g_assert_cmpuint(archive_totals(setup.fixture->archive).spans, ==, 10);
}

static GByteArray *server_frame(guint64 trace) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint i = 1; i <= 10; i++) {
        BatchSpan *span = batch_begin_span(batch, (SpanId){trace, i});
        span->name = batch_intern(batch, "op", 2);
        span->tracer = i < 5 ? batch_intern(batch, "Client/h", 8) : batch_intern(batch, "DataNode/h/42", 13);
    }
    GByteArray *frame = g_byte_array_new();
    wire_batch_encode(batch, PROTOCOL_COMPACT, 1, frame);
    g_byte_array_remove_range(frame, 0, FRAME_HEADER_BYTES);
    return frame;
}

static void ignore_process(void *arg, guint32 tracer, const AccountSums *sums) { (void)arg, (void)tracer, (void)sums; }

/* A batch under another's name leaves nothing of itself; those of the same round, before it and after it, are taken. */
static void test_foreign_name(void) {
    static const SpanSource one = {"token:a", "::1", "thrift"}, other = {"token:b", "::1", "thrift"};
    static const SpanSource *const sources[] = {&one, &other, &one, NULL};
    static const ReplyStatus expected[] = {REPLY_OK, REPLY_TRY_LATER, REPLY_OK, REPLY_OK};
    g_auto(Setup) setup = setup_new(2);
    g_autoptr(NameOwners) owners = name_owners_new(NAMES_STRICT, NULL);
    IntakeOptions options = fixture_intake(setup.fixture);
    options.owners = owners;
    g_autoptr(Intake) intake = intake_new(&options, setup.counters);
    g_autoptr(GPtrArray) frames = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);

    for (guint i = 0; i < G_N_ELEMENTS(sources); i++) {
        const gsize before = intake_pending_bytes(intake);
        g_ptr_array_add(frames, server_frame(i + 1));
        intake_set_source(intake, sources[i]);
        const IntakeResult result = intake_frame(intake, view(g_ptr_array_index(frames, i)), setup.out);
        g_assert_true((result == INTAKE_LATER) == (expected[i] == REPLY_TRY_LATER));
        g_assert_true((intake_pending_bytes(intake) > before) == (expected[i] == REPLY_OK));
    }

    g_assert_true(intake_commit(intake));
    intake_finish(intake);
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++) g_assert_cmpint(reply_at(&setup, i).status, ==, expected[i]);
    g_assert_cmpint(reply_at(&setup, 1).wait_ms, ==, INTAKE_WAIT_DENIED_MS);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_SPANS), ==, 30);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_FOREIGN_NAMES), ==, 1);
    g_assert_cmpuint(fixture_count(setup.fixture, COUNTER_FRAME_FOREIGN_NAME), ==, 1);
    g_assert_true(fixture_flush(setup.fixture, NULL));
    g_assert_cmpuint(archive_totals(setup.fixture->archive).spans, ==, 30);
    AccountSums sums;
    accounts_read(setup.fixture->accounts, ignore_process, NULL, &sums);
    g_assert_cmpuint(sums.received, ==, 30);
}

/* ---- recovery ---- */

#define RECOVERED_TRACES 30
#define RECOVERED_SPANS  20

/* What a process left in its journal, and one that takes it in. */
typedef struct Recovering {
    Setup setup;
    char *folder;
    JournalOptions options;
    RecoveryView view;
    Counters *counters;
    guint segments;
} Recovering;

static void recovering_open(Recovering *recovering, Fixture *fixture) {
    journal_close(fixture->journal);
    fixture->journal = journal_open(&recovering->options, NULL);
    g_assert_nonnull(fixture->journal);
    g_assert_cmpuint(journal_found(fixture->journal), ==, recovering->segments);
    recovery_view_init(&recovering->view, fixture->journal);
}

static Recovering recovering_new(gsize mailbox_bytes) {
    Recovering recovering = {.folder = g_dir_make_tmp("plumb-recovery-XXXXXX", NULL)};
    recovering.options = (JournalOptions){recovering.folder, 4096, FALSE};
    Journal *before = journal_open(&recovering.options, NULL);

    for (guint64 trace = 1; trace <= RECOVERED_TRACES; trace++) {
        g_autoptr(GByteArray) frame = fixture_frame(trace, 1, RECOVERED_SPANS);
        JournalRecord record = journal_record(view(frame));
        JournalSegment *segment;
        g_assert_true(journal_append(before, &record, 1, &segment, NULL));
        journal_release(segment);
    }

    recovering.segments = journal_usage(before).segments;
    g_assert_cmpuint(recovering.segments, >, 2);
    journal_close(before);

    Fixture *fixture = fixture_new();
    fixture->mailbox_bytes = mailbox_bytes;
    fixture->replayed = recovering.segments;
    recovering_open(&recovering, fixture);
    recovering.setup = setup_of(fixture, 2);
    recovering.counters = counter_set_add(fixture->counters);
    return recovering;
}

static Recovery *recovering_start(Recovering *recovering) {
    const Fixture *fixture = recovering->setup.fixture;
    RecoveryOptions options = {.journal = fixture->journal,
                               .intake = fixture_intake(fixture),
                               .counters = recovering->counters,
                               .view = &recovering->view};
    return recovery_start(&options);
}

static void recovering_clear(Recovering *recovering) {
    setup_clear(&recovering->setup);
    g_autoptr(GDir) dir = g_dir_open(recovering->folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(recovering->folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(recovering->folder);
    g_free(recovering->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recovering, recovering_clear)

static guint64 recovered(Recovering *recovering) {
    return fixture_count(recovering->setup.fixture, COUNTER_RECOVERED_SPANS);
}

static void assert_stored_once(Recovering *recovering, guint64 traces, guint64 spans) {
    g_assert_true(fixture_flush(recovering->setup.fixture, NULL));
    g_assert_true(archive_join(recovering->setup.fixture->archive, NULL));
    const ArchiveTotals totals = archive_totals(recovering->setup.fixture->archive);
    g_assert_cmpuint(totals.traces, ==, traces);
    g_assert_cmpuint(totals.spans, ==, spans);
    AccountSums sums;
    accounts_read(recovering->setup.fixture->accounts, NULL, NULL, &sums);
    g_assert_cmpint(sums.open, <=, 0); /* spans that were put into shards were not received */
    g_assert_cmpint(sums.stored, ==, (gint64)spans);
    g_assert_cmpint(sums.received - sums.open, ==, sums.stored + sums.repeated);
}

/* What one process wrote to the journal, the next one stores, however often it is interrupted. */
static void test_recovery(void) {
    g_auto(Recovering) recovering = recovering_new(1 << 20);
    g_assert_cmpfloat(recovery_share(&recovering.view), ==, 0);
    fixture_store_fails(TRUE); /* not even a name can be noted: it waits */
    g_autoptr(Recovery) first = recovering_start(&recovering);
    WAIT_FOR(admission_is_shut_for(recovering.setup.fixture->admission, ADMISSION_STORE_FAILS));
    g_clear_pointer(&first, recovery_stop);
    g_assert_true(admission_is_open(recovering.setup.fixture->admission));
    g_assert_true(atomic_load(&recovering.view.goes_on));
    g_assert_cmpuint(recovered(&recovering), ==, 0);
    fixture_store_fails(FALSE);

    recovering_open(&recovering, recovering.setup.fixture);
    g_autoptr(Recovery) second = recovering_start(&recovering);
    WAIT_FOR(!atomic_load(&recovering.view.goes_on));
    g_assert_cmpfloat(recovery_share(&recovering.view), ==, 1);
    g_assert_cmpuint(fixture_count(recovering.setup.fixture, COUNTER_RECOVERED_FRAMES), ==, RECOVERED_TRACES);
    g_assert_cmpuint(recovered(&recovering), ==, RECOVERED_TRACES * RECOVERED_SPANS);
    g_assert_cmpuint(fixture_count(recovering.setup.fixture, COUNTER_DAMAGED_RECORDS), ==, 0);
    g_assert_cmpuint(journal_usage(recovering.setup.fixture->journal).unread_bytes, ==, 0);
    assert_stored_once(&recovering, RECOVERED_TRACES, RECOVERED_TRACES * RECOVERED_SPANS);
}

/* What comes of the same traces meanwhile joins them, whichever is first, and whatever was stored in between. */
static void test_recovery_beside_new_spans(void) {
    g_auto(Recovering) recovering = recovering_new(1 << 20);
    const guint more = 5;
    Setup *setup = &recovering.setup;

    for (guint64 trace = 1; trace <= RECOVERED_TRACES; trace += 2) {
        g_autoptr(GByteArray) frame = fixture_frame(trace, RECOVERED_SPANS + 1, more);
        intake_frame(setup->intake, view(frame), setup->out);
        g_assert_true(intake_commit(setup->intake));
        intake_finish(setup->intake);
        if (trace == 9) g_assert_true(fixture_flush(setup->fixture, NULL)); /* some are stored already */
    }

    g_autoptr(Recovery) recovery = recovering_start(&recovering);
    for (guint64 trace = 2; trace <= RECOVERED_TRACES; trace += 2) {
        g_autoptr(GByteArray) frame = fixture_frame(trace, RECOVERED_SPANS, more + 1); /* and one of them again */
        while (intake_frame(setup->intake, view(frame), setup->out) == INTAKE_LATER) intake_finish(setup->intake);
        g_assert_true(intake_commit(setup->intake));
        intake_finish(setup->intake);
    }

    WAIT_FOR(!atomic_load(&recovering.view.goes_on));
    assert_stored_once(&recovering, RECOVERED_TRACES, RECOVERED_TRACES * (RECOVERED_SPANS + more));
}

/* With shards that do not get on, the replay fills half of what may wait for them, and senders have the rest. */
static void test_recovery_shares(void) {
    g_auto(Recovering) recovering = recovering_new(4096);
    Fixture *fixture = recovering.setup.fixture;
    g_autoptr(GByteArray) frame = fixture_frame(1, 1, 1); /* its names are then known: nobody has to write them */
    intake_frame(recovering.setup.intake, view(frame), recovering.setup.out);
    g_assert_true(intake_commit(recovering.setup.intake));
    intake_finish(recovering.setup.intake);
    Waiter *held = fixture_hold_shards(fixture);
    g_autoptr(Recovery) recovery = recovering_start(&recovering);
    WAIT_FOR(shard_replay_full(fixture->shards[0]) || shard_replay_full(fixture->shards[1]));
    g_assert_true(atomic_load(&recovering.view.goes_on));
    for (guint i = 0; i < 2; i++) g_assert_false(shard_full(fixture->shards[i]));
    g_assert_cmpint(intake_pressure(recovering.setup.intake), ==, PRESSURE_NONE);
    fixture_let_go(held);
    WAIT_FOR(!atomic_load(&recovering.view.goes_on));
    assert_stored_once(&recovering, RECOVERED_TRACES + 2, RECOVERED_TRACES * RECOVERED_SPANS + 2);
    for (guint i = 0; i < 2; i++) g_assert_false(shard_replay_full(fixture->shards[i]));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/intake/batch", test_batch);
    g_test_add_func("/intake/sampling", test_sampling);
    g_test_add_func("/intake/not-a-call", test_not_a_call);
    g_test_add_func("/intake/gate", test_gate_is_shut);
    g_test_add_func("/intake/journal-fails", test_journal_fails);
    g_test_add_func("/intake/dictionary-fails", test_dictionary_fails);
    g_test_add_func("/intake/without-a-frame", test_without_a_frame);
    g_test_add_func("/intake/foreign-name", test_foreign_name);
    g_test_add_func("/intake/recovery", test_recovery);
    g_test_add_func("/intake/recovery-beside-new-spans", test_recovery_beside_new_spans);
    g_test_add_func("/intake/recovery-shares", test_recovery_shares);
    return g_test_run();
}
