/* Records that are kept without some of their columns: what is left is right, what is gone is marked, statistics are
 * those of all spans. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

#define TRACES 300u

static gint64 now_of_test_ns = BASE_NS;
static gint64 test_now(const Clock *clock) {
    (void)clock;
    return now_of_test_ns;
}
static const Clock test_clock = {test_now, test_now};

static void open_keeping(Case *c, gboolean rocksdb, const KeptColumns *keep) {
    case_open_with(
        c, rocksdb,
        &(ArchiveOptions){.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 60, .keep = *keep, .clock = &test_clock});
}

static void forget(Case *c, gint64 before_ns) {
    g_autoptr(GError) error = NULL;
    archive_forget_ids(c->fixture.archive, before_ns, &error);
    g_assert_no_error(error);
}

static gboolean any_due(Case *c, gint64 before_ns) {
    g_autoptr(GError) error = NULL;
    gboolean due = FALSE;
    archive_ids_due(c->fixture.archive, before_ns, &due, &error);
    g_assert_no_error(error);
    return due;
}

static guint32 lost(Case *c, guint64 trace) {
    g_autoptr(GError) error = NULL;
    TraceKept kept;
    archive_trace_kept(c->fixture.archive, trace, &kept, &error);
    g_assert_no_error(error);
    return kept.dropped;
}

/* ---- the setting ---- */

static void test_parse(void) {
    static const struct {
        const char *entries[5];
        guint32 dropped;
        const char *key;
    } cases[] = {{{"ids", "annotations", "notes", NULL}, 0, NULL},
                 {{NULL}, DROPPED_IDS | DROPPED_ANNOTATIONS | DROPPED_NOTES, NULL},
                 {{"notes", "annotation:path", NULL}, DROPPED_IDS | DROPPED_ANNOTATIONS, "path"}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        KeptColumns keep;
        g_assert_true(kept_columns_parse(cases[i].entries, &keep, NULL));
        g_assert_cmpuint(keep.dropped, ==, cases[i].dropped);
        g_assert_cmpstr(keep.keys[0], ==, cases[i].key);
        kept_columns_clear(&keep);
    }

    static const char *const wrong[][2] = {{"id", NULL}, {"annotation:", NULL}, {"", NULL}};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        KeptColumns keep;
        g_autoptr(GError) error = NULL;
        g_assert_false(kept_columns_parse(wrong[i], &keep, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    }
}

/* ---- every combination, against a store that keeps all ---- */

static void fill(Case *c) {
    for (guint trace = 1; trace <= TRACES; trace++) {
        TraceShape shape = {.max_spans = trace % 10 == 0 ? 200 : 30,
                            .begin_ns = BASE_NS + trace * NS_PER_SEC,
                            .duration_ns = trace % 3 == 0 ? 5 : NS_PER_SEC, /* many begin and end together */
                            .odd = trace % 4 == 0};
        world_trace(&c->world, trace, &shape, c->spans);
        fixture_add(c->writer, c->spans);
        if (trace % 70 == 0) fixture_commit(c->writer);
    }
    fixture_commit(c->writer);
    join_late(c);
}

static SpanId *ids_in(const GByteArray *spans, guint *n) {
    g_autoptr(GArray) offsets = span_offsets(spans);
    SpanId *ids = g_new(SpanId, offsets->len);
    for (guint i = 0; i < offsets->len; i++)
        ids[i] = ((const SpanRec *)(gconstpointer)(spans->data + g_array_index(offsets, guint, i)))->id;
    *n = offsets->len;
    return ids;
}

static int by_id(const void *a, const void *b) { return span_id_compare(*(const SpanId *)a, *(const SpanId *)b); }

static void assert_ids(const GByteArray *a, const GByteArray *b, gboolean same) {
    guint n, m;
    g_autofree SpanId *x = ids_in(a, &n), *y = ids_in(b, &m);
    g_assert_cmpuint(n, ==, m);
    qsort(x, n, sizeof *x, by_id);
    qsort(y, m, sizeof *y, by_id);
    g_assert_true((memcmp(x, y, n * sizeof *x) == 0) == same);
}

static void assert_columns(Case *c, const GByteArray *spans, const KeptColumns *keep) {
    g_autoptr(GArray) offsets = span_offsets(spans);
    for (guint i = 0; i < offsets->len; i++) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + g_array_index(offsets, guint, i));
        if (keep->dropped & DROPPED_NOTES) g_assert_cmpuint(span->n_notes, ==, 0);
        SpanCursor cursor = span_cursor(span);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation)) {
            if (!(keep->dropped & DROPPED_ANNOTATIONS) || annotation.key == c->world.bytes_key) continue;
            if (annotation.key == c->world.stream_key || annotation.key == c->world.computed_key) continue;
            if (annotation.key == c->world.exception_key || annotation.key == c->world.error_key) continue;
            g_assert_cmpuint(annotation.key, ==, c->world.path_key);
            g_assert_nonnull(keep->keys[0]);
        }
    }
}

