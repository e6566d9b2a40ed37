/* Open traces against a plain model: same traces, same spans, same order of closing. */
#include "receiver/traces/open_traces.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/error.h"
#include "tests/receiver/unnamed.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

static const OpenLimits limits = {
    .idle_ns = 30 * SECOND, .max_age_ns = 300 * SECOND, .max_spans = 1000, .memory_bytes = 1 << 20};

/* Times are kept in ticks of about a millisecond. */
#define TICK (G_GINT64_CONSTANT(1) << 20)

static void build(GByteArray *out, SpanId id, SpanId parent) {
    SpanRec head = {.id = id, .begin_ns = (gint64)id.span};
    SpanBuilder builder = span_builder_begin(out, &head);
    if (span_id_valid(parent)) span_builder_parent(&builder, parent);
    span_builder_end(&builder);
}

static OpenTrace *add_packed(OpenTraces *traces, const GByteArray *records, gboolean plain, gint64 now_ns) {
    g_autoptr(GByteArray) fragment = g_byte_array_new();
    fragment_pack(fragment, records->data, records->len, plain);
    const FragmentHead *head = (const FragmentHead *)(gconstpointer)fragment->data;
    g_assert_cmpuint(fragment_size_bytes(head), ==, fragment->len);
    open_traces_expect(traces, &head, 1);
    return open_traces_add(traces, head, now_ns);
}

static OpenTrace *add_spans(OpenTraces *traces, const GByteArray *records, gint64 now_ns) {
    return add_packed(traces, records, TRUE, now_ns); /* sizes are counted on */
}

static OpenTrace *add(OpenTraces *traces, SpanId id, guint64 parent, gint64 now_ns) {
    g_autoptr(GByteArray) records = g_byte_array_new();
    build(records, id, (SpanId){parent ? id.trace : 0, parent});
    return add_spans(traces, records, now_ns);
}

static void assert_due(OpenTraces *traces, gint64 now_ns, guint64 trace, DueReason why) {
    DueReason reason;
    OpenTrace *due = open_traces_due(traces, now_ns, &reason);
    g_assert_cmpint(reason, ==, why);
    if (why == DUE_NOT) {
        g_assert_null(due);
        return;
    }
    g_assert_nonnull(due);
    g_assert_cmpuint(due->id, ==, trace);
}

static void test_parent_in_another_trace_is_a_root(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    g_autoptr(GByteArray) records = g_byte_array_new();
    build(records, (SpanId){5, 1}, (SpanId){6, 1});
    g_assert_true(add_spans(traces, records, 0)->has_root);
    g_assert_false(add(traces, (SpanId){7, 2}, 1, 0)->has_root);
}

static void test_idle_and_age(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    g_assert_cmpint(open_traces_next_due_ns(traces, 0), ==, G_MAXINT64);
    add(traces, (SpanId){1, 1}, 0, 0);          /* with root */
    add(traces, (SpanId){2, 2}, 1, 1 * SECOND); /* without */
    g_assert_cmpint(open_traces_next_due_ns(traces, 0), >=, 30 * SECOND);
    g_assert_cmpint(open_traces_next_due_ns(traces, 0), <=, 30 * SECOND + 2 * TICK);

    assert_due(traces, 30 * SECOND - 1, 0, DUE_NOT);
    add(traces, (SpanId){1, 3}, 1, 20 * SECOND); /* activity puts it off */
    assert_due(traces, 31 * SECOND, 0, DUE_NOT);
    assert_due(traces, 50 * SECOND - 1, 0, DUE_NOT);
    assert_due(traces, 50 * SECOND + 2 * TICK, 1, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 1));
    assert_due(traces, 300 * SECOND, 0, DUE_NOT);
    assert_due(traces, 301 * SECOND + 2 * TICK, 2, DUE_AGE);

    /* The root turns it into one that is complete when idle. */
    g_autoptr(OpenTraces) others = open_traces_new(&limits);
    add(others, (SpanId){2, 2}, 1, 1 * SECOND);
    add(others, (SpanId){2, 1}, 0, 100 * SECOND);
    assert_due(others, 130 * SECOND - 1, 0, DUE_NOT);
    assert_due(others, 130 * SECOND + 2 * TICK, 2, DUE_IDLE);

    /* The time can be changed for those that are open. */
    open_traces_set_idle(others, 200 * SECOND, 200 * SECOND);
    assert_due(others, 130 * SECOND + 2 * TICK, 0, DUE_NOT);
    open_traces_set_idle(others, 3 * SECOND, 3 * SECOND);
    assert_due(others, 103 * SECOND - 1, 0, DUE_NOT);
    assert_due(others, 103 * SECOND + 2 * TICK, 2, DUE_IDLE);
}

