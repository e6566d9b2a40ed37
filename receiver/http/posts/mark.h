/* A mark as it comes over HTTP, one JSON object: {"text", "kind", "host", "begin", "end"}. Times are as of every
 * question: nanoseconds since the epoch, or a text ("15m" ago, "2026-11-21T10:00:00Z"). What is absent: the kind is
 * MARK_KIND, the host all, the begin now, and there is no end. A begin that is told from now is in whole
 * milliseconds. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_records.h"

#define MARK_KIND           "note"
#define MARK_KIND_MAX_BYTES 64u
#define MARK_TEXT_MAX_BYTES 1024u

/* Adds it to the records. INPUT. */
gboolean mark_read(Bytes body, gint64 now_ns, SparkRecords *records, GError **error);
