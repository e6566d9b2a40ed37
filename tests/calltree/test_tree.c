/* Assembly and times on cases small enough to see, and on the deepest and widest trees. */
#include <pthread.h>

#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/times.h"
#include "tests/calltree/forest.h"

#define TRACE 0x7ace

/* A span in few words. Parents: up to four ids, 0 ends the list; ids above 900 belong to another trace. */
typedef struct Row {
    guint id;
    gint64 begin, duration;
    guint parents[4];
} Row;

static SpanId row_id(guint id) { return (SpanId){id > 900 ? TRACE + 1 : TRACE, id}; }

static void add_row(GByteArray *bytes, const Row *row) {
    const SpanRec head = {
        .id = row_id(row->id), .begin_ns = row->begin, .duration_ns = row->duration, .name = 5, .tracer = 1004};
    SpanBuilder builder = span_builder_begin(bytes, &head);
    for (guint i = 0; i < 4 && row->parents[i] != 0; i++) span_builder_parent(&builder, row_id(row->parents[i]));
    span_builder_end(&builder);
}

/* The tree as text: "1(2 3(4)) ?9(5!)": '?' a placeholder, '!' an orphan, '~' where a cycle was cut, '<' reversed, '#'
 * outside its parent. With times, each span is followed by "[self critical]". */
static char *tree_text(const CallTree *tree, const TreeTimes *times) {
    static const char marks[] = "!~<#";
    GString *text = g_string_new(NULL);

    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (i > 1) g_string_append(text, tree->parent[i] == i - 1 ? "(" : " ");
        guint64 id = tree->span[i] != NULL ? tree->span[i]->id.span : tree->missing[i].span;
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, tree->span[i] != NULL ? "" : "?", id);

        for (guint m = 0; m < 4; m++) {
            if (tree->flags[i] >> m & 1) g_string_append_c(text, marks[m]);
        }
        if (times != NULL && tree->span[i] != NULL) {
            g_string_append_printf(text, "[%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "]", times->self_ns[i],
                                   times->critical_ns[i]);
        }

        for (guint32 at = i; at != 0 && tree->end[at] == i + 1; at = tree->parent[at]) {
            guint32 above = tree->parent[at];
            if (above != 0 && tree->end[above] == i + 1) g_string_append_c(text, ')');
        }
    }

    return g_string_free(text, FALSE);
}

typedef struct Case {
    const char *name;
    Row rows[8]; /* id 0 ends the list */
    const char *tree;
    TreeCounts counts;
} Case;

static const Case cases[] = {
    {"one", {{1, 0, 5, {0}}}, "1", {.roots = 1}},
    {"children by begin, then id",
     {{5, 3, 1, {1}}, {4, 3, 1, {1}}, {1, 0, 9, {0}}, {9, 1, 1, {1}}},
     "1(9 4 5)",
     {.roots = 1}},
    {"two roots", {{2, 0, 1, {0}}, {1, 0, 1, {0}}}, "1 2", {.roots = 2}},
    {"repeated", {{1, 0, 1, {0}}, {1, 0, 1, {0}}, {1, 0, 1, {0}}}, "1", {.duplicates = 2, .roots = 1}},
    {"two contents",
     {{1, 7, 1, {0}}, {1, 5, 1, {0}}, {1, 7, 1, {0}}, {1, 5, 1, {0}}},
     "1",
     {.duplicates = 1, .conflicts = 2, .roots = 1}},
    {"first known parent", {{1, 0, 9, {0}}, {2, 1, 5, {1}}, {3, 2, 1, {901, 77, 2, 1}}}, "1(2(3))", {.roots = 1}},
    {"orphans of one parent",
     {{2, 4, 1, {77}}, {3, 2, 1, {77, 78}}, {4, 3, 1, {78}}, {1, 3, 9, {0}}},
     "?77(3! 2!) 1 ?78(4!)",
     {.orphans = 3, .roots = 1, .placeholders = 2}},
    {"parent of another trace", {{1, 0, 1, {901}}}, "?901(1!)", {.orphans = 1, .placeholders = 1}},
    {"own parent", {{1, 0, 5, {1}}, {2, 1, 1, {1}}}, "1~(2)", {.cycles = 1}},
    {"own parent before another", {{1, 0, 5, {0}}, {2, 1, 1, {2, 1}}}, "1 2~", {.cycles = 1, .roots = 1}},
    {"cycle of three",
     {{3, 0, 5, {2}}, {2, 1, 1, {1}}, {1, 2, 9, {3}}, {4, 3, 1, {3}}},
     "1~(2#(3#(4)))",
     {.cycles = 1, .outside_parent = 2}},
    {"two cycles and a root",
     {{3, 0, 5, {4}}, {4, 0, 5, {3}}, {8, 1, 1, {7}}, {7, 1, 1, {8}}, {1, 2, 9, {0}}},
     "3~(4) 7~(8) 1",
     {.cycles = 2, .roots = 1}},
    {"reversed",
     {{1, 5, -3, {0}}, {2, 5, 0, {1}}, {3, 5, 1, {1}}},
     "1<(2 3#)",
     {.reversed = 1, .outside_parent = 1, .roots = 1}},
    {"outside on both sides",
     {{1, 10, 10, {0}}, {2, 9, 1, {1}}, {3, 20, 1, {1}}, {4, 10, 10, {1}}},
     "1(2# 4 3#)",
     {.outside_parent = 2, .roots = 1}},
    {"ends of time",
     {{1, G_MAXINT64, G_MAXINT64, {0}}, {2, G_MININT64, G_MAXINT64, {1}}, {3, G_MININT64, -1, {1}}},
     "1(2# 3<#)",
     {.reversed = 1, .outside_parent = 2, .roots = 1}},
};