/* A trace need not move in its list at each span; it closes by its last one all the same. */
static void test_idle_counts_from_the_last_span(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    const gint64 last_ns = 57 * SECOND, other_ns = 30 * SECOND;
    for (gint64 now_ns = 0; now_ns <= last_ns; now_ns += SECOND / 4) {
        add(traces, (SpanId){1, (guint64)now_ns + 1}, 0, now_ns);
        if (now_ns <= other_ns) add(traces, (SpanId){2, (guint64)now_ns + 1}, 0, now_ns);
        assert_due(traces, now_ns, 0, DUE_NOT);
    }
    assert_due(traces, other_ns + 30 * SECOND - 1, 0, DUE_NOT);
    assert_due(traces, other_ns + 30 * SECOND + 2 * TICK + limits.idle_ns / 16, 2, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 2));
    assert_due(traces, last_ns + 30 * SECOND - 1, 0, DUE_NOT);
    assert_due(traces, last_ns + 30 * SECOND + 2 * TICK, 1, DUE_IDLE);
}

/* From OPEN_LARGE_SPANS on a trace with its root has a time of its own, be it awake or asleep. */
static void test_large_ones_wait_longer(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    open_traces_set_idle(traces, 10 * SECOND, 100 * SECOND);

    for (guint64 i = 1; i <= OPEN_LARGE_SPANS; i++) {
        if (i < OPEN_LARGE_SPANS) add(traces, (SpanId){1, i}, i == 1 ? 0 : 1, 0);
        add(traces, (SpanId){2, i}, i == 1 ? 0 : 1, 0);
        add(traces, (SpanId){3, i + 1}, 1, 0); /* waits for its root */
    }

    g_assert_cmpuint(open_traces_large(traces), ==, 1);
    add(traces, (SpanId){3, 1}, 0, 0);
    g_assert_cmpuint(open_traces_large(traces), ==, 2);

    assert_due(traces, 10 * SECOND - 1, 0, DUE_NOT);
    assert_due(traces, 10 * SECOND + 2 * TICK, 1, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 1));
    assert_due(traces, 50 * SECOND, 0, DUE_NOT);
    g_assert_cmpint(open_traces_next_due_ns(traces, 50 * SECOND), >=, 100 * SECOND - TICK);
    g_assert_cmpint(open_traces_next_due_ns(traces, 50 * SECOND), <=, 100 * SECOND + 2 * TICK);
    add(traces, (SpanId){2, 9999}, 1, 60 * SECOND); /* late, and in time */
    assert_due(traces, 100 * SECOND + 2 * TICK, 3, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 3));
    g_assert_cmpuint(open_traces_large(traces), ==, 1);
    assert_due(traces, 160 * SECOND - 1, 0, DUE_NOT);

    /* Patience ends, for all. */
    open_traces_set_idle(traces, 5 * SECOND, 5 * SECOND);
    assert_due(traces, 100 * SECOND, 2, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 2));
    g_assert_cmpuint(open_traces_large(traces), ==, 0);
}

static void test_late_span_does_not_wait_for_its_root(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    open_traces_remove(traces, add(traces, (SpanId){7, 1}, 0, 0));
    add(traces, (SpanId){7, 2}, 1, 10 * SECOND);
    assert_due(traces, 40 * SECOND + 2 * TICK, 7, DUE_IDLE);
}

/* What waits for its root is spared until it is four times as cold as what has it. */
static void test_memory(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    gint64 now_ns = 0;
    guint64 n = 0;

    while (open_traces_bytes(traces) <= limits.memory_bytes) {
        n++;
        now_ns += TICK;
        add(traces, (SpanId){n, 2}, n % 2 ? 0 : 1, now_ns); /* every other one waits for its root */
    }

    const guint64 end = n;
    add(traces, (SpanId){1, 3}, 0, now_ns); /* the first is warm again */
    guint64 closed[2] = {2, 3};             /* the next to close: of those that wait, of those that have it */
    while (open_traces_bytes(traces) > limits.memory_bytes / 16 * 15) {
        const guint64 waited = end - closed[0], rested = end - closed[1];
        const gboolean complete = rested >= waited / 4;
        assert_due(traces, now_ns, closed[complete], DUE_MEMORY);
        open_traces_remove(traces, open_traces_find(traces, closed[complete]));
        closed[complete] += 2;
    }

    g_assert_cmpuint(closed[1], >, 3);
    assert_due(traces, now_ns, 0, DUE_NOT);
}

