/* Statistics per function and per pattern node: what is kept, how it is merged, its stored form.
 * (docs/call-trees.md, "Statistics".)
 *
 * A row belongs to one key: (level, kind, time bucket, object, role, host). Its value holds NodeStats for some node
 * numbers: pattern nodes in a pattern's row, node 0 alone in a function's row. Rows of finer levels merge to those of
 * coarser ones. A function's call counts in the bucket of the call's own begin; a pattern's nodes all count in the
 * bucket of their trace's begin. Virtual nodes count too: the trace (node 0) from its first begin to its last end, a
 * placeholder from the first begin to the last end of its children. */
#pragma once

#include "analyzer/calltree/dist.h"
#include "analyzer/calltree/pattern.h"
#include "analyzer/calltree/times.h"

typedef enum { STATS_FUNCTION, STATS_PATTERN } StatsKind;
typedef enum { LEVEL_MINUTE, LEVEL_HOUR, LEVEL_DAY, LEVEL_COUNT } StatsLevel;

typedef struct StatsKey {
    StatsLevel level;
    StatsKind kind;
    guint32 bucket; /* time since the epoch in units of the level; times outside are counted in the nearest bucket */
    guint32 object; /* dictionary id of the function, or the store's number of the pattern */
    guint32 role;   /* Role of a function; 0 for patterns */
    guint32 host;   /* dictionary id; 0 for the virtual nodes of patterns */
} StatsKey;

gint64 stats_bucket_ns(StatsLevel level); /* length of a bucket */
guint32 stats_bucket(StatsLevel level, gint64 time_ns);

typedef struct NodeStats {
    Dist duration; /* ns; its count is the number of calls. Reversed spans count as 0 */
    Dist bytes;    /* of calls that recorded them */
    Dist rate;     /* bytes per second of calls with bytes and a duration > 0 */
    gint64 self_ns;
    gint64 critical_ns;
    gint64 zero_byte_calls;
    gint64 small_calls;       /* bytes < 4 KiB, zero included */
    gint64 millisecond_calls; /* whose times have no finer digits */
    gint64 reversed_calls;
    gint64 outside_parent_calls;
    gint64 orphan_calls;
} NodeStats;

void node_stats_init(NodeStats *stats);
void node_stats_clear(NodeStats *stats);
void node_stats_merge(NodeStats *into, const NodeStats *from);

/* A row in memory: node number -> NodeStats. */
typedef struct StatsRow StatsRow;
StatsRow *stats_row_new(void);
void stats_row_free(StatsRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsRow, stats_row_free)
NodeStats *stats_row_node(StatsRow *row, guint32 node); /* made when missing; valid until the next call */
guint stats_row_size(const StatsRow *row);
NodeStats *stats_row_at(StatsRow *row, guint i, guint32 *node); /* by ascending node number */
void stats_row_merge(StatsRow *into, StatsRow *from);
/* Takes back what was merged in, and drops nodes with nothing left. FALSE: what is left cannot be told
 * (dist_subtract()); the row must then be thrown away. */
gboolean stats_row_subtract(StatsRow *from, StatsRow *what);
void stats_row_encode(StatsRow *row, GByteArray *out);
/* FALSE: malformed; a part may have been merged, so *into is of no use then. */
gboolean stats_row_merge_encoded(StatsRow *into, Bytes stored);

/* Rows under construction, from many traces. */
typedef struct StatsGroup StatsGroup;
StatsGroup *stats_group_new(const Lookup *lookup);
void stats_group_free(StatsGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsGroup, stats_group_free)
void stats_group_clear(StatsGroup *group);
gsize stats_group_size_bytes(const StatsGroup *group); /* memory held, roughly */

/* Adds the spans of a tree to the rows of their functions (minute rows). counted, when not NULL, says for each node
 * whether an earlier version of this trace has counted it: then only what its neighbours can change is added (self
 * time, critical-path time, orphan and outside-parent counts), and the caller retracts the earlier version. */
void stats_group_add_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times, const guint8 *counted);
/* Takes back, of an earlier version of a trace, what its neighbours can change. */
void stats_group_retract_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times);
/* Adds a tree to the minute row of its pattern. */
void stats_group_add_pattern(StatsGroup *group, const CallTree *tree, const TreeTimes *times, guint32 pattern,
                             const guint32 *node_of);

/* Every row, in the order of the stored keys; the row may be used until the group changes. */
typedef void (*StatsGroupVisit)(void *arg, const StatsKey *key, StatsRow *row);
void stats_group_foreach(StatsGroup *group, StatsGroupVisit visit, void *arg);