static void test_case(gconstpointer data) {
    const Case *c = data;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(c->rows) && c->rows[i].id != 0; i++) add_row(bytes, &c->rows[i]);
    for (guint32 order = 0; order < 10; order++) {
        g_autoptr(GPtrArray) spans = spans_in(bytes);
        spans_shuffle(spans, order);
        g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
        g_autoptr(TreeTimes) times = times_compute(tree, NULL);
        g_autofree char *text = tree_text(tree, NULL);
        g_assert_cmpstr(text, ==, c->tree);
        g_assert_cmpmem(&tree->counts, sizeof tree->counts, &c->counts, sizeof c->counts);
    }
}

typedef struct TimesCase {
    const char *name;
    Row rows[8];
    const char *times; /* [self critical] */
} TimesCase;

static const TimesCase times_cases[] = {
    {"alone", {{1, 0, 5, {0}}}, "1[5 5]"},
    {"one after the other", {{1, 0, 10, {0}}, {2, 1, 3, {1}}, {3, 5, 4, {1}}}, "1[3 3](2[3 3] 3[4 4])"},
    {"side by side: the later end is waited for",
     {{1, 0, 10, {0}}, {2, 1, 5, {1}}, {3, 2, 7, {1}}},
     "1[2 3](2[5 0] 3[7 7])"},
    {"in the shadow, then before it",
     {{1, 0, 10, {0}}, {2, 4, 5, {1}}, {3, 5, 2, {1}}, {4, 0, 3, {1}}},
     "1[2 2](4[3 3] 2[5 5] 3[2 0])"},
    {"equal ends: the longer", {{1, 0, 10, {0}}, {2, 4, 6, {1}}, {3, 2, 8, {1}}}, "1[2 2](3[8 8] 2[6 0])"},
    {"equal in all: the smaller id", {{1, 0, 10, {0}}, {3, 4, 6, {1}}, {2, 4, 6, {1}}}, "1[4 4](2[6 6] 3[6 0])"},
    {"clipped to the parent", {{1, 10, 10, {0}}, {2, 5, 10, {1}}, {3, 18, 10, {1}}}, "1[3 3](2#[10 5] 3#[10 2])"},
    {"clipped again below", {{1, 10, 10, {0}}, {2, 5, 10, {1}}, {3, 6, 8, {2}}}, "1[5 5](2#[2 1](3[8 4]))"},
    {"grandchild of what nobody waited for",
     {{1, 0, 10, {0}}, {2, 0, 4, {1}}, {3, 1, 9, {1}}, {4, 1, 2, {2}}},
     "1[0 1](2[2 0](4[2 0]) 3[9 9])"},
    {"reversed child", {{1, 0, 10, {0}}, {2, 5, -3, {1}}}, "1[10 10](2<[0 0])"},
    {"every child of a placeholder", {{1, 0, 10, {77}}, {2, 5, 20, {77}}}, "?77(1![10 10] 2![20 20])"},
};

static void test_times(gconstpointer data) {
    const TimesCase *c = data;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(c->rows) && c->rows[i].id != 0; i++) add_row(bytes, &c->rows[i]);
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    g_autoptr(TreeTimes) times = times_compute(tree, NULL);
    g_autofree char *text = tree_text(tree, times);
    g_assert_cmpstr(text, ==, c->times);
}

