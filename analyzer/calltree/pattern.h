/* Compression: equal sibling subtrees become one, and what is left of a trace is its pattern.
 * (docs/call-trees.md, "Compression".)
 *
 * Two subtrees are equal when name and role of their roots are equal and their children, after compression, are
 * pairwise equal; all equal siblings merge, wherever they stand. Children of a pattern node come in canonical order: by
 * name (bytes), role, then id of the sub-pattern. Equality is decided on the shapes themselves (hash-consing), never on
 * a hash. The id is the first 16 bytes of SHA-256 over a canonical serialisation built from names, not from dictionary
 * ids, so the same shape has the same id on every machine and in every run. */
#pragma once

#include "analyzer/calltree/lookup.h"
#include "analyzer/calltree/tree.h"
#include "common/base/bytes.h"

typedef struct PatternId {
    guint8 bytes[16];
} PatternId;

#define PATTERN_ID_TEXT_BYTES 33
void pattern_id_format(PatternId id, char text[PATTERN_ID_TEXT_BYTES]);
gboolean pattern_id_parse(const char *text, gsize length, PatternId *id);

typedef struct PatternNode {
    guint32 name;   /* dictionary id, NAME_TRACE or NAME_MISSING */
    guint32 role;   /* Role */
    guint32 parent; /* pre-order numbering as in CallTree */
    guint32 end;
} PatternNode;

typedef struct Pattern {
    gint refs; /* atomic */
    PatternId id;
    guint32 n_nodes; /* node 0 is the trace */
    PatternNode nodes[];
} Pattern;

Pattern *pattern_ref(const Pattern *pattern);
void pattern_unref(Pattern *pattern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pattern, pattern_unref)

/* Does the pattern have a placeholder, that is, do its traces lack spans? */
gboolean pattern_incomplete(const Pattern *pattern);

/* Stored form of a pattern (dictionary ids inside). decode checks everything but the id's agreement with the shape. */
void pattern_encode(const Pattern *pattern, GByteArray *out);
Pattern *pattern_decode(Bytes stored, GError **error);

/* A compressor keeps the shapes it has seen, so that a trace of a known pattern costs no hashing of names. Its memory
 * is bounded: past max_shapes it starts anew (results do not change). One thread at a time. */
typedef struct Compressor Compressor;
Compressor *compressor_new(const Lookup *lookup, guint32 max_shapes);
void compressor_free(Compressor *compressor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Compressor, compressor_free)

/* Pattern of a tree, and for every node of the tree the pattern node it belongs to (node_of has tree->n_nodes
 * entries). A new reference. */
Pattern *compressor_tree(Compressor *compressor, const CallTree *tree, guint32 *node_of);

/* Which nodes of a pattern to keep: 'keep' answers per node (never asked for node 0). A dropped node's children move
 * to its nearest kept ancestor, and siblings that are equal then merge: the result is again compressed. map has
 * pattern->n_nodes entries: the new node of each old one, G_MAXUINT32 where dropped. A new reference. */
typedef gboolean (*PatternKeep)(void *arg, const PatternNode *node);
Pattern *compressor_filter(Compressor *compressor, const Pattern *pattern, PatternKeep keep, void *arg, guint32 *map);