static void test_full(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    for (guint64 i = 1; i <= limits.max_spans; i++) {
        OpenTrace *trace = add(traces, (SpanId){1, i}, 0, 0);
        g_assert_cmpint(open_trace_full(traces, trace), ==, i == limits.max_spans);
    }
}

/* What is told in two bytes counts as well. */
static void test_full_of_repeats(void) {
    OpenLimits small = limits;
    small.max_bytes = 256 * 1024;
    g_autoptr(OpenTraces) traces = open_traces_new(&small);
    g_autoptr(GByteArray) records = g_byte_array_new();
    g_autofree char *text = g_strnfill(65535, 'x');
    const guint n = 20;
    for (guint64 i = 1; i <= n; i++) {
        SpanRec head = {.id = {1, i}};
        SpanBuilder builder = span_builder_begin(records, &head);
        span_builder_annotation(&builder, 7, text, 65535);
        span_builder_end(&builder);
    }
    g_assert_cmpuint(records->len, >, 4 * (small.max_bytes + n * OPEN_SPAN_BYTES) + 64 * 1024);
    g_assert_true(open_trace_full(traces, add_packed(traces, records, FALSE, 0)));
}

/* Thousands of traces with ids that collide in their low bits, opened and closed in random order. */
static void test_against_a_model(void) {
    g_autoptr(OpenTraces) traces = open_traces_new(&limits);
    g_autoptr(GHashTable) model = g_hash_table_new(g_int64_hash, g_int64_equal); /* id -> number of spans */
    static guint64 ids[5000];
    g_autoptr(GByteArray) records = g_byte_array_new();
    guint64 total = 0;
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) ids[i] = ((guint64)i << 40) | 0xff;

    for (guint step = 0; step < 200000; step++) {
        guint64 *id = &ids[g_test_rand_int_range(0, G_N_ELEMENTS(ids))];
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(model, id));
        OpenTrace *trace = open_traces_find(traces, *id);
        g_assert_cmpuint(trace ? trace->n_spans : 0, ==, count);

        if (trace && g_test_rand_int_range(0, 20) == 0) {
            g_byte_array_set_size(records, 0);
            g_assert_true(open_traces_unpack(traces, trace, records, NULL));
            g_assert_cmpuint(records->len, ==, count * sizeof(SpanRec));
            for (guint k = 0; k < count; k++) {
                const SpanRec *span = (const SpanRec *)(gconstpointer)(records->data + k * sizeof(SpanRec));
                g_assert_cmpuint(span->id.trace, ==, *id);
                g_assert_cmpuint(span->id.span, ==, k + 1);
            }
            open_traces_remove(traces, trace);
            g_hash_table_remove(model, id);
            total -= count;
        } else {
            add(traces, (SpanId){*id, count + 1}, 0, (gint64)step * TICK / 8);
            g_hash_table_insert(model, id, GUINT_TO_POINTER(count + 1));
            total++;
        }
    }

    g_assert_cmpuint(open_traces_count(traces), ==, g_hash_table_size(model));
    g_assert_cmpuint(open_traces_spans(traces), ==, total);
    guint walked = 0;
    OpenTick before = 0;
    for (OpenTrace *t = open_traces_first(traces); t; t = open_traces_next(traces, t), walked++) {
        g_assert_cmpuint(t->opened, >=, before);
        before = t->opened;
    }
    g_assert_cmpuint(walked, ==, open_traces_count(traces));
    while (open_traces_first(traces)) open_traces_remove(traces, open_traces_first(traces));
    g_assert_cmpuint(open_traces_bytes(traces), ==, 0);
}

/* ---- on the disk ---- */

