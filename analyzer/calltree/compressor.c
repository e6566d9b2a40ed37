#include "analyzer/calltree/compressor.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/pattern.h"

/* A shape with its children and its share of a pattern: what max_shapes of them may take. A trace of a million distinct
 * shapes below one node makes lists of any length, so their number alone bounds nothing. */
#define BYTES_PER_SHAPE 256u
/* Scratch for more nodes than this is given back after use. */
#define SCRATCH_KEPT 65536u

Compressor *compressor_new(const Lookup *lookup, guint32 max_shapes) {
    Compressor *compressor = g_new0(Compressor, 1);
    shapes_init(&compressor->shapes, lookup);
    compressor->processes.lookup = lookup;
    compressor->max_shapes = max_shapes;
    compressor->max_bytes = (gsize)max_shapes * BYTES_PER_SHAPE;
    return compressor;
}

static void scratch_clear(Compressor *compressor) {
    g_clear_pointer(&compressor->root, g_free);
    g_clear_pointer(&compressor->shape, g_free);
    g_clear_pointer(&compressor->list, g_free);
    g_clear_pointer(&compressor->seen, g_free);
    compressor->nodes_room = compressor->seen_room = compressor->seen_now = 0;
}

void compressor_free(Compressor *compressor) {
    if (compressor == NULL) return;
    shapes_clear(&compressor->shapes);
    scratch_clear(compressor);
    g_free(compressor);
}

static void scratch_reserve(Compressor *compressor, guint32 n_nodes) {
    if (n_nodes <= compressor->nodes_room) return;
    guint32 room = MAX(n_nodes, 256u);
    compressor->root = g_renew(ShapeRoot, compressor->root, room);
    compressor->shape = g_renew(guint32, compressor->shape, room);
    compressor->list = g_renew(guint32, compressor->list, room);
    compressor->nodes_room = room;
}

/* Between two trees: what was learnt may be forgotten. */
static void begin_tree(Compressor *compressor, guint32 n_nodes) {
    const Shapes *shapes = &compressor->shapes;
    if (shapes->n_shapes > compressor->max_shapes || shapes_bytes(shapes) > compressor->max_bytes) {
        /* The table of a fresh start counts too: a tiny bound must not reset for nothing but that. */
        if (shapes->n_shapes > 0) {
            shapes_reset(&compressor->shapes);
            memset(compressor->leaves, 0, sizeof compressor->leaves);
            memset(compressor->chains, 0, sizeof compressor->chains);
        }
    }
    scratch_reserve(compressor, n_nodes);
}

static void end_tree(Compressor *compressor) {
    if (compressor->nodes_room > SCRATCH_KEPT) scratch_clear(compressor);
}

static void seen_reserve(Compressor *compressor) {
    guint32 n = compressor->shapes.n_shapes;
    if (n <= compressor->seen_room) return;
    guint32 room = MAX(1024u, n * 2);
    compressor->seen = g_renew(guint32, compressor->seen, room);
    memset(compressor->seen + compressor->seen_room, 0, (room - compressor->seen_room) * sizeof(guint32));
    compressor->seen_room = room;
}

