#include "tests/archive/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/read/load.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/archive/write/trace_version.h"

void fixture_open(Fixture *fixture, gboolean rocksdb, const ArchiveOptions *options) {
    *fixture = (Fixture){.rocksdb = rocksdb, .options = *options};
    if (rocksdb) {
        fixture->folder = g_dir_make_tmp("plumb-archive-XXXXXX", NULL);
        g_assert_nonnull(fixture->folder);
    }
    fixture_reopen(fixture);
}

static void close_both(Fixture *fixture) {
    g_clear_pointer(&fixture->archive, archive_free);
    if (fixture->rocksdb) g_clear_pointer(&fixture->store, store_close);
}

void fixture_reopen(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    close_both(fixture);
    StoreOptions options = {.path = fixture->folder, .merge = archive_merge};
    if (fixture->store == NULL) {
        fixture->store = fixture->rocksdb ? store_open_rocksdb(&options, &error) : store_open_memory(&options, &error);
        g_assert_no_error(error);
    }
    fixture->archive = archive_open(fixture->store, &fixture->options, &error);
    g_assert_no_error(error);
}

void fixture_close(Fixture *fixture) {
    close_both(fixture);
    g_clear_pointer(&fixture->store, store_close);
    if (fixture->folder != NULL) {
        GDir *dir = g_dir_open(fixture->folder, 0, NULL);
        for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
            g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
            g_remove(path);
        }
        g_dir_close(dir);
        g_rmdir(fixture->folder);
    }
    g_clear_pointer(&fixture->folder, g_free);
}

void fixture_add(ArchiveWriter *writer, const GByteArray *spans) {
    g_autoptr(GError) error = NULL;
    const SpanRec *first = (const SpanRec *)(gconstpointer)spans->data;
    archive_writer_add(writer, first->id.trace, spans->data, spans->len, &error);
    g_assert_no_error(error);
}

void fixture_commit(ArchiveWriter *writer) {
    g_autoptr(GError) error = NULL;
    archive_writer_commit(writer, FALSE, &error);
    g_assert_no_error(error);
}

static void print_difference(void *arg, const char *what) {
    guint *left = arg;
    if (*left == 0) return;
    --*left;
    g_test_message("%s", what);
}

guint64 fixture_verify(Fixture *fixture, VerifyResult *result) {
    g_autoptr(GError) error = NULL;
    guint left = 10;
    VerifyHooks hooks = {.report = print_difference, .arg = &left};
    archive_verify(fixture->archive, &hooks, result, &error);
    g_assert_no_error(error);
    return result->differences;
}

void fixture_assert_sound(Fixture *fixture) {
    VerifyResult result = {.traces = 0};
    g_assert_cmpuint(fixture_verify(fixture, &result), ==, 0);
    ArchiveTotals totals = archive_totals(fixture->archive);
    g_assert_cmpuint(result.traces, ==, totals.traces);
    g_assert_cmpuint(result.spans, ==, totals.spans);
}

/* ---- dumps ---- */

static void append_hex(GString *line, Bytes bytes) {
    for (gsize i = 0; i < bytes.size_bytes; i++) g_string_append_printf(line, "%02x", ((const guint8 *)bytes.data)[i]);
}

static void append_pattern(GString *line, Archive *archive, guint32 number) {
    char text[PATTERN_ID_TEXT_BYTES];
    const Pattern *pattern = archive_pattern(archive, number);
    g_assert_nonnull(pattern);
    pattern_id_format(pattern->id, text);
    g_string_append(line, text);
}

static void dump_trace(GString *line, Archive *archive, StoreIter *iter) {
    TraceKey key;
    TraceSummary summary;
    g_assert_true(trace_key_parse(store_iter_key(iter), &key));
    g_assert_true(record_summary(store_iter_value(iter), &summary, NULL));
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_assert_true(part_decode(archive, store_iter_value(iter), key.trace_id, spans, NULL));
    append_hex(line, store_iter_key(iter));
    g_string_append_printf(line, " %u spans %u orphans flags %u [%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "] ",
                           summary.n_spans, summary.orphans, summary.flags, summary.begin_ns, summary.end_ns);
    append_pattern(line, archive, summary.pattern);
    g_string_append_c(line, ' ');
    append_hex(line, (Bytes){spans->data, spans->len});
}

static void dump_stats(GString *line, Archive *archive, StoreIter *iter) {
    StatsKey key;
    g_assert_true(stats_key_parse(store_iter_key(iter), &key));
    g_string_append_printf(line, "level %u kind %u bucket %u role %u cell %u ", key.level, key.kind, key.bucket,
                           key.role, key.cell);
    if (key.kind == STATS_PATTERN)
        append_pattern(line, archive, key.object);
    else
        g_string_append_printf(line, "%u", key.object);
    g_string_append_c(line, ' ');
    append_hex(line, store_iter_value(iter));
}

