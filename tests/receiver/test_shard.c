/* A shard: what closes traces, what happens while the store fails, what it says it needs of the journal. */
#include "tests/receiver/fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/archive/consolidation/join.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/receiver/unnamed.h"

static void put(Fixture *fixture, guint64 trace, guint64 first, guint n) {
    fixture_put(fixture->shards[0], (FixtureSpans){trace, first, n}, NULL);
}

static guint64 stored_spans(Fixture *fixture) { return archive_totals(fixture->archive).spans; }

static void test_flush(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    put(fixture, 2, 1, 5);
    put(fixture, 1, 11, 10);
    guint64 closed = 0;
    g_assert_true(fixture_flush(fixture, &closed));
    g_assert_cmpuint(closed, ==, 2);
    g_assert_cmpuint(stored_spans(fixture), ==, 25);
    ShardState state = shard_state(fixture->shards[0]);
    g_assert_cmpuint(state.traces + state.spans + state.mailbox_bytes, ==, 0);
    g_assert_cmpint(state.oldest_ns, ==, 0);
}

static void test_one_trace(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    put(fixture, 2, 1, 5);
    guint64 closed;
    for (guint64 trace = 2; trace <= 3; trace++) { /* 3: there is none; no error */
        Waiter *waiter = waiter_new(1);
        shard_store_trace(fixture->shards[0], trace, waiter);
        g_assert_true(waiter_wait(waiter, &closed, NULL));
        g_assert_cmpuint(closed, ==, trace == 2);
    }
    g_assert_cmpuint(stored_spans(fixture), ==, 5);
    g_assert_cmpuint(shard_state(fixture->shards[0]).traces, ==, 1);
}

static void test_idle(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.idle_ns = 1000000;
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    put(fixture, 2, 2, 10); /* waits for its root */
    WAIT_FOR(stored_spans(fixture) == 10);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_TRACE_IDLE), ==, 1);
    WAIT_FOR(shard_state(fixture->shards[0]).spans == 10);
}

static void test_limits_can_change(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    fixture->limits.idle_ns = 0;
    shard_set_limits(fixture->shards[0], &fixture->limits);
    WAIT_FOR(stored_spans(fixture) == 10);
}

