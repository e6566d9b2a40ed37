/* The open traces of one shard: trace id -> the fragments that came of it, in the tight form (common/model/fragment.h).
 *
 * An open-addressing table finds them; lists order them: by age (all), and by last activity, apart for traces whose
 * root has come and for those that still wait for it, for large ones of the former, and for those asleep. What comes of
 * a trace costs a few cache misses, whatever number of spans it has: a slot of the table, the trace, and the end of its
 * bytes; open_traces_expect() has those of several fragments fetched at the same time. So that neighbours in the list
 * by activity are left alone, a trace moves to its end not at each fragment but when it is a sixteenth of 'idle' (an
 * eighth of what the list spans, if that is less) behind: order and closing times are exact to that.
 *
 * Bodies need not stay in memory (open_traces_spill_to()). Past half of memory_bytes a trace that has gathered
 * SPILL_WARM_BYTES has them written to a file, and goes on with an empty piece. Past all of it, what the coldest have
 * goes there too: they are asleep then, that is, they have little in memory and no longer count among the coldest,
 * until something comes of them. Small ones are written many at a time and shrink to 64 bytes: with its slot of the
 * table each takes 80. Only small ones that have had their root and been quiet for OPEN_COMPLETE_NS, and what finds no
 * room on the disk, have to close early.
 *
 * Memory is that of an arena and of the table's slots. When its share gets less, those that leave lie between those
 * that stay; open_traces_compact() has what is left lie together. No threads, no clock, no store: the caller says what
 * time it is and what becomes of a trace. */
#pragma once

#include "common/base/mix64.h"
#include "common/model/fragment.h"
#include "receiver/traces/arena.h"
#include "receiver/traces/spill.h"

/* A time in ticks of 2^20 ns, modulo 2^32: differences of up to 26 days. */
typedef guint32 OpenTick;

/* A write of 32 KiB costs about 10 us, of 1 KiB 1.5: 10 and 45 ns a span. A span that comes after its trace was closed
 * costs a hundred times that. */
#define SPILL_WARM_BYTES (32u * 1024)
#define SPILL_COLD_BYTES 1024u
/* No attempt for so long after one that failed. */
#define SPILL_PAUSE_NS G_GINT64_CONSTANT(5000000000)
/* After something could not be read back, nothing more is written for so long, and none of those asleep closes to make
 * room in memory. */
#define UNREADABLE_PAUSE_NS G_GINT64_CONSTANT(100000000)

/* A small trace that has its root is taken as complete when nothing came of it for so long. Senders have what they send
 * for half a second, and for some seconds more when they are told to try later. */
#define OPEN_COMPLETE_NS G_GINT64_CONSTANT(10000000000)

/* From so many spans on a trace that has its root may be given more time than others: to join late spans to a stored
 * trace costs the more, the more spans it has. Of the load of bench/ one trace in two hundred is so large. */
#define OPEN_LARGE_SPANS 1000u

/* SPILLED: a part is in the file. ASLEEP: all of it. SHRUNK: the same, of a small one without a head. */
typedef enum { KEPT_HERE, KEPT_SPILLED, KEPT_ASLEEP, KEPT_SHRUNK } OpenKept;

typedef struct OpenTrace {
    guint64 id;
    guint64 oldest_segment; /* of the journal; JOURNAL_NONE: none */
    guint32 n_spans;
    OpenTick opened, active;
    OpenTick moved; /* to the end of the list by activity */
    ArenaRef older, younger;
    ArenaRef colder, warmer;
    union {
        struct {
            guint32 size_bytes;   /* of those fragments' bodies that are in memory */
            ArenaRef first, last; /* pieces with what 'head' had no room for */
        };
        SpillPlace shrunk; /* of a KEPT_SHRUNK one, which ends before 'head' */
    };
    guint16 room; /* left in 'last', or in 'head' */
    guint8 has_root : 1, large : 1;
    guint8 kept;     /* OpenKept */
    guint8 head[64]; /* the first bytes; of a trace with a spilled part, its SpilledPart and then bytes */
} OpenTrace;

G_STATIC_ASSERT(sizeof(OpenTrace) == 128);
G_STATIC_ASSERT(offsetof(OpenTrace, head) == ARENA_UNIT_BYTES);

typedef struct OpenLimits {
    gint64 idle_ns;     /* a trace whose root has come closes after so long without a span; see set_idle() */
    gint64 max_age_ns;  /* any trace closes after so long */
    guint32 max_spans;  /* the caller looks at open_trace_full() after open_traces_add() */
    gsize max_bytes;    /* the same of bytes in the tight form, up to a quarter of SpanRecs', beyond OPEN_SPAN_BYTES a
                         * span: opening them again must not need gigabytes. 0: OPEN_TRACE_BYTES_MAX */
    gsize memory_bytes; /* past it, the coldest go to sleep or close until 15/16 of it are left */
    guint64 disk_bytes; /* for bodies that are not in memory */
} OpenLimits;

