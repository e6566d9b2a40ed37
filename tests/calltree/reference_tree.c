#include "tests/calltree/reference.h"

/* ---- assembly ---- */

static RefNode *node_new(RefTree *tree, const SpanRec *span) {
    RefNode *node = g_new0(RefNode, 1);
    node->span = span;
    node->children = g_ptr_array_new();
    if (span != NULL) node->begin_ns = span->begin_ns;
    g_ptr_array_add(tree->all, node);
    return node;
}

static RefNode *find_span(RefTree *tree, SpanId id) {
    for (guint i = 0; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->span != NULL && span_id_equal(node->span->id, id)) return node;
    }
    return NULL;
}

static RefNode *find_placeholder(RefTree *tree, SpanId id) {
    for (guint i = 1; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->span == NULL && span_id_equal(node->missing, id)) return node;
    }
    return NULL;
}

static void keep_one_of_each_id(RefTree *tree, GPtrArray *spans) {
    for (guint i = 0; i < spans->len; i++) {
        const SpanRec *span = spans->pdata[i];
        gboolean keep = TRUE, same_before = FALSE, is_least = TRUE;
        for (guint j = 0; j < spans->len; j++) {
            const SpanRec *other = spans->pdata[j];
            if (!span_id_equal(span->id, other->id)) continue;
            int order = span_rec_compare(other, span, NULL);
            if (order < 0) is_least = FALSE;
            if (order == 0 && j < i) same_before = TRUE;
        }
        keep = is_least && !same_before;
        if (keep) node_new(tree, span);
        if (!is_least) tree->conflicts++;
        if (is_least && same_before) tree->duplicates++;
    }
}

static void find_first_known_parent(RefTree *tree, RefNode *node) {
    const SpanRec *span = node->span;
    if (span->n_parents == 0) {
        node->parent = tree->trace;
        tree->roots++;
        return;
    }

    for (guint i = 0; i < span->n_parents && node->parent == NULL; i++) {
        node->parent = find_span(tree, span_parents(span)[i]);
    }
    if (node->parent != NULL) return;

    node->orphan = TRUE;
    tree->orphans++;
    RefNode *placeholder = find_placeholder(tree, span_parents(span)[0]);
    if (placeholder == NULL) {
        placeholder = node_new(tree, NULL);
        placeholder->missing = span_parents(span)[0];
        placeholder->begin_ns = span->begin_ns;
        placeholder->parent = tree->trace;
        tree->placeholders++;
    }

    placeholder->begin_ns = MIN(placeholder->begin_ns, span->begin_ns);
    node->parent = placeholder;
}

/* Is the node on a cycle, and the least of it? */
static gboolean is_where_to_cut(const RefTree *tree, const RefNode *node) {
    gboolean least = TRUE;
    const RefNode *at = node->parent;
    for (guint steps = 0; steps <= tree->all->len && at != NULL && at != node; steps++) {
        if (at->span != NULL && span_id_compare(at->span->id, node->span->id) < 0) least = FALSE;
        at = at->parent;
    }
    return at == node && least;
}

static SpanId id_of(const RefNode *node) { return node->span != NULL ? node->span->id : node->missing; }

static gint before_sibling(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return span_id_compare(id_of(x), id_of(y));
}

static void list_in_order(RefTree *tree, RefNode *node) {
    g_ptr_array_add(tree->in_order, node);
    g_ptr_array_sort(node->children, before_sibling);
    for (guint i = 0; i < node->children->len; i++) list_in_order(tree, node->children->pdata[i]);
}

static void flag_times(RefTree *tree, RefNode *node, gint64 tolerance_ns) {
    if (node->span == NULL) return;
    node->reversed = node->span->duration_ns < 0;
    tree->reversed += node->reversed;
    if (node->parent->span == NULL) return;
    const SpanRec *parent = node->parent->span;
    node->outside =
        node->span->begin_ns < parent->begin_ns - tolerance_ns || ref_end(node->span) > ref_end(parent) + tolerance_ns;
    tree->outside += node->outside;
}

RefTree *ref_tree_new(GPtrArray *spans, gint64 tolerance_ns) {
    RefTree *tree = g_new0(RefTree, 1);
    tree->all = g_ptr_array_new();
    tree->in_order = g_ptr_array_new();
    tree->trace = node_new(tree, NULL);
    keep_one_of_each_id(tree, spans);

    guint n = tree->all->len;
    for (guint i = 1; i < n; i++) find_first_known_parent(tree, tree->all->pdata[i]);
    for (guint i = 1; i < n; i++) {
        RefNode *node = tree->all->pdata[i];
        node->cut = is_where_to_cut(tree, node);
    }

    for (guint i = 1; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->cut) node->parent = tree->trace;
        tree->cycles += node->cut;
        g_ptr_array_add(node->parent->children, node);
        flag_times(tree, node, tolerance_ns);
    }

    list_in_order(tree, tree->trace);
    return tree;
}

void ref_tree_free(RefTree *tree) {
    if (tree == NULL) return;
    for (guint i = 0; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        g_ptr_array_unref(node->children);
        g_free(node->shape);
        g_free(node->path);
        g_free(node->work);
        g_free(node->late_answers);
        g_free(node->asked);
        g_free(node->arrives);
        g_free(node->work_scope);
        g_free(node->wait_scope);
        g_free(node);
    }
    g_ptr_array_unref(tree->all);
    g_ptr_array_unref(tree->in_order);
    g_free(tree);
}
