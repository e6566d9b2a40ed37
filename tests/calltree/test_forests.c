/* Random forests: the engine against the slow reference, and what must hold whatever came in. */
#include <string.h>

#include "analyzer/calltree/compressor.h"
#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/stats/stats.h"
#include "common/base/fnv.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"
#include "tests/calltree/reference.h"

#define FORESTS 12000u

/* Everything the engine makes of one list of spans. */
typedef struct Made {
    CallTree *tree;
    Pattern *pattern;
    guint32 *node_of;
    TreeTimes *times;
    GByteArray *record;
} Made;

/* What remembers something from one tree to the next. */
typedef struct Engine {
    Compressor *compressor;
    WaitTable *waits;
} Engine;

static Engine engine_of_run;

static Engine engine_new(const Lookup *lookup, guint32 max_shapes) {
    return (Engine){compressor_new(lookup, max_shapes), wait_table_new(lookup)};
}

static void engine_clear(Engine *engine) {
    compressor_free(engine->compressor);
    wait_table_free(engine->waits);
}

static const SpanRec *const *records_of(GPtrArray *spans) { return (const SpanRec *const *)(void *)spans->pdata; }

static Made make(const Engine *engine, GPtrArray *spans, gint64 tolerance_ns) {
    Made made = {.tree = tree_build(records_of(spans), spans->len, tolerance_ns, NULL)};
    made.node_of = g_new(guint32, made.tree->n_nodes);
    made.pattern = compressor_tree(engine->compressor, made.tree, made.node_of);
    const Measured measured = {made.tree, made.pattern, made.node_of};
    gboolean differs;
    made.times = times_by_rule(&measured, engine->waits, TIMES_NOW, &differs);
    made.record = g_byte_array_new();
    const RecordHead head = {.pattern_number = 7, .flags = tree_incomplete(made.tree) ? TRACE_INCOMPLETE : 0};
    record_encode(made.tree, made.pattern, made.node_of, &head, made.record);
    return made;
}

static void made_clear(Made *made) {
    tree_free(made->tree);
    pattern_unref(made->pattern);
    g_free(made->node_of);
    times_free(made->times);
    g_byte_array_unref(made->record);
}

/* ---- against the reference ---- */

/* No dropped record comes before the one that is kept of its id. */
static void check_dropped(guint32 seed, const CallTree *tree, const RefTree *ref) {
    guint n = tree->dropped != NULL ? tree->dropped->len : 0, n_same = 0;
    forest_check(seed, n == ref->duplicates + ref->conflicts);
    for (guint d = 0; d < n; d++) {
        const SpanRec *dropped = g_ptr_array_index(tree->dropped, d);
        guint32 i = 1;
        while (i < tree->n_nodes && (tree->span[i] == NULL || !span_id_equal(tree->span[i]->id, dropped->id))) i++;
        forest_check(seed, i < tree->n_nodes);
        int order = span_rec_compare(tree->span[i], dropped, NULL);
        forest_check(seed, order <= 0);
        n_same += order == 0;
    }
    forest_check(seed, n_same == ref->duplicates);
}

static void check_tree(guint32 seed, const CallTree *tree, const RefTree *ref) {
    const TreeCounts *counts = &tree->counts;
    forest_check(seed, tree->n_nodes == ref->in_order->len);
    forest_check(seed, counts->duplicates == ref->duplicates && counts->conflicts == ref->conflicts);
    check_dropped(seed, tree, ref);
    forest_check(seed, counts->orphans == ref->orphans && counts->placeholders == ref->placeholders);
    forest_check(seed, counts->cycles == ref->cycles && counts->roots == ref->roots);
    forest_check(seed, counts->reversed == ref->reversed && counts->outside_parent == ref->outside);
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const RefNode *node = ref->in_order->pdata[i];
        forest_check(seed, tree->span[i] == node->span || span_rec_compare(tree->span[i], node->span, NULL) == 0);
        forest_check(seed, ref->in_order->pdata[tree->parent[i]] == node->parent);
        forest_check(seed, span_id_equal(tree->missing[i], node->missing));
        guint flags = (node->orphan ? NODE_ORPHAN : 0) | (node->cut ? NODE_CYCLE_CUT : 0) |
                      (node->reversed ? NODE_REVERSED : 0) | (node->outside ? NODE_OUTSIDE_PARENT : 0);
        forest_check(seed, tree->flags[i] == flags);
        forest_check(seed, tree->end[i] > i && tree->end[i] <= tree->end[tree->parent[i]]);
    }
}

