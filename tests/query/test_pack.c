/* Outside form -> packed record -> outside form: the same, in every case that the limits allow. */
#include <string.h>
#include <time.h>

#include "analyzer/query/shared/trace_view.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/pack/pack.h"
#include "tests/query/fixture.h"

static guint32 intern(SpanBatch *batch, const char *text) { return batch_intern(batch, text, strlen(text)); }

static void set_names(SpanBatch *batch, guint32 name, guint32 tracer) {
    BatchSpan *span = &g_array_index(batch->spans, BatchSpan, batch->spans->len - 1);
    span->name = name;
    span->tracer = tracer;
}

static void assert_same_text(const SpanBatch *a, guint32 i, const SpanBatch *b, guint32 j) {
    BatchString x = batch_string(a, i), y = batch_string(b, j);
    g_assert_cmpmem(x.data, x.length, y.data, y.length);
}

static void assert_same_span(const SpanBatch *a, guint i, const SpanBatch *b, guint j) {
    const BatchSpan *x = batch_span(a, i), *y = batch_span(b, j);
    g_assert_true(span_id_equal(x->id, y->id));
    g_assert_cmpint(x->begin_ns, ==, y->begin_ns);
    g_assert_cmpint(x->duration_ns, ==, y->duration_ns);
    g_assert_cmpuint(x->flags, ==, y->flags);
    assert_same_text(a, x->name, b, y->name);
    assert_same_text(a, x->tracer, b, y->tracer);

    g_assert_cmpuint(x->n_parents, ==, y->n_parents);
    for (guint k = 0; k < x->n_parents; k++)
        g_assert_true(span_id_equal(g_array_index(a->parents, SpanId, x->parents_at + k),
                                    g_array_index(b->parents, SpanId, y->parents_at + k)));

    g_assert_cmpuint(x->n_annotations, ==, y->n_annotations);
    for (guint k = 0; k < x->n_annotations; k++) {
        const BatchAnnotation *p = &g_array_index(a->annotations, BatchAnnotation, x->annotations_at + k);
        const BatchAnnotation *q = &g_array_index(b->annotations, BatchAnnotation, y->annotations_at + k);
        assert_same_text(a, p->key, b, q->key);
        g_assert_cmpmem(p->value.data, p->value.length, q->value.data, q->value.length);
    }

    g_assert_cmpuint(x->n_notes, ==, y->n_notes);
    for (guint k = 0; k < x->n_notes; k++) {
        const BatchNote *p = &g_array_index(a->notes, BatchNote, x->notes_at + k);
        const BatchNote *q = &g_array_index(b->notes, BatchNote, y->notes_at + k);
        g_assert_cmpint(p->time_ns, ==, q->time_ns);
        g_assert_cmpmem(p->message.data, p->message.length, q->message.data, q->message.length);
    }
}

/* ---- names and first annotations ---- */

static const struct NameCase {
    const char *name;
    const char *first_key; /* NULL: no annotation */
    const char *packed_name;
    PackedName kind;
} name_cases[] = {
    {"sendBlock_1073741825", NULL, "sendBlock", NAME_NORMALISED},
    {"sendBlock_1073741825", "sendBlock_{n}", "sendBlock", NAME_NORMALISED},
    {"sendBlock_1073741825", "", "sendBlock", NAME_NORMALISED},
    {"BlockReaderLocal#fillBuffer(-5)", "k", "BlockReaderLocal#fillBuffer", NAME_NORMALISED},
    {"sendBlock", NULL, "sendBlock", NAME_AS_SENT},
    {"sendBlock", "k", "sendBlock", NAME_AS_SENT},
    {"sendBlock", "sendBlock_{n}", "sendBlock", NAME_ESCAPED},
    {"sendBlock", "", "sendBlock", NAME_ESCAPED},
    {"other", "sendBlock_{n}", "other", NAME_ESCAPED},
    {"sendBlock_12x", "k", "sendBlock_12x", NAME_AS_SENT},
    {"", NULL, "", NAME_AS_SENT},
    {"", "", "", NAME_ESCAPED},
};

