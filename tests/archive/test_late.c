/* Spans that come after their trace was stored, and the summing up of hours and days: what may go wrong. */
#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

/* The linker leads this call here (tests.cmake): disks that fill up on demand. */
gboolean __real_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);
gboolean __wrap_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);

static guint good_writes, failing_writes; /* so many go well, then so many fail */

gboolean __wrap_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error) {
    if (failing_writes == 0 || good_writes > 0) {
        good_writes -= failing_writes > 0;
        return __real_store_write(store, batch, sync, error);
    }
    failing_writes--;
    return fail(error, PLUMB_ERROR_NO_SPACE, "disk full");
}

/* Joining that cannot write changes nothing, and is tried again with what has come meanwhile. */
static void test_join_on_a_full_disk(gconstpointer rocksdb) {
    Case c;
    case_open(&c, GPOINTER_TO_INT(rocksdb), 0);
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 2, 4));
    fixture_commit(c.writer);
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 3, 6));
    fixture_commit(c.writer);
    g_autoptr(GPtrArray) before = fixture_dump(&c.fixture);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 2; i++) {
        failing_writes = 1;
        g_assert_false(archive_join(c.fixture.archive, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
        g_clear_error(&error);
        g_autoptr(GPtrArray) after = fixture_dump(&c.fixture);
        assert_same_dump(before, after);
        g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 12);
        fixture_assert_sound(&c.fixture);
    }

    fixture_add(c.writer, chain(&c, 2, 1, 1));
    commit_and_join(&c);
    for (guint64 trace = 1; trace <= 3; trace++) g_assert_cmpuint(loaded_spans(&c, trace), ==, trace == 2 ? 6 : 5);
    ArchiveTotals totals = archive_totals(c.fixture.archive);
    g_assert_cmpuint(totals.spans, ==, 16);
    g_assert_cmpuint(totals.late_spans, ==, 7);
    g_assert_cmpuint(totals.duplicates, ==, 6);

    join_late(&c);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static gint64 jumping_ns = BASE_NS;
static gint64 jump(const Clock *clock) {
    (void)clock;
    return __atomic_add_fetch(&jumping_ns, NS_PER_MINUTE, __ATOMIC_RELAXED);
}
static const Clock jumping_clock = {jump, jump};

/* Whoever asks, to forget ids of what is joined, must hear that not all is. */
static void test_join_in_a_hurry(gconstpointer rocksdb) {
    Case c;
    case_open_with(&c, GPOINTER_TO_INT(rocksdb), &(ArchiveOptions){.clock = &jumping_clock});
    fixture_add(c.writer, chain(&c, 1, 2, 4));
    fixture_commit(c.writer);
    fixture_add(c.writer, chain(&c, 1, 3, 6));
    fixture_commit(c.writer);
    archive_hurry(c.fixture.archive);
    g_autoptr(GError) error = NULL;
    g_assert_false(archive_join(c.fixture.archive, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 4);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 3);
    case_close(&c);
}

/* So many that they are joined by two threads. */
#define MANY 100u

/* One of the two cannot write: what the other has written is joined, once, and all the rest next time. */
static void test_join_many_on_a_full_disk(gconstpointer rocksdb) {
    for (guint good = 0; good < 7; good++) {
        Case c;
        case_open(&c, GPOINTER_TO_INT(rocksdb), 0);
        for (guint64 trace = 1; trace <= MANY; trace++) fixture_add(c.writer, chain(&c, trace, 2, 4));
        fixture_commit(c.writer);
        for (guint64 trace = 1; trace <= MANY; trace++) fixture_add(c.writer, chain(&c, trace, 3, 6));
        fixture_commit(c.writer);

        good_writes = good;
        failing_writes = 1;
        g_autoptr(GError) error = NULL;
        g_assert_false(archive_join(c.fixture.archive, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
        g_assert_cmpuint(failing_writes, ==, 0);

        ArchiveTotals totals = archive_totals(c.fixture.archive);
        const guint64 joined = totals.late_spans / 2; /* traces: two of four spans are new to each */
        g_assert_cmpuint(joined, <, MANY);
        g_assert_true(joined > 0 || good == 0);
        g_assert_cmpuint(totals.late_waiting, ==, 4 * (MANY - joined));
        g_assert_cmpuint(totals.spans, ==, 3 * MANY + 2 * joined);
        fixture_assert_sound(&c.fixture);

        join_late(&c);
        totals = archive_totals(c.fixture.archive);
        g_assert_cmpuint(totals.spans, ==, 5 * MANY);
        g_assert_cmpuint(totals.late_spans, ==, 2 * MANY);
        g_assert_cmpuint(totals.duplicates, ==, 2 * MANY);
        g_assert_cmpuint(totals.late_waiting, ==, 0);
        fixture_assert_sound(&c.fixture);
        case_close(&c);
    }
}

typedef struct HandClock {
    Clock base;
    gint64 seconds;
    guint64 few;
} HandClock;

static gint64 hand_ns(const Clock *clock) { return ((const HandClock *)clock)->seconds * NS_PER_SEC; }

/* At so many seconds a span comes late for a trace (0: none), and what is due is joined; so many spans wait then. */
static void late_at(Case *c, HandClock *clock, guint64 trace, gint64 seconds, guint64 waiting) {
    static guint child = 10;
    const JoinWhen when = {120 * NS_PER_SEC, 600 * NS_PER_SEC, clock->few, 20};
    clock->seconds = seconds;
    if (trace > 0) {
        fixture_add(c->writer, chain(c, trace, child, child));
        fixture_commit(c->writer);
        child++;
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(archive_join_due(c->fixture.archive, &when, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(archive_totals(c->fixture.archive).late_waiting, ==, waiting);
}

/* Under load a trace is joined once it is quiet, or has waited for long; the others wait on. */
static void test_join_when_due(gconstpointer rocksdb) {
    HandClock clock = {{hand_ns, hand_ns}, 1000, 0};
    Case c;
    case_open_with(&c, GPOINTER_TO_INT(rocksdb), &(ArchiveOptions){.clock = &clock.base});
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 1, 4));
    fixture_commit(c.writer);

    late_at(&c, &clock, 1, 1000, 1);
    late_at(&c, &clock, 2, 1040, 2);
    late_at(&c, &clock, 2, 1100, 3);
    late_at(&c, &clock, 0, 1110, 3);
    late_at(&c, &clock, 0, 1165, 2); /* 1 is quiet: looked for every 30 s */
    late_at(&c, &clock, 2, 1200, 3);
    late_at(&c, &clock, 2, 1300, 4);
    late_at(&c, &clock, 2, 1400, 5);
    late_at(&c, &clock, 2, 1500, 6);
    late_at(&c, &clock, 2, 1600, 7);
    late_at(&c, &clock, 3, 1690, 1); /* 2 is never quiet, but its first has waited long enough */
    g_assert_cmpuint(loaded_spans(&c, 2), ==, 11);

    late_at(&c, &clock, 1, 1700, 2);
    clock.few = 3;
    late_at(&c, &clock, 2, 1710, 0);
    clock.few = 0;
    for (guint i = 1; i <= 20; i++) late_at(&c, &clock, 1 + i % 3, 1710, i);
    late_at(&c, &clock, 1, 1711, 0); /* too many */

    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* A damaged record keeps its own late spans waiting, for whoever repairs it, and nobody else's. */
static void test_join_beside_damage(void) {
    Case c;
    case_open(&c, FALSE, 0);
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 2, 4));
    fixture_commit(c.writer);

    LayoutKey key = trace_key(&(TraceKey){trace_second(BASE_NS), 2, 0});
    g_autoptr(GBytes) record = NULL;
    g_assert_true(store_get(c.fixture.store, FAMILY_TRACE, key_bytes(&key), &record, NULL));
    g_autoptr(StoreBatch) batch = store_batch_new(c.fixture.store);
    store_batch_put(batch, FAMILY_TRACE, key_bytes(&key), (Bytes){bytes_view(record).data, 20});
    g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 1, 2));
    fixture_commit(c.writer);

    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < 2; i++) {
        g_assert_false(archive_join(c.fixture.archive, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        g_clear_error(&error);
        g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 2);
        g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 11);
    }

    store_batch_put(batch, FAMILY_TRACE, key_bytes(&key), bytes_view(record));
    g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));
    join_late(&c);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 0);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* A flipped bit in what waits is found, at every byte, and keeps waiting beside what is joined. */