/* n spans, numbered from first on, of some 50 bytes each. */
static OpenTrace *add_under(OpenTraces *traces, SpanId first, guint n, guint64 parent, gint64 now_ns) {
    g_autoptr(GByteArray) records = g_byte_array_new();
    for (guint i = 0; i < n; i++) {
        SpanRec head = {.id = {first.trace, first.span + i}, .begin_ns = g_test_rand_int(), .n_parents = 0};
        SpanBuilder builder = span_builder_begin(records, &head);
        if (parent) span_builder_parent(&builder, (SpanId){first.trace, parent});
        span_builder_annotation(&builder, 7, "a value of some length", 22);
        span_builder_end(&builder);
    }
    return add_spans(traces, records, now_ns);
}

static OpenTrace *add_many(OpenTraces *traces, SpanId first, guint n, gint64 now_ns) {
    return add_under(traces, first, n, 0, now_ns);
}

/* The spans 1 to n, in this order. */
static void assert_spans(OpenTraces *traces, const OpenTrace *trace, guint n) {
    g_autoptr(GByteArray) records = g_byte_array_new();
    g_assert_cmpuint(trace->n_spans, ==, n);
    g_assert_true(open_traces_unpack(traces, trace, records, NULL));
    guint found = 0;
    for (guint at = 0; at < records->len; found++) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(records->data + at);
        g_assert_cmpuint(span->id.trace, ==, trace->id);
        g_assert_cmpuint(span->id.span, ==, found + 1);
        g_assert_cmpuint(span->n_annotations, ==, 1);
        at += span->size_bytes;
    }
    g_assert_cmpuint(found, ==, n);
}

typedef struct OnDisk {
    char *folder;
    OpenTraces *traces;
} OnDisk;

static void on_disk_setup(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenLimits with_disk = limits;
    with_disk.max_spans = 1 << 20;
    with_disk.disk_bytes = 64 << 20;
    disk->folder = g_dir_make_tmp("plumb-open-XXXXXX", NULL);
    disk->traces = open_traces_new(&with_disk);
    open_traces_spill_to(disk->traces, disk->folder);
}

static void on_disk_teardown(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    open_traces_free(disk->traces);
    g_rmdir(disk->folder);
    g_free(disk->folder);
}

/* Ten times as much as fits in memory: nothing has to close, and nothing is lost. */
static void test_large_traces_stay_open(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    enum { TRACES = 20 };
    OpenTraces *traces = disk->traces;
    guint n[TRACES + 1] = {0};

    for (guint step = 0; open_traces_spilled(traces).bytes < 10 * limits.memory_bytes; step++) {
        const guint trace = 1 + (guint)g_test_rand_int_range(0, TRACES);
        const guint more = (guint)g_test_rand_int_range(1, 400);
        add_many(traces, (SpanId){trace, n[trace] + 1}, more, step * TICK / 16);
        n[trace] += more;
        assert_due(traces, step * TICK / 16, 0, DUE_NOT);
        g_assert_cmpuint(open_traces_bytes(traces), <=, limits.memory_bytes);
    }

    guint64 total = 0;
    for (guint trace = 1; trace <= TRACES; trace++) total += n[trace];
    g_assert_cmpuint(open_traces_spans(traces), ==, total);
    g_assert_cmpuint(open_traces_spilled(traces).spans, <=, total);
    g_assert_cmpuint(open_traces_spilled(traces).spans, >, total / 2);

    for (guint trace = 1; trace <= TRACES; trace++) {
        assert_spans(traces, open_traces_find(traces, trace), n[trace]);
        open_traces_remove(traces, open_traces_find(traces, trace));
    }

    const OpenSpilled spilled = open_traces_spilled(traces);
    g_assert_cmpuint(spilled.spans + spilled.bytes + spilled.failures, ==, 0);
    g_assert_cmpuint(spilled.file_bytes, <=, SPILL_SPARE_BYTES);
    g_assert_null(open_traces_take_error(traces));
}

