/* Traces that were removed while the journal may still hold their spans. After a crash it gives them again: a trace
 * that is noted here stays removed, and nothing of it counts twice.
 *
 *   family  key                                     value
 *   meta    "gone/", generation u32, trace id u64   none
 *
 * Written in the batch that removes the trace, 17 bytes each: a hundredth of what goes. Forgotten by generations, each
 * of which is closed at one point of the journal, and forgotten when the journal begins after it. What is told of a
 * trace holds for all that the journal has of it, spans included that came after its removal. */
#pragma once

#include "analyzer/archive/archive.h"

/* What is noted, for archive_open(). */
gboolean removed_traces_load(Archive *archive, GError **error);
/* Under Archive.maintenance_lock; holds when the batch is written. */
void removed_traces_put(Archive *archive, guint64 trace_id, StoreBatch *batch);
/* Any thread. Whoever finds the trace's index entry gone finds it here, if he looks afterwards. */
gboolean removed_traces_has(Archive *archive, guint64 trace_id, gboolean *has, GError **error);

/* FALSE: nothing is noted. */
gboolean archive_removed_traces_any(Archive *archive);
/* What is removed from now on belongs to the next generation. Returns the one that is closed; what the journal gets
 * from now on holds nothing that was stored when one of its traces was removed. */
guint32 archive_removed_traces_close(Archive *archive);
/* Forgets generations up to this one, which is closed. */
gboolean archive_removed_traces_forget(Archive *archive, guint32 generation, GError **error);