static void test_join_beside_damaged_entry(void) {
    Case c;
    case_open(&c, FALSE, 0);
    for (guint64 trace = 1; trace <= 2; trace++) fixture_add(c.writer, chain(&c, trace, 2, 4));
    fixture_commit(c.writer);
    for (guint64 trace = 1; trace <= 2; trace++) fixture_add(c.writer, chain(&c, trace, 1, 2));
    fixture_commit(c.writer);

    g_autoptr(StoreIter) late = store_iter_new(c.fixture.store, FAMILY_LATE);
    g_assert_true(store_iter_seek(late, (Bytes){"", 0}));
    g_autoptr(GByteArray) key = g_byte_array_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    append_bytes(key, store_iter_key(late).data, store_iter_key(late).size_bytes);
    append_bytes(value, store_iter_value(late).data, store_iter_value(late).size_bytes);
    g_clear_pointer(&late, store_iter_free);

    g_autoptr(StoreBatch) batch = store_batch_new(c.fixture.store);
    for (guint at = LATE_HEAD_BYTES - 4; at < value->len; at++) {
        value->data[at] ^= 0x10;
        store_batch_put(batch, FAMILY_LATE, (Bytes){key->data, key->len}, (Bytes){value->data, value->len});
        g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));
        value->data[at] ^= 0x10;
        g_autoptr(GError) error = NULL;
        g_assert_false(archive_join(c.fixture.archive, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 2);
        g_assert_cmpuint(loaded_spans(&c, 2), ==, 4);
    }

    store_batch_put(batch, FAMILY_LATE, (Bytes){key->data, key->len}, (Bytes){value->data, value->len});
    g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));
    join_late(&c);
    g_assert_cmpuint(loaded_spans(&c, 1), ==, 4);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void reopen(Case *c) {
    archive_writer_free(c->writer);
    fixture_reopen(&c->fixture);
    c->writer = archive_writer_new(c->fixture.archive);
}