/* Those of some size fall asleep, coldest first, wake up when something comes, and close when they would have. */
static void test_cold_traces_fall_asleep(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    guint n = 0;

    while (open_traces_bytes(traces) <= limits.memory_bytes) {
        n++;
        add_many(traces, (SpanId){n, 1}, 40, n * TICK);
    }

    const gint64 now_ns = n * TICK;
    g_assert_cmpuint(open_traces_spilled(traces).spans, ==, 0);
    assert_due(traces, now_ns, 0, DUE_NOT);
    g_assert_cmpuint(open_traces_bytes(traces), <=, limits.memory_bytes / 16 * 15);
    g_assert_cmpint(open_traces_find(traces, 1)->kept, ==, KEPT_ASLEEP);
    g_assert_cmpint(open_traces_find(traces, n)->kept, ==, KEPT_HERE);
    g_assert_cmpint(add_many(traces, (SpanId){1, 41}, 1, now_ns)->kept, ==, KEPT_SPILLED);
    assert_spans(traces, open_traces_find(traces, 1), 41);

    for (guint trace = 2; trace <= n; trace++) {
        assert_due(traces, trace * TICK + limits.idle_ns - 1, 0, DUE_NOT);
        assert_due(traces, trace * TICK + limits.idle_ns + 2 * TICK, trace, DUE_IDLE);
        assert_spans(traces, open_traces_find(traces, trace), 40);
        open_traces_remove(traces, open_traces_find(traces, trace));
        if (trace == n - 2) break; /* trace 1 is as cold as the last ones */
    }

    g_assert_cmpuint(open_traces_count(traces), ==, 3);
}

/* Many that are asleep fill the memory, too. */
static void test_too_many_asleep(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    const guint enough = (guint)(limits.memory_bytes / sizeof(OpenTrace));
    guint closed = 0;

    for (guint i = 1; i <= enough; i++) {
        add_many(traces, (SpanId){i, 1}, 40, i * TICK / 1024);
        DueReason reason;
        OpenTrace *due;
        while ((due = open_traces_due(traces, i * TICK / 1024, &reason))) {
            g_assert_cmpint(reason, ==, DUE_MEMORY);
            g_assert_cmpuint(due->id, ==, ++closed);
            g_assert_cmpint(due->kept, ==, KEPT_ASLEEP);
            assert_spans(traces, due, 40);
            open_traces_remove(traces, due);
        }
        g_assert_cmpuint(open_traces_bytes(traces), <=, limits.memory_bytes);
    }

    g_assert_cmpuint(closed, >, enough / 4);
    g_assert_cmpuint(open_traces_count(traces), >, enough / 4);
}

/* Not a root, and small: many fit that otherwise would not, and none closes. */
static void test_small_ones_shrink(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    const guint n = (guint)(limits.memory_bytes / 150);

    for (guint i = 1; i <= n; i++) {
        add_under(traces, (SpanId){i, 1}, 3, 99, i * TICK);
        assert_due(traces, i * TICK, 0, DUE_NOT);
        g_assert_cmpuint(open_traces_bytes(traces), <=, limits.memory_bytes);
    }

    g_assert_cmpint(open_traces_find(traces, 1)->kept, ==, KEPT_SHRUNK);
    g_assert_cmpint(open_traces_find(traces, n)->kept, ==, KEPT_HERE);
    guint walked = 0;
    for (OpenTrace *t = open_traces_first(traces); t; t = open_traces_next(traces, t))
        g_assert_cmpuint(t->id, ==, ++walked);
    g_assert_cmpuint(walked, ==, n);

    /* Some more wakes it; its root, and it closes when it is idle. */
    const gint64 now_ns = n * TICK;
    g_assert_cmpint(add_under(traces, (SpanId){1, 4}, 1, 99, now_ns)->kept, ==, KEPT_SPILLED);
    assert_spans(traces, open_traces_find(traces, 1), 4);
    add_many(traces, (SpanId){1, 5}, 1, now_ns);
    assert_due(traces, now_ns + limits.idle_ns + 2 * TICK, 1, DUE_IDLE);
    assert_spans(traces, open_traces_find(traces, 1), 5);
    open_traces_remove(traces, open_traces_find(traces, 1));

    for (guint i = 2; i <= n; i++) {
        assert_due(traces, i * TICK + limits.max_age_ns + 2 * TICK, i, DUE_AGE);
        assert_spans(traces, open_traces_find(traces, i), 3);
        open_traces_remove(traces, open_traces_find(traces, i));
    }
    const OpenSpilled spilled = open_traces_spilled(traces);
    g_assert_cmpuint(spilled.spans + spilled.bytes + spilled.failures, ==, 0);
}

