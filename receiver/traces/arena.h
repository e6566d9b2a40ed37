/* Memory for very many small things that come and go together: pieces of 64 bytes times a power of two, named by 32-bit
 * references. A million open traces are some millions of pieces; malloc would spend 16 bytes on each, spread them
 * between other things, and keep what lies between them.
 *
 * Blocks of 2 MiB (huge pages where the kernel has them: random access then costs no walk through page tables) are cut
 * into pages of 16 KiB, each for pieces of one size. An empty page serves any size again; the last of the empty pages
 * and blocks go back to the system, when there are more than a part of all. A piece is always taken from the first page
 * that has room: pieces come and go, so what lies behind empties when there is less in use, instead of staying for a
 * few pieces in each page. Where that takes too long, the owner has pieces moved, page by page. One thread. */
#pragma once

#include <glib.h>

#define ARENA_UNIT_BYTES  64u
#define ARENA_BLOCK_BYTES (2u * 1024 * 1024)
#define ARENA_PAGE_BYTES  (16u * 1024)
/* Sizes are ARENA_UNIT_BYTES << 0 ... ARENA_UNIT_BYTES << (ARENA_CLASSES - 1): 64 bytes to 8 KiB. */
#define ARENA_CLASSES 8u
/* ARENA_BLOCK_BYTES / ARENA_UNIT_BYTES is two to the power of this. */
#define ARENA_BLOCK_SHIFT 15

/* 0: none. */
typedef guint32 ArenaRef;

/* Pages, by number. */
typedef struct PageSet {
    guint64 *words;   /* a bit for each page */
    guint64 *summary; /* a bit for each word that is not 0 */
} PageSet;

typedef struct Arena {
    guint8 **blocks; /* [0] is NULL, as are those given back */
    struct ArenaPage *pages;
    guint n_blocks, blocks_room;
    guint n_live, n_empty;          /* blocks that are there, and those of them without a piece in use */
    PageSet partial[ARENA_CLASSES]; /* pages of a class with room */
    PageSet empty;                  /* pages without a piece in use */
    PageSet gone;                   /* such pages, given back to the system */
    guint n_pages_empty, n_pages_gone;
    GArray *free_numbers; /* guint: of blocks given back */
    gsize used_bytes;
} Arena;

void arena_init(Arena *arena);
void arena_clear(Arena *arena);

ArenaRef arena_take(Arena *arena, guint class);
void arena_give(Arena *arena, ArenaRef ref);
/* Of the piece. */
guint arena_class(const Arena *arena, ArenaRef ref);
/* Would the piece, moved, leave a page that is a quarter empty for one in front of it? */
gboolean arena_lies_loose(const Arena *arena, ArenaRef ref);
/* A copy of the piece, in the first page that has room; the piece itself is given back. */
ArenaRef arena_move(Arena *arena, ArenaRef ref);
/* Of all pieces in use. */
static inline gsize arena_used_bytes(const Arena *arena) { return arena->used_bytes; }
/* What the system sees. */
static inline gsize arena_held_bytes(const Arena *arena) {
    return (gsize)arena->n_live * ARENA_BLOCK_BYTES - (gsize)arena->n_pages_gone * ARENA_PAGE_BYTES;
}

static inline void *arena_at(const Arena *arena, ArenaRef ref) {
    return arena->blocks[ref >> ARENA_BLOCK_SHIFT] + (gsize)(ref & ((1u << ARENA_BLOCK_SHIFT) - 1)) * ARENA_UNIT_BYTES;
}