static void test_names(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Dict *dict = archive_dict(fixture.archive);

    for (gsize i = 0; i < G_N_ELEMENTS(name_cases); i++) {
        const struct NameCase *test = &name_cases[i];
        g_autoptr(SpanBatch) batch = batch_new();
        g_autoptr(SpanBatch) back = batch_new();
        g_autoptr(GByteArray) packed = g_byte_array_new();
        guint32 name = intern(batch, test->name), tracer = intern(batch, "T/h");
        batch_begin_span(batch, (SpanId){1, i + 1});
        set_names(batch, name, tracer);

        if (test->first_key) {
            guint32 key = intern(batch, test->first_key), second = intern(batch, "second");
            batch_add_annotation(batch, key, batch_copy(batch, "77", 2));
            batch_add_annotation(batch, second, batch_copy(batch, "", 0));
        }

        packer_begin_batch(fixture.packer, batch);
        g_assert_cmpint(packer_span(fixture.packer, batch, 0, packed), ==, PACK_OK);
        const SpanRec *span = (const SpanRec *)packed->data;
        SpanAnnotation first;
        g_test_message("%s %s", test->name, test->first_key ? test->first_key : "-");
        g_assert_cmpstr(dict_text(dict, span->name, NULL), ==, test->packed_name);
        g_assert_cmpint(pack_name_annotation(dict, span, &first), ==, test->kind);

        query_span_to_batch(fixture.archive, span, back);
        assert_same_span(batch, 0, back, 0);
    }
}

/* ---- a sender that may add little ---- */

/* So many of each kind. */
static gboolean may_add(void *left, PackNew what, gsize length) {
    guint *n = &((guint *)left)[what];
    g_assert_cmpuint(length, >, 0);
    return *n > 0 && (*n)--;
}

typedef struct LimitedCase {
    const char *name, *key, *tracer;
    const char *packed_name, *packed_key, *sent_name; /* NULL: as sent */
    PackResult result;
} LimitedCase;

static void check_limited(Fixture *fixture, const LimitedCase *test, guint64 span_id) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    Dict *dict = archive_dict(fixture->archive);
    guint32 name = intern(batch, test->name), tracer = intern(batch, test->tracer), key = intern(batch, test->key);
    batch_begin_span(batch, (SpanId){1, span_id});
    set_names(batch, name, tracer);
    batch_add_annotation(batch, key, batch_copy(batch, "77", 2));
    packer_begin_batch(fixture->packer, batch);
    g_test_message("%s", test->name);
    g_assert_cmpint(packer_span(fixture->packer, batch, 0, packed), ==, test->result);
    if (test->result != PACK_OK) return;

    const SpanRec *span = (const SpanRec *)packed->data;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation = {0};
    g_assert_cmpstr(dict_text(dict, span->name, NULL), ==, test->packed_name);
    if (test->sent_name) {
        g_assert_true(span_next_annotation(&cursor, &annotation));
        g_assert_cmpstr(dict_text(dict, annotation.key, NULL), ==, PACK_NAME_KEY);
        g_assert_cmpmem(annotation.value, annotation.length, test->sent_name, strlen(test->sent_name));
    }
    g_assert_true(span_next_annotation(&cursor, &annotation));
    g_assert_cmpstr(dict_text(dict, annotation.key, NULL), ==, test->packed_key);
    g_assert_cmpmem(annotation.value, annotation.length, "77", 2);
    g_assert_false(span_next_annotation(&cursor, &annotation));
}

static void test_limited_sender(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    guint left[PACK_NEW_KINDS] = {
        [PACK_NEW_NAME] = 2, [PACK_NEW_FOLDED] = 1, [PACK_NEW_TEXT] = 1, [PACK_NEW_FIXED] = 100};
    const PackLimit limit = {may_add, left};
    packer_set_limit(fixture.packer, &limit);
    static const LimitedCase cases[] = {
        {"first", "key", "T/h", "first", "key", NULL, PACK_OK},            /* a name, a key and a process */
        {"read 12", "key", "T/h", "read #", "key", "read 12", PACK_OK},    /* the only one folded */
        {"read 13", "key", "T/h", "read #", "key", "read 13", PACK_OK},    /* which is known now */
        {"write 12", "key", "T/h", "(other)", "key", "write 12", PACK_OK}, /* no more of them */
        {"second", "other key", "T/h", "(other)", "(other)", "second", PACK_OK},
        {"first", "key 5", "T/h", "first", "(other)", NULL, PACK_OK}, /* what is known is known */
        {"first", "key", "T/other", NULL, NULL, NULL, PACK_PEER_NAMES},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) check_limited(&fixture, &cases[i], i + 1);
}

/* ---- everything at once, at random ---- */