static void load(Case *c, guint64 trace, GByteArray *spans) {
    g_autoptr(GError) error = NULL;
    g_byte_array_set_size(spans, 0);
    fixture_load(c->fixture.archive, trace, spans, &error);
    g_assert_no_error(error);
}

static void compare_traces(Case *c, Case *whole, gboolean ids_there) {
    g_autoptr(GByteArray) own = g_byte_array_new();
    g_autoptr(GByteArray) all = g_byte_array_new();
    const KeptColumns *keep = &c->fixture.options.keep;
    guint32 any = 0;
    for (guint64 trace = 1; trace <= TRACES; trace++) {
        load(c, trace, own);
        load(whole, trace, all);
        assert_ids(own, all, ids_there);
        assert_columns(c, own, keep);
        guint32 dropped = lost(c, trace);
        g_assert_cmpuint(dropped & DROPPED_IDS, ==, ids_there ? 0 : DROPPED_IDS);
        g_assert_cmpuint(dropped & ~keep->dropped, ==, 0);
        any |= dropped;
    }
    guint32 expected = ids_there ? keep->dropped & ~(guint32)DROPPED_IDS : keep->dropped;
    if (keep->keys[0] != NULL) expected &= ~(guint32)DROPPED_ANNOTATIONS; /* there are paths and bytes only */
    g_assert_cmpuint(any & ~(guint32)DROPPED_NOTES, ==, expected & ~(guint32)DROPPED_NOTES);
}

static void run_combination(Case *whole, guint32 dropped, gboolean with_key) {
    char *keys[] = {with_key ? (char *)"path" : NULL, NULL};
    const KeptColumns keep = {dropped, keys};
    Case c;
    open_keeping(&c, with_key, &keep);
    fill(&c);
    fixture_assert_sound(&c.fixture);
    compare_traces(&c, whole, TRUE);
    forget(&c, now_of_test_ns + 2 * NS_PER_MINUTE);
    compare_traces(&c, whole, !(dropped & DROPPED_IDS));
    fixture_assert_sound(&c.fixture);
    archive_writer_free(c.writer);
    fixture_reopen(&c.fixture);
    c.writer = archive_writer_new(c.fixture.archive);
    if (c.fixture.rocksdb) compare_traces(&c, whole, !(dropped & DROPPED_IDS));
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void test_combinations(void) {
    Case whole;
    open_keeping(&whole, FALSE, &(KeptColumns){0, NULL});
    fill(&whole);
    g_assert_false(any_due(&whole, G_MAXINT64)); /* all ids are in the records */
    for (guint32 dropped = 1; dropped < 8; dropped++) {
        run_combination(&whole, dropped, FALSE);
        if (dropped & DROPPED_ANNOTATIONS) run_combination(&whole, dropped, TRUE);
    }
    case_close(&whole);
}

/* ---- late and repeated spans ---- */

static void test_late(gconstpointer rocksdb) {
    Case c;
    open_keeping(&c, rocksdb != NULL, &(KeptColumns){DROPPED_IDS, NULL});
    fixture_add(c.writer, chain(&c, 1, 1, 20));
    fixture_commit(c.writer);
    now_of_test_ns += 10 * NS_PER_MINUTE;
    fixture_add(c.writer, chain(&c, 1, 15, 25)); /* five of them are new */
    fixture_add(c.writer, chain(&c, 2, 1, 5));
    commit_and_join(&c);
    g_assert_cmpuint(loaded_spans(&c, 1), ==, 25);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 30);
    fixture_assert_sound(&c.fixture);

    /* The first version's ids are forgotten, those of the joined one are not. */
    forget(&c, now_of_test_ns - NS_PER_MINUTE);
    g_assert_cmpuint(lost(&c, 1), ==, 0);
    fixture_add(c.writer, chain(&c, 1, 1, 25));
    commit_and_join(&c);
    g_assert_cmpuint(loaded_spans(&c, 1), ==, 25);
    g_assert_cmpuint(archive_totals(c.fixture.archive).late_apart, ==, 0);

    /* From now on it cannot be told what came before: it becomes a part of its own, whose ids are known for a while. */
    g_assert_true(any_due(&c, now_of_test_ns + NS_PER_MINUTE));
    forget(&c, now_of_test_ns + NS_PER_MINUTE);
    g_assert_false(any_due(&c, now_of_test_ns + NS_PER_MINUTE));
    g_assert_cmpuint(lost(&c, 1), ==, DROPPED_IDS);
    now_of_test_ns += 10 * NS_PER_MINUTE;
    for (guint round = 0; round < 2; round++) {
        fixture_add(c.writer, chain(&c, 1, 25, 27));
        commit_and_join(&c);
        g_assert_cmpuint(archive_totals(c.fixture.archive).late_apart, ==, 3);
        g_assert_cmpuint(loaded_spans(&c, 1), ==, 28);
    }
    g_assert_cmpuint(loaded_spans(&c, 2), ==, 5);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/archive/keep/parse", test_parse);
    g_test_add_func("/archive/keep/combinations", test_combinations);
    g_test_add_data_func("/archive/keep/late/memory", NULL, test_late);
    g_test_add_data_func("/archive/keep/late/rocksdb", "rocksdb", test_late);
    return g_test_run();
}