static void check_times(guint32 seed, const TreeTimes *times, const RefTree *ref) {
    for (guint32 i = 0; i < times->n_nodes; i++) {
        const RefNode *node = ref->in_order->pdata[i];
        forest_check(seed, times->self_ns[i] == node->self_ns);
        forest_check(seed, times->critical_ns[i] == node->critical_ns);
    }
}

/* What roots last is shared out below them, what one lasts perhaps below another that read for it; below a placeholder
 * what its children last. */
static void check_shares(guint32 seed, const Made *made) {
    const CallTree *tree = made->tree;
    gint64 left_to_roots = 0;
    for (guint32 top = 1; top < tree->n_nodes; top = tree->end[top]) {
        const SpanRec *span = tree->span[top];
        gint64 left = span != NULL ? tree->to_ns[top] - tree->from_ns[top] : 0;
        for (guint32 i = top; i < tree->end[top]; i++) {
            left -= made->times->critical_ns[i];
            forest_check(seed, made->times->critical_ns[i] >= 0);
            if (span == NULL && tree->parent[i] == top) left += tree->to_ns[i] - tree->from_ns[i];
        }
        if (span != NULL && span->n_parents == 0)
            left_to_roots += left;
        else
            forest_check(seed, left == 0);
    }
    forest_check(seed, left_to_roots == 0);
}

/* Checks the pattern node at 'at' and all below; returns the number of the next. Patterns of these forests are small.
 */
static guint32 check_pattern_node(guint32 seed, const Made *made, const World *world, RefPattern *ref, guint32 at) {
    const PatternNode *node = &made->pattern->nodes[at];
    gsize length = 0;
    const char *name = node->name == NAME_MISSING ? "" : world->lookup.text(world->lookup.arg, node->name, &length);
    forest_check(seed, strlen(ref->name) == length && memcmp(ref->name, name, length) == 0);
    forest_check(seed, (node->name == NAME_MISSING) == (ref->kind == 'M') && (at == 0) == (ref->kind == 'T'));
    forest_check(seed, node->role == ref->role);
    for (guint i = 0; i < ref->members->len; i++) ((RefNode *)ref->members->pdata[i])->pattern_node = at;
    guint32 next = at + 1;
    for (guint i = 0; i < ref->children->len; i++) {
        forest_check(seed, next < made->pattern->n_nodes && made->pattern->nodes[next].parent == at);
        next = check_pattern_node(seed, made, world, ref->children->pdata[i], next);
    }
    forest_check(seed, node->end == next);
    return next;
}

static void check_pattern(guint32 seed, const Made *made, const World *world, RefTree *ref) {
    g_autoptr(RefPattern) pattern = ref_pattern_new(ref, world);
    guint32 n = check_pattern_node(seed, made, world, pattern, 0);
    forest_check(seed, n == made->pattern->n_nodes);
    forest_check(seed, memcmp(made->pattern->id.bytes, pattern->digest, sizeof made->pattern->id.bytes) == 0);
    for (guint32 i = 0; i < made->tree->n_nodes; i++) {
        forest_check(seed, made->node_of[i] == ((RefNode *)ref->in_order->pdata[i])->pattern_node);
    }
    forest_check(seed, pattern_incomplete(made->pattern) == (made->tree->counts.placeholders > 0));
}

/* ---- what must hold ---- */

static gint compare_records(gconstpointer a, gconstpointer b) {
    return span_rec_compare(*(const SpanRec *const *)a, *(const SpanRec *const *)b, NULL);
}