static void test_max_spans(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.max_spans = 100;
    fixture_start(fixture, 1);
    for (guint64 first = 1; first <= 250; first += 10) put(fixture, 1, first, 10);
    guint64 closed;
    g_assert_true(fixture_flush(fixture, &closed));
    g_assert_cmpuint(fixture_count(fixture, COUNTER_TRACE_SIZE), ==, 2);
    g_assert_cmpuint(closed, ==, 1);
    g_assert_cmpuint(stored_spans(fixture), ==, 100); /* the others wait to join them */
    g_assert_cmpuint(archive_totals(fixture->archive).late_waiting, ==, 150);
    g_assert_true(archive_join(fixture->archive, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 250);
}

/* Ten spans, each with so much text. */
static void give_texts(Fixture *fixture, guint64 trace, guint32 text_bytes) {
    g_autoptr(GByteArray) records = g_byte_array_new();
    g_autofree char *text = g_strnfill(text_bytes, 't');
    for (guint64 i = 1; i <= 10; i++) {
        const SpanRec head = {.id = {trace, i}, .begin_ns = 1000 + (gint64)i, .duration_ns = 10};
        SpanBuilder builder = span_builder_begin(records, &head);
        if (i > 1) span_builder_parent(&builder, (SpanId){trace, 1});
        span_builder_note(&builder, 1000, text, text_bytes);
        span_builder_end(&builder);
    }
    GByteArray *fragment = g_byte_array_new();
    fragment_pack(fragment, records->data, records->len, FALSE);
    shard_give_spans(fixture->shards[0], fragment, NULL);
}

/* The same by bytes, beyond those of usual spans: of two traces with long texts the one that comes under a lower limit
 * is stored at once, and one with short texts is not. */
static void test_max_bytes(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    give_texts(fixture, 1, 1000);
    WAIT_FOR(shard_state(fixture->shards[0]).spans == 10);
    fixture->limits.max_bytes = 5000;
    shard_set_limits(fixture->shards[0], &fixture->limits);
    give_texts(fixture, 2, 20);
    give_texts(fixture, 3, 1000);
    WAIT_FOR(fixture_count(fixture, COUNTER_TRACE_SIZE) == 1);

    /* It waits in a group for others: who asks for it does not. */
    Waiter *waiter = waiter_new(1);
    shard_store_trace(fixture->shards[0], 3, waiter);
    g_assert_true(waiter_wait(waiter, NULL, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 10);

    guint64 closed;
    g_assert_true(fixture_flush(fixture, &closed));
    g_assert_cmpuint(closed, ==, 2);
    g_assert_cmpuint(stored_spans(fixture), ==, 30);
}

static void test_memory(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.memory_bytes = 30000;
    fixture_start(fixture, 1);
    for (guint64 trace = 1; trace <= 1000; trace++) put(fixture, trace, 1, 10);
    WAIT_FOR(shard_state(fixture->shards[0]).mailbox_bytes == 0);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_TRACE_MEMORY), >, 800);
    g_assert_true(fixture_flush(fixture, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 10000);
}

static void test_store_fails_for_a_while(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.idle_ns = 0;
    fixture_start(fixture, 2);
    fixture_store_fails(TRUE);
    for (guint64 trace = 1; trace <= 20; trace++)
        fixture_put(fixture->shards[trace % 2], (FixtureSpans){trace, 1, 10}, NULL);
    WAIT_FOR(fixture_count(fixture, COUNTER_COMMIT_FAILURES) >= 4);
    g_assert_true(admission_is_shut_for(fixture->admission, ADMISSION_STORE_FAILS));
    g_autofree char *why = admission_describe(fixture->admission);
    g_assert_nonnull(strstr(why, "no space left, says the test"));
    g_assert_false(fixture_flush(fixture, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 0);
    fixture_store_fails(FALSE);
    WAIT_FOR(admission_is_open(fixture->admission));
    g_assert_true(fixture_flush(fixture, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 200);
}

static void test_stop_while_the_store_fails(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    fixture_store_fails(TRUE);
    g_autoptr(GError) error = NULL;
    g_assert_false(shards_stop(fixture->shards, 1, 1000000, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
    shard_free(g_steal_pointer(&fixture->shards[0]));
    fixture_store_fails(FALSE);
}

/* The shards' idle time is one time, not one after the other. */
static void test_shards_stop_together(void) {
    enum { SHARDS = 16 };
    const gint64 patience_ns = 250 * NS_PER_MS;
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, SHARDS);
    for (guint i = 0; i < SHARDS; i++) fixture_put(fixture->shards[i], (FixtureSpans){i + 1, 1, 10}, NULL);
    fixture_store_fails(TRUE);
    gint64 begin_ns = clock_monotonic_ns(clock_system());
    g_assert_false(shards_stop(fixture->shards, SHARDS, patience_ns, NULL));
    g_assert_cmpint(clock_monotonic_ns(clock_system()) - begin_ns, <, SHARDS / 2 * patience_ns);
    for (guint i = 0; i < SHARDS; i++) shard_free(g_steal_pointer(&fixture->shards[i]));
    fixture_store_fails(FALSE);
}

/* Late spans of a trace whose stored part is damaged are kept in a file, and hold up nothing. */
static void test_spans_that_cannot_be_joined(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    put(fixture, 1, 1, 10);
    g_assert_true(fixture_flush(fixture, NULL));
    fixture_store_damaged(TRUE);
    put(fixture, 1, 11, 3);
    g_assert_true(fixture_flush(fixture, NULL));
    fixture_store_damaged(FALSE);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_SPANS_SET_ASIDE), ==, 3);
    g_autofree char *path = g_build_filename(fixture->folder, "unstored.jsonl", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4); /* the last one empty */
    g_assert_nonnull(strstr(lines[0], "0000000000000001000000000000000b"));
    put(fixture, 2, 1, 10);
    g_assert_true(fixture_flush(fixture, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 20);
}

static JournalSegment *append(Fixture *fixture) {
    static const char text[3000] = "x";
    JournalRecord record = journal_record((Bytes){text, sizeof text});
    JournalSegment *segment;
    g_assert_true(journal_append(fixture->journal, &record, 1, &segment, NULL));
    return segment;
}

/* The oldest span of an open trace decides; later ones of the same trace do not move it. */
static void test_needs_of_the_journal(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];
    g_assert_cmpuint(shard_needs(shard, 0), ==, JOURNAL_NONE);

    static const guint64 traces[] = {1, 1, 2, 1, 2, 3};
    guint64 numbers[G_N_ELEMENTS(traces)];
    for (guint i = 0; i < G_N_ELEMENTS(traces); i++) {
        JournalSegment *segment = append(fixture);
        numbers[i] = journal_segment_number(segment);
        fixture_put(shard, (FixtureSpans){traces[i], i + 1, 1}, segment);
        journal_release(segment);
    }

    g_assert_cmpuint(numbers[2], >, numbers[0]);
    WAIT_FOR(shard_state(shard).spans == 6);
    g_assert_cmpuint(shard_needs(shard, 0), ==, numbers[0]);

    guint64 closed;
    Waiter *waiter = waiter_new(1);
    shard_store_trace(shard, 1, waiter);
    g_assert_true(waiter_wait(waiter, &closed, NULL));
    g_assert_cmpuint(shard_needs(shard, 0), ==, numbers[2]);

    shard_store_segments(shard, numbers[2]);
    WAIT_FOR(shard_needs(shard, 0) == numbers[5]);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_TRACE_JOURNAL), ==, 1);
    g_assert_true(fixture_flush(fixture, NULL));
    g_assert_cmpuint(shard_needs(shard, 0), ==, JOURNAL_NONE);
}

