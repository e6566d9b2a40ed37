/* Trace records: known bytes, sizes, extremes, and decoding of what is no record. */
#include <string.h>

#include "analyzer/calltree/record/record_read.h"
#include "common/base/error.h"
#include "common/model/id_place.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"

#define TRACE G_GUINT64_CONSTANT(0x7ace)

typedef struct Made {
    CallTree *tree;
    Pattern *pattern;
    GByteArray *record;
} Made;

static Made make_with(const World *world, const GByteArray *bytes, const RecordHead *head) {
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(Compressor) compressor = compressor_new(&world->lookup, 100);
    Made made = {.tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL)};
    g_autofree guint32 *node_of = g_new(guint32, made.tree->n_nodes);
    made.pattern = compressor_tree(compressor, made.tree, node_of);
    made.record = g_byte_array_new();
    record_encode(made.tree, made.pattern, node_of, head, made.record);
    return made;
}

static Made make(const World *world, const GByteArray *bytes) {
    const RecordHead head = {.pattern_number = 3, .flags = TRACE_PART};
    return make_with(world, bytes, &head);
}

static void made_clear(Made *made) {
    tree_free(made->tree);
    pattern_unref(made->pattern);
    g_byte_array_unref(made->record);
}

static Bytes record_of(const Made *made) { return (Bytes){made->record->data, made->record->len}; }

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
        for (guint j = 0; j < b->len && !found; j++) found = span_rec_compare(a->pdata[i], b->pdata[j], NULL) == 0;
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
                    "03"
                    "8b01"
                    "03"
                    "03"
                    "02"
                    "0a"
                    "03" /* head */
                    "01"
                    "01" /* the root is single, the other is not */
                    /* Times, low bits first: 1: the root is the whole. Begin +1: wider by 2, so 1100, and the bit below
                     * its highest: 0; duration 1: narrower by 1: 01. Begin at the end of the one before: narrower by 1:
                     * 01; duration 1: as wide as expected: 00. */
                    "8702"
                    "00"
                    "8008"
                    "02" /* tracers: 16 + 1008, then all as expected */
                    "00"
                    "13"
                    "0d"
                    "0e"
                    "818002"
                    "10"
                    "2f61" /* 2 keys: 4096, "/a" */
                    "00"
                    "12"
                    "0d"
                    "39" /* 1 key: 7 */
                    "00"
                    "00"
                    "12" /* the same key: 7 + 1 */
                    "0000000000000001"
                    "0000000000000002"
                    "0000000000000004"); /* ids */

    made_clear(&made);
}

/* Texts of 4 bytes and more that were written out before are referred to, or the start of the last of them; lists by
 * their keys, or as a whole. */
static void test_golden_texts(void) {
    static const char *const values[][2] = {{"/data", "abc"}, {"abc", "/data"}, {"/date", "abc"}, {"/date", "abc"}};
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    for (guint i = 1; i < 5; i++) {
        SpanBuilder builder = begin(bytes, i, 0, 0, 0);
        if (i > 1) span_builder_parent(&builder, (SpanId){TRACE, i - 1});
        for (guint k = 0; k < 2; k++)
            span_builder_annotation(&builder, 13 + k, values[i - 1][k], (guint32)strlen(values[i - 1][k]));
        span_builder_end(&builder);
    }

    Made made = make(&world, bytes);
    g_autofree char *hex = hex_of(made.record);
    static const char column[] = "00130d0e"     /* two keys of its own */
                                 "282f64617461" /* 5 << 3: "/data" */
                                 "18616263"     /* 3 << 3: "abc" */
                                 "0001"         /* the keys of the last list */
                                 "18616263"
                                 "0b"     /* 1 << 3 | 3: the last text */
                                 "0001"   /* the keys of the last list, which is the second one now */
                                 "240865" /* 4 << 3 | 4: the first four bytes of the last text; 1 << 3: "e" */
                                 "18616263"
                                 "0002"; /* all of the last list */
    gsize ids_at = strlen(hex) - 2 * 4 * 8;
    hex[ids_at] = 0;
    g_assert_true(g_str_has_suffix(hex, column));
    assert_loss_free(&world, bytes, TRACE);

    static const guint8 wrong[] = {3, 4, 16, 0xff};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) { /* there is one list only */
        made.record->data[ids_at / 2 - 1] = wrong[i];
        g_autoptr(GByteArray) back = g_byte_array_new();
        g_assert_false(decode(&made, TRACE, back, NULL));
    }
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
        {G_GINT64_CONSTANT(1605956000123000000), 4000000, SPAN_MILLISECONDS, 25},
        {G_GINT64_CONSTANT(1605956000123456789), 4123456, 0, 31},
        {G_GINT64_CONSTANT(1605956000123000000), -4000000, SPAN_MILLISECONDS, 27},
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
    const guint8 start[] = {0, 18, 13};
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

