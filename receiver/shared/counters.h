/* What plumbd counts. Every thread that counts has a block of its own and is the only one that writes to it, so
 * counting costs a plain add; whoever asks sums the blocks. One table (counters.c) names them for /metrics and for
 * status. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

#include "common/pack/pack.h"

typedef enum {
    COUNTER_BYTES_RECEIVED,
    COUNTER_FRAMES,
    COUNTER_BATCHES,
    COUNTER_SPANS,
    COUNTER_TRY_LATER,
    COUNTER_FOREIGN_NAMES,
    COUNTER_CONNECTIONS_OPENED,
    COUNTER_CONNECTIONS_CLOSED,
    /* connections that were not let in, or that were closed by us: by reason */
    COUNTER_CLOSED_TOO_MANY,
    COUNTER_CLOSED_GAVE_WAY,
    COUNTER_CLOSED_NO_FILES,
    COUNTER_CLOSED_SLOW_FRAME,
    COUNTER_CLOSED_IDLE,
    COUNTER_CLOSED_BUFFERS,
    COUNTER_CLOSED_UNREAD,
    COUNTER_CLOSED_TLS,
    COUNTER_CLOSED_PLAIN,
    COUNTER_CLOSED_TLS_HERE,
    COUNTER_CLOSED_NO_LOGIN,
    COUNTER_CLOSED_BAD_LOGIN,
    COUNTER_CLOSED_STRANGERS,
    COUNTER_CLOSED_PER_ADDRESS,
    COUNTER_CLOSED_QUOTA,
    /* frames that were not taken as a batch: by reason */
    COUNTER_FRAME_TOO_LARGE,
    COUNTER_FRAME_GARBAGE,
    COUNTER_FRAME_CUT,
    COUNTER_FRAME_MALFORMED,
    COUNTER_FRAME_LIMIT,
    COUNTER_FRAME_UNKNOWN_CALL,
    COUNTER_FRAME_VERSION,
    COUNTER_FRAME_DENIED,
    COUNTER_FRAME_QUOTA,
    COUNTER_FRAME_FOREIGN_NAME,
    /* spans refused for good: COUNTER_REFUSED + PackResult */
    COUNTER_REFUSED,
    COUNTER_REFUSED_LAST = COUNTER_REFUSED + PACK_RESULT_COUNT - 1,
    /* traces closed: by reason */
    COUNTER_TRACE_IDLE,
    COUNTER_TRACE_AGE,
    COUNTER_TRACE_SIZE,
    COUNTER_TRACE_MEMORY,
    COUNTER_TRACE_JOURNAL,
    COUNTER_TRACE_FLUSH,
    COUNTER_TRACE_ASKED,
    COUNTER_TRACE_STOP,
    COUNTER_SPANS_STORED,
    COUNTER_SPANS_SET_ASIDE,
    COUNTER_COMMITS,
    COUNTER_COMMIT_FAILURES,
    COUNTER_SPILLED_BYTES,
    COUNTER_SPILL_FAILURES,
    COUNTER_UNSPILL_FAILURES,
    COUNTER_JOURNAL_BYTES,
    COUNTER_JOURNAL_FAILURES,
    COUNTER_RECOVERED_FRAMES,
    COUNTER_RECOVERED_SPANS,
    COUNTER_DAMAGED_RECORDS,
    COUNTER_RECORDS,
    COUNTER_RECORDS_REFUSED,
    COUNTER_RECORDS_STORED,
    COUNTER_RECORDS_UNCHANGED,
    COUNTER_RECORDS_FAILED,
    COUNTER_HTTP_REQUESTS,
    COUNTER_HTTP_REFUSED,
    COUNTER_HTTP_CUT,
    /* HTTP connections that were not let in, or that were closed by us, and requests that were not answered: by reason
     */
    COUNTER_HTTP_TOO_MANY,
    COUNTER_HTTP_GAVE_WAY,
    COUNTER_HTTP_SLOW_REQUEST,
    COUNTER_HTTP_UNREAD,
    COUNTER_HTTP_MALFORMED,
    COUNTER_HTTP_HOST,
    COUNTER_HTTP_ORIGIN,
    COUNTER_HTTP_BUFFERS,
    COUNTER_HTTP_TLS,
    COUNTER_HTTP_DENIED,
    COUNTER_HTTP_BAD_LOGIN,
    COUNTER_HTTP_QUOTA,
    COUNTER_HTTP_TICKET,
    COUNTER_POSTS,
    COUNTER_TEXTS_CUT,
    COUNTER_KAFKA_MESSAGES,
    COUNTER_KAFKA_REFUSED,
    COUNTER_KAFKA_ERRORS,
    COUNTER_COUNT
} Counter;

/* Groups that status and metrics show as {reason: count}. */
typedef enum { GROUP_NONE, GROUP_CONNECTIONS, GROUP_FRAMES, GROUP_REFUSED, GROUP_TRACES, GROUP_HTTP } CounterGroup;

typedef struct CounterInfo {
    const char *metric; /* Prometheus name, without prefix and "_total" */
    const char *help;   /* of the first of a group */
    CounterGroup group;
    const char *reason; /* NULL: not one of a group; "": not shown */
} CounterInfo;
CounterInfo counter_info(Counter counter);

typedef struct Counters {
    _Atomic guint64 values[COUNTER_COUNT];
    struct Counters *next;
} Counters;

/* All blocks of the process. Blocks live as long as the set. */
typedef struct CounterSet CounterSet;
CounterSet *counter_set_new(void);
void counter_set_free(CounterSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CounterSet, counter_set_free)
/* A block for one thread. */
Counters *counter_set_add(CounterSet *set);
guint64 counter_set_sum(CounterSet *set, Counter counter);

/* By the owner of the block only. */
static inline void counter_add(Counters *counters, Counter counter, guint64 n) {
    _Atomic guint64 *value = &counters->values[counter];
    atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + n, memory_order_relaxed);
}
