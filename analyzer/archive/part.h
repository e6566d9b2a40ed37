/* One stored record of a trace, read and decoded. */
#pragma once

#include "analyzer/archive/archive_inside.h"

/* Points at records that lie one behind the other: appended to 'list'. INPUT when they do not fill the bytes, or are of
 * another trace. */
gboolean spans_point(guint64 trace_id, Bytes spans, GPtrArray *list, GError **error);

/* One record of a trace, read and decoded: appended to 'spans'. */
gboolean part_load(Archive *archive, const TraceKey *key, GByteArray *spans, TraceSummary *summary, GError **error);
/* The shape of a record, which has it within or refers to it: a new reference. */
Pattern *record_pattern(Archive *archive, Bytes record, const TraceSummary *summary, GError **error);
gboolean part_decode(Archive *archive, Bytes record, guint64 trace_id, GByteArray *spans, GError **error);
/* The same, with the pattern and the places (record_decode_places()) that its tree can be restored from. */
typedef struct PartTree {
    GByteArray *spans;
    GArray *places;   /* TreePlace */
    Pattern *pattern; /* set by part_decode_tree(): a new reference */
} PartTree;
gboolean part_decode_tree(Archive *archive, Bytes record, guint64 trace_id, PartTree *part, GError **error);
