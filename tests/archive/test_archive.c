/* One situation each: what is stored, what is counted, what is refused. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

/* The linker leads these calls here (tests.cmake): disks that fill up on demand. */
gboolean __real_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);
gboolean __wrap_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);
gboolean __real_dict_intern(Dict *dict, const char *data, gsize length, guint32 *id, GError **error);
gboolean __wrap_dict_intern(Dict *dict, const char *data, gsize length, guint32 *id, GError **error);

static guint failing_writes;
static PlumbError intern_failure;
static gboolean intern_fails;

gboolean __wrap_store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error) {
    if (failing_writes == 0) return __real_store_write(store, batch, sync, error);
    failing_writes--;
    return fail(error, PLUMB_ERROR_NO_SPACE, "disk full");
}

gboolean __wrap_dict_intern(Dict *dict, const char *data, gsize length, guint32 *id, GError **error) {
    if (!intern_fails || dict_find(dict, data, length) != 0) return __real_dict_intern(dict, data, length, id, error);
    return fail(error, intern_failure, "refused");
}

static void assert_namenodes(Case *c, const char *const *names) {
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    archive_namenode_hosts(c->fixture.archive, hosts);
    for (guint i = 0; i < hosts->len; i++)
        g_assert_cmpstr(dict_text(archive_dict(c->fixture.archive), g_array_index(hosts, guint32, i), NULL), ==,
                        names[i]);
    g_assert_null(names[hosts->len]);
}

static void add_name(Case *c, const char *name) {
    g_autoptr(GError) error = NULL;
    guint32 id;
    dict_intern(archive_dict(c->fixture.archive), name, strlen(name), &id, &error);
    g_assert_no_error(error);
}

/* What came since the last question is found, each host once, and also one that the dictionary gets later than its
 * process. */
static void test_namenode_hosts(void) {
    Case c;
    case_open(&c, FALSE, 0);
    assert_namenodes(&c, (const char *const[]){"10.0.0.1", NULL});
    static const char *const first[] = {"h1", "NameNode/h1/7", "NameNode/h1/8", "DataNode/h2/9", "h2", "NameNode/h3/7"};
    for (guint i = 0; i < G_N_ELEMENTS(first); i++) add_name(&c, first[i]);
    assert_namenodes(&c, (const char *const[]){"10.0.0.1", "h1", NULL});
    assert_namenodes(&c, (const char *const[]){"10.0.0.1", "h1", NULL});
    add_name(&c, "NameNode/h2/7");
    add_name(&c, "h3");
    assert_namenodes(&c, (const char *const[]){"10.0.0.1", "h1", "h3", "h2", NULL});
    case_close(&c);
}

static void never_visited(void *arg, const StatsKey *key, StatsRow *row) {
    (void)arg;
    (void)key;
    (void)row;
    g_assert_not_reached();
}

static void test_empty(void) {
    Case c;
    case_open(&c, FALSE, 0);
    ArchiveTotals totals = archive_totals(c.fixture.archive);
    g_assert_cmpuint(totals.traces + totals.spans + totals.patterns, ==, 0);
    g_assert_cmpint(totals.first_ns, ==, 0);

    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_assert_false(fixture_load(c.fixture.archive, 1, spans, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_clear_error(&error);

    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    g_assert_true(archive_stats(c.fixture.archive, &filter, never_visited, NULL, &error));
    g_autoptr(ArchiveScan) scan = archive_scan_new(c.fixture.archive, G_MININT64, G_MAXINT64, TRUE);
    guint64 id;
    TraceSummary summary;
    g_assert_false(archive_scan_next(scan, &id, &summary, &error));
    g_assert_no_error(error);

    fixture_commit(c.writer);
    g_assert_cmpuint(archive_writer_pending_bytes(c.writer), ==, 0);
    join_late(&c);
    fixture_assert_sound(&c.fixture);
    g_assert_null(archive_pattern(c.fixture.archive, 1));
    g_assert_null(archive_pattern(c.fixture.archive, 0));

    g_clear_pointer(&scan, archive_scan_free);
    case_close(&c);
}

static void test_repeats_change_nothing(void) {
    Case c;
    case_open(&c, FALSE, 0);
    chain(&c, 5, 1, 6);
    g_autoptr(GByteArray) once = copy_of(c.spans);
    g_autoptr(GArray) offsets = span_offsets(once);
    g_byte_array_append(c.spans, once->data, g_array_index(offsets, guint, 3)); /* three of them twice at once */

    fixture_add(c.writer, c.spans);
    g_assert_cmpuint(archive_totals(c.fixture.archive).duplicates, ==, 3);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 0); /* not committed */
    fixture_commit(c.writer);
    g_autoptr(GPtrArray) before = fixture_dump(&c.fixture);

    fixture_add(c.writer, chain(&c, 5, 1, 6));
    fixture_add(c.writer, chain(&c, 5, 2, 2));
    fixture_commit(c.writer);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 7);
    g_assert_cmpuint(loaded_spans(&c, 5), ==, 6);

    commit_and_join(&c);
    g_autoptr(GPtrArray) after = fixture_dump(&c.fixture);
    assert_same_dump(before, after);

    ArchiveTotals totals = archive_totals(c.fixture.archive);
    g_assert_cmpuint(totals.duplicates, ==, 3 + 6 + 1);
    g_assert_cmpuint(totals.late_spans, ==, 0);
    g_assert_cmpuint(totals.spans, ==, 6);
    case_close(&c);
}