/* The record gives back every span that was kept, byte for byte. */
static GByteArray *check_record(guint32 seed, const Made *made, guint64 trace_id) {
    GByteArray *bytes = g_byte_array_new();
    Bytes record = {made->record->data, made->record->len};
    TraceSummary summary;

    forest_check(seed, record_decode(record, made->pattern, trace_id, bytes, NULL));
    forest_check(seed, record_summary(record, &summary, NULL));
    forest_check(seed, summary.pattern == 7 && summary.n_spans == made->tree->n_spans);
    forest_check(seed, summary.orphans == made->tree->counts.orphans);
    forest_check(seed, (summary.flags == TRACE_INCOMPLETE) == tree_incomplete(made->tree));
    forest_check(seed, summary.begin_ns == made->tree->begin_ns && summary.end_ns == made->tree->end_ns);

    g_autoptr(GPtrArray) back = spans_in(bytes);
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint32 i = 0; i < made->tree->n_nodes; i++) {
        if (made->tree->span[i] != NULL) g_ptr_array_add(kept, (gpointer)made->tree->span[i]);
    }

    forest_check(seed, back->len == kept->len);
    g_ptr_array_sort(back, compare_records);
    g_ptr_array_sort(kept, compare_records);
    for (guint i = 0; i < kept->len; i++) {
        const SpanRec *a = kept->pdata[i], *b = back->pdata[i];
        forest_check(seed, a->size_bytes == b->size_bytes && memcmp(a, b, a->size_bytes) == 0);
    }
    return bytes;
}

static void check_same(guint32 seed, const Made *a, const Made *b) {
    forest_check(seed, memcmp(&a->pattern->id, &b->pattern->id, sizeof a->pattern->id) == 0);
    forest_check(seed, a->record->len == b->record->len);
    forest_check(seed, memcmp(a->record->data, b->record->data, a->record->len) == 0);
}

/* What was stored and what came later make the same as all at once. */
static void check_late_spans(guint32 seed, const Made *made, const Forest *forest, gint64 tolerance_ns) {
    g_autoptr(GPtrArray) early = g_ptr_array_new();
    guint cut = 1 + seed % forest->spans->len;
    for (guint i = 0; i < cut; i++) g_ptr_array_add(early, forest->spans->pdata[i]);
    Made first = make(&engine_of_run, early, tolerance_ns);
    g_autoptr(GByteArray) stored = check_record(seed, &first, forest->trace_id);
    g_autoptr(GPtrArray) joined = spans_in(stored);
    for (guint i = cut / 2; i < forest->spans->len; i++) g_ptr_array_add(joined, forest->spans->pdata[i]);
    spans_shuffle(joined, seed + 1);
    Made second = make(&engine_of_run, joined, tolerance_ns);
    check_same(seed, made, &second);
    made_clear(&first);
    made_clear(&second);
}

static void check_pattern_form(guint32 seed, const Pattern *pattern) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    pattern_encode(pattern, bytes);
    g_autoptr(Pattern) back = pattern_decode((Bytes){bytes->data, bytes->len}, NULL);
    forest_check(seed, back != NULL && back->n_nodes == pattern->n_nodes);
    forest_check(seed, memcmp(&back->id, &pattern->id, sizeof back->id) == 0);
    forest_check(seed, memcmp(back->nodes, pattern->nodes, back->n_nodes * sizeof(PatternNode)) == 0);
}

static gboolean keep_all(void *arg, const PatternNode *node) {
    (void)arg;
    (void)node;
    return TRUE;
}

/* What is compressed already stays as it is. */
static void check_compressed_again(guint32 seed, const Pattern *pattern) {
    g_autofree guint32 *map = g_new(guint32, pattern->n_nodes);
    g_autoptr(Pattern) again = compressor_filter(engine_of_run.compressor, pattern, keep_all, NULL, map);
    forest_check(seed, again->n_nodes == pattern->n_nodes);
    forest_check(seed, memcmp(&again->id, &pattern->id, sizeof again->id) == 0);
    forest_check(seed, memcmp(again->nodes, pattern->nodes, again->n_nodes * sizeof(PatternNode)) == 0);
    for (guint32 i = 0; i < pattern->n_nodes; i++) forest_check(seed, map[i] == i);
}

