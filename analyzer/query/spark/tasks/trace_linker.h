/* Links from tasks to traces, found once for each application that has come to rest, and stored: then a question need
 * not look for them, and from a trace one comes to its task. */
#pragma once

#include "analyzer/archive/archive.h"

/* An application whose log has its end is at rest so long after its last record came, another one so long: spans come
 * late, and a running application writes all the time. */
#define LINKS_REST_MS      (60 * 1000)
#define LINKS_IDLE_REST_MS (15 * 60 * 1000)

typedef struct TraceLinker TraceLinker;
TraceLinker *trace_linker_new(Archive *archive);
void trace_linker_free(TraceLinker *linker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceLinker, trace_linker_free)

/* Finds and stores the links of the applications that are at rest and were not when it was last called. now_ms: the
 * wall clock. *linked: of how many. On error the others were done. */
gboolean trace_linker_run(TraceLinker *linker, gint64 now_ms, guint *linked, GError **error);