/* ---- columns one by one, and without ids ---- */

typedef struct Visited {
    const GPtrArray *spans; /* in the order of the record */
    guint span, annotation;
    guint left; /* visits wanted */
} Visited;

static gboolean check_annotation(void *arg, guint32 node, const SpanAnnotation *annotation) {
    Visited *visited = arg;
    g_assert_cmpuint(node, >, 0);
    while (visited->annotation >= ((const SpanRec *)visited->spans->pdata[visited->span])->n_annotations) {
        visited->span++;
        visited->annotation = 0;
    }
    SpanCursor cursor = span_cursor(visited->spans->pdata[visited->span]);
    SpanAnnotation expected;
    for (guint i = 0; i <= visited->annotation; i++) g_assert_true(span_next_annotation(&cursor, &expected));
    visited->annotation++;
    g_assert_cmpuint(annotation->key, ==, expected.key);
    g_assert_cmpmem(annotation->value, annotation->length, expected.value, expected.length);
    return --visited->left > 0;
}

static void check_columns(const Made *made, GRand *rand) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(RecordPlace));
    g_autoptr(GError) error = NULL;
    gboolean with_tracers = g_rand_boolean(rand);

    decode(made, TRACE, bytes, &error);
    record_places(record_of(made), made->pattern, with_tracers, places, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    guint at = 0, annotations = 0;

    for (guint i = 0; i < places->len; i++) {
        const RecordPlace *place = &g_array_index(places, RecordPlace, i);
        if (!place->is_span) continue;
        const SpanRec *span = spans->pdata[at++];
        g_assert_cmpuint(made->pattern->nodes[place->node].name, ==, span->name);
        g_assert_cmpint(place->begin_ns, ==, span->begin_ns);
        g_assert_cmpint(place->duration_ns, ==, span->duration_ns);
        g_assert_cmpuint(place->tracer, ==, with_tracers ? span->tracer : 0);
        g_assert_cmpuint(place->parent, <, i);
        annotations += span->n_annotations;
    }
    g_assert_cmpuint(at, ==, spans->len);

    guint want = annotations == 0 ? 1 : 1 + (guint)g_rand_int_range(rand, 0, (gint32)annotations);
    Visited visited = {spans, 0, 0, want};
    g_assert_true(record_annotations(record_of(made), made->pattern, check_annotation, &visited, &error));
    g_assert_cmpuint(visited.left, ==, annotations == 0 ? 1 : 0);

    RecordSizes sizes;
    g_assert_true(record_sizes(record_of(made), made->pattern, &sizes, &error));
    g_assert_cmpuint(sizes.head + sizes.counts + sizes.times + sizes.tracers + sizes.flags + sizes.parents +
                         sizes.annotations + sizes.ids,
                     ==, made->record->len);
}

/* Ids are made up: other ones for each span and each part, the same at every reading. All else is as it was. */
static void check_made_up(const GByteArray *with, const GByteArray *without, GHashTable *seen) {
    g_autoptr(GPtrArray) a = spans_in(with);
    g_autoptr(GPtrArray) b = spans_in(without);
    g_assert_cmpuint(a->len, ==, b->len);
    for (guint i = 0; i < a->len; i++) {
        const SpanRec *real = a->pdata[i], *made_up = b->pdata[i];
        SpanRec head = *made_up;
        g_assert_true(g_hash_table_add(seen, g_memdup2(&head.id.span, sizeof head.id.span)));
        head.id = real->id;
        g_assert_cmpmem(&head, sizeof head, real, sizeof *real);
        Bytes own = {span_parents(real) + real->n_parents, 0}, other = {span_parents(made_up) + real->n_parents, 0};
        own.size_bytes = other.size_bytes = real->size_bytes - sizeof *real - real->n_parents * sizeof(SpanId);
        g_assert_cmpmem(own.data, own.size_bytes, other.data, other.size_bytes);
    }
}

