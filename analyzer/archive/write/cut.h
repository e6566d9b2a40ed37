/* Leaving out of a record what is not to be kept (keep.h). */
#pragma once

#include "analyzer/archive/archive_inside.h"

/* What to leave out of a record, worked out for one tree. */
typedef struct KeepCut {
    guint32 dropped;       /* DroppedColumns of annotations and notes that were there, and are not in 'bytes' */
    const SpanRec **spans; /* what the tree had; NULL: nothing was cut */
    guint32 n_nodes;
    GByteArray *bytes;
} KeepCut;

/* Puts shortened copies in the place of the tree's spans, until keep_restore(). */
void keep_cut(Archive *archive, CallTree *tree, KeepCut *cut);
void keep_restore(CallTree *tree, KeepCut *cut);

/* The minute by the archive's clock, as ids_at of what is written now. */
guint32 keep_minute(Archive *archive);
