/* Whatever is changed behind the archive's back, verify finds it. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/index/terms.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "tests/archive/fixture.h"
#include "tests/archive/traces.h"

#define BASE_NS (G_GINT64_CONSTANT(1700000040) * NS_PER_SEC)

static void fill(Fixture *fixture) {
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 20};
    fixture_open(fixture, FALSE, &options);
    TestWorld world;
    world_init(&world, 11, archive_dict(fixture->archive));
    ArchiveWriter *writer = archive_writer_new(fixture->archive);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    TraceShape shape = {
        .max_spans = 12, .begin_ns = BASE_NS, .spread_ns = 200 * NS_PER_MINUTE, .duration_ns = NS_PER_MINUTE};
    for (guint64 trace = 1; trace <= 30; trace++) {
        if (trace == 30) shape.max_spans = 60; /* likely in parts; test_span_in_two_parts makes its own */
        world_trace(&world, trace, &shape, spans);
        fixture_add(writer, spans);
    }
    fixture_commit(writer);
    archive_writer_free(writer);
    world_clear(&world);
}

static void write_batch(Fixture *fixture, StoreBatch *batch) {
    g_autoptr(GError) error = NULL;
    store_write(fixture->store, batch, FALSE, &error);
    g_assert_no_error(error);
}

/* Key and value of the n-th entry of a family. */
static void entry_at(Fixture *fixture, StoreFamily family, guint n, GByteArray *key, GByteArray *value) {
    g_autoptr(StoreIter) iter = store_iter_new(fixture->store, family);
    gboolean more = store_iter_seek(iter, (Bytes){"", 0});
    while (n-- > 0 && more) more = store_iter_next(iter);
    g_assert_true(more);
    g_byte_array_set_size(key, 0);
    g_byte_array_set_size(value, 0);
    Bytes k = store_iter_key(iter), v = store_iter_value(iter);
    g_byte_array_append(key, k.data, (guint)k.size_bytes);
    g_byte_array_append(value, v.data, (guint)v.size_bytes);
}

static guint entries(Fixture *fixture, StoreFamily family) {
    guint n = 0;
    g_autoptr(StoreIter) iter = store_iter_new(fixture->store, family);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) n++;
    return n;
}

/* TRUE when verify, or opening already, says that something is wrong. */
static gboolean found(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    VerifyResult result = {.traces = 0};
    g_clear_pointer(&fixture->archive, archive_free);
    fixture->archive = archive_open(fixture->store, &fixture->options, &error);
    if (fixture->archive == NULL) return TRUE;
    return !archive_verify(fixture->archive, NULL, &result, &error) || result.differences > 0;
}

typedef enum {
    TAMPER_DELETE,
    TAMPER_FLIP,
    TAMPER_CUT,
    TAMPER_DOUBLE,
    TAMPER_MOVE,
    TAMPER_SHORTEN,
    TAMPER_COUNT
} Tamper;

/* Changes the n-th entry of a family; FALSE when that way of changing it changes nothing. */
static gboolean tamper(Fixture *fixture, StoreFamily family, guint n, Tamper how) {
    g_autoptr(GByteArray) key = g_byte_array_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    g_autoptr(StoreBatch) batch = store_batch_new(fixture->store);
    entry_at(fixture, family, n, key, value);
    Bytes k = {key->data, key->len};

    switch (how) {
    case TAMPER_DELETE: store_batch_delete(batch, family, k); break;
    case TAMPER_FLIP: /* a bit in the middle of the value */
        if (value->len == 0) return FALSE;
        value->data[value->len / 2] ^= 0x10;
        store_batch_put(batch, family, k, (Bytes){value->data, value->len});
        break;
    case TAMPER_CUT:
        if (value->len == 0) return FALSE;
        store_batch_put(batch, family, k, (Bytes){value->data, value->len - 1});
        break;
    case TAMPER_DOUBLE: /* counted twice */
        if (family != FAMILY_STATS) return FALSE;
        store_batch_merge(batch, family, k, (Bytes){value->data, value->len});
        break;
    case TAMPER_SHORTEN: /* under a key that is too short, the next one that a search for the right key comes to */
        store_batch_delete(batch, family, k);
        key->data[key->len - 2]++;
        store_batch_put(batch, family, (Bytes){key->data, key->len - 1}, (Bytes){value->data, value->len});
        break;
    default: /* the same value under another key */
        store_batch_delete(batch, family, k);
        key->data[key->len - 1] ^= 1;
        store_batch_put(batch, family, k, (Bytes){value->data, value->len});
        break;
    }

    write_batch(fixture, batch);
    return TRUE;
}

/* Some flips change nothing that is counted: bits of a span's annotation or id, which only the span itself knows. In
 * keys of the search index the last bytes only tell groups apart. */
