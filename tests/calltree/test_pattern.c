/* Patterns: known ids, filtering, the stored form, the example of a long read. */
#include <string.h>

#include "analyzer/calltree/compressor.h"
#include "analyzer/calltree/stats/stats_group.h"
#include "common/base/error.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"

/* A forest in words: names of the world by number, each with its depth (1: a root) and tracer. */
typedef struct Word {
    guint depth, name, tracer;
} Word;

static void add_words(GByteArray *bytes, const World *world, const Word *words, guint n) {
    SpanId open[16] = {{0, 0}};
    for (guint i = 0; i < n; i++) {
        const SpanRec head = {.id = {9, i + 1},
                              .begin_ns = i,
                              .duration_ns = 100 - 2 * (gint64)words[i].depth,
                              .name = world_name(world, words[i].name),
                              .tracer = world_tracer(world, words[i].tracer)};
        SpanBuilder builder = span_builder_begin(bytes, &head);
        if (words[i].depth > 1) span_builder_parent(&builder, open[words[i].depth - 1]);
        span_builder_end(&builder);
        open[words[i].depth] = head.id;
    }
}

static Pattern *pattern_of(Compressor *compressor, const GByteArray *bytes) {
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    return compressor_tree(compressor, tree, node_of);
}

/* "name.role(children)" in the pattern's order. */
static char *pattern_text(const World *world, const Pattern *pattern) {
    GString *text = g_string_new(NULL);
    for (guint32 i = 1; i < pattern->n_nodes; i++) {
        const PatternNode *node = &pattern->nodes[i];
        if (i > 1) g_string_append(text, node->parent == i - 1 ? "(" : " ");
        gsize length;
        const char *name =
            node->name == NAME_MISSING ? "?" : world->lookup.text(world->lookup.arg, node->name, &length);
        g_string_append_printf(text, "%s.%c", name, role_name((Role)node->role)[0]);
        for (guint32 at = i; at != 0 && pattern->nodes[at].end == i + 1; at = pattern->nodes[at].parent) {
            guint32 above = pattern->nodes[at].parent;
            if (above != 0 && pattern->nodes[above].end == i + 1) g_string_append_c(text, ')');
        }
    }
    return g_string_free(text, FALSE);
}

typedef struct Case {
    const char *name;
    Word words[10];
    guint n;
    const char *text;
    const char *id; /* of every store and machine, for ever */
} Case;

/* Names: 1 byteArrayRead, 4 a, 5 ab, 6 b, 11 z. Tracers 0..3 are local, client, NameNode, DataNode. */
static const Case cases[] = {
    {"one", {{1, 4, 0}}, 1, "a.l", "e8459d26bd5120b200194246036a5972"},
    {"role", {{1, 4, 3}}, 1, "a.d", "885e7d1b72490844819f8dd50a129508"},
    {"no name", {{1, 0, 0}}, 1, ".l", "b6b6c4b6b451ea5a977c7a08a59b00ce"},
    {"equal roots", {{1, 4, 0}, {1, 4, 0}}, 2, "a.l", "e8459d26bd5120b200194246036a5972"},
    {"order of names and roles",
     {{1, 11, 0}, {1, 6, 3}, {1, 5, 1}, {1, 4, 1}, {1, 4, 0}},
     5,
     "a.l a.c ab.c b.d z.l",
     "38afd99ba120d5a50813d18e29181d52"},
    {"equal siblings apart",
     {{1, 4, 1}, {2, 6, 3}, {2, 5, 3}, {2, 6, 3}, {2, 5, 3}, {2, 6, 3}},
     6,
     "a.c(ab.d b.d)",
     "1d90c0e690704b6a4a2d5e713e5fd94c"},
    {"equal only after compression",
     {{1, 4, 1}, {2, 6, 3}, {3, 5, 0}, {3, 5, 0}, {2, 6, 3}, {3, 5, 0}, {2, 6, 3}},
     7,
     "a.c(b.d b.d(ab.l))",
     "639a0a5a525aef5852ab3bae9472744b"},
    {"same name at each level",
     {{1, 4, 0}, {2, 4, 0}, {3, 4, 0}, {2, 4, 0}, {3, 4, 0}},
     5,
     "a.l(a.l(a.l))",
     "4b8ad758c293d8c03dc47323bbf7df54"},
};