/* What waits is known after a restart without being read, and what comes then takes the place of nothing. */
static void test_waiting_across_restarts(gconstpointer rocksdb) {
    Case c;
    case_open(&c, GPOINTER_TO_INT(rocksdb), 0);
    fixture_add(c.writer, chain(&c, 1, 1, 1));
    fixture_commit(c.writer);
    for (guint i = 2; i <= 6; i++) {
        fixture_add(c.writer, chain(&c, 1, i, i));
        fixture_commit(c.writer);
        reopen(&c);
        g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, i - 1);
        fixture_assert_sound(&c.fixture);
    }
    join_late(&c);
    reopen(&c);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 0);
    g_assert_cmpuint(c.fixture.archive->late_next, ==, 5);
    g_assert_cmpuint(loaded_spans(&c, 1), ==, 6);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Late spans whose trace was removed meanwhile are removed too, and accounted for. */
static void test_late_spans_of_a_removed_trace(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fixture_add(c.writer, chain(&c, 1, 2, 4));
    fixture_commit(c.writer);
    fixture_add(c.writer, chain(&c, 1, 1, 2));
    fixture_commit(c.writer);

    g_autoptr(StoreBatch) batch = store_batch_new(c.fixture.store);
    LayoutKey record = trace_key(&(TraceKey){trace_second(BASE_NS), 1, 0}), index = trace_id_key(1);
    store_batch_delete(batch, FAMILY_TRACE, key_bytes(&record));
    store_batch_delete(batch, FAMILY_TRACE_ID, key_bytes(&index));
    g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));

    join_late(&c);
    ArchiveTotals totals = archive_totals(c.fixture.archive);
    g_assert_cmpuint(totals.late_waiting, ==, 0);
    g_assert_cmpuint(totals.late_expired, ==, 2);

    g_autoptr(AccountTable) accounts = account_table_new();
    archive_accounts(c.fixture.archive, accounts);
    gint64 fields[ACCOUNT_FIELDS];
    account_sum(accounts, fields);
    g_assert_cmpint(fields[ACCOUNT_WAITING], ==, 0);
    g_assert_cmpint(fields[ACCOUNT_EXPIRED], ==, 2);
    g_assert_cmpint(fields[ACCOUNT_TAKEN], ==, 5);
    case_close(&c);
}

/* A scan gives waiting spans too, with the trace that they will join. */
static void test_scan_sees_waiting_spans(void) {
    Case c;
    case_open(&c, FALSE, 0);
    for (guint64 trace = 1; trace <= 3; trace++) fixture_add(c.writer, chain(&c, trace, 2, 4));
    fixture_commit(c.writer);
    fixture_add(c.writer, chain(&c, 2, 1, 2));
    fixture_commit(c.writer);

    g_autoptr(ArchiveScan) scan = archive_scan_new(c.fixture.archive, G_MININT64, G_MAXINT64, FALSE);
    join_late(&c); /* the scan sees what was there when it was made */
    g_autoptr(GError) error = NULL;
    guint64 id;
    TraceSummary summary;

    while (archive_scan_next(scan, &id, &summary, &error)) {
        g_autoptr(GByteArray) spans = g_byte_array_new();
        g_assert_true(archive_scan_spans(scan, spans, &error));
        g_assert_cmpuint(span_count(spans), ==, id == 2 ? 4 : 3);
        g_assert_cmpuint(summary.n_spans, ==, 3);
    }

    g_assert_no_error(error);
    g_clear_pointer(&scan, archive_scan_free);
    case_close(&c);
}