static gboolean may_escape(StoreFamily family, Tamper how) {
    return family == FAMILY_TRACE ? how == TAMPER_FLIP : family == FAMILY_INDEX && how == TAMPER_MOVE;
}

static void test_tampering(gconstpointer family_number) {
    StoreFamily family = (StoreFamily)GPOINTER_TO_INT(family_number);
    Fixture fixture;
    fill(&fixture);

    guint n = entries(&fixture, family), tried = 0, escaped = 0;
    fixture_close(&fixture);
    g_assert_cmpuint(n, >, 0);

    for (Tamper how = TAMPER_DELETE; how < TAMPER_COUNT; how++) {
        for (guint i = 0; i < n; i += 1 + n / 15) {
            fill(&fixture);
            if (tamper(&fixture, family, i, how)) {
                gboolean is_found = found(&fixture);
                if (!may_escape(family, how)) {
                    if (!is_found) g_test_message("family %u entry %u, tampering %u", family, i, how);
                    g_assert_true(is_found);
                }
                tried++;
                escaped += is_found ? 0 : 1;
            }
            fixture_close(&fixture);
        }
    }

    g_assert_cmpuint(tried, >, 0);
    g_assert_cmpuint(escaped, <=, 1 + tried / 4);
}

/* Meta holds things of other modules too: only the archive's own entries are looked at here. */
static void test_tampered_totals(void) {
    Fixture fixture;
    fill(&fixture);
    LayoutKey key = totals_key(0);
    g_autoptr(GByteArray) value = g_byte_array_new();
    StoredTotals totals = {.traces = 30, .spans = 1, .any = TRUE};
    stored_totals_encode(&totals, value);

    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    write_batch(&fixture, batch);
    g_assert_true(found(&fixture));

    totals = g_array_index(fixture.archive->slots, TotalsSlot, 0).totals;
    totals.late_waiting++;
    g_byte_array_set_size(value, 0);
    stored_totals_encode(&totals, value);
    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    write_batch(&fixture, batch);
    g_assert_true(found(&fixture));

    store_batch_delete(batch, FAMILY_META, key_bytes(&key));
    write_batch(&fixture, batch);
    g_assert_true(found(&fixture));

    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){"\xff", 1});
    write_batch(&fixture, batch);
    g_assert_true(found(&fixture));
    fixture_close(&fixture);
}

/* Two records that swap their contents are both readable, but neither is where it belongs. */
static void test_swapped_records(void) {
    Fixture fixture;
    fill(&fixture);
    g_autoptr(GByteArray) key_a = g_byte_array_new();
    g_autoptr(GByteArray) key_b = g_byte_array_new();
    g_autoptr(GByteArray) a = g_byte_array_new();
    g_autoptr(GByteArray) b = g_byte_array_new();
    entry_at(&fixture, FAMILY_TRACE, 3, key_a, a);
    entry_at(&fixture, FAMILY_TRACE, 9, key_b, b);
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_TRACE, (Bytes){key_a->data, key_a->len}, (Bytes){b->data, b->len});
    store_batch_put(batch, FAMILY_TRACE, (Bytes){key_b->data, key_b->len}, (Bytes){a->data, a->len});
    write_batch(&fixture, batch);
    g_assert_true(found(&fixture));
    fixture_close(&fixture);
}

static void count_report(void *arg, const char *what) {
    g_assert_nonnull(what);
    g_assert_cmpuint(strlen(what), >, 10);
    ++*(guint *)arg;
}

/* A part that is there twice under two numbers: everything adds up but for the spans' ids. */
static void test_span_in_two_parts(void) {
    Fixture fixture;
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 3};
    fixture_open(&fixture, FALSE, &options);
    TestWorld world;
    world_init(&world, 5, archive_dict(fixture.archive));
    g_autoptr(GByteArray) spans = g_byte_array_new();

    for (guint i = 1; i <= 6; i++) {
        TestSpan span = {8, i, 0, world.names[0], world.tracers[0], BASE_NS + i, 5};
        test_span_append(spans, &span);
    }
    ArchiveWriter *writer = archive_writer_new(fixture.archive);
    fixture_add(writer, spans);
    fixture_commit(writer);
    archive_writer_free(writer);
    fixture_assert_sound(&fixture);

    g_autoptr(GByteArray) key = g_byte_array_new();
    g_autoptr(GByteArray) other = g_byte_array_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    entry_at(&fixture, FAMILY_TRACE, 1, other, value);
    entry_at(&fixture, FAMILY_TRACE, 0, key, value);
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_TRACE, (Bytes){other->data, other->len}, (Bytes){value->data, value->len});
    write_batch(&fixture, batch);

    guint reports = 0;
    VerifyHooks hooks = {.report = count_report, .arg = &reports};
    VerifyResult result = {.traces = 0};
    g_assert_true(archive_verify(fixture.archive, &hooks, &result, NULL));
    g_assert_cmpuint(result.differences, >=, 3);
    g_assert_cmpuint(reports, ==, result.differences);
    world_clear(&world);
    fixture_close(&fixture);
}

