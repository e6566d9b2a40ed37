#include "tests/receiver/fixture.h"

#include <glib/gstdio.h>
#include <stdatomic.h>
#include <string.h>

#include "common/base/error.h"
#include "common/store/store_ops.h"

static atomic_bool store_fails, store_damaged, store_held;
static StoreOps failing_ops;
static gboolean (*real_write)(Store *store, StoreBatch *batch, gboolean sync, GError **error);

static gboolean failing_write(Store *store, StoreBatch *batch, gboolean sync, GError **error) {
    WAIT_FOR(!atomic_load(&store_held));
    if (atomic_load(&store_fails)) return fail(error, PLUMB_ERROR_NO_SPACE, "no space left, says the test");
    return real_write(store, batch, sync, error);
}

static gboolean (*real_get)(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error);

static gboolean damaged_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error) {
    if (atomic_load(&store_damaged)) return fail(error, PLUMB_ERROR_CORRUPT, "damaged, says the test");
    return real_get(store, family, key, value, error);
}

static _Atomic guint64 next_mark;

static guint64 told_mark(Store *store) {
    (void)store;
    return atomic_load(&next_mark);
}

void fixture_next_mark(guint64 mark) { atomic_store(&next_mark, mark); }

void fixture_store_damaged(gboolean damaged) { atomic_store(&store_damaged, damaged); }

void fixture_store_fails(gboolean fails) { atomic_store(&store_fails, fails); }

Waiter *fixture_hold_shards(Fixture *fixture) {
    atomic_store(&store_held, TRUE);
    Waiter *waiter = waiter_new(fixture->n_shards);
    for (guint i = 0; i < fixture->n_shards; i++) {
        fixture_put(fixture->shards[i], (FixtureSpans){FIXTURE_HELD_TRACE + i, 1, 1}, NULL);
        shard_flush(fixture->shards[i], waiter);
    }
    return waiter;
}

void fixture_let_go(Waiter *waiter) {
    atomic_store(&store_held, FALSE);
    g_assert_true(waiter_wait(waiter, NULL, NULL));
}

Fixture *fixture_new(void) {
    g_autoptr(GError) error = NULL;
    Fixture *fixture = g_new0(Fixture, 1);
    fixture_store_fails(FALSE);
    fixture_store_damaged(FALSE);

    /* As runner.c does, before there are threads. */
    error = g_error_new_literal(PLUMB_ERROR, PLUMB_ERROR_INPUT, "the first");
    g_clear_error(&error);
    fixture->folder = g_dir_make_tmp("plumb-receiver-XXXXXX", NULL);
    StoreOptions store = {.merge = archive_merge};
    fixture->store = store_open_memory(&store, &error);
    g_assert_no_error(error);

    failing_ops = *fixture->store->ops;
    real_write = failing_ops.write;
    failing_ops.write = failing_write;
    real_get = failing_ops.get;
    failing_ops.get = damaged_get;
    fixture_next_mark(0);
    failing_ops.next_mark = told_mark;
    fixture->store->ops = &failing_ops;

    ArchiveOptions archive = {.clock_tolerance_ns = 0, .max_trace_spans = 0};
    fixture->archive = archive_open(fixture->store, &archive, &error);
    g_assert_no_error(error);
    JournalOptions journal = {fixture->folder, 4096, FALSE};
    fixture->journal = journal_open(&journal, &error);
    g_assert_no_error(error);

    fixture->admission = admission_new();
    fixture->counters = counter_set_new();
    fixture->senders = senders_new();
    fixture->accounts = accounts_new(fixture->archive);
    fixture->rules = naming_rules_new(naming_default_templates, &error);
    g_assert_no_error(error);
    gint64 hour_ns = G_GINT64_CONSTANT(3600000000000);
    fixture->limits =
        (OpenLimits){.idle_ns = hour_ns, .max_age_ns = hour_ns, .max_spans = 1 << 20, .memory_bytes = 1 << 30};
    fixture->mailbox_bytes = 1 << 20;
    atomic_init(&fixture->sampling, "");
    return fixture;
}

