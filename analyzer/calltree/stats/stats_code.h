/* The stored form of one node's figures; stats_code.c describes it. */
#pragma once

#include "analyzer/calltree/stats/buffer.h"
#include "analyzer/calltree/stats/dist_builder.h"
#include "analyzer/calltree/stats/node_stats.h"

G_STATIC_ASSERT(sizeof(NodeStats) == DISTS * sizeof(Dist) + COUNTERS * sizeof(gint64));

/* A value's first byte. */
typedef enum { FORM_TOTAL = 1, FORM_HOSTS = 2, FORM_HOST_SUMS = 3 } ValueForm;

/* Sums of differences wrap, so that what was added can be taken back in any order. */
static inline gint64 wrap_add(gint64 a, gint64 b) { return (gint64)((guint64)a + (guint64)b); }
static inline gint64 wrap_sub(gint64 a, gint64 b) { return (gint64)((guint64)a - (guint64)b); }

static inline Dist *node_dist(NodeStats *stats, guint i) { return &(&stats->duration)[i]; }
static inline gint64 *node_counters(NodeStats *stats) { return &stats->self_ns; }

/* Which fields of a node are not empty, 0 or told by others; 0: nothing is in it. */
guint node_bits(NodeStats *stats);
/* Appends bits (not 0) and fields. */
void node_put(NodeStats *stats, guint bits, GByteArray *out);
/* Adds bits and fields; FALSE: malformed. */
gboolean node_get(NodeStats *stats, ByteReader *reader);

/* A node that is summed and written once. */
typedef struct NodeBuilder {
    DistBuilder dists[DISTS];
    gint64 counters[COUNTERS];
} NodeBuilder;
void node_builder_init(NodeBuilder *builder);
void node_builder_clear(NodeBuilder *builder);
guint node_builder_bits(const NodeBuilder *builder);
void node_builder_put(NodeBuilder *builder, guint bits, Buffer *out); /* and is empty again */
gboolean node_builder_get(NodeBuilder *builder, ByteReader *reader);

/* Of bits and fields with distributions, what sums tell; adds nothing to them. FALSE: malformed. */
typedef struct NodeSums NodeSums;
gboolean node_told(NodeSums *sums, ByteReader *reader);

/* Behind the distributions that the bits tell of: adds the COUNTERS counters. FALSE: malformed. */
gboolean node_counters_get(ByteReader *reader, guint64 bits, const gint64 calls_and_total[2], gint64 *counters);

/* A node of a pattern on one host: signed sums, all of which wrap. */
struct NodeSums {
    Wide squares;
    gint64 calls, total_ns;
    gint64 rare; /* 0: all that follows is 0, but for self and critical-path time */
    gint64 counters[COUNTERS];
    gint64 byte_calls, bytes;
};

static inline void node_sums_clear(NodeSums *sums) {
    if (sums->rare) {
        *sums = (NodeSums){.calls = 0};
        return;
    }
    sums->squares = 0;
    sums->calls = sums->total_ns = sums->counters[COUNT_SELF] = sums->counters[COUNT_CRITICAL] = 0;
}
#define NODE_SUMS_BYTES (VARINT_MAX_BYTES * (COUNTERS + 5) + 20)
void node_sums_add(NodeSums *into, const NodeSums *from);
gboolean node_sums_empty(const NodeSums *sums);
/* Into NODE_SUMS_BYTES; returns the end. */
guint8 *node_sums_put(const NodeSums *sums, guint8 *at);
/* Adds them. */
gboolean node_sums_get(NodeSums *sums, ByteReader *reader);
/* Passes them over; FALSE when node_sums_get() would be. */
gboolean node_sums_skip(ByteReader *reader);
/* What node_builder_put() writes of no more values than are kept as they are, without a builder; the numbers are those
 * of each distribution, in any order, and are sorted. Into NODE_FEW_BYTES; returns the end, 'at' when it is empty. */
typedef struct FewNumbers {
    guint64 *numbers;
    guint n; /* at most DIST_EXACT_MAX */
} FewNumbers;
#define NODE_FEW_BYTES (DISTS * DIST_EXACT_BYTES + VARINT_MAX_BYTES * (COUNTERS + 1))
guint8 *node_few_put(const FewNumbers few[DISTS], const NodeSums *sums, guint8 *at);
/* Adds them to a node in memory. */
void node_sums_apply(const NodeSums *sums, NodeStats *stats);