/* Another dictionary, another order, a compressor that mistakes every shape for every other at first sight. */
/* (Which record of a conflict is kept may depend on the ids of its names, so there must be none.) */
static void check_elsewhere(guint32 seed, const Made *made, const ForestOptions *options, gint64 tolerance_ns) {
    World world;
    world_init(&world, 1 + seed % 5);
    Engine engine = engine_new(&world.lookup, 3);
    engine.compressor->shapes.hash_mask = seed % 2;
    g_autoptr(Forest) forest = forest_new(&world, seed, options);
    spans_shuffle(forest->spans, seed + 2);
    for (guint round = 0; round < 2; round++) {
        Made there = make(&engine, forest->spans, tolerance_ns);
        forest_check(seed, memcmp(&there.pattern->id, &made->pattern->id, sizeof(PatternId)) == 0);
        for (guint32 i = 0; i < made->tree->n_nodes; i++) {
            forest_check(seed, there.node_of[i] == made->node_of[i]);
            forest_check(seed, there.times->critical_ns[i] == made->times->critical_ns[i]);
        }
        made_clear(&there);
    }
    engine_clear(&engine);
}

/* What statistics are made of. */
typedef struct Counted {
    gint64 from_ns, to_ns, self_ns, critical_ns;
    guint32 node, tracer, flags;
    guint32 unused; /* 0: compared as bytes */
} Counted;

static gint compare_counted(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(Counted)); }

static GArray *counted_of(const Made *made) {
    GArray *all = g_array_new(FALSE, TRUE, sizeof(Counted));
    const CallTree *tree = made->tree;
    for (guint32 i = 0; i < tree->n_nodes; i++) {
        const Counted one = {tree->from_ns[i],        tree->to_ns[i],
                             made->times->self_ns[i], made->times->critical_ns[i],
                             made->node_of[i],        tree->span[i] != NULL ? tree->span[i]->tracer : 0,
                             tree->flags[i],          0};
        g_array_append_val(all, one);
    }
    g_array_sort(all, compare_counted);
    return all;
}

/* Without ids a record has the same tree but for the order of what begins together, and the same statistics. */
static void check_without_ids(guint32 seed, const Made *made, guint64 trace_id, gint64 tolerance_ns) {
    const RecordHead head = {.pattern_number = 7, .dropped = DROPPED_IDS, .part = seed % 3};
    g_autoptr(GByteArray) record = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    record_encode(made->tree, made->pattern, made->node_of, &head, record);
    forest_check(seed, record_decode((Bytes){record->data, record->len}, made->pattern, trace_id, bytes, NULL));

    g_autoptr(GPtrArray) spans = spans_in(bytes);
    spans_shuffle(spans, seed);
    Made again = make(&engine_of_run, spans, tolerance_ns);

    g_autoptr(GArray) before = counted_of(made);
    g_autoptr(GArray) after = counted_of(&again);
    TreeCounts counts = made->tree->counts;
    counts.duplicates = counts.conflicts = 0;
    forest_check(seed, memcmp(&counts, &again.tree->counts, sizeof counts) == 0);
    forest_check(seed, memcmp(&again.pattern->id, &made->pattern->id, sizeof(PatternId)) == 0);
    forest_check(seed, before->len == after->len);
    forest_check(seed, memcmp(before->data, after->data, before->len * sizeof(Counted)) == 0);

    /* Encoded once more it is the same record: ids are made up in the order of places. (That a missing parent was of
     * another trace is gone with its id.) */
    g_autoptr(GByteArray) record_again = g_byte_array_new();
    record_encode(again.tree, again.pattern, again.node_of, &head, record_again);
    forest_check(seed, record_again->len == record->len);
    forest_check(seed, counts.placeholders > 0 || memcmp(record_again->data, record->data, record->len) == 0);
    made_clear(&again);
}

typedef struct Kind {
    guint forests;
    ForestOptions options;
} Kind;

static void test_forests(gconstpointer data) {
    const Kind *kind = data;
    World world;
    world_init(&world, 0);
    engine_of_run = engine_new(&world.lookup, 2000);
    const ForestOptions options = kind->options;
    guint32 base = run_seed();

    for (guint32 seed = base; seed != base + kind->forests; seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        gint64 tolerance_ns = (seed % 3) * 5 * forest->unit_ns;
        Made made = make(&engine_of_run, forest->spans, tolerance_ns);
        g_autoptr(RefTree) ref = ref_tree_new(forest->spans, tolerance_ns);

        check_tree(seed, made.tree, ref);
        check_pattern(seed, &made, &world, ref);
        ref_times(ref, &world, forest->unit_ns);
        check_times(seed, made.times, ref);
        check_shares(seed, &made);
        check_without_ids(seed, &made, forest->trace_id, tolerance_ns);
        g_autoptr(GByteArray) back = check_record(seed, &made, forest->trace_id);
        check_late_spans(seed, &made, forest, tolerance_ns);
        check_pattern_form(seed, made.pattern);
        check_compressed_again(seed, made.pattern);
        if (!forest->conflicts) check_elsewhere(seed, &made, &options, tolerance_ns);
        made_clear(&made);
    }
    engine_clear(&engine_of_run);
}