static void test_case(gconstpointer data) {
    const Case *c = data;
    for (guint32 number = 0; number < 4; number++) {
        World world;
        world_init(&world, number);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        add_words(bytes, &world, c->words, c->n);
        g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
        g_autoptr(Pattern) pattern = pattern_of(compressor, bytes);
        g_autofree char *text = pattern_text(&world, pattern);
        g_assert_cmpstr(text, ==, c->text);
        char id[PATTERN_ID_TEXT_BYTES];
        pattern_id_format(pattern->id, id);
        g_assert_cmpstr(id, ==, c->id);
        PatternId parsed;
        g_assert_true(pattern_id_parse(id, strlen(id), &parsed));
        g_assert_cmpmem(&parsed, sizeof parsed, &pattern->id, sizeof pattern->id);
    }
}

static void test_id_text(void) {
    static const char *const wrong[] = {"", "00", "0123456789abcdef0123456789abcdeg",
                                        "0123456789abcdef0123456789abcdef0", "0123456789abcdef 123456789abcdef"};
    PatternId id = {{1}};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(pattern_id_parse(wrong[i], strlen(wrong[i]), &id));
        g_assert_cmpuint(id.bytes[0], ==, 1);
    }
    g_assert_true(pattern_id_parse("ABcdef6789abcdef0123456789abcdefxx", 32, &id));
    g_assert_cmpuint(id.bytes[0], ==, 0xab);
}

/* ---- filter ---- */

typedef struct Excluded {
    const World *world;
    const guint *names; /* 0 ends the list */
} Excluded;

static gboolean not_excluded(void *arg, const PatternNode *node) {
    const Excluded *excluded = arg;
    for (const guint *name = excluded->names; *name != 0; name++) {
        if (node->name == world_name(excluded->world, *name)) return FALSE;
    }
    return TRUE;
}

static const struct {
    Word words[10];
    guint n;
    guint names[3];
    const char *text;
} filter_cases[] = {
    {{{1, 4, 0}, {2, 5, 0}, {3, 6, 0}}, 3, {0}, "a.l(ab.l(b.l))"},
    {{{1, 4, 0}, {2, 5, 0}, {3, 6, 0}}, 3, {5}, "a.l(b.l)"},
    {{{1, 4, 0}, {2, 5, 0}, {3, 6, 0}}, 3, {4, 6}, "ab.l"},
    {{{1, 4, 0}, {2, 5, 0}, {3, 6, 0}, {2, 6, 0}}, 4, {5}, "a.l(b.l)"},
    {{{1, 4, 0}, {2, 6, 0}, {3, 5, 0}, {2, 6, 0}}, 4, {5}, "a.l(b.l)"},
    {{{1, 4, 0}, {2, 6, 0}, {3, 5, 0}, {2, 6, 1}}, 4, {5}, "a.l(b.l b.c)"},
    {{{1, 4, 0}}, 1, {4}, ""},
};

static void test_filter(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
    for (guint i = 0; i < G_N_ELEMENTS(filter_cases); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        add_words(bytes, &world, filter_cases[i].words, filter_cases[i].n);
        g_autoptr(Pattern) pattern = pattern_of(compressor, bytes);
        g_autofree guint32 *map = g_new(guint32, pattern->n_nodes);
        Excluded excluded = {&world, filter_cases[i].names};
        g_autoptr(Pattern) filtered = compressor_filter(compressor, pattern, not_excluded, &excluded, map);
        g_autofree char *text = pattern_text(&world, filtered);
        g_assert_cmpstr(text, ==, filter_cases[i].text);
    }
}

/* Leaving functions out of the pattern is the same as never having had them: spans of the others, with the nearest kept
 * ancestor as parent. */
