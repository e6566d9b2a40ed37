#include "analyzer/query/shared/json_memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>

#include "common/base/allowance.h"

/* What the allocator has in front of each piece. */
#define PIECE_HEAD_BYTES sizeof(size_t)

static void *counted_malloc(size_t size_bytes) {
    void *piece = allowance_over() ? NULL : malloc(size_bytes);
    if (piece != NULL) allowance_charge(malloc_usable_size(piece) + PIECE_HEAD_BYTES);
    return piece;
}

static void counted_free(void *piece) {
    if (piece != NULL) allowance_release(malloc_usable_size(piece) + PIECE_HEAD_BYTES);
    free(piece);
}

void json_memory_counted(void) { json_set_alloc_funcs(counted_malloc, counted_free); }