/* ---- older rules ---- */

/* Of the critical times of the forests below, by each rule before the newest one: stored records are verified by the
 * rule that they were counted by. Made by programs of which TIMES_READERS, for the last four TIMES_ANSWERS,
 * TIMES_ARRIVALS, TIMES_SENDERS and TIMES_ROOTS, was the newest rule. Whoever changes what forests are like makes them
 * anew, with a program from before. */
static const guint64 released[] = {G_GUINT64_CONSTANT(0x968ca5f0a37a0bc0), G_GUINT64_CONSTANT(0x9beeb401e347bcc4),
                                   G_GUINT64_CONSTANT(0x795eb91c0be47ab1), G_GUINT64_CONSTANT(0xdc2c5865f24328ee),
                                   G_GUINT64_CONSTANT(0xdc2c5865f24328ee), G_GUINT64_CONSTANT(0x5d91d6ae280e3ff9),
                                   G_GUINT64_CONSTANT(0x1463b440bf5c8eae), G_GUINT64_CONSTANT(0x4c00a75bb33c0e95),
                                   G_GUINT64_CONSTANT(0x63653909f83891f7), G_GUINT64_CONSTANT(0x8474df27e18f2f9f),
                                   G_GUINT64_CONSTANT(0x946aebc56160cf1b)};

static guint64 add_times(guint64 hash, const Made *made, TimesRule rule) {
    const Measured measured = {made->tree, made->pattern, made->node_of};
    gboolean differs;
    g_autoptr(TreeTimes) times = times_by_rule(&measured, engine_of_run.waits, rule, &differs);
    return fnv64(hash, times->critical_ns, times->n_nodes * sizeof *times->critical_ns);
}

static void test_older_rules(void) {
    static const ForestOptions kinds[] = {{40, FOREST_CLEAN}, {30, FOREST_PIPELINES}, {20, FOREST_READS}};
    guint64 hashes[G_N_ELEMENTS(released)];
    World world;
    world_init(&world, 0);
    engine_of_run = engine_new(&world.lookup, 2000);
    for (guint rule = 0; rule < G_N_ELEMENTS(hashes); rule++) hashes[rule] = FNV64_BASIS;

    for (guint32 seed = 0; seed < 2000 * G_N_ELEMENTS(kinds); seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &kinds[seed % G_N_ELEMENTS(kinds)]);
        Made made = make(&engine_of_run, forest->spans, 0);
        for (guint rule = 0; rule < G_N_ELEMENTS(hashes); rule++)
            hashes[rule] = add_times(hashes[rule], &made, (TimesRule)rule);
        made_clear(&made);
    }
    for (guint rule = 0; rule < G_N_ELEMENTS(hashes); rule++) g_assert_cmphex(hashes[rule], ==, released[rule]);
    engine_clear(&engine_of_run);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    static const Kind anything = {FORESTS / 2, {40, FOREST_WILD}}, clean = {FORESTS / 2, {40, FOREST_CLEAN}};
    static const Kind pipelines = {FORESTS / 20, {30, FOREST_PIPELINES}}, reads = {FORESTS / 20, {20, FOREST_READS}};
    static const Kind roots = {FORESTS / 40, {20, FOREST_ROOTS}}, journal = {FORESTS / 20, {20, FOREST_JOURNAL}};
    g_test_add_data_func("/calltree/forests/anything", &anything, test_forests);
    g_test_add_data_func("/calltree/forests/clean", &clean, test_forests);
    g_test_add_data_func("/calltree/forests/pipelines", &pipelines, test_forests);
    g_test_add_data_func("/calltree/forests/reads", &reads, test_forests);
    g_test_add_data_func("/calltree/forests/roots that read", &roots, test_forests);
    g_test_add_data_func("/calltree/forests/journal", &journal, test_forests);
    g_test_add_func("/calltree/forests/older rules", test_older_rules);
    return g_test_run();
}