#define OPEN_TRACE_BYTES_MAX ((gsize)128 * 1024 * 1024)
#define OPEN_SPAN_BYTES      64u /* a usual one has no more: it does not count for max_bytes */

typedef enum { DUE_NOT, DUE_IDLE, DUE_AGE, DUE_MEMORY } DueReason;

typedef struct OpenTraces OpenTraces;
OpenTraces *open_traces_new(const OpenLimits *limits);
void open_traces_free(OpenTraces *traces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OpenTraces, open_traces_free)
void open_traces_set_limits(OpenTraces *traces, const OpenLimits *limits);
/* Bodies may go to a file in this folder, which must outlive the traces. Once, before there is a trace. */
void open_traces_spill_to(OpenTraces *traces, const char *folder);
/* Of the limits, memory and disk alone. */
void open_traces_set_share(OpenTraces *traces, gsize memory_bytes, guint64 disk_bytes);
/* Of the limits, idle_ns alone: of traces with less than OPEN_LARGE_SPANS, and of the others. */
void open_traces_set_idle(OpenTraces *traces, gint64 idle_ns, gint64 large_idle_ns);

/* The next n fragments, at most OPEN_TRACES_EXPECTED: has the memory fetched that adding them will need. */
#define OPEN_TRACES_EXPECTED 16u
void open_traces_expect(OpenTraces *traces, const FragmentHead *const *fragments, guint n);
/* Appends a copy of the fragment. A trace that is new here but was closed lately with its root counts as having it:
 * late spans then need not wait for max-age. */
OpenTrace *open_traces_add(OpenTraces *traces, const FragmentHead *fragment, gint64 now_ns);
gsize open_trace_bytes(const OpenTrace *trace); /* in memory and on the disk */
gboolean open_trace_full(const OpenTraces *traces, const OpenTrace *trace);
OpenTrace *open_traces_find(OpenTraces *traces, guint64 id);
/* Appends its spans as SpanRecs. FALSE: they cannot be read back, or are too many; 'records' then has some of them. */
gboolean open_traces_unpack(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error);
/* When pages are held for few pieces each, moves what lies in some of them together, and they go back to the system. A
 * little of it with each call: to be called often. No OpenTrace stays where it was. */
void open_traces_compact(OpenTraces *traces, gint64 now_ns);
/* For one that could not be unpacked: as if it had been opened just now, so that it does not keep others from closing
 * but has its turn again. */
void open_traces_put_off(OpenTraces *traces, OpenTrace *trace, gint64 now_ns);
/* Frees it. */
void open_traces_remove(OpenTraces *traces, OpenTrace *trace);

/* The next one that has to close, and why; NULL when none has to. */
OpenTrace *open_traces_due(OpenTraces *traces, gint64 now_ns, DueReason *reason);
/* When the next one will close by time; G_MAXINT64 when there is none. */
gint64 open_traces_next_due_ns(const OpenTraces *traces, gint64 now_ns);
/* Oldest first; NULL when there is none (left). */
OpenTrace *open_traces_first(OpenTraces *traces);
OpenTrace *open_traces_next(OpenTraces *traces, const OpenTrace *trace);
/* When it was opened. */
gint64 open_trace_opened_ns(const OpenTrace *trace, gint64 now_ns);

guint open_traces_count(const OpenTraces *traces);
guint64 open_traces_spans(const OpenTraces *traces);
guint open_traces_large(const OpenTraces *traces); /* that have their root */
gsize open_traces_bytes(const OpenTraces *traces);
/* What the system sees of it: pieces given back lie between those in use. */
gsize open_traces_held_bytes(const OpenTraces *traces);

typedef struct OpenSpilled {
    guint64 spans, bytes;  /* not in memory now */
    guint64 file_bytes;    /* taken from the file system for them */
    guint64 written_bytes; /* ever */
    guint64 failures;      /* attempts to write that failed */
} OpenSpilled;
OpenSpilled open_traces_spilled(const OpenTraces *traces);
/* Why the last attempt to write failed, once; the caller owns it. NULL: nothing new. */
GError *open_traces_take_error(OpenTraces *traces);

/* Spreads trace ids, which some senders draw badly, over all 64 bits. */
static inline guint64 trace_id_hash(guint64 id) { return mix64(id); }
