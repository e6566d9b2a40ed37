/* Hash-consing of tree shapes: equal shapes get equal numbers, so that comparing two subtrees is comparing two numbers.
 *
 * A shape is a root (kind, name, role) and the set of its children's shapes. Whether two are equal is decided on these
 * themselves; the hash only says where to look. Numbers mean nothing outside one Shapes; digests are the same
 * everywhere. Children are kept twice: by number, to find one, and in canonical order (name, role, digest), in which a
 * shape is laid out in pre-order. */
#pragma once

#include "analyzer/calltree/lookup.h"
#include "analyzer/calltree/pattern.h"

#define SHAPE_DIGEST_BYTES 32

typedef enum { SHAPE_TRACE, SHAPE_SPAN, SHAPE_MISSING } ShapeKind;

typedef struct ShapeRoot {
    guint32 name;
    guint16 role;
    guint16 kind;
} ShapeRoot;

typedef struct Shape {
    ShapeRoot root;
    guint32 hash;
    guint32 n_children : 31;
    guint32 asked : 1;   /* for its pattern */
    guint32 children_at; /* in Shapes.children */
    guint32 n_nodes;     /* of the whole subtree */
    Pattern *pattern;    /* of a trace, once somebody asked twice; or NULL */
    guint8 digest[SHAPE_DIGEST_BYTES];
} Shape;

typedef struct ShapeChild {
    guint32 shape;     /* ascending */
    guint32 offset;    /* of this child's root from the parent's, in pre-order */
    guint32 canonical; /* the i-th child in canonical order */
} ShapeChild;

typedef struct Shapes {
    const Lookup *lookup;
    Shape *shapes;
    guint32 n_shapes, shapes_room;
    ShapeChild *children;
    guint32 n_children, children_room;
    guint32 *table; /* open addressing: hash -> number + 1 */
    guint32 table_size;
    guint32 hash_mask; /* all ones; tests set fewer, to make shapes collide */
    guint64 seed;
    GChecksum *checksum;
    gsize pattern_bytes; /* of the patterns that shapes hold */
} Shapes;

void shapes_init(Shapes *shapes, const Lookup *lookup);
void shapes_clear(Shapes *shapes); /* frees all */
void shapes_reset(Shapes *shapes); /* forgets all shapes */
gsize shapes_bytes(const Shapes *shapes);

/* Number of the shape; children: distinct, ascending. */
guint32 shapes_intern(Shapes *shapes, ShapeRoot root, const guint32 *children, guint32 n);
/* The pattern of a shape of kind SHAPE_TRACE: a new reference. What is asked for once is not kept: most shapes of large
 * traces never come again, and their patterns are larger than all else here. */
Pattern *shapes_pattern(Shapes *shapes, guint32 shape);

/* Offset in pre-order from a shape's root to that of a child, which it must have. */
static inline guint32 shape_offset(const Shapes *shapes, guint32 parent, guint32 child) {
    const ShapeChild *children = shapes->children + shapes->shapes[parent].children_at;
    guint32 low = 0, high = shapes->shapes[parent].n_children;
    while (high - low > 1) {
        guint32 middle = low + (high - low) / 2;
        if (children[middle].shape <= child) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return children[low].offset;
}
