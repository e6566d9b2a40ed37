/* Loading a trace that may be too large for memory: part by part. */
#pragma once

#include "analyzer/archive/archive.h"

/* All stored spans of a trace, late ones that wait included, appended to 'spans'. NOT_FOUND when there is none. */
gboolean archive_load(Archive *archive, guint64 trace_id, GByteArray *spans, GError **error);

typedef struct ArchiveLoad {
    guint first_part;  /* in: counted from 0; INPUT when the trace has fewer */
    guint64 max_spans; /* in: no further part is begun when so many are loaded; 0: all */
    gsize max_bytes;   /* in: the same of bytes of spans */
    guint parts;       /* out: of the trace */
    guint loaded;      /* out: how many parts, at least one */
} ArchiveLoad;

/* As archive_load(). Late spans that wait come with the last part. */
gboolean archive_load_parts(Archive *archive, guint64 trace_id, ArchiveLoad *load, GByteArray *spans, GError **error);

/* Is anything of the trace stored? Reads no record. */
gboolean archive_has_trace(Archive *archive, guint64 trace_id, gboolean *has, GError **error);