static const char *random_text(GRand *rand, char *buffer, gsize room) {
    static const char *const usual[] = {"",     "bytes",         "path",           "sendBlock", "sendBlock_1",
                                        "a\"b", "sendBlock_{n}", "sendBlock_-007", "\xc3\xa4",  "{n}"};
    gsize kind = (gsize)g_rand_int_range(rand, 0, G_N_ELEMENTS(usual) + 2);
    if (kind < G_N_ELEMENTS(usual)) return usual[kind];
    gsize length = (gsize)g_rand_int_range(rand, 0, (gint32)room);
    for (gsize i = 0; i < length; i++) buffer[i] = (char)g_rand_int_range(rand, 1, 127);
    buffer[length] = '\0';
    return buffer;
}

static void random_span(GRand *rand, SpanBatch *batch, guint i) {
    char buffer[64];
    guint32 name = intern(batch, random_text(rand, buffer, sizeof buffer));
    guint32 tracer = intern(batch, random_text(rand, buffer, sizeof buffer));

    BatchSpan *span = batch_begin_span(batch, (SpanId){g_rand_int(rand), i + 1});
    span->begin_ns = (gint64)g_rand_int(rand) * g_rand_int_range(rand, -1, 1000000000);
    span->duration_ns = (gint64)g_rand_int(rand) * g_rand_int_range(rand, -2, 1000);
    if (span->begin_ns < PACK_BEGIN_MIN_NS) span->begin_ns = PACK_BEGIN_MIN_NS;
    if (span->begin_ns > PACK_BEGIN_MAX_NS) span->begin_ns = PACK_BEGIN_MAX_NS;
    span->flags = g_rand_boolean(rand) ? SPAN_MILLISECONDS : 0;
    set_names(batch, name, tracer);

    for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--)
        batch_add_parent(batch, (SpanId){g_rand_int(rand), g_rand_int(rand) + 1u});
    for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--) {
        guint32 key = intern(batch, random_text(rand, buffer, sizeof buffer));
        const char *value = random_text(rand, buffer, sizeof buffer);
        batch_add_annotation(batch, key, batch_copy(batch, value, strlen(value)));
    }

    for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--) {
        const char *message = random_text(rand, buffer, sizeof buffer);
        batch_add_note(batch, -(gint64)g_rand_int(rand) * 1000000, batch_copy(batch, message, strlen(message)));
    }
}

/* The packer writes records in one piece; the builder of the model is the other writer of that layout. */
static void assert_same_as_built(const SpanRec *span) {
    g_autoptr(GByteArray) built = g_byte_array_new();
    SpanBuilder builder = span_builder_begin(built, span);
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    SpanNote note;
    for (guint i = 0; i < span->n_parents; i++) span_builder_parent(&builder, span_parents(span)[i]);
    while (span_next_annotation(&cursor, &annotation))
        span_builder_annotation(&builder, annotation.key, annotation.value, annotation.length);
    while (span_next_note(&cursor, &note)) span_builder_note(&builder, note.time_ns, note.message, note.length);
    span_builder_end(&builder);
    g_assert_cmpmem(built->data, built->len, span, span->size_bytes);
}

static void test_way_back(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(GRand) rand = g_rand_new_with_seed(20201121);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(SpanBatch) back = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();

    for (guint round = 0; round < 20; round++) {
        batch_clear(batch);
        batch_clear(back);
        g_byte_array_set_size(packed, 0);
        for (guint i = 0; i < 200; i++) random_span(rand, batch, i);
        packer_begin_batch(fixture.packer, batch);
        for (guint i = 0; i < 200; i++) g_assert_cmpint(packer_span(fixture.packer, batch, i, packed), ==, PACK_OK);

        guint n = 0;
        for (gsize at = 0; at < packed->len; n++) {
            const SpanRec *span = (const SpanRec *)(packed->data + at);
            assert_same_as_built(span);
            query_span_to_batch(fixture.archive, span, back);
            assert_same_span(batch, n, back, n);
            at += span->size_bytes;
        }

        g_assert_cmpuint(n, ==, 200);
    }
}

/* ---- refusals ---- */

typedef struct Refusal {
    PackResult result;
    SpanId id;
    gint64 begin_ns, duration_ns;
    guint name_length, key_length, value_length, note_length; /* 0: 1 */
    guint n_parents, n_annotations, n_notes;
    gint name_index; /* added to the right one */
} Refusal;

#define GOOD_ID                                                                                                        \
    { 1, 1 }