/* Ids of zero are refused at the door; here they must do no harm. */
static void test_zero_ids(void) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    const SpanRec head = {.name = 5, .tracer = 1004};
    for (guint i = 0; i < 3; i++) {
        SpanBuilder builder = span_builder_begin(bytes, &head);
        for (guint p = 0; p < i; p++) span_builder_parent(&builder, (SpanId){0, 0});
        span_builder_end(&builder);
    }
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    g_assert_cmpuint(tree->n_spans, ==, 1);
    g_assert_cmpuint(tree->counts.conflicts, ==, 2);
}

/* ---- extremes ---- */

typedef guint (*ParentOf)(guint i);
static guint level_above(guint i) { return i; }
static guint the_root(guint i) { return MIN(i, 1); }
static guint next_one_round(guint i) { return i + 2; }
static guint of_its_own(guint i) { return 5000000 + i; }

typedef struct Extreme {
    const char *name;
    guint n;
    ParentOf parent; /* of the i-th span, whose id is i + 1; 0: none */
    guint last_parent;
    guint cycles, orphans;
} Extreme;

static const Extreme extremes[] = {
    {"deep", 100000, level_above, 0, 0, 0},
    {"deeper", 400000, level_above, 0, 0, 0},
    {"wide", 1000000, the_root, 0, 0, 0},
    {"one long cycle", 100000, next_one_round, 1, 1, 0},
    {"orphans only", 100000, of_its_own, 0, 0, 100000},
};

static GByteArray *extreme_spans(const Extreme *extreme) {
    GByteArray *bytes = g_byte_array_sized_new(extreme->n * 72);
    for (guint i = 0; i < extreme->n; i++) {
        const SpanRec head = {.id = {TRACE, i + 1},
                              .begin_ns = (gint64)i * 10,
                              .duration_ns = 2000000000 - (gint64)i * 20,
                              .name = 5 + i % 3,
                              .tracer = 1004};
        guint parent = i + 1 == extreme->n && extreme->last_parent != 0 ? extreme->last_parent : extreme->parent(i);
        SpanBuilder builder = span_builder_begin(bytes, &head);
        if (parent != 0) span_builder_parent(&builder, (SpanId){TRACE, parent});
        span_builder_end(&builder);
    }
    return bytes;
}

/* All steps, on a C stack that recursion would overrun: a thread of 256 KiB. */
static gpointer run_extreme(gpointer data) {
    const Extreme *extreme = data;
    World world;
    world_init(&world, 0);

    g_autoptr(GByteArray) bytes = extreme_spans(extreme);
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    spans_shuffle(spans, 1);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    g_assert_cmpuint(tree->n_spans, ==, extreme->n);
    g_assert_cmpuint(tree->counts.cycles, ==, extreme->cycles);
    g_assert_cmpuint(tree->counts.orphans, ==, extreme->orphans);

    g_autoptr(TreeTimes) times = times_compute(tree, NULL);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 1000);
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);

    g_autoptr(GByteArray) record = g_byte_array_new();
    const RecordHead head = {.pattern_number = 1};
    record_encode(tree, pattern, node_of, &head, record);
    g_autoptr(GByteArray) back = g_byte_array_new();
    g_assert_true(record_decode((Bytes){record->data, record->len}, pattern, TRACE, back, NULL));
    g_assert_cmpuint(back->len, ==, bytes->len);

    g_autoptr(GByteArray) form = g_byte_array_new();
    pattern_encode(pattern, form);
    g_autoptr(Pattern) again = pattern_decode((Bytes){form->data, form->len}, NULL);
    g_assert_nonnull(again);
    g_assert_cmpuint(again->n_nodes, ==, pattern->n_nodes);
    return NULL;
}

static void test_extreme(gconstpointer data) {
    pthread_attr_t attributes;
    pthread_t thread;
    g_assert_cmpint(pthread_attr_init(&attributes), ==, 0);
    g_assert_cmpint(pthread_attr_setstacksize(&attributes, 256 * 1024), ==, 0);
    g_assert_cmpint(pthread_create(&thread, &attributes, run_extreme, (gpointer)data), ==, 0);
    g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
    pthread_attr_destroy(&attributes);
}

static void add_test(const char *group, const char *name, gconstpointer data, GTestDataFunc function) {
    g_autofree char *path = g_strdup_printf("/calltree/%s/%s", group, name);
    g_test_add_data_func(path, data, function);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) add_test("tree", cases[i].name, &cases[i], test_case);
    for (guint i = 0; i < G_N_ELEMENTS(times_cases); i++) {
        add_test("times", times_cases[i].name, &times_cases[i], test_times);
    }
    for (guint i = 0; i < G_N_ELEMENTS(extremes); i++) {
        add_test("extreme", extremes[i].name, &extremes[i], test_extreme);
    }
    g_test_add_func("/calltree/tree/zero ids", test_zero_ids);
    return g_test_run();
}