/* Small and large ones that grow and close in random order, in a twentieth of the memory that they would need. */
static void test_shrunk_against_a_model(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    enum { TRACES = 6000 };
    OpenTraces *traces = disk->traces;
    static guint n[TRACES + 1];
    guint kinds[KEPT_SHRUNK + 1] = {0};
    gint64 now_ns = 0;

    for (guint step = 0; step < 200000; step++, now_ns += TICK / 8) {
        const guint id = 1 + (guint)g_test_rand_int_range(0, TRACES);
        OpenTrace *trace = open_traces_find(traces, id);
        g_assert_cmpuint(trace ? trace->n_spans : 0, ==, n[id]);
        if (trace) kinds[trace->kept]++;

        if (trace && g_test_rand_int_range(0, 30) == 0) {
            assert_spans(traces, trace, n[id]);
            open_traces_remove(traces, trace);
            n[id] = 0;
        } else {
            const guint more = (guint)g_test_rand_int_range(0, 20) == 0 ? 15 : 1;
            add_under(traces, (SpanId){id, n[id] + 1}, more, 99999, now_ns);
            n[id] += more;
        }

        DueReason reason;
        for (OpenTrace *due; (due = open_traces_due(traces, now_ns, &reason));) {
            assert_spans(traces, due, n[due->id]);
            n[due->id] = 0;
            open_traces_remove(traces, due);
        }
    }

    for (guint i = 0; i <= KEPT_SHRUNK; i++) g_assert_cmpuint(kinds[i], >, 1000);
    for (guint id = 1; id <= TRACES; id++) {
        if (n[id] == 0) continue;
        assert_spans(traces, open_traces_find(traces, id), n[id]);
        open_traces_remove(traces, open_traces_find(traces, id));
        n[id] = 0;
    }
    const OpenSpilled spilled = open_traces_spilled(traces);
    g_assert_cmpuint(open_traces_count(traces) + spilled.spans + spilled.bytes + spilled.failures, ==, 0);
}

/* Small ones that have their root shrink like others as long as something may still come of them, and close for want of
 * memory when they have been quiet for long. */
static void test_complete_ones(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    const gint64 step_ns = TICK / 4;
    guint n = 0;

    for (; open_traces_spilled(traces).spans < 2000; n++) {
        add_many(traces, (SpanId){n + 1, 1}, 4, n * step_ns);
        assert_due(traces, n * step_ns, 0, DUE_NOT);
    }

    g_assert_true(open_traces_find(traces, 1)->has_root);
    g_assert_cmpint(open_traces_find(traces, 1)->kept, ==, KEPT_SHRUNK);
    assert_spans(traces, open_traces_find(traces, 1), 4);

    /* Quiet for longer than that: the first one that is still in memory is next. */
    const gint64 late_ns = n * step_ns + OPEN_COMPLETE_NS + TICK;
    guint first = 1;
    while (open_traces_find(traces, first)->kept == KEPT_SHRUNK) first++;
    open_traces_set_share(traces, limits.memory_bytes / 2, 64 << 20);
    assert_due(traces, late_ns, first, DUE_MEMORY);
    open_traces_remove(traces, open_traces_find(traces, first));

    /* What shrank closes when its time is over. */
    open_traces_set_share(traces, limits.memory_bytes, 64 << 20);
    assert_due(traces, limits.idle_ns - 1, 0, DUE_NOT);
    assert_due(traces, limits.idle_ns + 2 * TICK, 1, DUE_IDLE);
}

/* Ids in the order in which they came. */
static GArray *ids_by_age(OpenTraces *traces) {
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (OpenTrace *t = open_traces_first(traces); t; t = open_traces_next(traces, t)) g_array_append_val(ids, t->id);
    return ids;
}

/* When most have left, those that stay, awake and asleep, lie together soon: in the order in which they were, with all
 * that they had and get meanwhile. */