static void dump_other(GString *line, StoreIter *iter) {
    append_hex(line, store_iter_key(iter));
    g_string_append_c(line, ' ');
    append_hex(line, store_iter_value(iter));
}

static gint compare_lines(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rows by host of which all was taken back are empty values, as good as none. Patterns' rows of all hosts keep what
 * was counted and what was taken away side by side: fixture_assert_stats() compares the difference. */
static gboolean is_comparable(StoreIter *iter) {
    StatsKey key;
    g_assert_true(stats_key_parse(store_iter_key(iter), &key));
    return !stats_value_empty(store_iter_value(iter)) &&
           (key.kind == STATS_FUNCTION || key.kind == STATS_FAILED || key.cell != 0);
}

GPtrArray *fixture_dump(Fixture *fixture) {
    static const StoreFamily families[] = {FAMILY_TRACE, FAMILY_TRACE_ID, FAMILY_STATS, FAMILY_LATE};
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
        g_autoptr(StoreIter) iter = store_iter_new(fixture->store, families[i]);
        for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
            if (families[i] == FAMILY_STATS && !is_comparable(iter)) continue;
            GString *line = g_string_new(NULL);
            g_string_append_printf(line, "family %u: ", families[i]);
            if (families[i] == FAMILY_TRACE)
                dump_trace(line, fixture->archive, iter);
            else if (families[i] == FAMILY_STATS)
                dump_stats(line, fixture->archive, iter);
            else
                dump_other(line, iter);
            g_ptr_array_add(lines, g_string_free(line, FALSE));
        }
    }

    g_ptr_array_sort(lines, compare_lines);
    return lines;
}

void assert_same_dump(const GPtrArray *a, const GPtrArray *b) {
    for (guint i = 0; i < MIN(a->len, b->len); i++) g_assert_cmpstr(a->pdata[i], ==, b->pdata[i]);
    g_assert_cmpuint(a->len, ==, b->len);
}

/* ---- statistics against a plain sum ---- */

typedef struct Expectation {
    const StatsFilter *filter;
    RowMap *rows;
} Expectation;

static void expect_row(void *arg, const StatsKey *key, StatsRow *row) {
    Expectation *expectation = arg;
    const StatsFilter *filter = expectation->filter;
    if (key->kind != filter->kind || filter->until_ns <= filter->since_ns) return;
    if (key->bucket < stats_bucket(LEVEL_MINUTE, filter->since_ns)) return;
    if (key->bucket > stats_bucket(LEVEL_MINUTE, filter->until_ns - 1)) return;
    if (filter->object != 0 && key->object != filter->object) return;
    if ((key->cell != 0) != filter->by_host || (filter->host != 0 && key->host != filter->host)) return;
    if (filter->role >= 0 && key->kind == STATS_FUNCTION && key->role != (guint32)filter->role) return;
    StatsKey as = *key;
    as.bucket = as.cell = 0;
    stats_row_merge(row_map_get(expectation->rows, &as), row);
}

static void plain_sum(Fixture *fixture, const GPtrArray *traces, Expectation *expectation) {
    const Lookup *lookup = archive_lookup(fixture->archive);
    Compressor *compressor = compressor_new(lookup, 1000);
    StatsGroup *group = stats_group_new(lookup, TRUE);
    g_autoptr(GPtrArray) list = g_ptr_array_new();

    for (guint i = 0; i < traces->len; i++) {
        const GByteArray *spans = traces->pdata[i];
        guint64 trace_id = ((const SpanRec *)(gconstpointer)spans->data)->id.trace;
        g_ptr_array_set_size(list, 0);
        g_assert_true(spans_point(trace_id, (Bytes){spans->data, spans->len}, list, NULL));
        g_auto(TraceVersion) version = version_make(
            fixture->archive, compressor, (const SpanRec *const *)(gconstpointer)list->pdata, list->len, TIMES_NOW);
        guint32 number = archive_pattern_find(fixture->archive, version.pattern->id);
        g_assert_true(number != 0 || expectation->filter->kind == STATS_FUNCTION);
        const StatsTrace trace = version_stats(&version, number);
        stats_group_add_functions(group, version.tree, version.times, NULL);
        if (number != 0) stats_group_add_pattern(group, &trace);
    }

    stats_group_foreach(group, expect_row, expectation);
    stats_group_free(group);
    compressor_free(compressor);
}

