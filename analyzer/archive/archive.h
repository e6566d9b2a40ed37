/* The archive: traces, patterns and statistics in a store, and how they stay consistent with each other.
 *
 * layout.h describes keys and values. One write batch holds a group of traces with everything that follows from them,
 * so a crash leaves all of a trace or nothing. What comes again (a repeated span, a journal replayed after a crash) is
 * recognised by its id and changes nothing. */
#pragma once

#include "analyzer/archive/index/search_terms.h"
#include "analyzer/archive/keep.h"
#include "analyzer/archive/tables/pattern_numbers.h"
#include "analyzer/archive/tables/places.h"
#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/stats/stats_group.h"
#include "common/base/clock.h"
#include "common/store/dict.h"

typedef struct ArchiveOptions {
    gint64 clock_tolerance_ns; /* of a new store; later the store's own holds, since stored counts depend on it */
    guint32 max_trace_spans;   /* a trace with more is kept in parts of this size, 4,000,000 at most;
                               * 0: 1,000,000 */
    gsize max_trace_bytes;     /* the same of bytes of spans in memory, however few; 0: 64 MiB */
    guint32 pattern_nodes;     /* 0: PATTERN_NODES (patterns.h); the least makes all shapes rare that come once */
    ArchiveKeep keep;          /* its keys outlive the archive */
    const Clock *clock;        /* NULL: the system's */
} ArchiveOptions;

/* Of a store that was opened with archive_merge and must outlive the archive. Thread-safe but where said otherwise. */
gboolean archive_merge(Bytes existing, const Bytes *operands, gsize n, GByteArray *out);
Archive *archive_open(Store *store, const ArchiveOptions *options, GError **error);
void archive_free(Archive *archive);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, archive_free)

Store *archive_store(Archive *archive);
Dict *archive_dict(Archive *archive);
void archive_rest(Archive *archive); /* as dict_rest(): of all tables that grow with the store's age */
const Lookup *archive_lookup(Archive *archive);
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

/* How many functions have statistics, and how many hosts they ran on. The first call reads the functions' statistics of
 * all time; later ones read nothing. */
typedef struct ArchiveKinds {
    guint functions, hosts;
} ArchiveKinds;
gboolean archive_kinds(Archive *archive, ArchiveKinds *kinds, GError **error);

/* ---- writing: one ArchiveWriter per thread; all spans of one trace always to the same ---- */
typedef struct ArchiveWriter ArchiveWriter;
ArchiveWriter *archive_writer_new(Archive *archive);
void archive_writer_free(ArchiveWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveWriter, archive_writer_free)

/* Takes spans of one trace (records one behind the other, n >= 1) into the group: assembles, compresses, counts. When
 * something of that trace is stored already they are stored as late spans, which archive_settle() joins to it. The
 * bytes are not needed after the call. A span whose id is stored already changes nothing in the end, whatever its
 * content. On error (reading the store failed) the group is as before. */
gboolean archive_writer_add(ArchiveWriter *writer, guint64 trace_id, const guint8 *spans, gsize size_bytes,
                            GError **error);
/* The next traces to be added may have been added before: after a crash the journal gives them again. Their spans
 * that are stored already count as replayed, not as repeated by their senders; so do those of removed traces
 * (removed_traces.h). */
void archive_writer_replaying(ArchiveWriter *writer, gboolean replaying);
/* How much the group holds: commit at some tens of MiB. */
gsize archive_writer_pending_bytes(const ArchiveWriter *writer);
/* How many of the spans that were given are not written yet. */
guint64 archive_writer_pending_spans(const ArchiveWriter *writer);
/* Writes the group, whole or not at all. On error (NO_SPACE, IO) the group is kept: call again later. */
gboolean archive_writer_commit(ArchiveWriter *writer, gboolean sync, GError **error);

/* Brings late spans to their traces and the statistics up to date with that (all of them; a no-op when none wait).
 * settle.h has what plumbd calls every few seconds. One call at a time works. On error what could be done is done, and
 * the rest waits: a damaged trace keeps its own late spans (CORRUPT), archive_hurry() what is left (BUSY). */
gboolean archive_settle(Archive *archive, GError **error);

/* ---- reading ---- */
/* All stored spans of a trace, late ones that wait included, appended to 'spans'. NOT_FOUND when there is none. */
gboolean archive_load(Archive *archive, guint64 trace_id, GByteArray *spans, GError **error);

/* Trace records (parts of a trace one by one) whose begin lies in [since_ns, until_ns), newest or oldest first. */
typedef struct ArchiveScan ArchiveScan;
ArchiveScan *archive_scan_new(Archive *archive, gint64 since_ns, gint64 until_ns, gboolean newest_first);
void archive_scan_free(ArchiveScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveScan, archive_scan_free)
/* Before the first archive_scan_next(): spans of few records or none will be asked for. Makes the others cheaper. */
void archive_scan_summaries_only(ArchiveScan *scan);
/* Before the first archive_scan_next(): only records that may fit are met. The scan takes the terms over. */
void archive_scan_by_terms(ArchiveScan *scan, SearchTerms *terms);
/* FALSE at the end or on error. */
gboolean archive_scan_next(ArchiveScan *scan, guint64 *trace_id, TraceSummary *summary, GError **error);
/* Spans of the current record, appended; with part 0, late spans that wait, which the summary does not count. */
gboolean archive_scan_spans(ArchiveScan *scan, GByteArray *spans, GError **error);
/* Annotations of these, until visit returns FALSE: cheaper. The node is not told of spans that wait. */
gboolean archive_scan_annotations(ArchiveScan *scan, RecordVisit visit, void *arg, GError **error);
/* Shape of the current record: a new reference. */
Pattern *archive_scan_pattern(ArchiveScan *scan, GError **error);

/* Statistics of a period, summed over its buckets: coarse levels where they fit, fine ones at the edges. Visits rows of
 * all hosts together by (object, role), or rows of one host by (object, role, host), with neither level nor bucket nor
 * cell in the key; the row may be used during the call only. Periods are widened (archive_stats_period()). */
typedef struct StatsFilter {
    StatsKind kind;
    gint64 since_ns, until_ns;
    guint32 object; /* 0: all */
    gboolean by_host;
    guint32 host; /* by_host: only this one; 0: each */
    gint role;    /* -1: all; not asked of patterns */
    /* NULL: all. Else rows are read only when it says so, by object, role and host (0: of all together). */
    gboolean (*wanted)(void *arg, const StatsKey *key);
    void *wanted_arg;
    const StatsPlace *places; /* NULL: all. Else only these are read; tidy, of what the fields above are about; lent */
    guint n_places;
} StatsFilter;
gboolean archive_stats(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg, GError **error);
/* The same of functions, by (block of hosts, object, role, host), however many rows there are: few at a time are in
 * memory. */
gboolean archive_stats_slices(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg,
                              GError **error);
/* The same without building rows: pieces that add up, some of them negative, in no useful order. */
typedef void (*StatsWeightVisit)(void *arg, const StatsKey *key, const NodeWeight *weight);
gboolean archive_stats_weigh(Archive *archive, const StatsFilter *filter, StatsWeightVisit visit, void *arg,
                             GError **error);
/* The rows by host (key->host) as they are stored for each bucket, in no useful order, until visit returns FALSE. */
typedef gboolean (*StatsHostVisit)(void *arg, const StatsKey *key, const StatsHosts *hosts);
gboolean archive_stats_hosts(Archive *archive, const StatsFilter *filter, StatsHostVisit visit, void *arg,
                             GError **error);