static void test_filter_random(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 1000);
    static const guint names[] = {1, 4, 0};
    Excluded excluded = {&world, names};
    const ForestOptions options = {30, FOREST_CLEAN};
    guint32 base = run_seed();

    for (guint32 seed = base; seed != base + 2000; seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        g_autoptr(CallTree) tree =
            tree_build((const SpanRec *const *)(void *)forest->spans->pdata, forest->spans->len, 0, NULL);
        g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
        g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);
        g_autofree guint32 *map = g_new(guint32, pattern->n_nodes);
        g_autoptr(Pattern) filtered = compressor_filter(compressor, pattern, not_excluded, &excluded, map);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree guint32 *kept = g_new0(guint32, tree->n_nodes);

        for (guint32 i = 1; i < tree->n_nodes; i++) {
            const PatternNode node = {.name = tree->span[i]->name};
            kept[i] = not_excluded(&excluded, &node) ? i : kept[tree->parent[i]];
            if (kept[i] != i) continue;
            SpanBuilder builder = span_builder_begin(bytes, tree->span[i]);
            guint32 above = kept[tree->parent[i]];
            if (above != 0) span_builder_parent(&builder, tree->span[above]->id);
            span_builder_end(&builder);
        }

        for (guint32 i = 1; i < tree->n_nodes; i++) {
            guint32 node = map[node_of[i]];
            forest_check(seed, (node == G_MAXUINT32) == (kept[i] != i));
            forest_check(seed, node == G_MAXUINT32 || filtered->nodes[node].name == tree->span[i]->name);
        }
        if (bytes->len == 0) continue;

        g_autoptr(Pattern) expected = pattern_of(compressor, bytes);
        forest_check(seed, memcmp(&expected->id, &filtered->id, sizeof expected->id) == 0);
    }
}

/* ---- stored form ---- */

static const struct {
    const char *what;
    guint8 nodes[12];
    guint n_bytes;
    guint n_nodes;
} malformed[] = {
    {"node cut off", {6, 0}, 2, 2},
    {"more nodes than bytes", {6, 0, 0}, 3, 3},
    {"fewer nodes than bytes", {6, 0, 0, 6, 0, 0}, 6, 2},
    {"no such role", {6, ROLE_COUNT, 0}, 3, 2},
    {"more below than there is", {6, 0, 1}, 3, 2},
    {"more below than in the parent", {6, 0, 1, 6, 0, 1, 6, 0, 0}, 9, 4},
    {"placeholder below a span", {6, 0, 1, 0, 0, 0}, 6, 3},
    {"no nodes", {0}, 0, 0},
};

static void stored_pattern(GByteArray *bytes, guint8 version, guint n_nodes, const guint8 *nodes, guint n) {
    static const guint8 id[16] = {1};
    append_u8(bytes, version);
    append_bytes(bytes, id, sizeof id);
    append_varint(bytes, n_nodes);
    g_byte_array_append(bytes, nodes, n);
}

