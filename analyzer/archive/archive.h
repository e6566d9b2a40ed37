/* The archive: traces, patterns and statistics in a store, and how they stay consistent with each other.
 *
 * layout.h describes keys and values. One write batch holds a group of traces with everything that follows from them,
 * so a crash leaves all of a trace or nothing. What comes again (a repeated span, a journal replayed after a crash) is
 * recognised by its id and changes nothing. */
#pragma once

#include "analyzer/archive/kept_columns.h"
#include "analyzer/archive/tables/pattern_numbers.h"
#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/stats/stats_group.h"
#include "analyzer/calltree/waits.h"
#include "common/base/clock.h"
#include "common/store/dict.h"

/* After each group that was written, by the thread that wrote it, one at a time: keep it short. */
typedef struct StoredCalls StoredCalls; /* stored_calls.h */
typedef struct StoredCallsVisitor {
    void (*visit)(void *arg, const StoredCalls *calls); /* NULL: nobody counts */
    void *arg;
} StoredCallsVisitor;

typedef struct ArchiveOptions {
    gint64 clock_tolerance_ns; /* of a new store; later the store's own holds, since stored counts depend on it */
    guint32 max_trace_spans;   /* a trace with more is kept in parts of this size, 4,000,000 at most;
                               * 0: 1,000,000 */
    gsize max_trace_bytes;     /* the same of bytes of spans in memory, however few, beyond ARCHIVE_SPAN_BYTES each;
                                * 0: 64 MiB */
    guint32 pattern_nodes;     /* 0: PATTERN_NODES (patterns.h); the least makes all shapes rare that come once */
    KeptColumns keep;          /* its keys outlive the archive */
    const Clock *clock;        /* NULL: the system's */
    StoredCallsVisitor stored;
} ArchiveOptions;

/* A span without parents by the dozen and long annotations takes no more in memory. It does not count for
 * max_trace_bytes: what usual spans take, max_trace_spans bounds. */
#define ARCHIVE_SPAN_BYTES 128u

/* Of a store that was opened with archive_merge and must outlive the archive. Thread-safe but where said otherwise. */
gboolean archive_merge(Bytes existing, const Bytes *operands, gsize n, GByteArray *out);
Archive *archive_open(Store *store, const ArchiveOptions *options, GError **error);
void archive_free(Archive *archive);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, archive_free)

Store *archive_store(Archive *archive);
Dict *archive_dict(Archive *archive);
void archive_rest(Archive *archive); /* as dict_rest(): of all tables that grow with the store's age */
const Lookup *archive_lookup(Archive *archive);
WaitTable *archive_waits(Archive *archive);
void archive_namenode_hosts(Archive *archive, GArray *hosts); /* appends those (guint32) that NameNodes run on */
gint64 archive_clock_tolerance_ns(Archive *archive); /* spans may stick out so far; fixed when the store was made */

/* Totals over all stored traces, kept up to date in memory and counted anew when the archive is opened. */
typedef struct ArchiveTotals {
    guint64 traces;
    guint64 spans;
    guint64 incomplete_traces;
    guint64 patterns;
    guint64 duplicates;       /* since the archive was opened: repeated spans that changed nothing */
    guint64 late_spans;       /* since the archive was opened: spans that came after their trace and joined it */
    guint64 late_waiting;     /* now: stored, but not yet with their traces, repeats included; not in 'spans' */
    guint64 late_apart;       /* since the archive was opened: late spans of traces without ids, kept as parts */
    guint64 late_expired;     /* since the archive was opened: late spans whose trace had been removed meanwhile */
    gint64 first_ns, last_ns; /* begin of the earliest, end of the latest; 0 when empty */
} ArchiveTotals;
ArchiveTotals archive_totals(Archive *archive);
