/* Does the search index lead to every record, by each of its terms? That it says more than that is as it should be:
 * records move when late spans join them, go by age or to make room, and what was written of them stays
 * (postings.h). */
#pragma once

#include "analyzer/archive/archive_inside.h"

/* Something is wrong with the index. */
typedef void (*IndexDiffers)(void *arg, const char *what);

typedef struct IndexCheck IndexCheck;
/* index: an iterator over the same state of the store that the records are of; outlives the check. */
IndexCheck *index_check_new(Archive *archive, StoreIter *index, IndexDiffers differs, void *arg);
void index_check_free(IndexCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IndexCheck, index_check_free)

/* A record that is there; they come in the order of their keys. */
gboolean index_check_note(IndexCheck *check, const TraceKey *key, guint32 pattern, const CallTree *tree,
                          GError **error);
/* After the last record: looks at the rest of the index. */
gboolean index_check_finish(IndexCheck *check, GError **error);