static const Refusal refusals[] = {
    {.result = PACK_OK, .id = GOOD_ID, .n_annotations = 1, .n_notes = 1},
    {.result = PACK_OK, .id = {1, 0}},
    {.result = PACK_OK, .id = {0, 1}},
    {.result = PACK_ZERO_ID, .id = {0, 0}},
    {.result = PACK_OK, .id = GOOD_ID, .begin_ns = PACK_BEGIN_MIN_NS, .duration_ns = -PACK_DURATION_MAX_NS},
    {.result = PACK_OK, .id = GOOD_ID, .begin_ns = PACK_BEGIN_MAX_NS, .duration_ns = PACK_DURATION_MAX_NS},
    {.result = PACK_TIME_OUT_OF_RANGE, .id = GOOD_ID, .begin_ns = PACK_BEGIN_MIN_NS - 1, .duration_ns = 0},
    {.result = PACK_TIME_OUT_OF_RANGE, .id = GOOD_ID, .begin_ns = PACK_BEGIN_MAX_NS + 1, .duration_ns = 0},
    {.result = PACK_TIME_OUT_OF_RANGE, .id = GOOD_ID, .begin_ns = 0, .duration_ns = PACK_DURATION_MAX_NS + 1},
    {.result = PACK_TIME_OUT_OF_RANGE, .id = GOOD_ID, .begin_ns = 0, .duration_ns = -PACK_DURATION_MAX_NS - 1},
    {.result = PACK_OK, .id = GOOD_ID, .name_length = LIMIT_NAME_BYTES},
    {.result = PACK_NAME_TOO_LONG, .id = GOOD_ID, .name_length = LIMIT_NAME_BYTES + 1},
    {.result = PACK_OK, .id = GOOD_ID, .n_annotations = 1, .key_length = LIMIT_NAME_BYTES},
    {.result = PACK_NAME_TOO_LONG, .id = GOOD_ID, .n_annotations = 1, .key_length = LIMIT_NAME_BYTES + 1},
    {.result = PACK_OK, .id = GOOD_ID, .n_annotations = 1, .value_length = LIMIT_VALUE_BYTES},
    {.result = PACK_VALUE_TOO_LONG, .id = GOOD_ID, .n_annotations = 1, .value_length = LIMIT_VALUE_BYTES + 1},
    {.result = PACK_VALUE_TOO_LONG, .id = GOOD_ID, .n_notes = 1, .note_length = LIMIT_VALUE_BYTES + 1},
    {.result = PACK_OK, .id = GOOD_ID, .n_parents = LIMIT_SPAN_PARENTS},
    {.result = PACK_TOO_MANY_PARENTS, .id = GOOD_ID, .n_parents = LIMIT_SPAN_PARENTS + 1},
    {.result = PACK_OK, .id = GOOD_ID, .n_annotations = LIMIT_SPAN_ANNOTATIONS, .n_notes = LIMIT_SPAN_ANNOTATIONS},
    {.result = PACK_TOO_MANY_ANNOTATIONS, .id = GOOD_ID, .n_annotations = LIMIT_SPAN_ANNOTATIONS + 1},
    {.result = PACK_TOO_MANY_ANNOTATIONS, .id = GOOD_ID, .n_notes = LIMIT_SPAN_ANNOTATIONS + 1},
    {.result = PACK_BAD_INDEX, .id = GOOD_ID, .name_index = 100},
    {.result = PACK_BAD_INDEX, .id = GOOD_ID, .name_index = -2},
};

static void build_refusal(const Refusal *test, SpanBatch *batch) {
    g_autofree char *filler = g_strnfill(LIMIT_VALUE_BYTES + 1, 'x');
    guint32 tracer = intern(batch, "T/h");
    guint32 name = batch_intern(batch, filler, test->name_length ? test->name_length : 1);
    guint32 key = batch_intern(batch, filler, test->key_length ? test->key_length : 1);

    BatchSpan *span = batch_begin_span(batch, test->id);
    span->begin_ns = test->begin_ns;
    span->duration_ns = test->duration_ns;
    set_names(batch, name + (guint32)test->name_index, tracer);

    for (guint i = 0; i < test->n_parents; i++) batch_add_parent(batch, (SpanId){1, i + 2});
    for (guint i = 0; i < test->n_annotations; i++)
        batch_add_annotation(batch, key, (BatchString){filler, test->value_length});
    for (guint i = 0; i < test->n_notes; i++) batch_add_note(batch, 0, (BatchString){filler, test->note_length});

    /* The filler goes away: let nothing keep a view of it. */
    for (guint i = 0; i < batch->annotations->len; i++) {
        BatchAnnotation *annotation = &g_array_index(batch->annotations, BatchAnnotation, i);
        annotation->value = batch_copy(batch, annotation->value.data, annotation->value.length);
    }
    for (guint i = 0; i < batch->notes->len; i++) {
        BatchNote *note = &g_array_index(batch->notes, BatchNote, i);
        note->message = batch_copy(batch, note->message.data, note->message.length);
    }
}

