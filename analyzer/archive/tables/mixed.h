/* Mixed patterns: where traces of rare shapes are counted.
 *
 * A trace that lost a span, or that is one large job among others, has a shape of its own. To keep rows for each would
 * let everything grow with the number of traces. So a shape that is rare (patterns.h) gets no number and no rows: its
 * record has the shape within, and the trace is counted in the mixed pattern of its root: a tree in which all calls
 * that have the same path of (function, role) from the root are one node. Nothing is lost by it: records give back
 * every span, functions' rows are as ever, and a mixed pattern's node holds the statistics of all calls of its path.
 *
 * A mixed pattern's number is MIXED_NUMBER and more. Its nodes are numbered in the order in which writers met them, and
 * only ever added; a row of statistics goes by these numbers. Readers see it in pre-order, with the way from one to the
 * other. Nodes are stored as patterns are: with the first group that is committed after they were met. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "common/store/store.h"

#define MIXED_NUMBER 0x80000000u
static inline gboolean pattern_is_mixed(guint32 number) { return number >= MIXED_NUMBER; }

/* How many there may be: one for each root function, then one for all others; and of how many nodes, each and together
 * (24 bytes each). Calls that find no room are those of one node, "(other calls)". What a store counts follows from
 * these: they may not change between its programs. */
#define MIXED_PATTERNS_MAX 1024u
#define MIXED_NODES_EACH   4096u
#define MIXED_NODES_ALL    262144u

typedef struct MixedTable MixedTable;
/* Reads all. */
MixedTable *mixed_table_open(Store *store, const Lookup *lookup, GError **error);
void mixed_table_free(MixedTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MixedTable, mixed_table_free)

/* All of these: any thread. */

/* Where traces of this shape are counted: by its first root, in the order of the pattern. Made when new. */
guint32 mixed_table_number(MixedTable *table, const Pattern *shape);
/* row_of has shape->n_nodes entries: the node of the row for each of the shape's. add: those that lack are made, else
 * FALSE when one lacks. */
gboolean mixed_table_rows(MixedTable *table, guint32 number, const Pattern *shape, gboolean add, guint32 *row_of);
/* Is this the number that traces of the shape are counted under? */
gboolean mixed_table_fits(MixedTable *table, guint32 number, const Pattern *shape);

guint32 mixed_table_count(MixedTable *table);              /* numbers are MIXED_NUMBER + 1 .. + count */
guint32 mixed_table_find(MixedTable *table, PatternId id); /* 0: unknown */
gboolean mixed_table_id(MixedTable *table, guint32 number, PatternId *id);
/* As it is now: a new reference, NULL when there is none. Its id is made of its root alone, and stays. *node_of has *n
 * entries, freed by the caller: the node for each of a row's. */
Pattern *mixed_table_pattern(MixedTable *table, guint32 number, guint32 **node_of, guint32 *n);

/* Adds what is not stored yet to a batch, and returns what to pass to mixed_table_stored() when that was written. */
guint64 mixed_table_put(MixedTable *table, StoreBatch *batch);
void mixed_table_stored(MixedTable *table, guint64 upto);