static void test_compaction(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    enum { TRACES = 100000, CALLS = 400 };
    OpenTraces *traces = disk->traces;
    static guint n[TRACES + 1];
    guint kinds[KEPT_SHRUNK + 1] = {0};
    const gint64 now_ns = 10 * SECOND;
    open_traces_set_share(traces, 1 << 30, 1 << 30);

    for (guint id = 1; id <= TRACES; id++) {
        n[id] = (guint)g_test_rand_int_range(1, 40);
        add_under(traces, (SpanId){id, 1}, n[id], id % 4 ? 99999 : 0, id * TICK / 1024);
    }

    /* Small ones that have their root close, then others go to the disk. */
    open_traces_set_share(traces, open_traces_bytes(traces) / 2, 1 << 30);
    DueReason reason;
    for (OpenTrace *due; (due = open_traces_due(traces, now_ns, &reason));) {
        n[due->id] = 0;
        open_traces_remove(traces, due);
    }
    open_traces_set_share(traces, 1 << 30, 1 << 30);
    for (guint id = 1; id <= TRACES; id++) {
        OpenTrace *trace = open_traces_find(traces, id);
        if (!trace) continue;
        if (g_test_rand_int_range(0, 3) > 0) {
            open_traces_remove(traces, trace);
            n[id] = 0;
        } else {
            kinds[trace->kept]++;
        }
    }

    g_assert_cmpuint(kinds[KEPT_HERE], >, 1000);
    g_assert_cmpuint(kinds[KEPT_SHRUNK], >, 1000);
    const gsize held = open_traces_held_bytes(traces), used = open_traces_bytes(traces);
    g_assert_cmpuint(held, >, 2 * used);
    g_autoptr(GArray) before = ids_by_age(traces);
    for (guint call = 0; call < CALLS; call++) {
        open_traces_compact(traces, now_ns);
        const guint64 id = g_array_index(before, guint64, g_test_rand_int_range(0, (gint32)before->len));
        add_many(traces, (SpanId){id, n[id] + 1}, 1, now_ns);
        n[id]++;
    }

    g_test_message("held %zu for %zu, then %zu for %zu", held, used, open_traces_held_bytes(traces),
                   open_traces_bytes(traces));
    g_assert_cmpuint(open_traces_held_bytes(traces), <, open_traces_bytes(traces) * 3 / 2 + (8 << 20));
    g_autoptr(GArray) after = ids_by_age(traces);
    g_assert_cmpmem(before->data, before->len * sizeof(guint64), after->data, after->len * sizeof(guint64));

    /* By activity, too. */
    for (gint64 last = 0; open_traces_count(traces) > 0;) {
        OpenTrace *trace = open_traces_due(traces, now_ns + limits.max_age_ns, &reason);
        g_assert_nonnull(trace);
        if (reason == DUE_IDLE) {
            g_assert_cmpint(trace->active, >=, last);
            last = trace->active;
        }
        assert_spans(traces, trace, n[trace->id]);
        open_traces_remove(traces, trace);
    }
    const OpenSpilled spilled = open_traces_spilled(traces);
    g_assert_cmpuint(spilled.spans + spilled.bytes + spilled.failures, ==, 0);
}