/* A fragment's spans as records. */
static void unpack(const GByteArray *fragment, GByteArray *records) {
    const FragmentHead *head = (const FragmentHead *)(gconstpointer)fragment->data;
    g_autoptr(GByteArray) body = g_byte_array_new();
    g_assert_cmpuint(fragment->len, ==, fragment_size_bytes(head));
    g_byte_array_append(body, fragment_body(head), head->size_bytes);
    g_byte_array_set_size(body, head->size_bytes + FRAGMENT_SLACK_BYTES);
    g_assert_true(fragment_unpack(head->trace, body->data, head->size_bytes, records));
}

/* Both forms hold the same: the spans of each trace in the batch's order, the same refused for the same reasons. */
static void assert_same_forms(Packer *packer, SpanBatch *batch) {
    guint32 refused[PACK_RESULT_COUNT] = {0}, refused_singly[PACK_RESULT_COUNT] = {0};
    guint n_spans = 0;
    packer_begin_batch(packer, batch);
    const guint n = packer_group(packer, batch);

    for (guint group = 0; group < n; group++) {
        g_autoptr(GByteArray) fragment = g_byte_array_new();
        g_autoptr(GByteArray) records = g_byte_array_new(), singly = g_byte_array_new();
        const guint64 trace = packer_trace(packer, group);
        g_assert_true(packer_fragment(packer, batch, group, fragment, refused));
        for (guint i = 0; i < batch->spans->len; i++) {
            if (batch_span(batch, i)->id.trace != trace) continue;
            refused_singly[packer_span(packer, batch, i, singly)]++;
            n_spans++;
        }

        if (fragment->len > 0) unpack(fragment, records);
        g_assert_cmpmem(records->data, records->len, singly->data, singly->len);
    }

    g_assert_cmpuint(n_spans, ==, batch->spans->len);
    for (guint i = PACK_OK + 1; i < PACK_RESULT_COUNT; i++) g_assert_cmpuint(refused[i], ==, refused_singly[i]);
}

static void test_fragments(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(GRand) rand = g_rand_new_with_seed(20201122);
    g_autoptr(SpanBatch) batch = batch_new();

    for (guint round = 0; round < 60; round++) {
        const gint32 n = g_rand_int_range(rand, 1, 300), traces = g_rand_int_range(rand, 1, n + 1);
        batch_clear(batch);
        for (gint32 i = 0; i < n; i++) {
            random_span(rand, batch, (guint)i);
            BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
            span->id.trace = (guint64)g_rand_int_range(rand, 0, traces) << 32;
            for (guint k = 0; k < span->n_parents; k++)
                if (g_rand_boolean(rand))
                    g_array_index(batch->parents, SpanId, span->parents_at + k).trace = span->id.trace;
            if (g_rand_int_range(rand, 0, 10) == 0) span->begin_ns = G_MAXINT64;
            if (g_rand_int_range(rand, 0, 10) == 0) span->name = batch->strings->len;
        }
        assert_same_forms(fixture.packer, batch);
    }

    for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
        batch_clear(batch);
        build_refusal(&refusals[i], batch);
        assert_same_forms(fixture.packer, batch);
    }
}

static void test_refusals(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);

    for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autoptr(SpanBatch) batch = batch_new();
        g_autoptr(GByteArray) packed = g_byte_array_new();
        g_byte_array_append(packed, (const guint8 *)"before--", 8);
        build_refusal(&refusals[i], batch);

        packer_begin_batch(fixture.packer, batch);
        PackResult result = packer_span(fixture.packer, batch, 0, packed);
        g_test_message("case %zu: %s", i, pack_result_text(result));
        g_assert_cmpint(result, ==, refusals[i].result);

        /* Asked again, the same answer; refused, the output is as it was. */
        if (result != PACK_OK) {
            g_assert_cmpint(packer_span(fixture.packer, batch, 0, packed), ==, result);
            g_assert_cmpuint(packed->len, ==, 8);
        }
        g_assert_null(packer_take_error(fixture.packer));
    }

    for (PackResult result = PACK_OK; result < PACK_RESULT_COUNT; result++)
        g_assert_cmpuint(strlen(pack_result_text(result)), >, 0);
}