/* Once the time for the stop is over, nothing more is stored, whoever asks: the journal keeps what is open. */
static void test_stop_without_time(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.max_spans = 40;
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];

    JournalSegment *segment = append(fixture);
    for (guint64 trace = 1; trace <= 3; trace++) fixture_put(shard, (FixtureSpans){trace, 1, 30}, segment);
    const guint64 number = journal_segment_number(segment);
    journal_release(segment);
    WAIT_FOR(shard_state(shard).spans == 90);

    shards_stop_by(fixture->shards, 1, clock_monotonic_ns(clock_system()));
    fixture->limits.idle_ns = 0;
    shard_set_limits(shard, &fixture->limits);
    fixture_put(shard, (FixtureSpans){1, 31, 10}, NULL); /* is full now, and all are idle */
    shard_store_segments(shard, number);
    g_assert_false(fixture_flush(fixture, NULL));

    g_autoptr(GError) error = NULL;
    g_assert_true(shards_stop(fixture->shards, 1, 0, &error));
    g_assert_cmpuint(shard_state(shard).spans, ==, 100);
    g_assert_cmpuint(shard_state(shard).traces, ==, 3);
    g_assert_cmpuint(stored_spans(fixture), ==, 0);
    g_assert_cmpuint(shard_needs(shard, 0), ==, number);
    shard_free(g_steal_pointer(&fixture->shards[0]));
}