static void note_progress(void *arg, guint64 done, guint64 total) {
    guint64 *last = arg;
    g_assert_cmpuint(done, >, *last);
    g_assert_cmpuint(done, <=, total);
    *last = done;
}

static void test_progress(void) {
    Fixture fixture;
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 0};
    fixture_open(&fixture, FALSE, &options);
    TestWorld world;
    world_init(&world, 5, archive_dict(fixture.archive));
    ArchiveWriter *writer = archive_writer_new(fixture.archive);
    g_autoptr(GByteArray) spans = g_byte_array_new();

    for (guint i = 1; i <= 2500; i++) {
        TestSpan span = {i, 1, 0, world.names[0], world.tracers[0], BASE_NS + i, 5};
        g_byte_array_set_size(spans, 0);
        test_span_append(spans, &span);
        fixture_add(writer, spans);
    }
    fixture_commit(writer);
    archive_writer_free(writer);

    guint64 last = 0;
    VerifyHooks hooks = {.progress = note_progress, .arg = &last};
    VerifyResult result = {.traces = 0};
    g_assert_true(archive_verify(fixture.archive, &hooks, &result, NULL));
    g_assert_cmpuint(result.differences, ==, 0);
    g_assert_cmpuint(last, >=, 2000);

    world_clear(&world);
    fixture_close(&fixture);
}

/* One group within a minute, an hour, a day, or more: rows of coarser levels are made in different ways. */
static void test_reach_of_a_group(void) {
    static const gint64 steps_ns[] = {0, NS_PER_SEC, NS_PER_MINUTE, 60 * NS_PER_MINUTE, 25 * 60 * NS_PER_MINUTE};

    for (guint i = 0; i < G_N_ELEMENTS(steps_ns); i++) {
        Fixture fixture;
        ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 0};
        fixture_open(&fixture, TRUE, &options);
        TestWorld world;
        world_init(&world, 5, archive_dict(fixture.archive));
        ArchiveWriter *writer = archive_writer_new(fixture.archive);
        g_autoptr(GByteArray) spans = g_byte_array_new();

        for (guint64 trace = 0; trace < 3; trace++) {
            TestSpan span = {trace + 1, 1, 0, world.names[0], world.tracers[0], BASE_NS + (gint64)trace * steps_ns[i],
                             7};
            g_byte_array_set_size(spans, 0);
            test_span_append(spans, &span);
            fixture_add(writer, spans);
        }

        fixture_commit(writer);
        fixture_assert_sound(&fixture);
        archive_writer_free(writer);
        world_clear(&world);
        fixture_close(&fixture);
    }
}

/* ---- the search index ---- */

static void note_text(void *arg, const char *what) { g_ptr_array_add(arg, g_strdup(what)); }

/* What verify says of the store. */
static GPtrArray *told(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    VerifyHooks hooks = {.report = note_text, .arg = texts};
    VerifyResult result = {.traces = 0};
    archive_verify(fixture->archive, &hooks, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result.differences, ==, texts->len);
    return texts;
}

static void assert_told(Fixture *fixture, const char *part) {
    g_autoptr(GPtrArray) texts = told(fixture);
    g_assert_cmpuint(texts->len, ==, 1);
    g_assert_nonnull(strstr(texts->pdata[0], "search index"));
    g_assert_nonnull(strstr(texts->pdata[0], part));
    g_assert_nonnull(strstr(texts->pdata[0], "plumb export"));
}

/* One hour of traces that have a host and a path of their own each, in groups of a hundred. */
static void fill_hour(Fixture *fixture) {
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS};
    fixture_open(fixture, FALSE, &options);
    TestWorld world;
    world_init(&world, 3, archive_dict(fixture->archive));
    ArchiveWriter *writer = archive_writer_new(fixture->archive);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    for (guint64 i = 0; i < 300; i++) {
        TestSpan span = {
            (i + 1) << 48,      1, 0, world.names[0], world.tracers[i % 2], BASE_NS + (gint64)i * NS_PER_SEC,
            (gint64)1 << i % 30};
        g_byte_array_set_size(spans, 0);
        test_span_append(spans, &span);
        fixture_add(writer, spans);
        if (i % 100 == 99) fixture_commit(writer);
    }
    archive_writer_free(writer);
    world_clear(&world);
    fixture_assert_sound(fixture);
}

static void put_value(Fixture *fixture, const GByteArray *key, const GByteArray *value) {
    g_autoptr(StoreBatch) batch = store_batch_new(fixture->store);
    store_batch_put(batch, FAMILY_INDEX, (Bytes){key->data, key->len}, (Bytes){value->data, value->len});
    write_batch(fixture, batch);
}