/* Slices that leave the batch are the sender's fault, not ours to follow. */
static void test_bad_slices(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    guint32 name = intern(batch, "f");
    for (guint i = 0; i < 4; i++) {
        BatchSpan *span = batch_begin_span(batch, (SpanId){1, i + 1});
        span->name = span->tracer = name;
    }
    g_array_index(batch->spans, BatchSpan, 0).n_parents = 1;
    g_array_index(batch->spans, BatchSpan, 1).n_annotations = 1;
    g_array_index(batch->spans, BatchSpan, 2).n_notes = 1;
    g_array_index(batch->spans, BatchSpan, 3).parents_at = G_MAXUINT32;
    packer_begin_batch(fixture.packer, batch);
    for (guint i = 0; i < 4; i++) g_assert_cmpint(packer_span(fixture.packer, batch, i, packed), ==, PACK_BAD_INDEX);
}

/* A parent of (0,0) refers to nothing. */
static void test_zero_parents(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    guint32 name = intern(batch, "f");
    batch_begin_span(batch, (SpanId){1, 1});
    set_names(batch, name, name);
    batch_add_parent(batch, (SpanId){0, 0});
    batch_add_parent(batch, (SpanId){1, 5});
    packer_begin_batch(fixture.packer, batch);
    g_assert_cmpint(packer_span(fixture.packer, batch, 0, packed), ==, PACK_OK);
    const SpanRec *span = (const SpanRec *)packed->data;
    g_assert_cmpuint(span->n_parents, ==, 1);
    g_assert_cmpuint(span_parents(span)[0].span, ==, 5);
}

/* A dictionary that cannot be written is no fault of the span: the error is there for the caller to look at. */
static void test_read_only_store(void) {
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_dir_make_tmp("plumb-pack-XXXXXX", &error);
    g_assert_no_error(error);
    StoreOptions options = {.path = path, .merge = archive_merge};
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    g_assert_no_error(error);
    store_close(g_steal_pointer(&store));

    options.read_only = TRUE;
    store = store_open_rocksdb(&options, &error);
    g_assert_no_error(error);
    g_autoptr(Dict) dict = dict_open(store, &error);
    g_assert_no_error(error);

    g_autoptr(NamingRules) rules = naming_rules_new(naming_default_templates, &error);
    g_autoptr(Packer) packer = packer_new(rules, dict);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();

    row_to_batch(&sample_rows[0], batch);
    packer_begin_batch(packer, batch);
    g_assert_cmpint(packer_span(packer, batch, 0, packed), ==, PACK_STORE_FAILED);
    g_autoptr(GError) said = packer_take_error(packer);
    g_assert_error(said, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_null(packer_take_error(packer));
    g_autofree char *remove = g_strdup_printf("rm -rf '%s'", path);
    g_assert_true(g_spawn_command_line_sync(remove, NULL, NULL, NULL, NULL));
}

/* How long it takes, for a person to look at: run with -m perf. */
static void test_speed(void) {
    if (!g_test_perf()) {
        g_test_skip("run with -m perf");
        return;
    }

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    for (guint i = 0; i < 10000; i++) {
        SpanRow row = sample_rows[i % 9];
        row.span = i + 1;
        row_to_batch(&row, batch);
    }

    struct timespec begin, end; /* of this thread's own time: the machine may be busy */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (guint round = 0; round < 100; round++) {
        g_byte_array_set_size(packed, 0);
        packer_begin_batch(fixture.packer, batch);
        for (guint i = 0; i < 10000; i++) packer_span(fixture.packer, batch, i, packed);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);

    double ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / 1e6;
    g_test_minimized_result(ns, "%.1f ns a span", ns);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pack/names", test_names);
    g_test_add_func("/pack/limited-sender", test_limited_sender);
    g_test_add_func("/pack/way-back", test_way_back);
    g_test_add_func("/pack/refusals", test_refusals);
    g_test_add_func("/pack/fragments", test_fragments);
    g_test_add_func("/pack/bad-slices", test_bad_slices);
    g_test_add_func("/pack/zero-parents", test_zero_parents);
    g_test_add_func("/pack/read-only-store", test_read_only_store);
    g_test_add_func("/pack/speed", test_speed);
    return g_test_run();
}