static int by_number(const void *a, const void *b) {
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

static void sort_numbers(guint32 *at, guint32 n) {
    if (n > 16) {
        qsort(at, n, sizeof *at, by_number);
        return;
    }
    for (guint32 i = 1; i < n; i++) {
        guint32 number = at[i], j = i;
        for (; j > 0 && at[j - 1] > number; j--) at[j] = at[j - 1];
        at[j] = number;
    }
}

/* The distinct shapes of a node's children, ascending. */
static guint32 list_children(Compressor *compressor, const guint32 *end, guint32 node) {
    const guint32 *shape = compressor->shape;
    guint32 n = 0;
    seen_reserve(compressor);
    if (++compressor->seen_now == 0) {
        memset(compressor->seen, 0, compressor->seen_room * sizeof(guint32));
        compressor->seen_now = 1;
    }
    for (guint32 c = node + 1; c < end[node]; c = end[c]) {
        if (compressor->seen[shape[c]] == compressor->seen_now) continue;
        compressor->seen[shape[c]] = compressor->seen_now;
        compressor->list[n++] = shape[c];
    }
    sort_numbers(compressor->list, n);
    return n;
}

static inline guint32 leaf_shape(Compressor *compressor, ShapeRoot root) {
    guint32 at = (root.name * 8u + root.role * 3u + root.kind) % LEAF_CACHE_SIZE;
    LeafEntry *entry = &compressor->leaves[at];
    if (entry->shape_1 != 0 && entry->root.name == root.name && entry->root.role == root.role &&
        entry->root.kind == root.kind) {
        return entry->shape_1 - 1;
    }
    guint32 shape = shapes_intern(&compressor->shapes, root, NULL, 0);
    *entry = (LeafEntry){root, shape + 1};
    return shape;
}

/* A node whose children are all of one shape: half of those that have any. */
static inline guint32 chain_shape(Compressor *compressor, ShapeRoot root, guint32 child) {
    guint32 at = (root.name * 8u + root.role * 3u + root.kind + child * 37u) % LEAF_CACHE_SIZE;
    ChainEntry *entry = &compressor->chains[at];
    if (entry->shape_1 != 0 && entry->child == child && entry->root.name == root.name &&
        entry->root.role == root.role && entry->root.kind == root.kind) {
        return entry->shape_1 - 1;
    }
    guint32 shape = shapes_intern(&compressor->shapes, root, &child, 1);
    *entry = (ChainEntry){root, child, shape + 1};
    return shape;
}

static inline guint32 inner_shape(Compressor *compressor, const guint32 *end, guint32 node) {
    ShapeRoot root = compressor->root[node];
    if (end[node + 1] == end[node]) return chain_shape(compressor, root, compressor->shape[node + 1]);
    guint32 n = list_children(compressor, end, node);
    if (n == 1) return chain_shape(compressor, root, compressor->list[0]);
    return shapes_intern(&compressor->shapes, root, compressor->list, n);
}

/* A forest in pre-order whose roots are in compressor->root: its pattern, and for each node its pattern node. */
static Pattern *compress(Compressor *compressor, const guint32 *parent, const guint32 *end, guint32 *node_of) {
    Shapes *shapes = &compressor->shapes;
    guint32 n = end[0], *shape = compressor->shape;
    for (guint32 i = n; i-- > 0;) {
        shape[i] = end[i] == i + 1 ? leaf_shape(compressor, compressor->root[i]) : inner_shape(compressor, end, i);
    }
    node_of[0] = 0;
    for (guint32 i = 1; i < n; i++) {
        node_of[i] = node_of[parent[i]] + shape_offset(shapes, shape[parent[i]], shape[i]);
    }
    Pattern *pattern = shapes_pattern(shapes, shape[0]);
    end_tree(compressor);
    return pattern;
}

Pattern *compressor_tree(Compressor *compressor, const CallTree *tree, guint32 *node_of) {
    begin_tree(compressor, tree->n_nodes);
    ShapeRoot *root = compressor->root;
    root[0] = (ShapeRoot){NAME_TRACE, ROLE_LOCAL, SHAPE_TRACE};
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) {
            root[i] = (ShapeRoot){NAME_MISSING, ROLE_LOCAL, SHAPE_MISSING};
        } else {
            root[i] = (ShapeRoot){span->name, process_of(&compressor->processes, span->tracer)->role, SHAPE_SPAN};
        }
    }
    return compress(compressor, tree->parent, tree->end, node_of);
}

Pattern *compressor_filter(Compressor *compressor, const Pattern *pattern, PatternKeep keep, void *arg, guint32 *map) {
    guint32 n = pattern->n_nodes, kept = 0;
    begin_tree(compressor, n);

    g_autofree guint32 *parent = g_new(guint32, n);
    g_autofree guint32 *end = g_new(guint32, n);
    g_autofree guint32 *node_of = g_new(guint32, n);
    /* map holds, until the end, each node's number among the kept or, of a dropped one, that of its nearest kept
     * ancestor. */
    g_autofree guint8 *dropped = g_new0(guint8, n);

    for (guint32 i = 0; i < n; i++) {
        const PatternNode *node = &pattern->nodes[i];
        dropped[i] = i > 0 && !keep(arg, node);
        guint32 above = i == 0 ? 0 : map[node->parent];
        map[i] = dropped[i] ? above : kept;
        if (dropped[i]) continue;
        guint16 kind = i == 0 ? SHAPE_TRACE : node->name == NAME_MISSING ? SHAPE_MISSING : SHAPE_SPAN;
        compressor->root[kept] = (ShapeRoot){node->name, (guint16)node->role, kind};
        parent[kept] = above;
        end[kept] = kept + 1;
        kept++;
    }

    for (guint32 i = kept; i-- > 1;) end[parent[i]] = MAX(end[parent[i]], end[i]);
    Pattern *filtered = compress(compressor, parent, end, node_of);
    for (guint32 i = 0; i < n; i++) map[i] = dropped[i] ? G_MAXUINT32 : node_of[map[i]];
    return filtered;
}