/* Every entry in turn, and the first term of every entry that has several. */
static void test_index_loss(void) {
    Fixture fixture;
    fill_hour(&fixture);
    g_autoptr(GByteArray) key = g_byte_array_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    const guint n = entries(&fixture, FAMILY_INDEX);
    g_assert_cmpuint(n, >=, 9); /* pattern, hosts and durations of three groups */
    guint cut = 0;

    for (guint i = 0; i < n; i++) {
        entry_at(&fixture, FAMILY_INDEX, i, key, value);
        store_batch_delete(batch, FAMILY_INDEX, (Bytes){key->data, key->len});
        write_batch(&fixture, batch);
        assert_told(&fixture, "terms of stored records are missing");

        IndexKey parsed;
        g_assert_true(index_key_parse((Bytes){key->data, key->len}, &parsed));
        if (parsed.bucket == TERM_BUCKET_DURATION) { /* rests and postings of two and three bytes, fewer than 128 */
            const guint first = value->data[2];
            guint8 *at = value->data + 3;
            for (guint j = 0; j < first; j++) at += at[0] < 0x80 ? 3 : 4;
            g_autoptr(GByteArray) rest = g_byte_array_new();
            g_byte_array_append(rest, at, (guint)(value->data + value->len - at));
            put_value(&fixture, key, rest);
            assert_told(&fixture, "terms of stored records are missing");
            cut++;
        }

        put_value(&fixture, key, value);
        fixture_assert_sound(&fixture);
    }

    g_assert_cmpuint(cut, ==, 3);
    fixture_close(&fixture);
}

/* What cannot be read is told, in hours without records, too; what leads nowhere is as it should be. */
static void test_index_surplus(void) {
    Fixture fixture;
    fill_hour(&fixture);
    g_autoptr(GByteArray) value = g_byte_array_new();

    for (guint i = 0; i < 3; i++) {
        static const gint hours[] = {-2, 0, 2};
        const guint32 hour = (guint32)(BASE_NS / NS_PER_SEC / INDEX_HOUR_SECONDS + hours[i]);
        const LayoutKey stored = index_key(&(IndexKey){hour, 5, 1});
        g_autoptr(GByteArray) key = g_byte_array_new();
        g_byte_array_append(key, stored.bytes, (guint)stored.size_bytes);
        g_byte_array_set_size(value, 0);
        g_byte_array_append(value, (const guint8 *)"\0\1\1\3\0\7", 6);
        put_value(&fixture, key, value);
        fixture_assert_sound(&fixture);

        g_byte_array_set_size(value, 5);
        put_value(&fixture, key, value);
        assert_told(&fixture, "malformed");
        g_byte_array_append(value, (const guint8 *)"\7\0\1\1\3\0\7", 7); /* one term twice */
        put_value(&fixture, key, value);
        assert_told(&fixture, "malformed");

        g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
        store_batch_delete(batch, FAMILY_INDEX, key_bytes(&stored));
        write_batch(&fixture, batch);
    }
    fixture_close(&fixture);
}

/* Years end with 9999, the hours of keys do not. */
static void test_index_of_no_time(void) {
    Fixture fixture;
    fill_hour(&fixture);
    const LayoutKey stored = index_key(&(IndexKey){G_MAXUINT32, 5, 1});
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_INDEX, key_bytes(&stored), (Bytes){"\0\1", 2});
    write_batch(&fixture, batch);
    assert_told(&fixture, "hour 4294967295: an entry of bucket 5 is malformed");
    fixture_close(&fixture);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);

    static const struct {
        const char *path;
        StoreFamily family;
    } families[] = {{"/archive/verify/trace", FAMILY_TRACE},
                    {"/archive/verify/trace-id", FAMILY_TRACE_ID},
                    {"/archive/verify/pattern", FAMILY_PATTERN},
                    {"/archive/verify/stats", FAMILY_STATS},
                    {"/archive/verify/index", FAMILY_INDEX}};
    for (guint i = 0; i < G_N_ELEMENTS(families); i++)
        g_test_add_data_func(families[i].path, GINT_TO_POINTER(families[i].family), test_tampering);
    g_test_add_func("/archive/verify/totals", test_tampered_totals);
    g_test_add_func("/archive/verify/swapped-records", test_swapped_records);
    g_test_add_func("/archive/verify/span-in-two-parts", test_span_in_two_parts);
    g_test_add_func("/archive/verify/index-loss", test_index_loss);
    g_test_add_func("/archive/verify/index-surplus", test_index_surplus);
    g_test_add_func("/archive/verify/index-of-no-time", test_index_of_no_time);
    g_test_add_func("/archive/verify/progress", test_progress);
    g_test_add_func("/archive/verify/reach-of-a-group", test_reach_of_a_group);

    return g_test_run();
}
