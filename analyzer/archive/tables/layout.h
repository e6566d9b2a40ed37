/* Keys and values of the store families that the archive owns. All integers in keys are big-endian, so that the order
 * of bytes is the order of numbers.
 *
 *   family    key                                                             value
 *   meta      "totals/", slot u16                                             a writer's share: StoredTotals
 *   meta      "clock-tolerance"                                               zig-zag varint, ns
 *   meta      "kept-from"                                                     first bucket of each level, varints
 *   meta      "account/", "removed/", "gone/", ...                            account.h, removed_counts.h,
 *                                                                             removed_traces.h
 *   trace     second u32, trace id u64, part u16                              record.c of the call-tree library
 *   trace_id  trace id u64                                                    second u32 of part 0, of part 1, ...
 *   pattern   number u32, from 1 without holes                                pattern_encode()
 *   pattern   number u32 from 2^31 on, node u32                               mixed.c
 *   stats     level u8, kind u8, bucket u32, cell u16, object u32, role u8    stats_value.c; archive_merge()
 *   late      trace id u64, number u64                                        LateHead: second u32, replayed 1 bit,
 *                                                                             spans 31 bits, checksum u32; the spans
 *                                                                             as the body of a fragment
 *                                                                             (common/model/fragment.h)
 *   ids       minute u32, trace id u64, part u16                              the record's column of ids
 *   index     hour u32, bucket u16, stamp u64                                 postings.c
 *
 * The second is that of the record's earliest begin, since the epoch; times outside 0 .. 2^32-1 count as the nearest.
 * The key has seconds where statistics have minutes because it costs nothing and keeps a scan in order of time with
 * one second's records in memory. A trace of more than max_trace_spans spans has several parts, numbered from 0, each
 * with a second of its own; all others have part 0 only.
 *
 * An entry in 'late' are spans that came after their trace was stored, as they came, until join.c brings them to the
 * others. Numbers only grow. The second is that of the trace's part 0 at that time, or 0: where to look first. */
#pragma once

#include "analyzer/calltree/stats/stats.h"
#include "common/base/bytes.h"

#define TRACE_KEY_BYTES       14
#define TRACE_ID_KEY_BYTES    8
#define PATTERN_KEY_BYTES     4
#define STATS_KEY_BYTES       13
#define INDEX_KEY_BYTES       14
#define LATE_KEY_BYTES        16
#define LATE_HEAD_BYTES       12
#define TOTALS_PREFIX         "totals/"
#define TOTALS_KEY_BYTES      (sizeof TOTALS_PREFIX - 1 + 2)
#define REMOVED_TRACES_PREFIX "gone/"
#define TOLERANCE_KEY         "clock-tolerance"
/* Parts are numbered in 16 bits: 65,535 parts of a million spans. */
#define TRACE_MAX_PARTS 65535u
#define KEPT_FROM_KEY   "kept-from"

typedef struct LayoutKey {
    guint8 bytes[24]; /* the longest key, rounded up */
    guint size_bytes;
} LayoutKey;

static inline Bytes key_bytes(const LayoutKey *key) { return (Bytes){key->bytes, key->size_bytes}; }

typedef struct TraceKey {
    guint32 second;
    guint64 trace_id;
    guint16 part;
} TraceKey;

guint32 trace_second(gint64 begin_ns);

LayoutKey trace_key(const TraceKey *key);
gboolean trace_key_parse(Bytes stored, TraceKey *key);
/* minute: when it was written, by the wall clock. */
LayoutKey ids_key(guint32 minute, guint64 trace_id, guint16 part);
LayoutKey trace_id_key(guint64 trace_id);
gboolean trace_id_key_parse(Bytes stored, guint64 *trace_id);
LayoutKey pattern_key(guint32 number);
LayoutKey mixed_key(guint32 number, guint32 node);
LayoutKey stats_key(const StatsKey *key);
gboolean stats_key_parse(Bytes stored, StatsKey *key);
/* Order of the stored keys. */
int stats_key_compare(const StatsKey *a, const StatsKey *b);
LayoutKey totals_key(guint16 slot);
LayoutKey removed_traces_key(guint32 generation, guint64 trace_id); /* removed_traces.h */

/* Length of a level's bucket in minutes, and in buckets of the next finer level. */
guint32 level_minutes(StatsLevel level);
guint32 level_children(StatsLevel level);

#define INDEX_HOUR_SECONDS 3600u
typedef struct IndexKey {
    guint32 hour;   /* of the records' begin */
    guint16 bucket; /* terms.h */
    guint64 stamp;  /* tells groups of records apart */
} IndexKey;
LayoutKey index_key(const IndexKey *key);
gboolean index_key_parse(Bytes stored, IndexKey *key);

typedef struct LateKey {
    guint64 trace_id;
    guint64 number;
} LateKey;
LayoutKey late_key(const LateKey *key);
gboolean late_key_parse(Bytes stored, LateKey *key);

/* The head of a value; the spans follow, in a form that may only be read when the checksum is right. */
typedef struct LateHead {
    guint32 second;
    guint32 n_spans;
    gboolean replayed; /* from the journal, after a crash */
    guint32 checksum;  /* of the spans: lower half of XXH3's 64 bits */
} LateHead;
void late_head_append(const LateHead *head, GByteArray *out);
gboolean late_head_parse(Bytes value, LateHead *head);

/* Value of a trace_id entry: n parts and the second of each. FALSE when its size is no multiple of 4, or 0. */
gboolean trace_index_valid(Bytes value);
static inline guint trace_index_parts(Bytes value) { return (guint)(value.size_bytes / 4); }
guint32 trace_index_second(Bytes value, guint part);

/* What one writer has added to the totals. A share may be negative (a trace stored as incomplete by one writer is
 * completed by another); the sum over all slots is not. */
typedef struct StoredTotals {
    gint64 traces;
    gint64 spans;
    gint64 incomplete_traces;
    gint64 late_waiting; /* spans in entries of late spans */
    guint64 late_next;   /* all such entries that were written before have lower numbers */
    gboolean any;        /* the times hold */
    gint64 first_ns, last_ns;
} StoredTotals;

void stored_totals_add(StoredTotals *into, const StoredTotals *from);
/* Widens the times to hold a record. */
void stored_totals_cover(StoredTotals *totals, gint64 begin_ns, gint64 end_ns);
void stored_totals_encode(const StoredTotals *totals, GByteArray *out);
gboolean stored_totals_decode(Bytes value, StoredTotals *totals);

static inline Bytes bytes_view(GBytes *bytes) {
    Bytes view = {.data = NULL};
    view.data = g_bytes_get_data(bytes, &view.size_bytes);
    return view;
}