/* A roll-up that fails or ends anywhere begins anew; what comes meanwhile is counted once, in all that is read. */
static void test_roll_up_interrupted(gconstpointer reopen) {
    const gint64 later_ns = BASE_NS + 30 * 60 * NS_PER_MINUTE;
    for (guint good = 0; good < 6; good++) {
        Case c;
        case_open(&c, FALSE, 0);
        g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);

        for (guint64 trace = 1; trace <= 6; trace++) {
            TestSpan span = {trace,
                             1,
                             0,
                             c.world.names[0],
                             c.world.tracers[trace % 3],
                             BASE_NS + (gint64)trace * 25 * NS_PER_MINUTE,
                             NS_PER_SEC};
            g_byte_array_set_size(c.spans, 0);
            test_span_append(c.spans, &span);
            g_ptr_array_add(traces, copy_of(c.spans));
            fixture_add(c.writer, c.spans);
            if (trace != 4) continue;

            fixture_commit(c.writer);
            good_writes = good;
            failing_writes = 1;
            g_autoptr(GError) error = NULL;
            if (!archive_roll_up(c.fixture.archive, later_ns, &error))
                g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
            good_writes = failing_writes = 0;
            fixture_assert_sound(&c.fixture);
            if (GPOINTER_TO_INT(reopen)) {
                archive_writer_free(c.writer);
                fixture_reopen(&c.fixture);
                c.writer = archive_writer_new(c.fixture.archive);
            }
        }
        fixture_commit(c.writer);

        StatsFilter filter = {.kind = STATS_FUNCTION, .until_ns = G_MAXINT64, .role = -1};
        for (guint i = 0; i < 2; i++) {
            fixture_assert_sound(&c.fixture);
            fixture_assert_stats(&c.fixture, &filter, traces);
            g_assert_true(archive_roll_up(c.fixture.archive, later_ns, NULL));
        }

        g_assert_cmpuint(c.fixture.archive->roll_up.rolled_below[LEVEL_HOUR], >,
                         stats_bucket(LEVEL_HOUR, BASE_NS + 150 * NS_PER_MINUTE));
        case_close(&c);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/late/full-disk/memory", GINT_TO_POINTER(FALSE), test_join_on_a_full_disk);
    g_test_add_data_func("/late/full-disk/rocksdb", GINT_TO_POINTER(TRUE), test_join_on_a_full_disk);
    g_test_add_data_func("/late/full-disk/many/memory", GINT_TO_POINTER(FALSE), test_join_many_on_a_full_disk);
    g_test_add_data_func("/late/full-disk/many/rocksdb", GINT_TO_POINTER(TRUE), test_join_many_on_a_full_disk);
    g_test_add_data_func("/late/due/memory", GINT_TO_POINTER(FALSE), test_join_when_due);
    g_test_add_data_func("/late/due/rocksdb", GINT_TO_POINTER(TRUE), test_join_when_due);
    g_test_add_data_func("/late/hurry/memory", GINT_TO_POINTER(FALSE), test_join_in_a_hurry);
    g_test_add_data_func("/late/hurry/rocksdb", GINT_TO_POINTER(TRUE), test_join_in_a_hurry);
    g_test_add_func("/late/beside-damage", test_join_beside_damage);
    g_test_add_func("/late/beside-damaged-entry", test_join_beside_damaged_entry);
    g_test_add_data_func("/late/restarts/memory", GINT_TO_POINTER(FALSE), test_waiting_across_restarts);
    g_test_add_data_func("/late/restarts/rocksdb", GINT_TO_POINTER(TRUE), test_waiting_across_restarts);
    g_test_add_func("/late/removed-trace", test_late_spans_of_a_removed_trace);
    g_test_add_func("/late/scan", test_scan_sees_waiting_spans);
    g_test_add_data_func("/roll-up/interrupted", GINT_TO_POINTER(FALSE), test_roll_up_interrupted);
    g_test_add_data_func("/roll-up/ended", GINT_TO_POINTER(TRUE), test_roll_up_interrupted);
    return g_test_run();
}