/* What the store has only in memory, the journal must keep. */
static void test_needs_until_on_disk(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];
    guint64 numbers[4];

    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        fixture_next_mark(5 + i / 2);
        JournalSegment *segment = append(fixture), *next = append(fixture);
        numbers[i] = journal_segment_number(segment);
        fixture_put(shard, (FixtureSpans){2 * i + 1, 1, 1}, next);
        fixture_put(shard, (FixtureSpans){2 * i + 2, 1, 1}, segment);
        journal_release(segment);
        journal_release(next);
        g_assert_true(fixture_flush(fixture, NULL));
    }

    g_assert_cmpuint(shard_needs(shard, 4), ==, numbers[0]);
    gint64 since_ns = shard_unflushed_since_ns(shard);
    g_assert_cmpint(since_ns, >, 0);
    g_assert_cmpuint(shard_needs(shard, 5), ==, numbers[2]);
    g_assert_cmpint(shard_unflushed_since_ns(shard), >=, since_ns);

    /* An open trace needs its segments beside those. */
    JournalSegment *segment = append(fixture);
    fixture_put(shard, (FixtureSpans){99, 1, 1}, segment);
    WAIT_FOR(shard_state(shard).spans == 1);
    g_assert_cmpuint(shard_needs(shard, 5), ==, numbers[2]);
    g_assert_cmpuint(shard_needs(shard, 6), ==, journal_segment_number(segment));
    g_assert_cmpint(shard_unflushed_since_ns(shard), ==, 0);
    journal_release(segment);
}

/* What was spilled and cannot be read back holds up nothing; the journal keeps it, and it is stored once it can be. */
static void test_unreadable(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.memory_bytes = 100000;
    fixture->limits.disk_bytes = 8 << 20;
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];
    JournalSegment *segment = append(fixture);
    const guint64 number = journal_segment_number(segment);
    for (guint64 first = 1; first <= 20000; first += 500)
        fixture_put(shard, (FixtureSpans){1, first, 500}, first == 1 ? segment : NULL);
    journal_release(segment);
    put(fixture, 2, 1, 10);
    WAIT_FOR(shard_state(shard).spans == 20010);

    const ShardState state = shard_state(shard);
    g_assert_cmpuint(state.spilled_spans, >, 10000);
    g_assert_cmpuint(state.spilled_bytes, <=, state.spill_file_bytes);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_SPILLED_BYTES), ==, state.spilled_bytes);

    int fd = unnamed_file_in(fixture->folder);
    const guint8 wrong[8] = {0};
    guint8 right[8];
    g_assert_cmpint(pread(fd, right, sizeof right, 5000), ==, sizeof right);
    g_assert_cmpint(pwrite(fd, wrong, sizeof wrong, 5000), ==, sizeof wrong);

    guint64 closed = 0;
    g_assert_false(fixture_flush(fixture, &closed));
    g_assert_cmpuint(stored_spans(fixture), ==, 10);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_UNSPILL_FAILURES), ==, 1);
    g_assert_true(admission_is_open(fixture->admission));
    g_assert_cmpuint(shard_state(shard).spans, ==, 20000);
    g_assert_cmpuint(shard_needs(shard, G_MAXUINT64), ==, number);

    g_assert_cmpint(pwrite(fd, right, sizeof right, 5000), ==, sizeof right);
    close(fd);
    g_assert_true(fixture_flush(fixture, &closed));
    g_assert_cmpuint(stored_spans(fixture), ==, 20010);
    g_assert_cmpuint(shard_needs(shard, G_MAXUINT64), ==, JOURNAL_NONE);
    g_assert_cmpuint(shard_state(shard).spilled_bytes, ==, 0);
}

/* The file without a name, as if its disk were gone; what it had, to give it back. */
static GByteArray *lose_file(int fd) {
    GByteArray *had = g_byte_array_new();
    g_byte_array_set_size(had, (guint)lseek(fd, 0, SEEK_END));
    g_assert_cmpint(pread(fd, had->data, had->len, 0), ==, had->len);
    g_assert_cmpint(ftruncate(fd, 0), ==, 0);
    return had;
}

static void give_file_back(int fd, GByteArray *had) {
    g_assert_cmpint(pwrite(fd, had->data, had->len, 0), ==, had->len);
    g_byte_array_unref(had);
    close(fd);
}

