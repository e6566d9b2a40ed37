/* A trace far larger than a part: every span of it comes back, once, a few parts in memory at a time. */
#include "analyzer/archive/read/load.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

#define SPANS      200000u
#define PART_SPANS 5000u
#define AT_ONCE    12000u /* two parts are fewer, three are not */

/* Spans first .. last of a wide trace: span 1 is the root, each other one a child of one of the hundred before. */
static GByteArray *wide_of(Case *c, guint64 trace, guint first, guint last) {
    g_byte_array_set_size(c->spans, 0);
    for (guint i = first; i <= last; i++) {
        TestSpan span = {trace,
                         i,
                         i == 1 ? 0 : i - MIN(i - 1, 1 + i % 100),
                         c->world.names[i % 12],
                         c->world.tracers[i % 8],
                         BASE_NS + i * NS_PER_US,
                         NS_PER_MS};
        test_span_append(c->spans, &span);
    }
    return c->spans;
}

static GByteArray *wide(Case *c, guint first, guint last) { return wide_of(c, 7, first, last); }

/* Marks the spans; each must come once. */
static guint mark(const GByteArray *spans, guint8 *seen) {
    guint n = 0;
    for (gsize at = 0; at < spans->len; n++) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        g_assert_cmpuint(span->id.span, >, 0);
        g_assert_cmpuint(span->id.span, <=, SPANS);
        g_assert_cmpuint(seen[span->id.span], ==, 0);
        seen[span->id.span] = 1;
        at += span->size_bytes;
    }
    return n;
}