void fixture_start(Fixture *fixture, guint n_shards) {
    fixture->shards = g_new0(Shard *, n_shards);
    fixture->n_shards = n_shards;
    for (guint i = 0; i < n_shards; i++) {
        ShardOptions options = {
            .number = i,
            .archive = fixture->archive,
            .admission = fixture->admission,
            .counters = fixture->counters,
            .accounts = fixture->accounts,
            .mailbox_bytes = fixture->mailbox_bytes,
            .limits = fixture->limits,
            .unstored_dir = fixture->folder,
            .spill_dir = fixture->folder,
            .replayed = fixture->replayed,
        };
        fixture->shards[i] = shard_start(&options);
    }
}

static void remove_folder(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
}

void fixture_free(Fixture *fixture) {
    if (!fixture) return;
    for (guint i = 0; i < fixture->n_shards; i++) {
        if (!fixture->shards[i]) continue;
        shards_stop(&fixture->shards[i], 1, 0, NULL);
        shard_free(fixture->shards[i]);
    }
    g_free(fixture->shards);
    accounts_free(fixture->accounts);
    archive_free(fixture->archive);
    store_close(fixture->store);
    journal_close(fixture->journal);
    admission_free(fixture->admission);
    counter_set_free(fixture->counters);
    senders_free(fixture->senders);
    naming_rules_free(fixture->rules);
    remove_folder(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture);
}

IntakeOptions fixture_intake(const Fixture *fixture) {
    return (IntakeOptions){
        .rules = fixture->rules,
        .dict = archive_dict(fixture->archive),
        .shards = fixture->shards,
        .n_shards = fixture->n_shards,
        .journal = fixture->journal,
        .admission = fixture->admission,
        .senders = fixture->senders,
        .accounts = fixture->accounts,
        .sampling = &fixture->sampling,
    };
}

gboolean fixture_flush(Fixture *fixture, guint64 *closed) {
    Waiter *waiter = waiter_new(fixture->n_shards);
    for (guint i = 0; i < fixture->n_shards; i++) shard_flush(fixture->shards[i], waiter);
    return waiter_wait(waiter, closed, NULL);
}

guint64 fixture_count(Fixture *fixture, Counter counter) { return counter_set_sum(fixture->counters, counter); }

GByteArray *fixture_frame(guint64 trace, guint64 first, guint n) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint i = 0; i < n; i++) {
        guint64 number = first + i;
        BatchSpan *span = batch_begin_span(batch, (SpanId){trace, number});
        span->begin_ns = (gint64)(1000 + number);
        span->duration_ns = 10;
        span->name = batch_intern(batch, "op", 2);
        span->tracer = batch_intern(batch, "Client/h", 8);
        if (number != 1) batch_add_parent(batch, (SpanId){trace, 1});
    }
    g_autoptr(GByteArray) whole = g_byte_array_new();
    wire_batch_encode(batch, PROTOCOL_BINARY, 1, whole);
    GByteArray *frame = g_byte_array_new();
    g_byte_array_append(frame, whole->data + FRAME_HEADER_BYTES, whole->len - FRAME_HEADER_BYTES);
    return frame;
}

void fixture_put(Shard *shard, FixtureSpans spans, JournalSegment *segment) {
    g_autoptr(GByteArray) records = g_byte_array_new(), fragment = g_byte_array_new();
    for (guint i = 0; i < spans.n; i++) {
        guint64 number = spans.first + i;
        SpanRec head = {.id = {spans.trace, number}, .begin_ns = (gint64)(1000 + number), .duration_ns = 10};
        SpanBuilder builder = span_builder_begin(records, &head);
        if (number != 1) span_builder_parent(&builder, (SpanId){spans.trace, 1});
        span_builder_end(&builder);
    }
    fragment_pack(fragment, records->data, records->len, FALSE);
    shard_put_spans(shard, (Bytes){fragment->data, fragment->len}, segment);
}
