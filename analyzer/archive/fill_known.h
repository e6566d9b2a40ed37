/* Filling the filter of stored traces (tables/known_traces.h) with what the store had when it was opened. */
#pragma once

#include "analyzer/archive/archive.h"

gsize archive_known_bytes(const Archive *archive);
/* Tells the archive's filter of the next so many traces that are stored; *done when that were all, from then on it is
 * used. One thread, beside any others; after an error it may be called again. */
gboolean archive_fill_known(Archive *archive, guint most, gboolean *done, GError **error);
