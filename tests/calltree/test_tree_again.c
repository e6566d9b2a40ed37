/* A tree restored from its record, and one grown by some spans, against tree_build() of the same spans: random forests
 * with everything that goes wrong, cut in two at random. */
#include <string.h>

#include "analyzer/calltree/record/record.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"

#define FORESTS      4000u
#define TOLERANCE_NS 2

typedef const SpanRec *const *Spans;

static Spans spans_of(const GPtrArray *list) { return (Spans)(gconstpointer)list->pdata; }

static void check_same(guint32 seed, const CallTree *is, const CallTree *expected) {
    gsize n = expected->n_nodes;
    forest_check(seed, is->n_nodes == n && is->n_spans == expected->n_spans);
    forest_check(seed, is->begin_ns == expected->begin_ns && is->end_ns == expected->end_ns);
    forest_check(seed, memcmp(&is->counts, &expected->counts, sizeof is->counts) == 0);
    for (gsize i = 0; i < n; i++) {
        forest_check(seed, is->parent[i] == expected->parent[i] && is->end[i] == expected->end[i]);
        forest_check(seed, is->flags[i] == expected->flags[i]);
        forest_check(seed, is->from_ns[i] == expected->from_ns[i] && is->to_ns[i] == expected->to_ns[i]);
        forest_check(seed, span_id_equal(is->missing[i], expected->missing[i]));
        forest_check(seed, (is->span[i] == NULL) == (expected->span[i] == NULL));
        if (is->span[i] != NULL) forest_check(seed, span_rec_compare(is->span[i], expected->span[i], NULL) == 0);
    }
}

/* The tree of a record of these spans; its spans lie in 'bytes'. */
static CallTree *restored(const World *world, guint32 seed, const CallTree *tree, GByteArray *bytes) {
    g_autoptr(Compressor) compressor = compressor_new(&world->lookup, 1000);
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autofree guint32 *node_back = g_new(guint32, tree->n_nodes);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);
    g_autoptr(GByteArray) record = g_byte_array_new();
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(TreePlace));
    record_encode(tree, pattern, node_of, &(RecordHead){.pattern_number = 1}, record);
    guint64 trace_id = tree->span[tree->n_nodes - 1]->id.trace; /* a placeholder is never last */
    const RecordSource source = {{record->data, record->len}, {NULL, 0}, pattern, trace_id};
    forest_check(seed, record_decode_places(&source, bytes, places, NULL));
    forest_check(seed, places->len == tree->n_nodes);
    CallTree *back =
        tree_restore((const TreePlace *)(gconstpointer)places->data, places->len, bytes->data, TOLERANCE_NS, node_back);
    forest_check(seed, back != NULL);
    forest_check(seed, memcmp(node_back, node_of, tree->n_nodes * sizeof *node_of) == 0);
    return back;
}

/* What stands for the old tree's node must be it; everything else is new. */
static void check_was(guint32 seed, const CallTree *old, const TreeGrowth *growth) {
    guint32 n_found = 0;
    for (guint32 i = 1; i < growth->tree->n_nodes; i++) {
        guint32 was = growth->was[i];
        if (growth->tree->span[i] == NULL) continue;
        n_found += was != 0;
        forest_check(seed, was == 0 || old->span[was] == growth->tree->span[i]);
    }
    forest_check(seed, n_found == old->n_spans);
}

/* Distinct spans, of each only the first parent when 'single': what tree_grow() knows how to do. */
static GPtrArray *some_forest(const World *world, guint32 seed, gboolean single, GByteArray *bytes) {
    g_autoptr(Forest) forest = forest_new(world, seed, &(ForestOptions){.max_spans = 60});
    g_autoptr(CallTree) tree = tree_build(spans_of(forest->spans), forest->spans->len, TOLERANCE_NS, NULL);
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) continue;
        SpanBuilder builder = span_builder_begin(bytes, span);
        guint n_parents = single ? MIN(span->n_parents, 1u) : span->n_parents;
        for (guint p = 0; p < n_parents; p++) span_builder_parent(&builder, span_parents(span)[p]);
        span_builder_end(&builder);
    }
    GPtrArray *spans = spans_in(bytes);
    spans_shuffle(spans, seed);
    return spans;
}

/* Returns whether the tree could be grown. */
static gboolean check_forest(const World *world, guint32 seed, gboolean single) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GByteArray) old_bytes = g_byte_array_new();
    g_autoptr(GPtrArray) spans = some_forest(world, seed, single, bytes);
    g_autoptr(CallTree) whole = tree_build(spans_of(spans), spans->len, TOLERANCE_NS, NULL);
    g_autoptr(CallTree) whole_back = restored(world, seed, whole, old_bytes);
    check_same(seed, whole_back, whole);
    if (spans->len < 2) return FALSE;

    guint n_late = seed % 3 == 0 ? 1 : 1 + seed / 3 % (spans->len - 1);
    g_byte_array_set_size(old_bytes, 0);
    g_autoptr(CallTree) first = tree_build(spans_of(spans) + n_late, spans->len - n_late, TOLERANCE_NS, NULL);
    g_autoptr(CallTree) old = restored(world, seed, first, old_bytes);
    check_same(seed, old, first);
    TreeGrowth growth;
    if (!tree_grow(old, spans_of(spans), n_late, TOLERANCE_NS, &growth)) return FALSE;
    check_same(seed, growth.tree, whole);
    check_was(seed, old, &growth);
    tree_free(growth.tree);
    g_free(growth.was);
    return TRUE;
}

static void test_forests(void) {
    World world;
    world_init(&world, 1);
    guint32 seed = run_seed();
    guint grown = 0;
    for (guint i = 0; i < FORESTS; i++) {
        check_forest(&world, seed + i, FALSE);
        grown += check_forest(&world, seed + i, TRUE);
    }
    g_test_message("%u of %u grown", grown, FORESTS);
    g_assert_cmpuint(grown, >, FORESTS / 4);
}

/* Places that no record has. */
static void test_no_tree(void) {
    guint32 node_of[3];
    World world;
    world_init(&world, 1);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanBuilder builder = span_builder_begin(bytes, &(SpanRec){.id = {1, 2}, .name = world_name(&world, 0)});
    span_builder_end(&builder);
    const TreePlace childless[] = {{0, 0, PLACE_VIRTUAL}, {1, 0, 0}, {2, 0, PLACE_VIRTUAL}};
    const TreePlace below_span[] = {{0, 0, PLACE_VIRTUAL}, {1, 0, 0}, {2, 1, PLACE_VIRTUAL}};
    const TreePlace no_orphan[] = {{0, 0, PLACE_VIRTUAL}, {1, 0, PLACE_VIRTUAL}, {2, 1, 0}};
    g_assert_null(tree_restore(childless, 3, bytes->data, 0, node_of));
    g_assert_null(tree_restore(below_span, 3, bytes->data, 0, node_of));
    g_assert_null(tree_restore(no_orphan, 3, bytes->data, 0, node_of));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calltree/again/forests", test_forests);
    g_test_add_func("/calltree/again/no-tree", test_no_tree);
    return g_test_run();
}
