/* Going through the stored traces of a period, all or those that the search index finds. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/read/search_terms.h"

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
/* Spans of the current record, appended; with part 0, late spans that wait, which the summary does not count: as many
 * as a quarter of the thread's allowance has room for. */
gboolean archive_scan_spans(ArchiveScan *scan, GByteArray *spans, GError **error);
/* Are some left? Then the next call of archive_scan_spans_left() has 'spans', which must hold what the last call gave,
 * hold the next ones instead. */
gboolean archive_scan_has_left(const ArchiveScan *scan);
gboolean archive_scan_spans_left(ArchiveScan *scan, GByteArray *spans, GError **error);
/* Annotations of these, until visit returns FALSE: cheaper. The node is not told of spans that wait. */
gboolean archive_scan_annotations(ArchiveScan *scan, RecordVisit visit, void *arg, GError **error);
/* Shape of the current record: a new reference. */
Pattern *archive_scan_pattern(ArchiveScan *scan, GError **error);
