/* The digest of a shape is SHA-256 over: its kind, one byte ('T' trace, 'S' span, 'M' missing parent); the name of its
 * role and a zero byte; the length of its name as varint, and the name; the number of its children as varint, and their
 * digests (32 bytes each) in canonical order. This never changes: pattern ids are made of it. */
#include "analyzer/calltree/shapes.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_TABLE 256u

void shapes_init(Shapes *shapes, const Lookup *lookup) {
    memset(shapes, 0, sizeof *shapes);
    shapes->lookup = lookup;
    shapes->hash_mask = G_MAXUINT32;
    shapes->seed = ((guint64)g_random_int() << 32 | g_random_int()) | 1;
    shapes->checksum = g_checksum_new(G_CHECKSUM_SHA256);
    shapes->table_size = FIRST_TABLE;
    shapes->table = g_new0(guint32, FIRST_TABLE);
}

static void drop_patterns(Shapes *shapes) {
    for (guint32 i = 0; i < shapes->n_shapes; i++) pattern_unref(shapes->shapes[i].pattern);
    shapes->n_shapes = 0;
    shapes->pattern_bytes = 0;
}

void shapes_reset(Shapes *shapes) {
    drop_patterns(shapes);
    shapes->n_children = shapes->shapes_room = shapes->children_room = 0;
    g_clear_pointer(&shapes->shapes, g_free);
    g_clear_pointer(&shapes->children, g_free);
    g_free(shapes->table);
    shapes->table_size = FIRST_TABLE;
    shapes->table = g_new0(guint32, FIRST_TABLE);
}

void shapes_clear(Shapes *shapes) {
    drop_patterns(shapes);
    g_free(shapes->shapes);
    g_free(shapes->children);
    g_free(shapes->table);
    if (shapes->checksum != NULL) g_checksum_free(shapes->checksum);
    memset(shapes, 0, sizeof *shapes);
}

gsize shapes_bytes(const Shapes *shapes) {
    return shapes->n_shapes * sizeof(Shape) + shapes->n_children * sizeof(ShapeChild) +
           shapes->table_size * sizeof(guint32) + shapes->pattern_bytes;
}