#define COUNTERS_BYTES (sizeof(NodeStats) - offsetof(NodeStats, self_ns))

static void assert_near(double is, double should_be) {
    g_assert_cmpfloat(fabs(is - should_be), <=, DIST_RELATIVE_ERROR * should_be + 0.5);
}

/* Where something was taken away from many values. */
static void assert_near_dist(Dist *is, Dist *should) {
    if (should->count == 0) return;
    assert_near((double)is->min, (double)should->min);
    assert_near((double)is->max, (double)should->max);
    for (guint i = 0; i <= 10; i++) assert_near(dist_quantile(is, i / 10.0), dist_quantile(should, i / 10.0));
}

static void assert_same_dist(const StatsKey *key, Dist *is, Dist *should) {
    g_assert_cmpuint(is->count, ==, should->count);
    g_assert_cmpuint(is->sum, ==, should->sum);
    g_assert_true(is->squares_hi == should->squares_hi && is->squares_lo == should->squares_lo);
    g_assert_true(dist_is_summary(is) == dist_is_summary(should));
    if (dist_is_summary(is)) return;
    if (key->kind == STATS_PATTERN) {
        assert_near_dist(is, should);
        return;
    }
    g_autoptr(GByteArray) x = g_byte_array_new();
    g_autoptr(GByteArray) y = g_byte_array_new();
    dist_encode(is, x);
    dist_encode(should, y);
    g_assert_cmpmem(x->data, x->len, y->data, y->len);
}

static void compare_row(void *arg, const StatsKey *key, StatsRow *row) {
    RowMap *expected = arg;
    StatsKey found;
    StatsRow *should_be = NULL;
    g_assert_true(row_map_seek(expected, key, &found, &should_be));
    g_assert_cmpint(stats_key_compare(&found, key), ==, 0);
    g_assert_cmpuint(stats_row_size(row), ==, stats_row_size(should_be));
    for (guint i = 0; i < stats_row_size(row); i++) {
        guint32 node, other;
        NodeStats *is = stats_row_at(row, i, &node), *should = stats_row_at(should_be, i, &other);
        g_assert_cmpuint(node, ==, other);
        assert_same_dist(key, &is->duration, &should->duration);
        assert_same_dist(key, &is->bytes, &should->bytes);
        assert_same_dist(key, &is->rate, &should->rate);
        g_assert_cmpmem(&is->self_ns, COUNTERS_BYTES, &should->self_ns, COUNTERS_BYTES);
    }
    row_map_remove(expected, key);
}

void fixture_assert_stats(Fixture *fixture, const StatsFilter *filter, const GPtrArray *traces) {
    g_autoptr(GError) error = NULL;
    g_autoptr(RowMap) rows = row_map_new();
    Expectation expectation = {filter, rows};
    plain_sum(fixture, traces, &expectation);
    archive_stats(fixture->archive, filter, compare_row, rows, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(row_map_size(rows), ==, 0);
}

static GPtrArray *sorted_spans(const GByteArray *spans) {
    GPtrArray *list = g_ptr_array_new();
    for (guint at = 0; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        g_ptr_array_add(list, (gpointer)span);
        at += span->size_bytes;
    }
    return list;
}

static int compare_spans(gconstpointer a, gconstpointer b) {
    return span_rec_compare(*(const SpanRec *const *)a, *(const SpanRec *const *)b, NULL);
}

gboolean fixture_load(Archive *archive, guint64 trace_id, GByteArray *spans, GError **error) {
    ArchiveLoad all = {.first_part = 0};
    return archive_load_parts(archive, trace_id, &all, spans, error);
}

void fixture_assert_traces(Fixture *fixture, const GPtrArray *traces) {
    g_autoptr(GByteArray) loaded = g_byte_array_new();
    for (guint i = 0; i < traces->len; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) expected = sorted_spans(traces->pdata[i]);
        g_byte_array_set_size(loaded, 0);
        fixture_load(fixture->archive, ((const SpanRec *)expected->pdata[0])->id.trace, loaded, &error);
        g_assert_no_error(error);
        g_autoptr(GPtrArray) stored = sorted_spans(loaded);
        g_assert_cmpuint(stored->len, ==, expected->len);
        g_ptr_array_sort(expected, compare_spans);
        g_ptr_array_sort(stored, compare_spans);
        for (guint s = 0; s < stored->len; s++) {
            const SpanRec *a = stored->pdata[s], *b = expected->pdata[s];
            g_assert_cmpmem(a, a->size_bytes, b, b->size_bytes);
        }
    }
}
