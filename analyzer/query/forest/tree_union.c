#include "analyzer/query/forest/tree_union.h"

#include "common/base/allowance.h"

typedef struct PathKey {
    guint32 parent, function, role;
    guint32 node;
} PathKey;

static guint key_hash(gconstpointer data) {
    const PathKey *key = data;
    return (key->parent * 31 + key->function) * 2654435761u + key->role;
}

static gboolean key_equal(gconstpointer left, gconstpointer right) {
    const PathKey *a = left, *b = right;
    return a->parent == b->parent && a->function == b->function && a->role == b->role;
}

static void node_clear(gpointer data) {
    UnionNode *node = data;
    node_stats_clear(&node->side[0]);
    node_stats_clear(&node->side[1]);
}

static UnionNode *node_at(TreeUnion *tree, guint32 i) { return &g_array_index(tree->nodes, UnionNode, i); }

static void append_node(TreeUnion *tree, const UnionNode *head) {
    UnionNode node = *head;
    node_stats_init(&node.side[0]);
    node_stats_init(&node.side[1]);
    g_array_append_val(tree->nodes, node);
}

TreeUnion *tree_union_new(void) {
    TreeUnion *tree = g_new0(TreeUnion, 1);
    tree->nodes = g_array_new(FALSE, FALSE, sizeof(UnionNode));
    g_array_set_clear_func(tree->nodes, node_clear);
    tree->index = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    append_node(tree, &(UnionNode){.depth = G_MAXUINT32});
    return tree;
}

void tree_union_free(TreeUnion *tree) {
    if (!tree) return;
    g_array_unref(tree->nodes);
    g_hash_table_unref(tree->index);
    g_free(tree);
}

static guint32 child_of(TreeUnion *tree, guint32 parent, const PatternNode *node) {
    PathKey key = {parent, node->name, node->role, tree->nodes->len};
    const PathKey *known = g_hash_table_lookup(tree->index, &key);
    if (known) return known->node;
    g_hash_table_add(tree->index, g_memdup2(&key, sizeof key));
    UnionNode head = {
        .function = node->name,
        .role = node->role,
        .depth = node_at(tree, parent)->depth + 1,
        .parent = parent,
    };
    append_node(tree, &head);
    UnionNode *above = node_at(tree, parent);
    if (above->last_child)
        node_at(tree, above->last_child)->next = key.node;
    else
        above->first_child = key.node;
    above->last_child = key.node;
    return key.node;
}

void tree_union_add(TreeUnion *tree, guint side, PatternSum *sum) {
    const Pattern *pattern = sum->pattern;
    g_autofree guint32 *map = g_new0(guint32, pattern->n_nodes);
    for (guint32 i = 1; i < pattern->n_nodes && allowance_goes_on(); i++) {
        map[i] = child_of(tree, map[pattern->nodes[i].parent], &pattern->nodes[i]);
        node_stats_merge(&node_at(tree, map[i])->side[side], &sum->nodes[i].stats);
    }
}

void tree_union_walk(TreeUnion *tree, TreeUnionVisit visit, void *arg) {
    guint32 at = node_at(tree, 0)->first_child;
    while (at && allowance_goes_on()) {
        visit(arg, node_at(tree, at));
        if (node_at(tree, at)->first_child) {
            at = node_at(tree, at)->first_child;
            continue;
        }
        while (at && !node_at(tree, at)->next) at = node_at(tree, at)->parent;
        if (at) at = node_at(tree, at)->next;
    }
}
