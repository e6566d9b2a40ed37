/* What the nodes of a stored trace are to HDFS (hdfs_facts.h), told by their functions, processes and values. */
#pragma once

#include "analyzer/diagnosis/hdfs_facts.h"
#include "analyzer/query/shared/trace_view.h"

/* Remembers what it found out about functions: keep one for all traces of a question. */
typedef struct HdfsReader HdfsReader;
HdfsReader *hdfs_reader_new(Archive *archive);
void hdfs_reader_free(HdfsReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HdfsReader, hdfs_reader_free)

/* Adds the facts of a whole stored trace; *begin_ns is when it begins. Of one with more than TRACE_VIEW_SPANS spans,
 * those of its first parts. NOT_FOUND when there is no such trace. */
gboolean hdfs_reader_add(HdfsReader *reader, guint64 trace_id, HdfsFacts *facts, gint64 *begin_ns, GError **error);
/* The same of a trace that is loaded. path: what no client is seen to wait for is told by the critical path. */
void hdfs_reader_add_view(HdfsReader *reader, const TraceView *view, gboolean path, HdfsFacts *facts);
/* Its critical path alone. */
void hdfs_reader_add_path(HdfsReader *reader, const TraceView *view, HdfsFacts *facts);
