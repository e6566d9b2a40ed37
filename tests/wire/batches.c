#include "tests/wire/batches.h"

#include <string.h>

static const char *const pieces[] = {"a",    "/user/anna",       "\"",         "\\",      "caf\xc3\xa9", "\n\t", "\x01",
                                     "\x7f", "\xf0\x9f\x98\x80", "part-00001", "{\"a\":", "}",           "",     " ",
                                     "<&>"};

static char *random_text(GRand *rand) {
    GString *text = g_string_new(NULL);
    const guint n = g_rand_int_range(rand, 0, g_rand_int_range(rand, 0, 40) == 0 ? 60 : 5);
    for (guint i = 0; i < n; i++) g_string_append(text, pieces[g_rand_int_range(rand, 0, G_N_ELEMENTS(pieces))]);
    return g_string_free(text, FALSE);
}

static guint32 random_index(GRand *rand, const SpanBatch *batch) {
    return (guint32)g_rand_int_range(rand, 0, (gint32)batch->strings->len);
}

static BatchString random_string(GRand *rand, SpanBatch *batch) {
    g_autofree char *text = random_text(rand);
    return batch_copy(batch, text, strlen(text));
}

static guint64 random_u64(GRand *rand) { return (guint64)g_rand_int(rand) << 32 | g_rand_int(rand); }

static gint64 random_i64(GRand *rand) {
    static const gint64 odd[] = {0, 1, -1, 127, 128, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64, 999999, -999999};
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0: return odd[g_rand_int_range(rand, 0, G_N_ELEMENTS(odd))];
    case 1: return (gint64)random_u64(rand);
    case 2: return g_rand_int_range(rand, 0, 1000000) * G_GINT64_CONSTANT(1000000);
    default: return G_GINT64_CONSTANT(1605956000000000000) + g_rand_int(rand);
    }
}

/* Mostly small, at times many. */
static guint random_count(GRand *rand) {
    const gint32 kind = g_rand_int_range(rand, 0, 50);
    return kind == 0 ? (guint)g_rand_int_range(rand, 10, 60) : (guint)MAX(0, kind % 6 - 2);
}

static void random_span(GRand *rand, SpanBatch *batch) {
    const SpanId id = {g_rand_int_range(rand, 0, 5), g_rand_int_range(rand, 0, 9) == 0 ? 0 : random_u64(rand)};
    BatchSpan *span = batch_begin_span(batch, id);
    span->begin_ns = random_i64(rand);
    span->duration_ns = random_i64(rand);
    span->name = random_index(rand, batch);
    span->tracer = random_index(rand, batch);
    span->flags = (guint32)g_rand_int_range(rand, 0, 2);
    for (guint n = random_count(rand); n > 0; n--)
        batch_add_parent(batch, (SpanId){g_rand_boolean(rand) ? id.trace : random_u64(rand), random_u64(rand)});
    for (guint n = random_count(rand); n > 0; n--)
        batch_add_annotation(batch, random_index(rand, batch), random_string(rand, batch));
    for (guint n = random_count(rand); n > 0; n--) batch_add_note(batch, random_i64(rand), random_string(rand, batch));
}

SpanBatch *batches_random(GRand *rand, guint n_spans) {
    SpanBatch *batch = batch_new();
    for (guint n = (guint)g_rand_int_range(rand, n_spans > 0 ? 1 : 0, 20); n > 0; n--) {
        g_autofree char *text = random_text(rand);
        batch_intern(batch, text, strlen(text));
    }
    for (guint i = 0; i < n_spans; i++) random_span(rand, batch);
    if (g_rand_boolean(rand)) return batch;
    batch->sender.sender = batch_copy(batch, "DataNode/10.0.3.17/4242@1605956000123", 37);
    batch->sender.sequence = random_i64(rand);
    batch->sender.spans_sent = random_i64(rand);
    batch->sender.spans_queued = random_i64(rand);
    for (guint n = random_count(rand); n > 0; n--) {
        const BatchDrop drop = {random_string(rand, batch), random_i64(rand)};
        g_array_append_val(batch->sender.drops, drop);
    }
    return batch;
}

