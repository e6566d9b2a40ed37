/* The log of a StatsGroup: what each call adds to statistics, one entry behind the other. */
#pragma once

#include <glib.h>

enum {
    CALL_SELF = 1 << 0,     /* self time is not the duration */
    CALL_CRITICAL = 1 << 1, /* critical-path time is neither the self time nor 0 */
    CALL_OFF_PATH = 1 << 2, /* critical-path time is 0, self time is not */
    CALL_BYTES = 1 << 3,
    CALL_WIDE = 1 << 4, /* numbers have 64 bits, else 32 */
    CALL_MILLISECONDS = 1 << 5,
    CALL_OUTSIDE = 1 << 6,
    CALL_ORPHAN = 1 << 7,
    CALL_REVERSED = 1 << 8,
};
#define CALL_FLAG_BITS 9u

typedef struct Call {
    guint32 target; /* below 2^(32 - CALL_FLAG_BITS), more than a group and a trace have spans */
    guint32 flags;
    guint64 duration_ns;
    gint64 self_ns, critical_ns;
    guint64 bytes;
} Call;

#define CALL_MAX_WORDS 10u

/* Entries one behind the other, in blocks that go back to the system when the log is emptied: groups of several writers
 * are full at different times. */
#define LOG_FIRST_WORDS (64u * 1024)  /* of the first one: many a log is short */
#define LOG_BLOCK_WORDS (512u * 1024) /* a huge page */
typedef struct CallLog {
    guint32 **blocks; /* the first word says how many are used, itself included */
    guint n_blocks;
    guint32 *at;   /* in the last block; NULL: none */
    guint32 *last; /* where an entry can begin in it at the latest; NULL: none */
} CallLog;

/* Begins the next block. */
void log_grow(CallLog *log);
void log_empty(CallLog *log);
gsize log_size_bytes(const CallLog *log);

static inline guint32 *log_put_wide(guint32 *at, guint64 number) {
    *at++ = (guint32)number;
    *at++ = (guint32)(number >> 32);
    return at;
}

/* An entry: the host's number, a word with target and flags, the duration, and what the flags say: self time,
 * critical-path time, bytes. call->flags: those of its own; what can be told from the numbers is added. */
static inline void log_put(CallLog *log, guint32 host, const Call *call) {
    if (G_UNLIKELY(log->at == NULL || log->at > log->last)) log_grow(log);
    guint32 *at = log->at + 2;
    guint64 self_ns = (guint64)call->self_ns, critical_ns = (guint64)call->critical_ns;
    guint32 flags = call->flags | (self_ns != call->duration_ns ? CALL_SELF : 0);
    if (critical_ns != self_ns) flags |= critical_ns == 0 ? CALL_OFF_PATH : CALL_CRITICAL;
    if ((call->duration_ns | self_ns | critical_ns | call->bytes) >> 32 == 0) {
        *at++ = (guint32)call->duration_ns;
        *at = (guint32)self_ns;
        at += flags & CALL_SELF ? 1 : 0;
        *at = (guint32)critical_ns;
        at += flags & CALL_CRITICAL ? 1 : 0;
        *at = (guint32)call->bytes;
        at += flags & CALL_BYTES ? 1 : 0;
    } else {
        flags |= CALL_WIDE;
        at = log_put_wide(at, call->duration_ns);
        if (flags & CALL_SELF) at = log_put_wide(at, self_ns);
        if (flags & CALL_CRITICAL) at = log_put_wide(at, critical_ns);
        if (flags & CALL_BYTES) at = log_put_wide(at, call->bytes);
    }
    log->at[0] = host;
    log->at[1] = call->target << CALL_FLAG_BITS | flags;
    log->at = at;
}

/* How many words an entry has without its host; 'word' is the first of them. */
static inline guint32 log_words(guint32 word) {
    /* By CALL_SELF, CALL_CRITICAL, CALL_OFF_PATH (which takes none), CALL_BYTES and CALL_WIDE. */
    static const guint8 words[32] = {2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5,
                                     3, 5, 5, 7, 3, 5, 5, 7, 5, 7, 7, 9, 5, 7, 7, 9};
    return words[word % 32];
}

static inline const guint32 *log_get_number(const guint32 *at, gboolean wide, guint64 *number) {
    *number = wide ? at[0] | (guint64)at[1] << 32 : at[0];
    return at + (wide ? 2 : 1);
}

/* An entry without its host. */
static inline const guint32 *log_get(const guint32 *at, Call *call) {
    guint64 number;
    call->target = *at >> CALL_FLAG_BITS;
    call->flags = *at++ & ((1u << CALL_FLAG_BITS) - 1);
    gboolean wide = (call->flags & CALL_WIDE) != 0;
    at = log_get_number(at, wide, &call->duration_ns);
    call->self_ns = (gint64)call->duration_ns;
    call->bytes = 0;
    if (call->flags & CALL_SELF) {
        at = log_get_number(at, wide, &number);
        call->self_ns = (gint64)number;
    }
    call->critical_ns = call->flags & CALL_OFF_PATH ? 0 : call->self_ns;
    if (call->flags & CALL_CRITICAL) {
        at = log_get_number(at, wide, &number);
        call->critical_ns = (gint64)number;
    }
    if (call->flags & CALL_BYTES) at = log_get_number(at, wide, &call->bytes);
    return at;
}