static void check_without_ids(const World *world, const GByteArray *bytes) {
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    Made whole = make(world, bytes);
    g_autoptr(GByteArray) with = g_byte_array_new();
    g_assert_true(decode(&whole, TRACE, with, NULL));

    for (guint32 part = 0; part < 3; part++) {
        g_autoptr(GByteArray) ids = g_byte_array_new();
        const RecordHead head = {.dropped = DROPPED_IDS, .part = part, .ids_at = 100000 + part, .ids = ids};
        Made made = make_with(world, bytes, &head);
        TraceSummary summary;
        g_autoptr(GError) error = NULL;
        g_assert_true(record_summary(record_of(&made), &summary, &error));
        g_assert_cmpuint(summary.dropped, ==, DROPPED_IDS);
        g_assert_cmpuint(summary.ids_at, ==, 100000 + part);

        g_autoptr(GByteArray) without = g_byte_array_new();
        g_assert_true(decode(&made, TRACE, without, &error));
        check_made_up(with, without, seen);

        g_autoptr(GByteArray) back = g_byte_array_new();
        RecordSource source = {record_of(&made), {ids->data, ids->len}, made.pattern, TRACE};
        g_assert_true(record_decode_source(&source, back, &error));
        g_assert_cmpmem(back->data, back->len, with->data, with->len);

        source.ids.size_bytes--;
        g_assert_false(record_decode_source(&source, back, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        made_clear(&made);
    }
    made_clear(&whole);
}

static void test_columns(void) {
    World world;
    world_init(&world, 0);
    guint32 base = run_seed();
    g_test_message("seed %u", base);
    GRand *rand = g_rand_new_with_seed(base);
    for (guint32 seed = base; seed != base + 500; seed++) {
        const ForestOptions options = {seed % 4 == 0 ? 200 : 40, seed % 2 == 0 ? FOREST_CLEAN : FOREST_WILD};
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        Made made = make(&world, forest->bytes);
        check_columns(&made, rand);
        made_clear(&made);
        check_without_ids(&world, forest->bytes);
    }
    g_rand_free(rand);
}

/* ---- ids ---- */

typedef struct Drawn {
    guint32 tracer;
    gint64 place; /* of the sequence */
    guint parent; /* number + 1 of an earlier one */
} Drawn;

/* Each span begins after the one before. */
static Made make_drawn(const World *world, const Drawn *drawn, guint n, GByteArray *bytes) {
    for (guint i = 0; i < n; i++) {
        SpanRec head = {.id = {TRACE, id_at_place((guint64)drawn[i].place)},
                        .begin_ns = i * 1000000,
                        .duration_ns = (n - i) * 1000000,
                        .flags = SPAN_MILLISECONDS,
                        .name = 5 + i % 2,
                        .tracer = drawn[i].tracer};
        SpanBuilder builder = span_builder_begin(bytes, &head);
        if (drawn[i].parent > 0)
            span_builder_parent(&builder, (SpanId){TRACE, id_at_place((guint64)drawn[drawn[i].parent - 1].place)});
        span_builder_end(&builder);
    }
    assert_loss_free(world, bytes, TRACE);
    return make(world, bytes);
}

static void test_golden_ids(void) {
    static const Drawn drawn[] = {{1008, 70, 0}, {1008, 71, 1}, {1009, -5, 2}, {1008, 73, 1}, {1009, -6, 4}};
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    Made made = make_drawn(&world, drawn, G_N_ELEMENTS(drawn), bytes);
    g_autofree char *hex = hex_of(made.record);
    /* Bits, low ones first. The first of each process: its id. The first call of 1008: as expected, 00; the second one
     * further: wider by 2, so 1100, and the bit below its highest: 0. The second call of 1009 two before what is
     * expected: wider by 2, 1100, and 1. */
    g_assert_cmpstr(hex + strlen(hex) - 2 * 18, ==,
                    "c053858d8c39609e"
                    "8c78bb1503e0fc31"
                    "b809");
    made_clear(&made);
}

static gsize bytes_of_ids(const Made *made) {
    RecordSizes sizes;
    g_autoptr(GError) error = NULL;
    record_sizes(record_of(made), made->pattern, &sizes, &error);
    g_assert_no_error(error);
    return sizes.ids;
}

/* Operations of a process one below the other, each with a call of another process: ids of the agent take a byte, and
 * those that no sequence gave the eight that they have. */
static void test_ids(void) {
    enum { OPS = 400, SPANS = 1 + 3 * OPS };
    World world;
    world_init(&world, 0);
    Drawn drawn[SPANS] = {{1008, G_GINT64_CONSTANT(0x123456789abcdef0), 0}};

    for (guint drawn_at_random = 0; drawn_at_random < 2; drawn_at_random++) {
        for (guint i = 0; i < OPS; i++) {
            const gint64 client = drawn[0].place + 1 + 2 * i, server = G_MININT64 + 64 * (i * 7 % 50) + i;
            drawn[1 + 3 * i] = (Drawn){1008, client, 1};
            drawn[2 + 3 * i] = (Drawn){1008, client + 1, 2 + 3 * i};
            drawn[3 + 3 * i] = (Drawn){1009 + i % 2, server, 3 + 3 * i};
        }

        GRand *rand = g_rand_new_with_seed(1);
        for (guint i = 0; i < SPANS && drawn_at_random; i++)
            drawn[i].place = (gint64)((guint64)g_rand_int(rand) << 32 | g_rand_int(rand));
        g_rand_free(rand);

        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Made made = make_drawn(&world, drawn, SPANS, bytes);
        if (drawn_at_random) {
            g_assert_cmpuint(bytes_of_ids(&made), ==, 8 * SPANS);
        } else {
            g_assert_cmpuint(bytes_of_ids(&made), <, SPANS);
        }
        made_clear(&made);
    }
}

/* Processes whose slots are the same, more of them than slots, and a process that no sequence has ids from. */
static void test_ids_of_many(void) {
    enum { SPANS = 5000 };
    World world;
    world_init(&world, 0);
    g_autofree Drawn *drawn = g_new0(Drawn, SPANS);
    GRand *rand = g_rand_new_with_seed(1);
    for (guint i = 0; i < SPANS; i++) {
        gboolean foreign = i % 16 == 1;
        drawn[i] = (Drawn){.tracer = foreign ? 1 : 1000 + i % 70 * 4096,
                           .place = foreign ? (gint64)((guint64)g_rand_int(rand) << 32 | g_rand_int(rand)) : 1000 + i,
                           .parent = i / 2};
    }
    g_rand_free(rand);
    for (guint n = 1; n <= SPANS; n += 1 + n * 2) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Made made = make_drawn(&world, drawn, n, bytes);
        g_assert_cmpuint(bytes_of_ids(&made), <=, 8 * n);
        made_clear(&made);
    }
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
    /* At most 257 times itself, and what a span takes at least per 8 bytes of id or, without ids, 4 bits of times. */
    g_assert_cmpuint(out->len, <=, 8 + 4096 + size * (257 + 2 * sizeof(SpanRec) + 2 * sizeof(SpanId)));
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
    const ForestOptions options = {40, FOREST_WILD};
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
    made.record->data[0] = 4;
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
        {3, 0, 3, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0},            /* spans */
        {3, 0, 3, 0, 0, 0, 0, 0},                                 /* none */
        {3, 2, 3, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f},            /* siblings */
        {3, 0x80, 2, 3, 1, 2, 0, 0},                              /* more orphans than spans */
        {3, 0, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 0, 0},            /* pattern number of 33 bits */
        {3, 0x90, 0, 3, 1, 0, 0, 0x7f, 0, 0},                     /* a column longer than the record */
        {3, 0x80, 0x10, 3, 99, 1, 0, 0, 0, 0},                    /* more spans than bits, without ids */
        {3, 0x80, 0x40, 3, 99, 0, 0, 2},                          /* the same with coded ids */
        {3, 0x80, 0x40, 3, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xf}, /* ids longer than the record */
    };
    for (guint i = 0; i < G_N_ELEMENTS(claims); i++) decode_anything(&made, claims[i], sizeof claims[i], TRUE);
    made_clear(&made);

    for (guint i = 2; i < 5; i++) {
        builder = begin(bytes, 2 * i + 1, 0, 0, 0);
        span_builder_end(&builder);
    }

    made = make(&world, bytes);
    enum { AT_SPANS = 4 }; /* behind version, two bytes of bits, and pattern */
    g_assert_cmpuint(made.record->data[AT_SPANS], ==, 4);
    for (guint8 n = 1; n < 8; n++) {
        made.record->data[AT_SPANS] = n;
        decode_anything(&made, made.record->data, made.record->len, n != 4);
    }
    made_clear(&made);
}

