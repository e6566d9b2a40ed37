/* Trace records: known bytes, sizes, extremes, and decoding of what is no record. */
#include <string.h>

#include "analyzer/calltree/record.h"
#include "common/base/error.h"
#include "tests/calltree/forest.h"

#define TRACE G_GUINT64_CONSTANT(0x7ace)

typedef struct Made {
    CallTree *tree;
    Pattern *pattern;
    GByteArray *record;
} Made;

static Made make(const World *world, const GByteArray *bytes) {
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(Compressor) compressor = compressor_new(&world->lookup, 100);
    Made made = {.tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0)};
    g_autofree guint32 *node_of = g_new(guint32, made.tree->n_nodes);
    made.pattern = compressor_tree(compressor, made.tree, node_of);
    made.record = g_byte_array_new();
    const RecordHead head = {3, TRACE_PART};
    record_encode(made.tree, made.pattern, node_of, &head, made.record);
    return made;
}

static void made_clear(Made *made) {
    tree_free(made->tree);
    pattern_unref(made->pattern);
    g_byte_array_unref(made->record);
}

static gboolean decode(const Made *made, guint64 trace_id, GByteArray *out, GError **error) {
    return record_decode((Bytes){made->record->data, made->record->len}, made->pattern, trace_id, out, error);
}

static void assert_loss_free(const World *world, const GByteArray *bytes, guint64 trace_id) {
    Made made = make(world, bytes);
    g_autoptr(GByteArray) back = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    decode(&made, trace_id, back, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(back->len, ==, bytes->len);
    g_autoptr(GPtrArray) a = spans_in(bytes);
    g_autoptr(GPtrArray) b = spans_in(back);
    for (guint i = 0; i < a->len; i++) {
        gboolean found = FALSE;
        for (guint j = 0; j < b->len && !found; j++) found = span_rec_compare(a->pdata[i], b->pdata[j]) == 0;
        g_assert_true(found);
    }
    made_clear(&made);
}

/* ---- known bytes ---- */

static char *hex_of(const GByteArray *bytes) {
    GString *hex = g_string_new(NULL);
    for (guint i = 0; i < bytes->len; i++) g_string_append_printf(hex, "%02x", bytes->data[i]);
    return g_string_free(hex, FALSE);
}

static SpanBuilder begin(GByteArray *bytes, guint id, gint64 begin_ns, gint64 duration_ns, guint flags) {
    const SpanRec head = {.id = {TRACE, id},
                          .begin_ns = begin_ns,
                          .duration_ns = duration_ns,
                          .flags = (guint16)flags,
                          .name = 5 + id % 2,
                          .tracer = 1008};
    return span_builder_begin(bytes, &head);
}

/* Stores hold these bytes: whoever changes them raises the version and keeps reading the old ones. */
static void test_golden(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanBuilder builder = begin(bytes, 1, 5000000, 3000000, SPAN_MILLISECONDS);
    span_builder_annotation(&builder, 13, "4096", 4);
    span_builder_annotation(&builder, 14, "/a", 2);
    span_builder_end(&builder);
    for (guint i = 0; i < 2; i++) {
        builder = begin(bytes, 2 + 2 * i, 6000000 + i * 1000000, 1000000, SPAN_MILLISECONDS);
        span_builder_parent(&builder, (SpanId){TRACE, 1});
        span_builder_annotation(&builder, 13, i == 0 ? "7" : "8", 1);
        span_builder_end(&builder);
    }
    Made made = make(&world, bytes);
    g_autofree char *hex = hex_of(made.record);
    g_assert_cmpstr(hex, ==,
                    "01"
                    "1b"
                    "03"
                    "02"
                    "03"
                    "00"
                    "0a"
                    "03" /* head */
                    "01"
                    "01" /* the root is single, the other is not */
                    "0000000000000001"
                    "0000000000000002"
                    "0000000000000004" /* ids */
                    "00"
                    "02"
                    "00" /* begins: 0, +1, 0 after the end */
                    "03"
                    "01"
                    "01" /* durations */
                    "00"
                    "f007"
                    "02" /* tracers: 1008, then all as expected */
                    "00"
                    "03"
                    "0d"
                    "0e"
                    "818001"
                    "08"
                    "2f61" /* 2 keys: 4096, "/a" */
                    "00"
                    "02"
                    "0d"
                    "1d" /* 1 key: 7 */
                    "00"
                    "00"
                    "0a"); /* the same key: 7 + 1 */
    made_clear(&made);
}

/* A text of 4 bytes and more that was written out before is referred to: 1 << 2 | 3. */
static void test_golden_texts(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 1; i < 3; i++) {
        SpanBuilder builder = begin(bytes, i, 0, 0, 0);
        if (i == 2) span_builder_parent(&builder, (SpanId){TRACE, 1});
        span_builder_annotation(&builder, 13, i == 1 ? "/data" : "abc", i == 1 ? 5 : 3);
        span_builder_annotation(&builder, 14, i == 1 ? "abc" : "/data", i == 1 ? 3 : 5);
        span_builder_end(&builder);
    }
    Made made = make(&world, bytes);
    g_autofree char *hex = hex_of(made.record);
    g_assert_true(g_str_has_suffix(hex, "00"
                                        "030d0e"
                                        "142f64617461"
                                        "0c616263"
                                        "00"
                                        "030d0e"
                                        "0c616263"
                                        "07"));
    assert_loss_free(&world, bytes, TRACE);
    made.record->data[made.record->len - 1] = 2 << 2 | 3; /* there is no second text */
    g_autoptr(GByteArray) back = g_byte_array_new();
    g_assert_false(decode(&made, TRACE, back, NULL));
    made_clear(&made);
}

