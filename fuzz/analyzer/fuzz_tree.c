/* Late spans that join a stored trace: two bytes (big-endian) of length, a stored pattern of that length; the same of a
 * record; and four bytes for each late span, which choose its id, its parents and its times. What is made of them is a
 * tree, however damaged the record is; and where the record's tree is what tree_build() makes of its spans, the grown
 * one is that of all spans. */
#include <string.h>

#include "analyzer/calltree/record/record.h"
#include "fuzz/target.h"
#include "tests/calltree/forest.h"

#define LATE_BYTES   4u
#define LATE_MOST    200u
#define TRACE        7u
#define TOLERANCE_NS 2

typedef const SpanRec *const *Spans;

/* Takes a part off the input; FALSE: it is cut. */
static gboolean take(Bytes *rest, Bytes *part) {
    const guint8 *data = rest->data;
    if (rest->size_bytes < 2) return FALSE;
    const gsize size_bytes = (gsize)data[0] << 8 | data[1];
    if (size_bytes > rest->size_bytes - 2) return FALSE;
    *part = (Bytes){data + 2, size_bytes};
    *rest = (Bytes){data + 2 + size_bytes, rest->size_bytes - 2 - size_bytes};
    return TRUE;
}

/* Every node below its parent and within it, children in pre-order. */
static void check_tree(const CallTree *tree) {
    guint32 n_spans = 0, n_placeholders = 0;
    g_assert_true(tree->n_nodes > 0 && tree->end[0] == tree->n_nodes && tree->span[0] == NULL);
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const guint32 parent = tree->parent[i];
        g_assert_true(parent < i && tree->end[i] > i && tree->end[i] <= tree->end[parent]);
        n_spans += tree->span[i] != NULL;
        n_placeholders += tree->span[i] == NULL;
        g_assert_true(tree->span[i] != NULL || (parent == 0 && tree->end[i] > i + 1));
    }
    g_assert_cmpuint(n_spans, ==, tree->n_spans);
    g_assert_cmpuint(n_placeholders, ==, tree->counts.placeholders);
}

static gboolean is_same(const CallTree *is, const CallTree *expected) {
    const gsize n = expected->n_nodes;
    if (is->n_nodes != n || memcmp(&is->counts, &expected->counts, sizeof is->counts) != 0) return FALSE;
    if (is->begin_ns != expected->begin_ns || is->end_ns != expected->end_ns) return FALSE;
    if (memcmp(is->parent, expected->parent, n * sizeof *is->parent) != 0) return FALSE;
    if (memcmp(is->flags, expected->flags, n) != 0) return FALSE;
    for (gsize i = 0; i < n; i++) {
        if (is->span[i] != expected->span[i] || !span_id_equal(is->missing[i], expected->missing[i])) return FALSE;
    }
    return TRUE;
}

/* Ids that are in the tree, are missing in it, or are new. */
static SpanId some_id(const CallTree *tree, guint8 choice) {
    const guint32 node = choice % 128 % tree->n_nodes;
    if (choice >= 128 || node == 0) return (SpanId){TRACE, G_GUINT64_CONSTANT(0x1000) + choice % 128};
    return tree->span[node] != NULL ? tree->span[node]->id : tree->missing[node];
}

static void write_late(const CallTree *tree, Bytes choices, GByteArray *out) {
    const guint8 *at = choices.data;
    for (gsize n = MIN(choices.size_bytes / LATE_BYTES, LATE_MOST); n > 0; n--, at += LATE_BYTES) {
        const SpanRec head = {.id = some_id(tree, at[0]),
                              .begin_ns = tree->begin_ns / 2 + at[2] % 64,
                              .duration_ns = (gint8)at[3],
                              .name = 1};
        SpanBuilder builder = span_builder_begin(out, &head);
        for (guint parents = at[2] / 64; parents > 0 && parents < 3; parents--)
            span_builder_parent(&builder, some_id(tree, (guint8)(at[1] + parents - 1)));
        span_builder_end(&builder);
    }
}

static void grow(const CallTree *old, gboolean is_true, const GByteArray *bytes, Bytes choices) {
    g_autoptr(GByteArray) late_bytes = g_byte_array_new();
    write_late(old, choices, late_bytes);
    g_autoptr(GPtrArray) late = spans_in(late_bytes), all = spans_in(bytes);
    TreeGrowth growth;
    if (late->len == 0) return;
    if (!tree_grow(old, (Spans)(gconstpointer)late->pdata, late->len, TOLERANCE_NS, &growth)) return;
    check_tree(growth.tree);
    g_assert_cmpuint(growth.tree->n_spans, ==, old->n_spans + late->len);
    for (guint32 i = 0; i < growth.tree->n_nodes; i++) g_assert_cmpuint(growth.was[i], <, old->n_nodes);
    g_ptr_array_extend(all, late, NULL, NULL);
    g_autoptr(CallTree) built = tree_build((Spans)(gconstpointer)all->pdata, all->len, TOLERANCE_NS, NULL);
    g_assert_true(!is_true || is_same(growth.tree, built));
    tree_free(growth.tree);
    g_free(growth.was);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bytes rest = {data, size}, stored, record;
    if (!take(&rest, &stored) || !take(&rest, &record)) return 0;
    g_autoptr(Pattern) pattern = pattern_decode(stored, NULL);
    if (pattern == NULL) return 0;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(TreePlace));
    const RecordSource source = {record, {NULL, 0}, pattern, TRACE};
    if (!record_decode_places(&source, bytes, places, NULL)) return 0;
    g_autofree guint32 *node_of = g_new(guint32, places->len);
    g_autoptr(CallTree) tree =
        tree_restore((const TreePlace *)(gconstpointer)places->data, places->len, bytes->data, TOLERANCE_NS, node_of);
    if (tree == NULL) return 0;
    check_tree(tree);
    for (guint32 i = 0; i < tree->n_nodes; i++) g_assert_cmpuint(node_of[i], <, pattern->n_nodes);
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(CallTree) built = tree_build((Spans)(gconstpointer)spans->pdata, spans->len, TOLERANCE_NS, NULL);
    grow(tree, is_same(tree, built), bytes, rest);
    return 0;
}
