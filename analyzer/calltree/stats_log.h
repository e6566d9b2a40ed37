/* The inside of a StatsGroup: logs of calls, by host, and what their entries refer to. */
#pragma once

#include "analyzer/calltree/key_table.h"
#include "analyzer/calltree/lookup.h"
#include "analyzer/calltree/stats_group.h"
#include "analyzer/calltree/varint.h"

#define NOTHING G_MAXUINT32

/* ---- memory that is given back all at once ---- */

#define ARENA_BLOCK_BYTES (128u * 1024)

typedef struct Arena {
    GPtrArray *blocks; /* of ARENA_BLOCK_BYTES; kept when emptied */
    guint in_use;
    guint at; /* in the last block in use */
} Arena;

/* ---- calls ---- */

enum {
    CALL_SELF = 1 << 0,     /* self time is not the duration */
    CALL_CRITICAL = 1 << 1, /* critical-path time is neither the self time nor 0 */
    CALL_OFF_PATH = 1 << 2, /* critical-path time is 0, self time is not */
    CALL_BYTES = 1 << 3,
    CALL_MILLISECONDS = 1 << 4,
    CALL_OUTSIDE = 1 << 5,
    CALL_ORPHAN = 1 << 6,
    CALL_REVERSED = 1 << 7,
    CALL_PLACE = 1 << 8,    /* no call: only what its neighbours can change */
    CALL_NEGATIVE = 1 << 9, /* all of it with a minus sign */
};

typedef struct Call {
    guint32 target;
    guint32 flags;
    guint64 duration_ns;
    gint64 self_ns, critical_ns;
    guint64 bytes;
} Call;

#define CALL_MAX_BYTES 64u

typedef struct LogChunk {
    struct LogChunk *next;
    guint32 used, room;
    guint8 bytes[];
} LogChunk;

typedef struct CallLog {
    guint32 host;
    LogChunk *first, *last;
} CallLog;

void log_grow(CallLog *log, Arena *arena);

static inline guint64 log_zigzag(gint64 value) { return (guint64)value << 1 ^ (guint64)(value >> 63); }
static inline gint64 log_unzigzag(guint64 coded) { return (gint64)(coded >> 1) ^ -(gint64)(coded & 1); }

/* call->flags: those of its own; what can be told from times is added. */
static inline void log_put(CallLog *log, Arena *arena, const Call *call) {
    if (log->last == NULL || log->last->used + CALL_MAX_BYTES > log->last->room) log_grow(log, arena);
    guint8 *begin = log->last->bytes + log->last->used, *at = put_varint(begin, call->target);
    gint64 waited_ns = (gint64)(call->duration_ns - (guint64)call->self_ns);
    guint32 flags = call->flags | (waited_ns != 0 ? CALL_SELF : 0);
    if (call->critical_ns != call->self_ns) flags |= call->critical_ns == 0 ? CALL_OFF_PATH : CALL_CRITICAL;
    at = put_varint(at, flags);
    at = put_varint(at, call->duration_ns);
    if (flags & CALL_SELF) at = put_varint(at, log_zigzag(waited_ns));
    if (flags & CALL_CRITICAL) at = put_varint(at, log_zigzag(call->self_ns - call->critical_ns));
    if (flags & CALL_BYTES) at = put_varint(at, call->bytes);
    log->last->used += (guint32)(at - begin);
}

/* Of what log_put() wrote. */
static inline const guint8 *log_get_varint(const guint8 *at, guint64 *value) {
    guint64 read = *at & 0x7f;
    for (guint shift = 7; *at++ >= 0x80; shift += 7) read |= (guint64)(*at & 0x7f) << shift;
    *value = read;
    return at;
}

static inline const guint8 *log_get(const guint8 *at, Call *call) {
    guint64 target, flags, coded;
    at = log_get_varint(at, &target);
    at = log_get_varint(at, &flags);
    at = log_get_varint(at, &call->duration_ns);
    call->target = (guint32)target;
    call->flags = (guint32)flags;
    call->self_ns = (gint64)call->duration_ns;
    call->bytes = 0;
    if (flags & CALL_SELF) {
        at = log_get_varint(at, &coded);
        call->self_ns = (gint64)(call->duration_ns - (guint64)log_unzigzag(coded));
    }
    call->critical_ns = flags & CALL_OFF_PATH ? 0 : call->self_ns;
    if (flags & CALL_CRITICAL) {
        at = log_get_varint(at, &coded);
        call->critical_ns = call->self_ns - log_unzigzag(coded);
    }
    if (flags & CALL_BYTES) at = log_get_varint(at, &call->bytes);
    return at;
}

/* ---- the group ---- */

/* Where a call counts: in a node of a pattern's row, in a function's row, or both. */
typedef struct Target {
    guint32 pattern;     /* number of the pattern's row, NOTHING: none */
    guint32 node;        /* of the pattern */
    guint32 function;    /* number of the function's row, NOTHING: none */
    gboolean hosts_only; /* not in rows of all hosts together */
    guint32 calls, byte_calls, rates;
} Target;

/* A pattern's row: its nodes' targets for calls that begin in the minute of their trace. */
typedef struct PatternRow {
    guint32 *targets; /* number + 1, 0: not there yet */
    guint32 n_nodes;
} PatternRow;

#define TRACER_CACHE 1024u /* a power of two */

typedef struct TracerEntry {
    guint32 tracer;
    guint32 role;
    guint32 log;
    gboolean known;
} TracerEntry;

struct StatsGroup {
    const Lookup *lookup;
    gboolean by_host;
    TracerEntry tracers[TRACER_CACHE];
    KeyTable hosts;     /* host -> number in logs */
    KeyTable patterns;  /* minute, pattern -> number in pattern_rows */
    KeyTable functions; /* minute, function, role */
    KeyTable targets;   /* pattern row, node, function row, hosts_only -> number in target_list */
    GArray *logs;       /* CallLog */
    GArray *pattern_rows;
    GArray *target_list;
    CallLog virtual; /* nodes without a host */
    Arena arena;
    gsize pattern_bytes; /* of targets of pattern rows */
    gsize values;        /* how many numbers sealing will lay out */
};