/* Most traces are small: what one span takes beside its annotations. */
static void test_small(void) {
    World world;
    world_init(&world, 0);
    static const struct {
        gint64 begin_ns, duration_ns;
        guint flags, most;
    } cases[] = {
        {G_GINT64_CONSTANT(1605956000123000000), 4000000, SPAN_MILLISECONDS, 28},
        {G_GINT64_CONSTANT(1605956000123456789), 4123456, 0, 35},
        {G_GINT64_CONSTANT(1605956000123000000), -4000000, SPAN_MILLISECONDS, 28},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        SpanBuilder builder = begin(bytes, 1, cases[i].begin_ns, cases[i].duration_ns, cases[i].flags);
        span_builder_end(&builder);
        Made made = make(&world, bytes);
        g_assert_cmpuint(made.record->len, <=, cases[i].most);
        made_clear(&made);
    }
}

/* ---- extremes ---- */

static void test_times(void) {
    static const gint64 times[] = {G_MININT64,
                                   G_MININT64 + 1,
                                   -1000000,
                                   -1,
                                   0,
                                   1,
                                   1000000,
                                   G_MAXINT64 - 1,
                                   G_MAXINT64,
                                   G_GINT64_CONSTANT(9223372036854000000),
                                   G_GINT64_CONSTANT(-9223372036854000000)};
    World world;
    world_init(&world, 0);
    for (guint a = 0; a < G_N_ELEMENTS(times); a++) {
        for (guint b = 0; b < G_N_ELEMENTS(times); b++) {
            for (guint ms = 0; ms < 2; ms++) {
                gint64 unit = ms ? 1000000 : 1;
                g_autoptr(GByteArray) bytes = g_byte_array_new();
                SpanBuilder builder = begin(bytes, 1, times[a] / unit * unit, times[b] / unit * unit, ms);
                span_builder_note(&builder, times[b] / unit * unit, "x", 1);
                span_builder_end(&builder);
                for (guint i = 2; i < 5; i++) {
                    builder =
                        begin(bytes, i, times[b] / unit * unit, times[(a + i) % G_N_ELEMENTS(times)] / unit * unit, ms);
                    span_builder_parent(&builder, (SpanId){TRACE, i / 2});
                    span_builder_end(&builder);
                }
                assert_loss_free(&world, bytes, TRACE);
            }
        }
    }
}