static inline guint64 mix(guint64 h, guint64 value) {
    h = (h ^ value) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static guint32 hash_of(const Shapes *shapes, ShapeRoot root, const guint32 *children, guint32 n) {
    guint64 h = mix(shapes->seed, (guint64)root.name << 32 | (guint32)root.role << 16 | root.kind);
    for (guint32 i = 0; i < n; i++) h = mix(h, children[i]);
    h = mix(h, n + shapes->seed);
    return (guint32)(h >> 24) & shapes->hash_mask;
}

static gboolean is_shape(const Shapes *shapes, guint32 number, ShapeRoot root, const guint32 *children, guint32 n) {
    const Shape *shape = &shapes->shapes[number];
    if (shape->root.name != root.name || shape->root.role != root.role || shape->root.kind != root.kind) return FALSE;
    if (shape->n_children != n) return FALSE;
    const ShapeChild *own = shapes->children + shape->children_at;
    for (guint32 i = 0; i < n; i++) {
        if (own[i].shape != children[i]) return FALSE;
    }
    return TRUE;
}

static void grow_table(Shapes *shapes) {
    if (shapes->n_shapes * 2 < shapes->table_size) return;
    guint32 size = shapes->table_size * 2;
    guint32 *table = g_new0(guint32, size);
    for (guint32 i = 0; i < shapes->n_shapes; i++) {
        guint32 at = shapes->shapes[i].hash & (size - 1);
        while (table[at] != 0) at = (at + 1) & (size - 1);
        table[at] = i + 1;
    }
    g_free(shapes->table);
    shapes->table = table;
    shapes->table_size = size;
}

/* What canonical order looks at, gathered first: a node may have a million children. */
typedef struct Ranked {
    const char *name;
    gsize length;
    guint32 role;
    guint32 index; /* among the children by number */
    const Shape *shape;
} Ranked;

static const char *name_of(const Shapes *shapes, const Shape *shape, gsize *length) {
    *length = 0;
    if (shape->root.kind != SHAPE_SPAN) return "";
    return shapes->lookup->text(shapes->lookup->arg, shape->root.name, length);
}

/* By name, role, digest. Placeholders have no name. */
static int by_rank(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    int order = memcmp(x->name, y->name, MIN(x->length, y->length));
    if (order != 0) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    if (x->role != y->role) return x->role < y->role ? -1 : 1;
    return memcmp(x->shape->digest, y->shape->digest, SHAPE_DIGEST_BYTES);
}

static void order_children(Shapes *shapes, Shape *shape) {
    ShapeChild *children = shapes->children + shape->children_at;
    guint32 n = shape->n_children;
    g_autofree Ranked *ranked = g_new(Ranked, n);
    for (guint32 i = 0; i < n; i++) {
        const Shape *child = &shapes->shapes[children[i].shape];
        ranked[i] = (Ranked){.role = child->root.role, .index = i, .shape = child};
        ranked[i].name = name_of(shapes, child, &ranked[i].length);
    }
    if (n > 1) qsort(ranked, n, sizeof *ranked, by_rank);
    guint32 offset = 1;
    for (guint32 i = 0; i < n; i++) {
        ShapeChild *child = &children[ranked[i].index];
        child->offset = offset;
        children[i].canonical = child->shape;
        offset += ranked[i].shape->n_nodes;
    }
    shape->n_nodes = offset;
}

static void checksum_varint(GChecksum *checksum, guint64 value) {
    guint8 coded[10];
    gssize size = 0;
    for (; value >= 0x80; value >>= 7) coded[size++] = (guint8)(value | 0x80);
    coded[size++] = (guint8)value;
    g_checksum_update(checksum, coded, size);
}

static void compute_digest(Shapes *shapes, Shape *shape) {
    static const guint8 kinds[] = {'T', 'S', 'M'};
    GChecksum *checksum = shapes->checksum;
    g_checksum_reset(checksum);
    g_checksum_update(checksum, &kinds[shape->root.kind], 1);
    const char *role = role_name((Role)shape->root.role);
    g_checksum_update(checksum, (const guchar *)role, (gssize)strlen(role) + 1);
    gsize length;
    const char *name = name_of(shapes, shape, &length);
    checksum_varint(checksum, length);
    g_checksum_update(checksum, (const guchar *)name, (gssize)length);
    checksum_varint(checksum, shape->n_children);
    const ShapeChild *children = shapes->children + shape->children_at;
    for (guint32 i = 0; i < shape->n_children; i++) {
        g_checksum_update(checksum, shapes->shapes[children[i].canonical].digest, SHAPE_DIGEST_BYTES);
    }
    gsize size = SHAPE_DIGEST_BYTES;
    g_checksum_get_digest(checksum, shape->digest, &size);
}

static guint32 add_shape(Shapes *shapes, ShapeRoot root, const guint32 *children, guint32 n) {
    if (shapes->n_shapes == shapes->shapes_room) {
        shapes->shapes_room = MAX(64u, shapes->shapes_room * 2);
        shapes->shapes = g_renew(Shape, shapes->shapes, shapes->shapes_room);
    }
    /* Never NULL from here on: shapes without children point into it, too. */
    if (shapes->children == NULL || n > shapes->children_room - shapes->n_children) {
        shapes->children_room = MAX(shapes->n_children + MAX(n, 64u), shapes->children_room * 2);
        shapes->children = g_renew(ShapeChild, shapes->children, shapes->children_room);
    }
    Shape *shape = &shapes->shapes[shapes->n_shapes];
    *shape = (Shape){.root = root, .n_children = n, .children_at = shapes->n_children};
    for (guint32 i = 0; i < n; i++) shapes->children[shapes->n_children + i].shape = children[i];
    shapes->n_children += n;
    order_children(shapes, shape);
    compute_digest(shapes, shape);
    return shapes->n_shapes++;
}

guint32 shapes_intern(Shapes *shapes, ShapeRoot root, const guint32 *children, guint32 n) {
    guint32 hash = hash_of(shapes, root, children, n);
    guint32 at = hash & (shapes->table_size - 1);
    for (; shapes->table[at] != 0; at = (at + 1) & (shapes->table_size - 1)) {
        guint32 number = shapes->table[at] - 1;
        if (shapes->shapes[number].hash == hash && is_shape(shapes, number, root, children, n)) return number;
    }
    guint32 number = add_shape(shapes, root, children, n);
    shapes->shapes[number].hash = hash;
    shapes->table[at] = number + 1;
    grow_table(shapes);
    return number;
}

static gsize pattern_size(guint32 n_nodes) { return sizeof(Pattern) + n_nodes * sizeof(PatternNode); }

static Pattern *pattern_make(const Shapes *shapes, guint32 number) {
    const Shape *shape = &shapes->shapes[number];
    Pattern *pattern = g_malloc(pattern_size(shape->n_nodes));
    pattern->refs = 1;
    pattern->n_nodes = shape->n_nodes;
    memcpy(pattern->id.bytes, shape->digest, sizeof pattern->id.bytes);

    /* A node's place and parent are known before the node is reached: its 'end' holds its shape until then. */
    pattern->nodes[0].parent = 0;
    pattern->nodes[0].end = number;

    for (guint32 i = 0; i < pattern->n_nodes; i++) {
        const Shape *own = &shapes->shapes[pattern->nodes[i].end];
        const ShapeChild *children = shapes->children + own->children_at;
        pattern->nodes[i].name = own->root.name;
        pattern->nodes[i].role = own->root.role;
        pattern->nodes[i].end = i + own->n_nodes;
        for (guint32 c = 0; c < own->n_children; c++) {
            PatternNode *child = &pattern->nodes[i + children[c].offset];
            child->parent = i;
            child->end = children[c].shape;
        }
    }

    return pattern;
}

Pattern *shapes_pattern(Shapes *shapes, guint32 number) {
    Shape *shape = &shapes->shapes[number];
    if (shape->pattern != NULL) return pattern_ref(shape->pattern);
    Pattern *pattern = pattern_make(shapes, number);
    if (shape->asked) {
        shape->pattern = pattern_ref(pattern);
        shapes->pattern_bytes += pattern_size(shape->n_nodes);
    }
    shape->asked = 1;
    return pattern;
}