/* The same id with other content: what is stored stays, so that its statistics need not be taken back. */
static void test_first_content_stays(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fixture_add(c.writer, chain(&c, 5, 1, 3));
    fixture_commit(c.writer);
    g_autoptr(GPtrArray) before = fixture_dump(&c.fixture);
    chain(&c, 5, 1, 3);
    for (guint at = 0; at < c.spans->len;) {
        SpanRec *span = (SpanRec *)(gpointer)(c.spans->data + at);
        span->duration_ns = 1;
        at += span->size_bytes;
    }
    fixture_add(c.writer, c.spans);
    commit_and_join(&c);
    g_autoptr(GPtrArray) after = fixture_dump(&c.fixture);
    assert_same_dump(before, after);
    g_assert_cmpuint(archive_totals(c.fixture.archive).duplicates, ==, 3);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* A late root that began in the minute before: the record moves, its pattern's rows change minute. */
static void test_late_root(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fixture_add(c.writer, chain(&c, 5, 2, 4));
    fixture_commit(c.writer);
    g_assert_cmpuint(archive_totals(c.fixture.archive).incomplete_traces, ==, 1);

    g_autoptr(GPtrArray) traces = g_ptr_array_new();
    GByteArray *all = copy_of(c.spans);
    g_ptr_array_add(traces, all);
    g_byte_array_set_size(c.spans, 0);
    TestSpan root = {5, 1, 0, c.world.names[1], c.world.tracers[1], BASE_NS - NS_PER_MS, 2 * NS_PER_SEC};
    test_span_append(c.spans, &root);
    g_byte_array_append(all, c.spans->data, c.spans->len);

    fixture_add(c.writer, c.spans);
    fixture_commit(c.writer);
    fixture_assert_sound(&c.fixture);
    fixture_assert_traces(&c.fixture, traces);
    commit_and_join(&c);
    fixture_assert_sound(&c.fixture);
    fixture_assert_traces(&c.fixture, traces);

    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    fixture_assert_stats(&c.fixture, &filter, traces);
    filter.since_ns = BASE_NS;
    fixture_assert_stats(&c.fixture, &filter, traces);
    join_late(&c);
    fixture_assert_stats(&c.fixture, &filter, traces);
    fixture_assert_sound(&c.fixture);

    ArchiveTotals totals = archive_totals(c.fixture.archive);
    g_assert_cmpuint(totals.incomplete_traces, ==, 0);
    g_assert_cmpuint(totals.late_spans, ==, 1);
    g_assert_cmpint(totals.first_ns, ==, BASE_NS - NS_PER_MS);
    g_byte_array_unref(all);
    case_close(&c);
}

static void test_twice_in_one_group(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fixture_add(c.writer, chain(&c, 5, 1, 3));
    fixture_add(c.writer, chain(&c, 6, 1, 3));
    fixture_add(c.writer, chain(&c, 5, 3, 6));
    g_assert_cmpuint(archive_totals(c.fixture.archive).traces, ==, 0); /* nothing was written yet */
    fixture_add(c.writer, chain(&c, 5, 7, 7));
    fixture_commit(c.writer);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_waiting, ==, 5);
    g_assert_cmpuint(loaded_spans(&c, 5), ==, 7);
    fixture_assert_sound(&c.fixture);
    commit_and_join(&c);
    g_assert_cmpuint(loaded_spans(&c, 5), ==, 7);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 10);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* A group that could not be written stays, takes more, and is written once. */