/* Wide annotations: as many as there may be, long values, values that repeat from span to span. */
static void test_annotations(void) {
    World world;
    world_init(&world, 0);
    g_autofree char *text = g_strnfill(60000, 'x');
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 1; i < 60; i++) {
        SpanBuilder builder = begin(bytes, i, i, 1, 0);
        for (guint k = 0; k < 50; k++) {
            guint32 length = k == 0 ? 60000 - (i > 40 ? i : 0) : k;
            span_builder_annotation(&builder, 2000000 + k, text, length);
        }
        for (guint k = 0; k < i % 3; k++) span_builder_note(&builder, i, text, k * 100);
        span_builder_end(&builder);
    }
    SpanBuilder builder = begin(bytes, 60, 0, 0, 0);
    for (guint k = 0; k < 4096; k++) span_builder_annotation(&builder, k, "0", 1);
    for (guint k = 0; k < 4096; k++) span_builder_note(&builder, k, "", 0);
    span_builder_end(&builder);
    assert_loss_free(&world, bytes, TRACE);
}

/* What many spans have in common is stored once, but not so rarely that a small record could become a huge trace. */
static void test_repeated_value(void) {
    enum { SPANS = 1500, LENGTH = 5000 };
    World world;
    world_init(&world, 0);
    g_autofree char *text = g_strnfill(LENGTH, 'x');
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < SPANS; i++) {
        SpanBuilder builder = begin(bytes, 2 + 2 * i, i, 1, 0);
        span_builder_annotation(&builder, 13, text, LENGTH);
        span_builder_end(&builder);
    }
    assert_loss_free(&world, bytes, TRACE);
    Made made = make(&world, bytes);
    g_assert_cmpuint(made.record->len, >, 2 * LENGTH);
    g_assert_cmpuint(made.record->len, <, 20 * LENGTH);
    /* The same with one copy of the value for all. */
    const guint8 start[] = {0, 2, 13};
    const guint8 *column = made.record->data;
    while (memcmp(column + sizeof start + 3, text, 8) != 0) column++;
    g_assert_cmpmem(column, sizeof start, start, sizeof start);
    g_byte_array_set_size(made.record, (guint)(column - made.record->data) + sizeof start + 3 + LENGTH);
    append_varint(made.record, SPANS - 1);
    g_autoptr(GByteArray) back = g_byte_array_new();
    g_assert_false(decode(&made, TRACE, back, NULL));
    made_clear(&made);
}

static void test_parents(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 1; i < 30; i++) {
        SpanBuilder builder = begin(bytes, i, i, 1, i % 4);
        for (guint p = 0; p < i && i > 1; p++) {
            span_builder_parent(&builder, (SpanId){TRACE + (p % 7 == 0), (p * 5) % 33});
        }
        span_builder_end(&builder);
    }
    assert_loss_free(&world, bytes, TRACE);
}

/* ---- what is no record ---- */

/* Must give an error or some spans, and never read or write where it should not (the sanitizers watch). */
static void decode_anything(const Made *made, const guint8 *data, gsize size, gboolean must_fail) {
    g_autofree guint8 *exact = g_memdup2(data, size); /* its end is watched */
    g_autoptr(GByteArray) out = g_byte_array_new();
    append_u64be(out, 1);
    g_autoptr(GError) error = NULL;
    gboolean decoded = record_decode((Bytes){exact, size}, made->pattern, TRACE, out, &error);
    g_assert_true(decoded == (error == NULL));
    g_assert_false(decoded && must_fail);
    if (!decoded) {
        g_assert_cmpuint(out->len, ==, 8);
        return;
    }
    /* At most 257 times itself, and what a span takes at least per 8 bytes of id. */
    g_assert_cmpuint(out->len, <=, 8 + 4096 + size * (257 + 16));
    guint at = 8;
    while (at < out->len) at += ((const SpanRec *)(const void *)(out->data + at))->size_bytes;
    g_assert_cmpuint(at, ==, out->len);
}

