/* The inside of a Compressor, for tests: they narrow shapes.hash_mask to make shapes collide. */
#pragma once

#include "analyzer/calltree/process_cache.h"
#include "analyzer/calltree/shapes.h"

#define LEAF_CACHE_SIZE 512u /* a power of two; functions without calls below them mostly fit */

/* Most spans are leaves, and their shape is known from their root alone. */
typedef struct LeafEntry {
    ShapeRoot root;
    guint32 shape_1; /* its number + 1; 0: empty */
} LeafEntry;

/* And of most others that of their root and of their children, which are all alike. */
typedef struct ChainEntry {
    ShapeRoot root;
    guint32 child;
    guint32 shape_1;
} ChainEntry;

struct Compressor {
    Shapes shapes;
    LeafEntry leaves[LEAF_CACHE_SIZE];
    ChainEntry chains[LEAF_CACHE_SIZE];
    ProcessCache processes;
    gsize max_bytes;
    guint32 max_shapes;
    /* Scratch, per node of the tree at hand. */
    ShapeRoot *root;
    guint32 *shape;
    guint32 *list;
    guint32 nodes_room;
    /* Per shape: the number of the node whose child it was last seen as. */
    guint32 *seen;
    guint32 seen_room;
    guint32 seen_now;
};
