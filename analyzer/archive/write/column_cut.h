/* Leaving out of a record what is not to be kept (kept_columns.h). */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/index/failed_calls.h"

/* What to leave out of a record, worked out for one tree. */
typedef struct ColumnCut {
    guint32 dropped;       /* DroppedColumns of annotations and notes that were there, and are not in 'bytes' */
    const SpanRec **spans; /* what the tree had; NULL: nothing was cut */
    guint32 n_nodes;
    GByteArray *bytes;
} ColumnCut;

/* Puts shortened copies in the place of the tree's spans, until columns_restore(). */
void columns_cut(Archive *archive, const FailureKeys *failures, CallTree *tree, ColumnCut *cut);
void columns_restore(CallTree *tree, ColumnCut *cut);