/* Eight bytes of ids and times: ids have two bits at least, times one, whatever the other column has. */
static void test_claims_of_columns(void) {
    guint8 record[16] = {3, 0x80, 0x40, 3, 0, 0, 0, 0};
    const Bytes view = {record, sizeof record};
    TraceSummary summary;
    for (guint8 ids_bytes = 1; ids_bytes < 8; ids_bytes++) {
        record[7] = ids_bytes;
        record[4] = (guint8)MIN(4 * ids_bytes, 8 * (8 - ids_bytes));
        g_assert_true(record_summary(view, &summary, NULL));
        record[4]++;
        g_assert_false(record_summary(view, &summary, NULL));
    }
}

/* Without ids, what times need is what bounds the spans: of a call below the root four bits each. */
static void test_claims_without_ids(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanBuilder builder = begin(bytes, 1, 0, 0, 0);
    span_builder_end(&builder);
    builder = begin(bytes, 2, 0, 0, 0);
    span_builder_parent(&builder, (SpanId){TRACE, 1});
    span_builder_end(&builder);
    Made made = make(&world, bytes);
    enum { COLUMNS_BYTES = 20, AT_SPANS = 4, AT_MORE = 11 };

    /* Columns: the root is one call, those below it are AT_MORE + 1; then nothing but zeros. */
    guint8 record[10 + COLUMNS_BYTES] = {3, 0x82, 0x10, 3, 0, 1, 0, 0, 0, 0, 1, 0};

    for (guint8 n = 2; n < 8 * COLUMNS_BYTES && n < 128; n++) {
        record[AT_SPANS] = n;
        record[AT_MORE] = (guint8)(n - 2);
        Decoder d;
        const gboolean begun = decoder_begin(&d, (Bytes){record, sizeof record}, made.pattern, NULL);
        g_assert_true(begun == (n > 2 && 4 * n <= 8 * COLUMNS_BYTES + 3));
        decoder_clear(&d);
    }
    made_clear(&made);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calltree/record/golden", test_golden);
    g_test_add_func("/calltree/record/golden texts", test_golden_texts);
    g_test_add_func("/calltree/record/golden ids", test_golden_ids);
    g_test_add_func("/calltree/record/small", test_small);
    g_test_add_func("/calltree/record/ids", test_ids);
    g_test_add_func("/calltree/record/ids of many", test_ids_of_many);
    g_test_add_func("/calltree/record/times", test_times);
    g_test_add_func("/calltree/record/annotations", test_annotations);
    g_test_add_func("/calltree/record/repeated value", test_repeated_value);
    g_test_add_func("/calltree/record/parents", test_parents);
    g_test_add_func("/calltree/record/columns", test_columns);
    g_test_add_func("/calltree/record/damaged", test_damaged);
    g_test_add_func("/calltree/record/version", test_version);
    g_test_add_func("/calltree/record/claims", test_claims);
    g_test_add_func("/calltree/record/claims of columns", test_claims_of_columns);
    g_test_add_func("/calltree/record/claims without ids", test_claims_without_ids);
    return g_test_run();
}
