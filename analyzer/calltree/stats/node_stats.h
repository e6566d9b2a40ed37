/* The figures of one function or of one pattern node. */
#pragma once

#include "analyzer/calltree/stats/dist.h"

/* Counters of a node, each once: X(NAME, field). The stored form has them in this order, so new ones come last. */
#define NODE_COUNTERS(X)                                                                                               \
    X(SELF, self_ns)                                                                                                   \
    X(CRITICAL, critical_ns)                                                                                           \
    X(ZERO_BYTES, zero_byte_calls)                                                                                     \
    X(SMALL, small_calls)              /* bytes < 4 KiB, zero included */                                              \
    X(MILLISECONDS, millisecond_calls) /* whose times have no finer digits */                                          \
    X(REVERSED, reversed_calls)                                                                                        \
    X(OUTSIDE, outside_parent_calls)                                                                                   \
    X(ORPHAN, orphan_calls)
#define NODE_COUNTER_FIELD(name, field) gint64 field;
#define NODE_COUNTER_INDEX(name, field) COUNT_##name,

enum { DIST_DURATION, DIST_BYTES, DIST_RATE, DISTS };
enum { NODE_COUNTERS(NODE_COUNTER_INDEX) COUNTERS };

/* In a row of a pattern on one host the distributions are summaries (dist_is_summary()). */
typedef struct NodeStats {
    Dist duration; /* ns; its count is the number of calls. Reversed spans count as 0 */
    Dist bytes;    /* of calls that recorded them */
    Dist rate;     /* bytes per second of calls with bytes and a duration > 0 */
    NODE_COUNTERS(NODE_COUNTER_FIELD)
} NodeStats;
