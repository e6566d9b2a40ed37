/* Statistics per function and per pattern node: what is kept, how it is merged, its stored form.
 * (docs/call-trees.md, "Statistics".)
 *
 * Rows come in two sorts. A row of all hosts together holds NodeStats for some node numbers: pattern nodes in a
 * pattern's row, node 0 alone in a function's row. Rows by host lie many in one value, that of a cell: a block of hosts
 * whose ids are neighbours. A function's row of one host holds the same figures as that of all; a pattern's holds only
 * sums, so that it can be taken back by subtraction, and no bytes per second. Rows of finer levels merge to those of
 * coarser ones. A function's call counts in the bucket of the call's own begin; a pattern's nodes all count in the
 * bucket of their trace's begin. Virtual nodes, which have no host, count in a pattern's row of all hosts: the trace
 * (node 0) from its first begin to its last end, a placeholder from the first begin to the last end of its children. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "analyzer/calltree/stats/dist.h"
#include "analyzer/calltree/stats/node_stats.h"
#include "analyzer/calltree/times.h"

/* STATS_TAKEN: what was taken away from rows of all hosts of patterns, because the trace has changed. STATS_FAILED: of
 * the calls in a function's row those that failed, in a row of the same form. (Only those of minutes by host are read;
 * the others are there because all kinds are kept in the same way.) */
typedef enum { STATS_FUNCTION, STATS_PATTERN, STATS_TAKEN, STATS_FAILED, STATS_KINDS } StatsKind;
typedef enum { LEVEL_MINUTE, LEVEL_HOUR, LEVEL_DAY, LEVEL_COUNT } StatsLevel;

typedef struct StatsKey {
    StatsLevel level;
    StatsKind kind;
    guint32 bucket; /* time since the epoch in units of the level; times outside are counted in the nearest bucket */
    guint32 object; /* dictionary id of the function, or the store's number of the pattern */
    guint32 role;   /* Role of a function; 0 for patterns */
    guint32 cell;   /* 0: all hosts together; else stats_cell() of the hosts */
    guint32 host;   /* of one row of a cell, in memory; no part of stored keys */
} StatsKey;

/* Few enough cells that a group of thousands of hosts writes few keys, small enough ones that a question about one host
 * reads little: 3,000 hosts lie in some ten cells of 50 to 100 KB. (Processes take dictionary ids beside hosts.) */
#define STATS_CELL_BITS 9u
#define STATS_CELLS_MAX 65535u
static inline guint32 stats_cell(guint32 host) { return 1 + MIN(host >> STATS_CELL_BITS, STATS_CELLS_MAX - 1); }

gint64 stats_bucket_ns(StatsLevel level); /* length of a bucket */
guint32 stats_bucket(StatsLevel level, gint64 time_ns);

void node_stats_init(NodeStats *stats);
void node_stats_clear(NodeStats *stats);
void node_stats_merge(NodeStats *into, const NodeStats *from);
/* Memory beside the struct itself; roughly. */
gsize node_stats_bytes(const NodeStats *stats);

/* A row in memory: node number -> NodeStats. */
typedef struct StatsRow StatsRow;
StatsRow *stats_row_new(void);
void stats_row_free(StatsRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsRow, stats_row_free)
NodeStats *stats_row_node(StatsRow *row, guint32 node); /* made when missing; valid until the next call */
guint stats_row_size(const StatsRow *row);
gsize stats_row_bytes(const StatsRow *row);                     /* of memory; roughly */
NodeStats *stats_row_at(StatsRow *row, guint i, guint32 *node); /* by ascending node number */
void stats_row_merge(StatsRow *into, StatsRow *from);           /* for tests */
/* Takes away what was merged in (dist_take()), and drops nodes with nothing left. FALSE, and the row is of no use: it
 * was never in it. */
gboolean stats_row_take(StatsRow *from, StatsRow *what);
/* The value of a row of all hosts together. */
void stats_row_encode(StatsRow *row, GByteArray *out); /* for tests */
/* FALSE: malformed, or no row of all hosts; a part may have been merged, so *into is of no use then. */
gboolean stats_row_merge_encoded(StatsRow *into, Bytes value);

/* ---- values: what is stored under a key ---- */

/* Combines values of one key, in any order and grouping. FALSE: malformed, or of keys of different sorts. */
gboolean stats_value_merge(const Bytes *values, gsize n, GByteArray *out);
/* Is nothing left in it? Such a value is as good as none. */
gboolean stats_value_empty(Bytes value);

/* Walks the hosts of a cell's value, ascending: begin, then next until FALSE. */
typedef struct StatsHosts {
    guint32 host; /* the current one */
    Bytes row;    /* its row */
    gboolean sums;
    gboolean failed; /* malformed: ask after the walk */
    ByteReader reader;
    guint64 expected;
} StatsHosts;
void stats_hosts_begin(StatsHosts *hosts, Bytes value);
gboolean stats_hosts_next(StatsHosts *hosts);
/* Adds the current host's row. FALSE: malformed. */
gboolean stats_hosts_merge(const StatsHosts *hosts, StatsRow *into);

/* ---- weights: what can be told of a stored row without building it ---- */

typedef struct NodeWeight {
    guint32 node;
    gint64 calls, total_ns, self_ns, critical_ns; /* where sums are signed, so are these */
} NodeWeight;
typedef void (*NodeWeightVisit)(void *arg, const NodeWeight *weight);
/* Of the nodes of a row of all hosts, or of the current host of a cell. FALSE: malformed; some may have been seen. */
gboolean stats_value_weigh(Bytes value, NodeWeightVisit visit, void *arg);
gboolean stats_hosts_weigh(const StatsHosts *hosts, NodeWeightVisit visit, void *arg);

/* A value taken apart: the row of all hosts, or one row for each host of a cell, with 'host' in the key. FALSE:
 * malformed; some may have been visited. */
typedef void (*StatsRowVisit)(void *arg, const StatsKey *key, StatsRow *row);
gboolean stats_value_visit(const StatsKey *key, Bytes value, StatsRowVisit visit, void *arg);
