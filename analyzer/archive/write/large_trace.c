#include "analyzer/archive/write/large_trace.h"

#include "analyzer/archive/archive_inside.h"

#define LARGE_SPANS 32768u
#define LARGE_BYTES (4u << 20)

gboolean large_trace_begin(Archive *archive, guint64 n_spans, guint64 bytes) {
    if (n_spans < LARGE_SPANS && bytes < LARGE_BYTES) return FALSE;
    pthread_mutex_lock(&archive->large_trace_lock);
    return TRUE;
}

void large_trace_end(Archive *archive) { pthread_mutex_unlock(&archive->large_trace_lock); }
