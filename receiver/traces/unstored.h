/* Spans that the store will never take, because what it holds of their trace is damaged, are appended as HTrace JSON
 * lines to "unstored.jsonl" beside the journal: acknowledged is acknowledged. `plumb import` reads that file. */
#pragma once

#include "analyzer/archive/archive.h"

/* Appends SpanRecs and syncs; *file is the path, to be freed. Any thread. */
gboolean unstored_write(Archive *archive, const char *folder, Bytes records, char **file, GError **error);
