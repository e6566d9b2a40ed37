#include "analyzer/archive/turn.h"

#include "analyzer/archive/archive_inside.h"

#define LARGE_SPANS 32768u

gboolean archive_turn_begin(Archive *archive, guint64 n_spans) {
    if (n_spans < LARGE_SPANS) return FALSE;
    pthread_mutex_lock(&archive->large_turn);
    return TRUE;
}

void archive_turn_end(Archive *archive) { pthread_mutex_unlock(&archive->large_turn); }
