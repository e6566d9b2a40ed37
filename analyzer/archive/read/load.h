/* Loading a trace that may be too large for memory: part by part. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct ArchiveLoad {
    guint first_part;   /* in: counted from 0; INPUT when the trace has fewer */
    guint64 max_spans;  /* in: no further part is begun when so many are loaded; 0: all */
    gsize max_bytes;    /* in: the same of bytes of spans */
    guint parts;        /* out: of the trace */
    guint loaded;       /* out: how many parts, at least one */
    gboolean late_left; /* out: late spans wait that max_bytes had no room for */
} ArchiveLoad;

/* Stored spans of a trace, appended to 'spans'. Late spans that wait come with the last part, of max_bytes as many
 * again. NOT_FOUND when there is no such trace. */
gboolean archive_load_parts(Archive *archive, guint64 trace_id, ArchiveLoad *load, GByteArray *spans, GError **error);

/* Is anything of the trace stored? Reads no record. */
gboolean archive_has_trace(Archive *archive, guint64 trace_id, gboolean *has, GError **error);
