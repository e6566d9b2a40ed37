/* Spans on their way out: the one question whose answer is no document. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/query/shared/params.h"

/* Every stored span in a period as HTrace JSON lines, in pieces of about 64 KiB; the consumer returns FALSE to stop. */
typedef struct QuerySink {
    gboolean (*write)(void *arg, Bytes piece);
    void *arg;
} QuerySink;
gboolean query_export(Archive *archive, const QueryParams *params, gint64 now_ns, const QuerySink *sink,
                      GError **error);
