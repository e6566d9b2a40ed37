/* The stored form of one node's figures; stats_code.c describes it. */
#pragma once

#include "analyzer/calltree/dist_builder.h"
#include "analyzer/calltree/stats.h"

enum { DIST_DURATION, DIST_BYTES, DIST_RATE, DISTS };
enum {
    COUNT_SELF,
    COUNT_CRITICAL,
    COUNT_ZERO_BYTES,
    COUNT_SMALL,
    COUNT_MILLISECONDS,
    COUNT_REVERSED,
    COUNT_OUTSIDE,
    COUNT_ORPHAN,
    COUNTERS
};
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

/* A node that is summed and written once. All zero is empty. */
typedef struct NodeBuilder {
    DistBuilder dists[DISTS];
    gint64 counters[COUNTERS];
} NodeBuilder;
guint node_builder_bits(const NodeBuilder *builder);
void node_builder_put(NodeBuilder *builder, guint bits, GByteArray *out); /* and is empty again */
gboolean node_builder_get(NodeBuilder *builder, ByteReader *reader);

/* A node of a pattern on one host: signed sums, all of which wrap. */
typedef struct NodeSums {
    gint64 calls, total_ns;
    Wide squares;
    gint64 byte_calls, bytes;
    gint64 counters[COUNTERS];
} NodeSums;
void node_sums_add(NodeSums *into, const NodeSums *from);
gboolean node_sums_empty(const NodeSums *sums);
void node_sums_put(const NodeSums *sums, GByteArray *out);
gboolean node_sums_get(NodeSums *sums, ByteReader *reader);
/* Adds them to a node in memory. */
void node_sums_apply(const NodeSums *sums, NodeStats *stats);