static void read_all(Case *c, guint n_spans) {
    g_autofree guint8 *seen = g_malloc0(SPANS + 1);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    guint total = 0, parts = 0;

    do {
        ArchiveLoad load = {.first_part = parts, .max_spans = AT_ONCE};
        g_byte_array_set_size(spans, 0);
        archive_load_parts(c->fixture.archive, 7, &load, spans, &error);
        g_assert_no_error(error);
        guint n = mark(spans, seen);
        g_assert_cmpuint(n, <=, AT_ONCE + PART_SPANS);
        g_assert_cmpuint(load.parts, >=, (n_spans + PART_SPANS - 1) / PART_SPANS);
        g_assert_true(load.loaded >= 3 || parts + load.loaded == load.parts);

        total += n;
        parts += load.loaded;
        if (parts == load.parts) break;
    } while (TRUE);
    g_assert_cmpuint(total, ==, n_spans);

    ArchiveLoad past = {.first_part = parts};
    g_assert_false(archive_load_parts(c->fixture.archive, 7, &past, spans, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
}

static void test_whole(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, PART_SPANS);
    fixture_add(c.writer, wide(&c, 1, SPANS));
    commit_and_join(&c);
    read_all(&c, SPANS);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, SPANS);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* As a receiver closes it: a first piece, and all else later, with repeats. */
static void test_pieces(void) {
    enum { PIECE = 3000, PIECES = 20 };
    Case c;
    case_open(&c, FALSE, PART_SPANS);
    for (guint i = 0; i < PIECES; i++) {
        guint first = i * PIECE + 1;
        fixture_add(c.writer, wide(&c, first > 500 ? first - 500 : first, first + PIECE - 1));
        if (i % 3 == 0) commit_and_join(&c);
    }
    commit_and_join(&c);
    read_all(&c, PIECE * PIECES);
    join_late(&c);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Parts whose memory is not kept for the next trace: late spans go into the last part, into a second one, once more
 * into that and into a third, of two traces one behind the other. Their shapes are too large for mixed patterns. At
 * first both lack their beginnings; parts that follow lack what is in those before. */
static void test_large(gconstpointer rocksdb) {
    static const struct {
        guint first, last;
    } pieces[] = {{201, 30000}, {30001, 35000}, {1, 200}, {35001, 60000}, {60001, 61000}, {61001, 90000}};
    Case c;
    case_open(&c, rocksdb != NULL, 40000);
    for (guint i = 0, n = 0; i < G_N_ELEMENTS(pieces); i++) {
        for (guint64 trace = 7; trace <= 8; trace++)
            fixture_add(c.writer, wide_of(&c, trace, pieces[i].first, pieces[i].last));
        commit_and_join(&c);
        n += pieces[i].last - pieces[i].first + 1;
        for (guint64 trace = 7; trace <= 8; trace++) g_assert_cmpuint(loaded_spans(&c, trace), ==, n);
        g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 2 * n);
        g_assert_cmpuint(archive_totals(c.fixture.archive).incomplete_traces, ==, i == 2 ? 0 : 2);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

#define WIDE_PARENTS 500u
#define WIDE_BYTES   (100u * 1024)

/* Spans first .. last of a trace, each with so many parents: 8 KB of memory, whatever they have else. */
static GByteArray *many_parents(Case *c, guint first, guint last) {
    g_byte_array_set_size(c->spans, 0);
    for (guint i = first; i <= last; i++) {
        SpanRec head = {.id = {7, i},
                        .begin_ns = BASE_NS + i * NS_PER_US,
                        .duration_ns = NS_PER_MS,
                        .name = c->world.names[i % 12],
                        .tracer = c->world.tracers[i % 8],
                        .n_parents = i == 1 ? 0 : WIDE_PARENTS};
        head.size_bytes = sizeof head + head.n_parents * sizeof(SpanId);
        g_byte_array_append(c->spans, (const guint8 *)&head, sizeof head);
        for (guint k = 0; k < head.n_parents; k++) {
            const SpanId parent = {7, k == 0 ? i - 1 : 1000000 + k};
            g_byte_array_append(c->spans, (const guint8 *)&parent, sizeof parent);
        }
    }
    return c->spans;
}

/* Few spans that take much memory: what is stored at once and what comes later lies in parts of a bounded size, so
 * neither storing nor joining nor reading needs more. */
static void test_bytes(gconstpointer rocksdb) {
    enum { PIECE = 100, PIECES = 4 };
    Case c;
    case_open_with(&c, rocksdb != NULL,
                   &(ArchiveOptions){.clock_tolerance_ns = NS_PER_MS, .max_trace_bytes = WIDE_BYTES});

    for (guint i = 0; i < PIECES; i++) {
        fixture_add(c.writer, many_parents(&c, i * PIECE + 1, (i + 1) * PIECE));
        if (i != 1) commit_and_join(&c); /* two at once */
    }

    g_autoptr(GByteArray) spans = g_byte_array_new();
    guint n = 0, parts = 1;
    for (guint part = 0; part < parts; part++) {
        ArchiveLoad load = {.first_part = part, .max_spans = 1};
        g_autoptr(GError) error = NULL;
        g_byte_array_set_size(spans, 0);
        archive_load_parts(c.fixture.archive, 7, &load, spans, &error);
        g_assert_no_error(error);
        const guint n_spans = span_count(spans);
        g_assert_cmpuint(spans->len, <=, WIDE_BYTES + n_spans * ARCHIVE_SPAN_BYTES);
        n += n_spans;
        parts = load.parts;
    }

    g_assert_cmpuint(n, ==, PIECE * PIECES);
    g_assert_cmpuint(parts, >=, PIECE * PIECES * WIDE_PARENTS * sizeof(SpanId) / WIDE_BYTES);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

#define WAITING_BYTES (20u << 20)

/* A trace of one span, for which so much waits: 40 entries of late spans. */
static void store_waiting(Case *c) {
    enum { PIECE = 64, PIECES = WAITING_BYTES / (PIECE * WIDE_PARENTS * sizeof(SpanId)) };
    fixture_add(c->writer, many_parents(c, 1, 1));
    fixture_commit(c->writer);
    for (guint i = 0; i < PIECES; i++) {
        fixture_add(c->writer, many_parents(c, 2 + i * PIECE, 1 + (i + 1) * PIECE));
        fixture_commit(c->writer);
    }
}

/* What waits for a trace may be far more than is stored of it: so much is taken as there is room for, and who reads
 * is told. */
static void test_waiting(gconstpointer rocksdb) {
    enum { MOST = 2u << 20 };
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    store_waiting(&c);

    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    ArchiveLoad load = {.max_bytes = MOST};
    archive_load_parts(c.fixture.archive, 7, &load, spans, &error);
    g_assert_no_error(error);
    g_assert_true(load.late_left);
    g_assert_cmpuint(spans->len, >=, MOST);
    g_assert_cmpuint(spans->len, <, MOST + (2u << 20)); /* an entry more */

    load.max_bytes = 0;
    g_byte_array_set_size(spans, 0);
    archive_load_parts(c.fixture.archive, 7, &load, spans, &error);
    g_assert_no_error(error);
    g_assert_false(load.late_left);
    g_assert_cmpuint(spans->len, >, WAITING_BYTES * 9 / 10);
    case_close(&c);
}

/* Without a bound, it is the allowance that ends it, before all is in memory. */
static void test_waiting_allowed(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    store_waiting(&c);

    AllowanceBudget budget = {.limit_bytes = 4u << 20};
    Allowance allowance = {.budget = &budget};
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    allowance_begin(&allowance);
    g_assert_false(fixture_load(c.fixture.archive, 7, spans, &error));
    allowance_end();
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_cmpuint(spans->len, ==, 0);
    g_assert_cmpuint(budget.most_bytes, <, 6u << 20);
    g_assert_cmpuint(budget.used_bytes, ==, 0);
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/archive/parts/whole/memory", NULL, test_whole);
    g_test_add_data_func("/archive/parts/whole/rocksdb", "rocksdb", test_whole);
    g_test_add_func("/archive/parts/pieces", test_pieces);
    g_test_add_data_func("/archive/parts/large/memory", NULL, test_large);
    g_test_add_data_func("/archive/parts/large/rocksdb", "rocksdb", test_large);
    g_test_add_data_func("/archive/parts/bytes/memory", NULL, test_bytes);
    g_test_add_data_func("/archive/parts/bytes/rocksdb", "rocksdb", test_bytes);
    g_test_add_data_func("/archive/parts/waiting/memory", NULL, test_waiting);
    g_test_add_data_func("/archive/parts/waiting/rocksdb", "rocksdb", test_waiting);
    g_test_add_data_func("/archive/parts/waiting_allowed/memory", NULL, test_waiting_allowed);
    g_test_add_data_func("/archive/parts/waiting_allowed/rocksdb", "rocksdb", test_waiting_allowed);
    return g_test_run();
}