/* What cannot be read back stays, with what came since, and is written again once it can. */
static void test_shrunk_unreadable(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    guint n = 0;

    for (; open_traces_spilled(traces).bytes < 200000; n++) {
        add_under(traces, (SpanId){n + 1, 1}, 3, 99, n * TICK / 1024);
        assert_due(traces, n * TICK / 1024, 0, DUE_NOT);
    }

    OpenTrace *trace = open_traces_find(traces, 1);
    g_assert_cmpint(trace->kept, ==, KEPT_SHRUNK);
    int fd = unnamed_file_in(disk->folder);
    guint8 was, flipped;
    g_assert_cmpint(pread(fd, &was, 1, trace->shrunk.at), ==, 1);
    flipped = was ^ 4;
    const gint64 place = trace->shrunk.at;
    g_assert_cmpint(pwrite(fd, &flipped, 1, place), ==, 1);

    for (guint round = 0; round < 2; round++) {
        g_autoptr(GByteArray) records = g_byte_array_new();
        g_autoptr(GError) error = NULL;
        g_assert_false(open_traces_unpack(traces, trace, records, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        open_traces_put_off(traces, trace, n * TICK / 1024);
        trace = add_under(traces, (SpanId){1, 4 + round}, 1, 99, n * TICK / 1024);
    }

    g_assert_cmpint(pwrite(fd, &was, 1, place), ==, 1);
    close(fd);
    assert_spans(traces, trace, 5);
}

/* Without room on the disk traces close early, as if there were none; after a pause it is tried again. */
static void test_disk_is_full(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    OpenLimits no_room = limits;
    no_room.disk_bytes = 1 << 20;
    open_traces_set_limits(traces, &no_room);
    gint64 now_ns = 0;
    DueReason reason = DUE_NOT;

    for (guint i = 1; reason == DUE_NOT; i++, now_ns += TICK) {
        add_many(traces, (SpanId){i, 1}, 40, now_ns);
        open_traces_due(traces, now_ns, &reason);
    }

    g_assert_cmpint(reason, ==, DUE_MEMORY);
    g_assert_cmpuint(open_traces_spilled(traces).failures, ==, 1);
    g_autoptr(GError) error = open_traces_take_error(traces);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_null(open_traces_take_error(traces));

    OpenTrace *due = open_traces_due(traces, now_ns, &reason);
    g_assert_cmpint(due->kept, ==, KEPT_HERE);
    assert_spans(traces, due, 40);
    g_assert_cmpuint(open_traces_spilled(traces).failures, ==, 1);

    no_room.disk_bytes = 64 << 20;
    open_traces_set_limits(traces, &no_room);
    assert_due(traces, now_ns + SPILL_PAUSE_NS + 2 * TICK, 0, DUE_NOT);
    g_assert_cmpint(due->kept, ==, KEPT_ASLEEP);
}

/* It is not lost, and does not keep others from their turn. */
static void test_unreadable(OnDisk *disk, gconstpointer unused) {
    (void)unused;
    OpenTraces *traces = disk->traces;
    add_many(traces, (SpanId){1, 1}, 4 * limits.memory_bytes / 50, 0);
    add_many(traces, (SpanId){2, 1}, 3, TICK);
    OpenTrace *trace = open_traces_find(traces, 1);
    g_assert_cmpint(trace->kept, ==, KEPT_SPILLED);

    int fd = unnamed_file_in(disk->folder);
    guint8 was, flipped;
    g_assert_cmpint(pread(fd, &was, 1, 12345), ==, 1);
    flipped = was ^ 4;
    g_assert_cmpint(pwrite(fd, &flipped, 1, 12345), ==, 1);

    const gint64 idle_ns = limits.idle_ns + 3 * TICK;
    assert_due(traces, idle_ns, 1, DUE_IDLE);
    g_autoptr(GByteArray) records = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    g_assert_false(open_traces_unpack(traces, trace, records, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    open_traces_put_off(traces, trace, idle_ns);

    assert_due(traces, idle_ns, 2, DUE_IDLE);
    open_traces_remove(traces, open_traces_find(traces, 2));
    assert_due(traces, 2 * limits.idle_ns, 0, DUE_NOT);
    assert_due(traces, 2 * idle_ns, 1, DUE_IDLE);

    g_assert_cmpint(pwrite(fd, &was, 1, 12345), ==, 1);
    close(fd);
    assert_spans(traces, trace, trace->n_spans);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/open-traces/foreign-parent", test_parent_in_another_trace_is_a_root);
    g_test_add_func("/open-traces/idle-and-age", test_idle_and_age);
    g_test_add_func("/open-traces/last-span", test_idle_counts_from_the_last_span);
    g_test_add_func("/open-traces/full", test_full);
    g_test_add_func("/open-traces/full-of-repeats", test_full_of_repeats);
    g_test_add_func("/open-traces/large", test_large_ones_wait_longer);
    g_test_add_func("/open-traces/late", test_late_span_does_not_wait_for_its_root);
    g_test_add_func("/open-traces/memory", test_memory);
    g_test_add_func("/open-traces/model", test_against_a_model);
    g_test_add("/open-traces/on-disk", OnDisk, NULL, on_disk_setup, test_large_traces_stay_open, on_disk_teardown);
    g_test_add("/open-traces/asleep", OnDisk, NULL, on_disk_setup, test_cold_traces_fall_asleep, on_disk_teardown);
    g_test_add("/open-traces/all-asleep", OnDisk, NULL, on_disk_setup, test_too_many_asleep, on_disk_teardown);
    g_test_add("/open-traces/shrunk", OnDisk, NULL, on_disk_setup, test_small_ones_shrink, on_disk_teardown);
    g_test_add("/open-traces/shrunk-model", OnDisk, NULL, on_disk_setup, test_shrunk_against_a_model, on_disk_teardown);
    g_test_add("/open-traces/complete", OnDisk, NULL, on_disk_setup, test_complete_ones, on_disk_teardown);
    g_test_add("/open-traces/compaction", OnDisk, NULL, on_disk_setup, test_compaction, on_disk_teardown);
    g_test_add("/open-traces/shrunk-unreadable", OnDisk, NULL, on_disk_setup, test_shrunk_unreadable, on_disk_teardown);
    g_test_add("/open-traces/disk-full", OnDisk, NULL, on_disk_setup, test_disk_is_full, on_disk_teardown);
    g_test_add("/open-traces/unreadable", OnDisk, NULL, on_disk_setup, test_unreadable, on_disk_teardown);

    return g_test_run();
}
