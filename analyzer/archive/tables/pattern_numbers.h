/* Patterns as records, rows of statistics and answers refer to them: by the store's number. */
#pragma once

#include "analyzer/archive/tables/mixed.h"

typedef struct Archive Archive;

/* Pattern by the store's number: borrowed, valid as long as the archive; NULL when unknown, or mixed. Number by id: 0
 * when unknown. */
const Pattern *archive_pattern(Archive *archive, guint32 number);
guint32 archive_pattern_find(Archive *archive, PatternId id);
guint32 archive_pattern_count(Archive *archive); /* numbers are 1..count */
/* Of mixed patterns, where traces of rare shapes are counted (mixed.h): numbers are MIXED_NUMBER + 1 .. + count. */
guint32 archive_mixed_count(Archive *archive);
/* FALSE: there is none of that number, mixed or not. */
gboolean archive_pattern_id(Archive *archive, guint32 number, PatternId *id);
/* Any of them, as rows of statistics know it: a new reference, NULL when unknown. *node_of has *n entries, the node for
 * each of a row's, and is freed by the caller; NULL: they are the same. A mixed pattern may have got more nodes when
 * this is called again, and a row that is read later those that *n leaves out. */
Pattern *archive_pattern_of_rows(Archive *archive, guint32 number, guint32 **node_of, guint32 *n);