static void test_disk_full(gconstpointer rocksdb) {
    Case c, good;
    case_open(&c, GPOINTER_TO_INT(rocksdb), 0);
    case_open(&good, FALSE, 0);

    for (guint64 trace = 1; trace <= 20; trace++) {
        fixture_add(c.writer, chain(&c, trace, 1, (guint)trace % 5 + 1));
        fixture_add(good.writer, c.spans);
        if (trace % 3 != 0) continue;
        g_autoptr(GError) error = NULL;
        failing_writes = 1 + trace % 2;
        while (failing_writes > 0) {
            g_assert_false(archive_writer_commit(c.writer, TRUE, &error));
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
            g_clear_error(&error);
        }
        if (trace % 2 == 0) fixture_commit(c.writer);
    }

    fixture_commit(c.writer);
    fixture_commit(good.writer);

    g_autoptr(GPtrArray) is = fixture_dump(&c.fixture);
    g_autoptr(GPtrArray) should_be = fixture_dump(&good.fixture);
    assert_same_dump(is, should_be);
    fixture_assert_sound(&c.fixture);

    case_close(&c);
    case_close(&good);
}

static void test_host_cannot_be_named(void) {
    Case c;
    case_open(&c, FALSE, 0);
    guint32 tracer = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(dict_intern(archive_dict(c.fixture.archive), "DataNode/new-host", 17, &tracer, &error));
    TestSpan span = {9, 1, 0, c.world.names[0], tracer, BASE_NS, 1};
    test_span_append(c.spans, &span);

    intern_fails = TRUE;
    intern_failure = PLUMB_ERROR_NO_SPACE;
    gsize pending = archive_writer_pending_bytes(c.writer);
    g_assert_false(archive_writer_add(c.writer, 9, c.spans->data, c.spans->len, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
    g_assert_cmpuint(archive_writer_pending_bytes(c.writer), ==, pending);

    intern_failure = PLUMB_ERROR_LIMIT; /* full for good: counted without a host */
    fixture_add(c.writer, c.spans);
    fixture_commit(c.writer);
    intern_fails = FALSE;

    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void test_malformed_records(void) {
    Case c;
    case_open(&c, FALSE, 0);
    g_autoptr(GError) error = NULL;
    chain(&c, 5, 1, 2);

    g_assert_false(archive_writer_add(c.writer, 6, c.spans->data, c.spans->len, &error)); /* of another trace */
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_clear_error(&error);

    g_assert_false(archive_writer_add(c.writer, 5, c.spans->data, c.spans->len - 8, &error)); /* cut */
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_clear_error(&error);
    g_assert_false(archive_writer_add(c.writer, 5, c.spans->data, 0, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_clear_error(&error);

    ((SpanRec *)(gpointer)c.spans->data)->size_bytes = 0;
    g_assert_false(archive_writer_add(c.writer, 5, c.spans->data, c.spans->len, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);

    fixture_commit(c.writer);
    g_assert_cmpuint(archive_totals(c.fixture.archive).traces, ==, 0);
    case_close(&c);
}

static guint stored_parts(Case *c, guint64 trace) {
    g_autoptr(GBytes) index = NULL;
    g_assert_true(trace_index_get(c->fixture.archive, trace, &index, NULL));
    return index == NULL ? 0 : trace_index_parts(bytes_view(index));
}

/* Traces larger than a record: each step is spans first..last, then so many parts and spans are stored. */
static void test_parts(void) {
    static const struct {
        guint first, last, parts, spans;
    } steps[] = {
        {1, 3, 1, 3},   {3, 4, 1, 4}, /* full */
        {5, 5, 2, 5},                 /* the first record becomes a part */
        {4, 8, 2, 8},                 /* the second fills up */
        {1, 8, 2, 8},                 /* nothing new */
        {2, 20, 5, 20}, {20, 21, 6, 21}, {1, 21, 6, 21},
    };
    Case c;
    case_open(&c, FALSE, 4);

    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        fixture_add(c.writer, chain(&c, 5, steps[i].first, steps[i].last));
        commit_and_join(&c);
        g_assert_cmpuint(stored_parts(&c, 5), ==, steps[i].parts);
        g_assert_cmpuint(loaded_spans(&c, 5), ==, steps[i].spans);
        g_assert_cmpuint(archive_totals(c.fixture.archive).traces, ==, 1);
        fixture_assert_sound(&c.fixture);
    }

    join_late(&c);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void test_parts_do_not_depend_on_order(void) {
    Case a, b;
    case_open(&a, FALSE, 4);
    case_open(&b, FALSE, 4);

    fixture_add(a.writer, chain(&a, 5, 1, 11));
    g_autoptr(GArray) offsets = span_offsets(a.spans);
    for (guint i = offsets->len; i-- > 0;) {
        guint at = g_array_index(offsets, guint, i);
        guint size = ((const SpanRec *)(gconstpointer)(a.spans->data + at))->size_bytes;
        for (guint twice = 0; twice < 2; twice++) g_byte_array_append(b.spans, a.spans->data + at, size);
    }

    fixture_add(b.writer, b.spans);
    fixture_commit(a.writer);
    fixture_commit(b.writer);
    g_assert_cmpuint(archive_totals(b.fixture.archive).duplicates, ==, 11);

    g_autoptr(GPtrArray) of_a = fixture_dump(&a.fixture);
    g_autoptr(GPtrArray) of_b = fixture_dump(&b.fixture);
    assert_same_dump(of_a, of_b);

    case_close(&a);
    case_close(&b);
}

/* A pattern whose writer died gets stored with the first group after it, and numbers have no holes. */
static void test_pattern_of_a_lost_group(gconstpointer rocksdb) {
    Case c;
    case_open(&c, GPOINTER_TO_INT(rocksdb), 0);
    ArchiveWriter *lost = archive_writer_new(c.fixture.archive);
    fixture_add(lost, chain(&c, 1, 1, 2));
    fixture_add(c.writer, chain(&c, 2, 1, 5));
    fixture_commit(c.writer);

    archive_writer_free(lost);
    archive_writer_free(c.writer);
    fixture_reopen(&c.fixture);
    g_assert_cmpuint(archive_pattern_count(c.fixture.archive), ==, 2);

    c.writer = archive_writer_new(c.fixture.archive);
    fixture_add(c.writer, chain(&c, 1, 1, 2));
    fixture_commit(c.writer);
    g_assert_cmpuint(archive_pattern_count(c.fixture.archive), ==, 2);

    const Pattern *pattern = archive_pattern(c.fixture.archive, 1);
    g_assert_nonnull(pattern);
    g_assert_cmpuint(archive_pattern_find(c.fixture.archive, pattern->id), ==, 1);
    g_assert_true(archive_pattern(c.fixture.archive, 1) == pattern);

    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* What is counted depends on it, so a store keeps the tolerance it began with. */
static void test_clock_tolerance_stays(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fixture_add(c.writer, chain(&c, 1, 1, 4));
    fixture_commit(c.writer);
    archive_writer_free(c.writer);
    c.fixture.options.clock_tolerance_ns = 0;
    fixture_reopen(&c.fixture);
    g_assert_cmpint(archive_clock_tolerance_ns(c.fixture.archive), ==, NS_PER_MS);
    c.writer = archive_writer_new(c.fixture.archive);
    fixture_add(c.writer, chain(&c, 1, 3, 7));
    commit_and_join(&c);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Times before 1970 and after the last second of a key still count in rows that verify finds again. */
static void test_times_far_away(void) {
    static const gint64 begins_ns[] = {-(G_GINT64_CONSTANT(1) << 60), -1, 0, G_GINT64_CONSTANT(1) << 62,
                                       (G_GINT64_CONSTANT(1) << 62) + 3 * 60 * NS_PER_MINUTE};
    Case c;
    case_open(&c, FALSE, 0);
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);

    for (guint round = 0; round < 2; round++) {
        for (guint i = 0; i < G_N_ELEMENTS(begins_ns); i++) {
            TestSpan span = {i, round + 1, round, c.world.names[round], c.world.tracers[2], begins_ns[i], 5};
            g_byte_array_set_size(c.spans, 0);
            test_span_append(c.spans, &span);
            if (round == 0)
                g_ptr_array_add(traces, copy_of(c.spans));
            else
                g_byte_array_append(traces->pdata[i], c.spans->data, c.spans->len);
            fixture_add(c.writer, c.spans);
        }
        commit_and_join(&c);
        fixture_assert_sound(&c.fixture);
    }

    fixture_assert_traces(&c.fixture, traces);
    StatsFilter filter = {.kind = STATS_PATTERN, .since_ns = G_MININT64, .until_ns = G_MAXINT64, .role = -1};
    fixture_assert_stats(&c.fixture, &filter, traces);

    join_late(&c);
    fixture_assert_stats(&c.fixture, &filter, traces);
    filter.kind = STATS_FUNCTION;
    fixture_assert_stats(&c.fixture, &filter, traces);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* ---- statistics of periods ---- */

/* One pattern every 7 minutes over three days and a half, and every edge that a period can have. */
static void fill_days(Case *c, GPtrArray *traces) {
    for (guint i = 0; i < 720; i++) {
        g_byte_array_set_size(c->spans, 0);
        gint64 begin_ns = BASE_NS + i * 7 * NS_PER_MINUTE;
        TestSpan root = {i + 1, 1, 0, c->world.names[0], c->world.tracers[0], begin_ns, (i + 1) * NS_PER_MS};
        TestSpan call = {i + 1, 2, 1, c->world.names[1], c->world.tracers[3], begin_ns + 1, i + 1};
        test_span_append(c->spans, &root);
        test_span_append(c->spans, &call);
        g_ptr_array_add(traces, copy_of(c->spans));
        fixture_add(c->writer, c->spans);
    }
    fixture_commit(c->writer);
}

static void assert_periods(Case *c, const GPtrArray *traces) {
    static const gint64 since_minutes[] = {-3000, 0, 1, 59, 60, 61, 1439, 1440, 1441, 2000};
    static const gint64 lengths_minutes[] = {1, 59, 60, 61, 119, 1439, 1440, 1500, 2879, 2881, 6000};
    for (guint s = 0; s < G_N_ELEMENTS(since_minutes); s++) {
        for (guint l = 0; l < G_N_ELEMENTS(lengths_minutes); l++) {
            StatsFilter filter = {.kind = (s + l) % 3 == 0 ? STATS_FUNCTION : STATS_PATTERN, .role = -1};
            filter.since_ns = BASE_NS + since_minutes[s] * NS_PER_MINUTE + (gint64)(l % 2);
            filter.until_ns = filter.since_ns + lengths_minutes[l] * NS_PER_MINUTE;
            fixture_assert_stats(&c->fixture, &filter, traces);
        }
    }
}

static void test_periods(void) {
    Case c;
    case_open(&c, FALSE, 0);
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    fill_days(&c, traces);
    assert_periods(&c, traces);

    /* Every fourth gets a late call: marks in most hours and all days, several in one hour. */
    for (guint i = 0; i < traces->len; i += 4) {
        g_byte_array_set_size(c.spans, 0);
        TestSpan late = {i + 1, 3, 2, c.world.names[2], c.world.tracers[4], BASE_NS + i * 7 * NS_PER_MINUTE + 2, 1};
        test_span_append(c.spans, &late);
        g_byte_array_append(traces->pdata[i], c.spans->data, c.spans->len);
        fixture_add(c.writer, c.spans);
    }
    for (guint i = 0; i < traces->len; i += 2) { /* and some a repeated pattern in the same minute */
        g_byte_array_set_size(c.spans, 0);
        TestSpan twin = {i + 1, 4, 1, c.world.names[1], c.world.tracers[3], BASE_NS + i * 7 * NS_PER_MINUTE + 3, 9};
        test_span_append(c.spans, &twin);
        g_byte_array_append(traces->pdata[i], c.spans->data, c.spans->len);
        fixture_add(c.writer, c.spans);
    }

    commit_and_join(&c);
    assert_periods(&c, traces);
    fixture_assert_sound(&c.fixture);

    join_late(&c);
    assert_periods(&c, traces);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Trace i of many with one pattern in one minute. */
static void twin_trace(Case *c, guint64 i, GPtrArray *traces) {
    TestSpan root = {i + 1, 1, 0, c->world.names[0], c->world.tracers[i % 2], BASE_NS + (gint64)i, (gint64)i * 1000};
    TestSpan call = {i + 1, 2, 1, c->world.names[1], c->world.tracers[3], BASE_NS + (gint64)i + 1, 65536};
    g_byte_array_set_size(c->spans, 0);
    test_span_append(c->spans, &root);
    test_span_append(c->spans, &call);
    g_ptr_array_add(traces, copy_of(c->spans));
    fixture_add(c->writer, c->spans);
}

static void late_call(Case *c, guint64 i, GPtrArray *traces) {
    TestSpan more = {i + 1, 3, 2, c->world.names[2], c->world.tracers[4], BASE_NS + NS_PER_SEC, 1};
    g_byte_array_set_size(c->spans, 0);
    test_span_append(c->spans, &more);
    g_byte_array_append(traces->pdata[i], c->spans->data, c->spans->len);
    fixture_add(c->writer, c->spans);
    commit_and_join(c);
}

/* Past DIST_EXACT_MAX values, traces are taken away from the row of their old pattern, those with the least and the
 * greatest value among them. */
static void test_many_of_one_pattern(void) {
    static const guint late[] = {7, 150, 299, 0, 298};
    Case c;
    case_open(&c, FALSE, 0);
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (guint64 i = 0; i < 300; i++) twin_trace(&c, i, traces);
    fixture_commit(c.writer);
    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    for (guint i = 0; i < G_N_ELEMENTS(late); i++) {
        late_call(&c, late[i], traces);
        fixture_assert_stats(&c.fixture, &filter, traces);
        fixture_assert_sound(&c.fixture);
        if (i % 2 == 0) join_late(&c);
        fixture_assert_sound(&c.fixture);
    }
    join_late(&c);
    fixture_assert_stats(&c.fixture, &filter, traces);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* A reader beside a running writer sees what was taken away, and what waits. */
static void test_read_only(void) {
    Case c;
    case_open(&c, TRUE, 0);
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    fixture_add(c.writer, chain(&c, 1, 2, 4));
    fixture_commit(c.writer);
    fixture_add(c.writer, chain(&c, 1, 1, 1));
    commit_and_join(&c);
    g_ptr_array_add(traces, copy_of(chain(&c, 1, 1, 4)));

    g_autoptr(GError) error = NULL;
    StoreOptions options = {.path = c.fixture.folder, .read_only = TRUE, .merge = archive_merge};
    Fixture reader = {.store = store_open_rocksdb(&options, &error)};
    g_assert_no_error(error);
    reader.archive = archive_open(reader.store, NULL, &error);
    g_assert_no_error(error);

    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    fixture_assert_stats(&reader, &filter, traces);
    fixture_assert_traces(&reader, traces);
    fixture_assert_sound(&reader);

    archive_free(reader.archive);
    store_close(reader.store);
    case_close(&c);
}

/* ---- scans ---- */

static void assert_scan(Case *c, gint64 since_ns, gint64 until_ns, gboolean newest_first) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(ArchiveScan) scan = archive_scan_new(c->fixture.archive, since_ns, until_ns, newest_first);
    guint64 id = 0;
    TraceSummary summary;
    gint64 first = MAX(0, (since_ns - BASE_NS + 249) / 250), last = MIN(1000, (until_ns - BASE_NS + 249) / 250);
    guint n = 0;

    for (; archive_scan_next(scan, &id, &summary, &error); n++) {
        gint64 expected = newest_first ? last - 1 - n : first + n;
        g_assert_cmpint(summary.begin_ns, ==, BASE_NS + expected * 250);
        g_byte_array_set_size(spans, 0);
        g_assert_true(archive_scan_spans(scan, spans, &error));
        const SpanRec *span = (const SpanRec *)(gconstpointer)spans->data;
        g_assert_cmpuint(span->id.trace, ==, id);
        g_assert_cmpint(span->begin_ns, ==, summary.begin_ns);
    }

    g_assert_no_error(error);
    g_assert_cmpint(n, ==, MAX(0, last - first));
    g_assert_false(archive_scan_next(scan, &id, &summary, &error));
}

/* A thousand traces in one second, their ids in no order. */
static void test_scan_order(void) {
    Case c;
    case_open(&c, FALSE, 0);

    for (guint i = 0; i < 1000; i++) {
        g_byte_array_set_size(c.spans, 0);
        TestSpan span = {(guint64)i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15),
                         1,
                         0,
                         c.world.names[0],
                         c.world.tracers[0],
                         BASE_NS + i * 250,
                         7};
        test_span_append(c.spans, &span);
        fixture_add(c.writer, c.spans);
    }
    fixture_commit(c.writer);

    for (guint newest = 0; newest < 2; newest++) {
        assert_scan(&c, G_MININT64 / 2, G_MAXINT64 / 2, newest != 0);
        assert_scan(&c, BASE_NS + 250, BASE_NS + 500, newest != 0);
        assert_scan(&c, BASE_NS + 251, BASE_NS + 10001, newest != 0);
        assert_scan(&c, BASE_NS + 500, BASE_NS + 500, newest != 0);
        assert_scan(&c, BASE_NS + 900, BASE_NS + 100, newest != 0);
    }

    case_close(&c);
}

/* Seconds with few and with many records, newest first: none is left out or comes twice where a scan turns round. */
static void test_scan_of_seconds(gconstpointer summaries_only) {
    static const guint counts[] = {1, 63, 64, 65, 66, 1, 200, 2};
    Case c;
    case_open(&c, TRUE, 0);
    GArray *begins = g_array_new(FALSE, FALSE, sizeof(gint64));

    for (guint i = 0, second = 0; second < G_N_ELEMENTS(counts); second++) {
        for (guint n = 0; n < counts[second]; n++, i++) {
            gint64 begin_ns = BASE_NS + second * NS_PER_SEC + n;
            TestSpan span = {(guint64)n * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + second,
                             1,
                             0,
                             c.world.names[0],
                             c.world.tracers[0],
                             begin_ns,
                             7};
            g_byte_array_set_size(c.spans, 0);
            test_span_append(c.spans, &span);
            fixture_add(c.writer, c.spans);
            g_array_append_val(begins, begin_ns);
        }
    }
    fixture_commit(c.writer);

    ArchiveScan *scan = archive_scan_new(c.fixture.archive, G_MININT64, G_MAXINT64, TRUE);
    if (summaries_only) archive_scan_summaries_only(scan);
    guint64 id = 0;
    TraceSummary summary;

    for (guint i = begins->len; i-- > 0;) {
        g_assert_true(archive_scan_next(scan, &id, &summary, NULL));
        g_assert_cmpint(summary.begin_ns, ==, g_array_index(begins, gint64, i));
        g_byte_array_set_size(c.spans, 0);
        g_assert_true(archive_scan_spans(scan, c.spans, NULL));
        g_assert_cmpuint(((const SpanRec *)(gconstpointer)c.spans->data)->id.trace, ==, id);
    }

    g_assert_false(archive_scan_next(scan, &id, &summary, NULL));
    archive_scan_free(scan);
    g_array_unref(begins);
    case_close(&c);
}

/* More in one second than a scan keeps in memory: it reads the rest again, in order. */
static void test_scan_of_a_full_second(void) {
    enum { TRACES = 700, VALUE = 60000 };
    Case c;
    case_open(&c, FALSE, 0);
    g_autofree char *value = g_malloc(VALUE);
    GRand *rand = g_rand_new_with_seed(3);

    for (guint i = 0; i < TRACES; i++) {
        for (guint b = 0; b < VALUE; b++) value[b] = (char)g_rand_int(rand);
        SpanRec head = {.id = {TRACES - i, 1}, .begin_ns = BASE_NS + i, .name = 1, .tracer = c.world.tracers[0]};
        g_byte_array_set_size(c.spans, 0);
        SpanBuilder builder = span_builder_begin(c.spans, &head);
        span_builder_annotation(&builder, c.world.path_key, value, VALUE);
        span_builder_end(&builder);
        fixture_add(c.writer, c.spans);
        if (archive_writer_pending_bytes(c.writer) > 4u << 20) fixture_commit(c.writer);
    }
    fixture_commit(c.writer);

    g_autoptr(ArchiveScan) scan = archive_scan_new(c.fixture.archive, BASE_NS, BASE_NS + TRACES, TRUE);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    guint64 id = 0;
    TraceSummary summary;

    for (guint i = 0; i < TRACES; i++) {
        g_assert_true(archive_scan_next(scan, &id, &summary, NULL));
        g_assert_cmpuint(id, ==, i + 1);
        g_byte_array_set_size(spans, 0);
        g_assert_true(archive_scan_spans(scan, spans, NULL));
        g_assert_cmpuint(((const SpanRec *)(gconstpointer)spans->data)->id.trace, ==, id);
        g_assert_cmpuint(spans->len, >, VALUE);
    }

    g_assert_false(archive_scan_next(scan, &id, &summary, NULL));
    g_rand_free(rand);
    g_clear_pointer(&scan, archive_scan_free);
    case_close(&c);
}

static void test_merge_refuses_garbage(void) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(StatsRow) row = stats_row_new();
    dist_add(&stats_row_node(row, 0)->duration, 5);
    g_autoptr(GByteArray) good = g_byte_array_new();
    stats_row_encode(row, good);
    Bytes operands[2] = {{good->data, good->len}, {"\xff\xff\xff\xff\xff", 5}};
    g_assert_true(archive_merge((Bytes){NULL, 0}, operands, 1, out));
    g_assert_cmpmem(out->data, out->len, good->data, good->len);
    g_byte_array_set_size(out, 0);
    g_assert_false(archive_merge((Bytes){NULL, 0}, operands, 2, out));
    g_assert_false(archive_merge(operands[1], operands, 1, out));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/archive/empty", test_empty);
    g_test_add_func("/archive/repeats-change-nothing", test_repeats_change_nothing);
    g_test_add_func("/archive/first-content-stays", test_first_content_stays);
    g_test_add_func("/archive/late-root", test_late_root);
    g_test_add_func("/archive/twice-in-one-group", test_twice_in_one_group);
    g_test_add_data_func("/archive/disk-full/memory", GINT_TO_POINTER(FALSE), test_disk_full);
    g_test_add_data_func("/archive/disk-full/rocksdb", GINT_TO_POINTER(TRUE), test_disk_full);
    g_test_add_func("/archive/host-cannot-be-named", test_host_cannot_be_named);
    g_test_add_func("/archive/malformed-records", test_malformed_records);
    g_test_add_func("/archive/parts", test_parts);
    g_test_add_func("/archive/parts-do-not-depend-on-order", test_parts_do_not_depend_on_order);
    g_test_add_data_func("/archive/pattern-of-a-lost-group/memory", GINT_TO_POINTER(FALSE),
                         test_pattern_of_a_lost_group);
    g_test_add_data_func("/archive/pattern-of-a-lost-group/rocksdb", GINT_TO_POINTER(TRUE),
                         test_pattern_of_a_lost_group);
    g_test_add_func("/archive/clock-tolerance-stays", test_clock_tolerance_stays);
    g_test_add_func("/archive/times-far-away", test_times_far_away);
    g_test_add_func("/archive/periods", test_periods);
    g_test_add_func("/archive/many-of-one-pattern", test_many_of_one_pattern);
    g_test_add_func("/archive/read-only", test_read_only);
    g_test_add_func("/archive/scan-order", test_scan_order);
    g_test_add_data_func("/archive/scan-of-seconds/spans", NULL, test_scan_of_seconds);
    g_test_add_data_func("/archive/scan-of-seconds/summaries", "", test_scan_of_seconds);
    g_test_add_func("/archive/scan-of-a-full-second", test_scan_of_a_full_second);
    g_test_add_func("/archive/namenode-hosts", test_namenode_hosts);
    g_test_add_func("/archive/merge-refuses-garbage", test_merge_refuses_garbage);

    return g_test_run();
}
