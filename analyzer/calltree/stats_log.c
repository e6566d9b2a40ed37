#include "analyzer/calltree/stats_log.h"

/* A host's first chunk is small, since most hosts of a large cluster have few calls in a group; more makes them larger.
 */
#define CHUNK_FIRST 256u
#define CHUNK_MOST  8192u

static gpointer arena_take(Arena *arena, guint size_bytes) {
    if (arena->in_use == 0 || arena->at + size_bytes > ARENA_BLOCK_BYTES) {
        if (arena->in_use == arena->blocks->len) g_ptr_array_add(arena->blocks, g_malloc(ARENA_BLOCK_BYTES));
        arena->in_use++;
        arena->at = 0;
    }
    guint8 *taken = (guint8 *)arena->blocks->pdata[arena->in_use - 1] + arena->at;
    arena->at += size_bytes;
    return taken;
}

void log_grow(CallLog *log, Arena *arena) {
    guint size_bytes =
        log->last == NULL ? CHUNK_FIRST : MIN(2 * (guint)(log->last->room + sizeof(LogChunk)), CHUNK_MOST);
    LogChunk *chunk = arena_take(arena, size_bytes);
    *chunk = (LogChunk){.room = size_bytes - (guint32)sizeof *chunk};
    if (log->last == NULL)
        log->first = chunk;
    else
        log->last->next = chunk;
    log->last = chunk;
}