static void mutate(GRand *rand, guint8 *data, gsize size) {
    for (guint n = 1 + (guint)g_rand_int_range(rand, 0, 4); n > 0; n--) {
        guint8 *at = &data[g_rand_int_range(rand, 0, (gint32)size)];
        switch (g_rand_int_range(rand, 0, 4)) {
        case 0: *at ^= (guint8)(1 << g_rand_int_range(rand, 0, 8)); break;
        case 1: *at = (guint8)g_rand_int(rand); break;
        case 2: *at = g_rand_boolean(rand) ? 0xff : 0; break;
        default: *at = (guint8)(*at + (g_rand_boolean(rand) ? 1 : -1));
        }
    }
}

static void test_damaged(void) {
    World world;
    world_init(&world, 0);
    const ForestOptions options = {40, FALSE};
    guint32 base = run_seed();
    g_test_message("seed %u", base);
    for (guint32 seed = base; seed != base + 400; seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        g_autoptr(Forest) other = forest_new(&world, seed + 1, &options);
        Made made = make(&world, forest->bytes), others = make(&world, other->bytes);
        GRand *rand = g_rand_new_with_seed(seed);
        gsize size = made.record->len;
        for (gsize cut = 0; cut < size; cut++) decode_anything(&made, made.record->data, cut, TRUE);
        for (guint round = 0; round < 100; round++) {
            g_autofree guint8 *data = g_memdup2(made.record->data, size);
            mutate(rand, data, size);
            decode_anything(&made, data, size, FALSE);
        }
        decode_anything(&others, made.record->data, size, FALSE);
        g_byte_array_append(made.record, (const guint8 *)"", 1);
        decode_anything(&made, made.record->data, size + 1, TRUE);
        g_rand_free(rand);
        made_clear(&made);
        made_clear(&others);
    }
}

static void test_version(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanBuilder builder = begin(bytes, 1, 0, 0, 0);
    span_builder_end(&builder);
    Made made = make(&world, bytes);
    made.record->data[0] = 2;
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_assert_false(decode(&made, TRACE, out, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_VERSION);
    TraceSummary summary = {.pattern = 77};
    g_assert_false(record_summary((Bytes){made.record->data, made.record->len}, &summary, NULL));
    g_assert_cmpuint(summary.pattern, ==, 77);
    made_clear(&made);
}

/* A huge claim in a small record must not take memory. */
static void test_claims(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanBuilder builder = begin(bytes, 1, 0, 0, 0);
    span_builder_end(&builder);
    Made made = make(&world, bytes);
    static const guint8 claims[][16] = {
        {1, 0, 3, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0}, /* spans */
        {1, 0, 3, 0, 0, 0, 0, 0},                            /* none */
        {1, 2, 3, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, /* siblings */
        {1, 0, 3, 0, 1, 2, 0, 0},                            /* more orphans than spans */
        {1, 0, 0xff, 0xff, 0xff, 0xff, 0x1f, 0, 1, 0, 0, 0}, /* pattern number of 33 bits */
    };
    for (guint i = 0; i < G_N_ELEMENTS(claims); i++) decode_anything(&made, claims[i], sizeof claims[i], TRUE);
    made_clear(&made);
    for (guint i = 2; i < 5; i++) {
        builder = begin(bytes, 2 * i + 1, 0, 0, 0);
        span_builder_end(&builder);
    }
    made = make(&world, bytes);
    enum { AT_SPANS = 4 };
    g_assert_cmpuint(made.record->data[AT_SPANS], ==, 4);
    for (guint8 n = 1; n < 8; n++) {
        made.record->data[AT_SPANS] = n;
        decode_anything(&made, made.record->data, made.record->len, n != 4);
    }
    made_clear(&made);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calltree/record/golden", test_golden);
    g_test_add_func("/calltree/record/golden texts", test_golden_texts);
    g_test_add_func("/calltree/record/small", test_small);
    g_test_add_func("/calltree/record/times", test_times);
    g_test_add_func("/calltree/record/annotations", test_annotations);
    g_test_add_func("/calltree/record/repeated value", test_repeated_value);
    g_test_add_func("/calltree/record/parents", test_parents);
    g_test_add_func("/calltree/record/damaged", test_damaged);
    g_test_add_func("/calltree/record/version", test_version);
    g_test_add_func("/calltree/record/claims", test_claims);
    return g_test_run();
}