/* Several that cannot be read back when the journal is short: each is tried once, and the shard goes on. */
static void test_segments_unreadable(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.memory_bytes = 200000;
    fixture->limits.disk_bytes = 8 << 20;
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];

    JournalSegment *segment = append(fixture);
    for (guint64 trace = 1; trace <= 3; trace++)
        for (guint64 first = 1; first <= 10000; first += 500)
            fixture_put(shard, (FixtureSpans){trace, first, 500}, segment);
    WAIT_FOR(shard_state(shard).spans == 30000);

    int fd = unnamed_file_in(fixture->folder);
    GByteArray *had = lose_file(fd);
    shard_store_segments(shard, journal_segment_number(segment));
    put(fixture, 4, 1, 10);
    WAIT_FOR(shard_state(shard).spans == 30010);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_UNSPILL_FAILURES), ==, 3);
    g_assert_cmpuint(shard_needs(shard, G_MAXUINT64), ==, journal_segment_number(segment));

    journal_release(segment);
    give_file_back(fd, had);
    guint64 closed = 0;
    g_assert_true(fixture_flush(fixture, &closed));
    g_assert_cmpuint(stored_spans(fixture), ==, 30010);
}

/* Small ones fill the memory that there is, it becomes less, and their disk is gone: others close instead, and memory
 * stays bounded. */
static void test_memory_unreadable(void) {
    enum { TRACES = 24000, MORE = 20000 };
    g_autoptr(Fixture) fixture = fixture_new();
    fixture->limits.memory_bytes = 2000000;
    fixture->limits.disk_bytes = 64 << 20;
    fixture_start(fixture, 1);
    Shard *shard = fixture->shards[0];

    for (guint64 trace = 1; trace <= TRACES; trace++) put(fixture, trace, 2, 3);
    WAIT_FOR(shard_state(shard).mailbox_bytes == 0);
    g_assert_cmpuint(shard_state(shard).traces, >, 20000);

    int fd = unnamed_file_in(fixture->folder);
    GByteArray *had = lose_file(fd);
    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {0, before.rlim_max};
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);

    const ShardShare share = {fixture->limits.memory_bytes / 4 * 3, fixture->limits.disk_bytes, fixture->limits.idle_ns,
                              fixture->limits.idle_ns};
    shard_set_share(shard, &share);
    for (guint64 trace = 1; trace <= MORE; trace++) put(fixture, TRACES + trace, 2, 3);
    WAIT_FOR(shard_state(shard).mailbox_bytes == 0);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_UNSPILL_FAILURES), >, 0);
    g_assert_cmpuint(shard_state(shard).arena_bytes, <=, fixture->limits.memory_bytes);

    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    give_file_back(fd, had);
    WAIT_FOR(fixture_flush(fixture, NULL));
    g_assert_cmpuint(stored_spans(fixture), ==, 3 * (TRACES + MORE));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/shard/flush", test_flush);
    g_test_add_func("/shard/one-trace", test_one_trace);
    g_test_add_func("/shard/needs-until-on-disk", test_needs_until_on_disk);
    g_test_add_func("/shard/idle", test_idle);
    g_test_add_func("/shard/limits", test_limits_can_change);
    g_test_add_func("/shard/max-spans", test_max_spans);
    g_test_add_func("/shard/max-bytes", test_max_bytes);
    g_test_add_func("/shard/memory", test_memory);
    g_test_add_func("/shard/store-fails", test_store_fails_for_a_while);
    g_test_add_func("/shard/stop-fails", test_stop_while_the_store_fails);
    g_test_add_func("/shard/stop-together", test_shards_stop_together);
    g_test_add_func("/shard/stop-without-time", test_stop_without_time);
    g_test_add_func("/shard/set-aside", test_spans_that_cannot_be_joined);
    g_test_add_func("/shard/needs", test_needs_of_the_journal);
    g_test_add_func("/shard/unreadable", test_unreadable);
    g_test_add_func("/shard/segments-unreadable", test_segments_unreadable);
    g_test_add_func("/shard/memory-unreadable", test_memory_unreadable);

    return g_test_run();
}