static void test_malformed(void) {
    for (guint i = 0; i < G_N_ELEMENTS(malformed); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        stored_pattern(bytes, 1, malformed[i].n_nodes, malformed[i].nodes, malformed[i].n_bytes);
        g_autoptr(GError) error = NULL;
        if (pattern_decode((Bytes){bytes->data, bytes->len}, &error) != NULL)
            g_error("accepted: %s", malformed[i].what);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    }
    static const guint8 fine[] = {6, 0, 1, 7, 1, 0};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    stored_pattern(bytes, 1, 3, fine, sizeof fine);
    g_autoptr(Pattern) pattern = pattern_decode((Bytes){bytes->data, bytes->len}, NULL);
    g_assert_nonnull(pattern);
    g_assert_cmpuint(pattern->nodes[2].parent, ==, 1);
    bytes->data[0] = 2;
    g_autoptr(GError) error = NULL;
    g_assert_null(pattern_decode((Bytes){bytes->data, bytes->len}, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_VERSION);
}

/* ---- a long read: 50,160 calls become two rows ---- */

typedef struct Rows {
    guint n;
    guint64 calls[4], total[4];
} Rows;

static void collect_row(void *arg, const StatsKey *key, StatsRow *row) {
    Rows *rows = arg;
    if (key->kind != STATS_PATTERN || key->cell == 0) return;
    rows->n = stats_row_size(row);
    for (guint i = 0; i < rows->n && i < 4; i++) {
        guint32 node;
        NodeStats *stats = stats_row_at(row, i, &node);
        rows->calls[i] = stats->duration.count;
        rows->total[i] = stats->duration.sum;
    }
}

/* The published example: DFSInputStream#byteArrayRead over DFSInputStream#readWithStrategy, 50,160 calls of each, that
 * took 3.643 s and 0.124 s. */
static void test_long_read(void) {
    enum { CALLS = 50160 };
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    gint64 begin = G_GINT64_CONSTANT(1605956000000000000);

    for (guint i = 0; i < 2 * CALLS; i++) {
        gboolean outer = i % 2 == 0;
        guint call = i / 2;
        gint64 ms = outer ? 3643 : 124;
        /* Whole milliseconds, spread evenly, most of them 0. */
        gint64 length = ms * (call + 1) / CALLS - ms * call / CALLS;
        const SpanRec head = {.id = {9, i + 1},
                              .begin_ns = begin + (gint64)call * 1000000,
                              .duration_ns = length * 1000000,
                              .flags = SPAN_MILLISECONDS,
                              .name = world_name(&world, outer ? 1 : 2),
                              .tracer = world_tracer(&world, 1)};
        SpanBuilder builder = span_builder_begin(bytes, &head);
        if (!outer) span_builder_parent(&builder, (SpanId){9, i});
        span_builder_end(&builder);
    }

    g_autoptr(GPtrArray) spans = spans_in(bytes);
    spans_shuffle(spans, 1);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);
    g_assert_cmpuint(pattern->n_nodes, ==, 3);

    g_autoptr(TreeTimes) times = times_compute(tree, node_of);
    g_autoptr(StatsGroup) group = stats_group_new(&world.lookup, TRUE);
    const StatsTrace trace = {tree, times, node_of, 1, NULL, NULL};
    stats_group_add_pattern(group, &trace);
    Rows rows = {0};
    stats_group_foreach(group, collect_row, &rows);

    g_assert_cmpuint(rows.n, ==, 2);
    g_assert_cmpuint(rows.calls[0], ==, CALLS);
    g_assert_cmpuint(rows.calls[1], ==, CALLS);
    g_assert_cmpuint(rows.total[0], ==, G_GUINT64_CONSTANT(3643000000));
    g_assert_cmpuint(rows.total[1], ==, G_GUINT64_CONSTANT(124000000));
}

/* Past its bound a compressor starts anew, and nobody notices. */
static void test_bounded(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) small = compressor_new(&world.lookup, 20);
    g_autoptr(Compressor) large = compressor_new(&world.lookup, 100000);
    const ForestOptions options = {40, FOREST_WILD};
    for (guint32 seed = 0; seed < 500; seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        g_autoptr(Pattern) a = pattern_of(small, forest->bytes);
        g_autoptr(Pattern) b = pattern_of(large, forest->bytes);
        g_assert_cmpmem(&a->id, sizeof a->id, &b->id, sizeof b->id);
        g_assert_cmpuint(small->shapes.n_shapes, <=, 20 + 81);
    }
    g_assert_cmpuint(large->shapes.n_shapes, >, 500);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/calltree/pattern/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/calltree/pattern/id text", test_id_text);
    g_test_add_func("/calltree/pattern/filter", test_filter);
    g_test_add_func("/calltree/pattern/filter random", test_filter_random);
    g_test_add_func("/calltree/pattern/malformed", test_malformed);
    g_test_add_func("/calltree/pattern/long read", test_long_read);
    g_test_add_func("/calltree/pattern/bounded", test_bounded);
    return g_test_run();
}
