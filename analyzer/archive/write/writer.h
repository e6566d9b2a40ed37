/* Bringing traces into the store: one ArchiveWriter per thread; all spans of one trace always to the same. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct ArchiveWriter ArchiveWriter;
ArchiveWriter *archive_writer_new(Archive *archive);
void archive_writer_free(ArchiveWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveWriter, archive_writer_free)

/* Takes spans of one trace (records one behind the other, n >= 1) into the group: assembles, compresses, counts. When
 * something of that trace is stored already they are stored as late spans, which archive_join() joins to it. The
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
/* Is the trace new in the group, so that no reader finds it before the commit? */
gboolean archive_writer_has(const ArchiveWriter *writer, guint64 trace_id);
/* How many of the spans that were given are not written yet. */
guint64 archive_writer_pending_spans(const ArchiveWriter *writer);
/* Writes the group, whole or not at all. On error (NO_SPACE, IO) the group is kept: call again later. */
gboolean archive_writer_commit(ArchiveWriter *writer, gboolean sync, GError **error);