SpanBatch *batches_typical(GRand *rand, guint n_spans) {
    static const char *const names[] = {"DFSOutputStream#write",           "dataStreamer",      "OpWriteBlockProto",
                                        "ClientNamenodeProtocol#addBlock", "FileSystem#create", "packetReceiver"};
    SpanBatch *batch = batch_new();
    const guint32 tracer = batch_intern(batch, "FSClient/10.0.0.5/4242", 22), key = batch_intern(batch, "path", 4);
    const SpanId root = {random_u64(rand), random_u64(rand)};

    for (guint i = 0; i < n_spans; i++) {
        const char *name = names[g_rand_int_range(rand, 0, G_N_ELEMENTS(names))];
        const guint32 name_at = batch_intern(batch, name, strlen(name));
        BatchSpan *span = batch_begin_span(batch, (SpanId){root.trace, random_u64(rand)});
        span->begin_ns = G_GINT64_CONSTANT(1605956000000000000) + (gint64)i * 12345;
        span->duration_ns = g_rand_int_range(rand, 1000, 90000000);
        span->name = name_at;
        span->tracer = tracer;
        batch_add_parent(batch, root);
        if (i % 8 == 0) batch_add_annotation(batch, key, batch_copy(batch, "/user/anna/part-00001", 21));
    }

    batch->sender.sender = batch_copy(batch, "FSClient/10.0.0.5/4242@1605956000123", 36);
    batch->sender.sequence = 1;
    batch->sender.spans_sent = n_spans;
    return batch;
}

static void assert_string_equal(BatchString a, BatchString b) { g_assert_cmpmem(a.data, a.length, b.data, b.length); }

static void assert_id_equal(SpanId a, SpanId b) {
    g_assert_cmphex(a.trace, ==, b.trace);
    g_assert_cmphex(a.span, ==, b.span);
}

static void assert_span_equal(const SpanBatch *a, const SpanBatch *b, guint i) {
    const BatchSpan *x = batch_span(a, i), *y = batch_span(b, i);
    assert_id_equal(x->id, y->id);
    g_assert_cmpint(x->begin_ns, ==, y->begin_ns);
    g_assert_cmpint(x->duration_ns, ==, y->duration_ns);
    g_assert_cmpuint(x->flags, ==, y->flags);
    assert_string_equal(batch_string(a, x->name), batch_string(b, y->name));
    assert_string_equal(batch_string(a, x->tracer), batch_string(b, y->tracer));

    g_assert_cmpuint(x->n_parents, ==, y->n_parents);
    for (guint p = 0; p < x->n_parents; p++)
        assert_id_equal(g_array_index(a->parents, SpanId, x->parents_at + p),
                        g_array_index(b->parents, SpanId, y->parents_at + p));

    g_assert_cmpuint(x->n_annotations, ==, y->n_annotations);
    for (guint n = 0; n < x->n_annotations; n++) {
        const BatchAnnotation *u = &g_array_index(a->annotations, BatchAnnotation, x->annotations_at + n);
        const BatchAnnotation *v = &g_array_index(b->annotations, BatchAnnotation, y->annotations_at + n);
        assert_string_equal(batch_string(a, u->key), batch_string(b, v->key));
        assert_string_equal(u->value, v->value);
    }

    g_assert_cmpuint(x->n_notes, ==, y->n_notes);
    for (guint n = 0; n < x->n_notes; n++) {
        const BatchNote *u = &g_array_index(a->notes, BatchNote, x->notes_at + n);
        const BatchNote *v = &g_array_index(b->notes, BatchNote, y->notes_at + n);
        g_assert_cmpint(u->time_ns, ==, v->time_ns);
        assert_string_equal(u->message, v->message);
    }
}

void batches_assert_spans_equal(const SpanBatch *a, const SpanBatch *b) {
    g_assert_cmpuint(a->spans->len, ==, b->spans->len);
    for (guint i = 0; i < a->spans->len; i++) assert_span_equal(a, b, i);
}

void batches_assert_equal(const SpanBatch *a, const SpanBatch *b) {
    batches_assert_spans_equal(a, b);
    g_assert_cmpuint(a->strings->len, ==, b->strings->len);
    for (guint i = 0; i < a->strings->len; i++) assert_string_equal(batch_string(a, i), batch_string(b, i));
    assert_string_equal(a->sender.sender, b->sender.sender);
    g_assert_cmpint(a->sender.sequence, ==, b->sender.sequence);
    g_assert_cmpint(a->sender.spans_sent, ==, b->sender.spans_sent);
    g_assert_cmpint(a->sender.spans_queued, ==, b->sender.spans_queued);
    g_assert_cmpuint(a->sender.drops->len, ==, b->sender.drops->len);
    for (guint i = 0; i < a->sender.drops->len; i++) {
        const BatchDrop *x = &g_array_index(a->sender.drops, BatchDrop, i);
        const BatchDrop *y = &g_array_index(b->sender.drops, BatchDrop, i);
        assert_string_equal(x->reason, y->reason);
        g_assert_cmpint(x->spans, ==, y->spans);
    }
}
