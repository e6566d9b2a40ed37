#include "receiver/arena.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE_SHIFT      10 /* units of a page: 64 KiB */
#define PAGE_UNITS      (1u << PAGE_SHIFT)
#define PAGES_PER_BLOCK (ARENA_BLOCK_BYTES / ARENA_UNIT_BYTES / PAGE_UNITS)
/* Empty blocks that are kept for the next traces: these, and an eighth of all. */
#define EMPTY_KEPT 2u

G_STATIC_ASSERT(ARENA_BLOCK_BYTES / ARENA_UNIT_BYTES == 1u << ARENA_BLOCK_SHIFT);
G_STATIC_ASSERT(PAGE_UNITS >> (ARENA_CLASSES - 1) >= 2);

/* Pages are numbered through all blocks; 0, of the block that is not there, ends lists. */
typedef struct ArenaPage {
    guint previous, next; /* of the list of its class, or of empty pages */
    ArenaRef free;        /* pieces given back, linked through their first bytes */
    guint16 fresh;        /* pieces never taken since the page got its class: they lie at its end */
    guint16 used;
    guint8 class;
} ArenaPage;

void arena_init(Arena *arena) {
    *arena = (Arena){.n_blocks = 1, .blocks_room = 64, .free_numbers = g_array_new(FALSE, FALSE, sizeof(guint))};
    arena->blocks = g_new0(guint8 *, arena->blocks_room);
    arena->pages = g_new0(ArenaPage, arena->blocks_room * PAGES_PER_BLOCK);
}

void arena_clear(Arena *arena) {
    for (guint i = 1; i < arena->n_blocks; i++)
        if (arena->blocks[i]) munmap(arena->blocks[i], ARENA_BLOCK_BYTES);
    g_free(arena->blocks);
    g_free(arena->pages);
    g_array_unref(arena->free_numbers);
}

/* ---- lists of pages ---- */

static void list_push(Arena *arena, guint *head, guint page) {
    arena->pages[page].previous = 0;
    arena->pages[page].next = *head;
    if (*head) arena->pages[*head].previous = page;
    *head = page;
}

static void list_remove(Arena *arena, guint *head, guint page) {
    const ArenaPage *p = &arena->pages[page];
    if (p->previous)
        arena->pages[p->previous].next = p->next;
    else
        *head = p->next;
    if (p->next) arena->pages[p->next].previous = p->previous;
}

/* ---- blocks ---- */

/* Aligned, so that one huge page can hold it. */
static guint8 *map_block(void) {
    guint8 *wide = mmap(NULL, 2 * (gsize)ARENA_BLOCK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (wide == MAP_FAILED) g_error("no memory for open traces");
    const gsize before = (ARENA_BLOCK_BYTES - (gsize)wide % ARENA_BLOCK_BYTES) % ARENA_BLOCK_BYTES;
    if (before > 0) munmap(wide, before);
    if (before < ARENA_BLOCK_BYTES) munmap(wide + before + ARENA_BLOCK_BYTES, ARENA_BLOCK_BYTES - before);
    madvise(wide + before, ARENA_BLOCK_BYTES, MADV_HUGEPAGE); /* a hint: without it all is well, and a little slower */
    return wide + before;
}

static guint next_number(Arena *arena) {
    if (arena->free_numbers->len > 0) {
        guint number = g_array_index(arena->free_numbers, guint, arena->free_numbers->len - 1);
        g_array_set_size(arena->free_numbers, arena->free_numbers->len - 1);
        return number;
    }
    if (arena->n_blocks == 1u << (32 - ARENA_BLOCK_SHIFT)) g_error("more than 256 GiB of open traces");
    if (arena->n_blocks == arena->blocks_room) {
        arena->blocks_room *= 2;
        arena->blocks = g_renew(guint8 *, arena->blocks, arena->blocks_room);
        arena->pages = g_renew(ArenaPage, arena->pages, (gsize)arena->blocks_room * PAGES_PER_BLOCK);
    }
    return arena->n_blocks++;
}

static void add_block(Arena *arena) {
    const guint number = next_number(arena);
    arena->blocks[number] = map_block();
    arena->n_live++;
    arena->n_empty++;
    ArenaPage *pages = &arena->pages[(gsize)number * PAGES_PER_BLOCK];
    memset(pages, 0, PAGES_PER_BLOCK * sizeof *pages);
    for (guint i = PAGES_PER_BLOCK; i > 0; i--) list_push(arena, &arena->empty, number * PAGES_PER_BLOCK + i - 1);
}

static gboolean block_is_empty(const Arena *arena, guint number) {
    const ArenaPage *pages = &arena->pages[(gsize)number * PAGES_PER_BLOCK];
    for (guint i = 0; i < PAGES_PER_BLOCK; i++)
        if (pages[i].used > 0) return FALSE;
    return TRUE;
}

static void drop_block(Arena *arena, guint number) {
    for (guint i = 0; i < PAGES_PER_BLOCK; i++) list_remove(arena, &arena->empty, number * PAGES_PER_BLOCK + i);
    munmap(arena->blocks[number], ARENA_BLOCK_BYTES);
    arena->blocks[number] = NULL;
    arena->n_live--;
    arena->n_empty--;
    g_array_append_val(arena->free_numbers, number);
}

/* ---- pieces ---- */

static guint open_page(Arena *arena, guint class) {
    if (!arena->empty) add_block(arena);
    const guint page = arena->empty;
    list_remove(arena, &arena->empty, page);
    if (block_is_empty(arena, page / PAGES_PER_BLOCK)) arena->n_empty--;
    arena->pages[page] = (ArenaPage){.class = (guint8) class, .fresh = (guint16)(PAGE_UNITS >> class)};
    list_push(arena, &arena->partial[class], page);
    return page;
}

ArenaRef arena_take(Arena *arena, guint class) {
    guint number = arena->partial[class];
    if (!number) number = open_page(arena, class);
    ArenaPage *page = &arena->pages[number];
    ArenaRef ref = page->free;
    if (ref) {
        memcpy(&page->free, arena_at(arena, ref), sizeof page->free);
    } else {
        ref = (number << PAGE_SHIFT) + ((PAGE_UNITS >> class) - page->fresh) * (1u << class);
        page->fresh--;
    }
    page->used++;
    if (!page->free && !page->fresh) list_remove(arena, &arena->partial[class], number);
    arena->used_bytes += (gsize)ARENA_UNIT_BYTES << class;
    return ref;
}

void arena_give(Arena *arena, ArenaRef ref) {
    const guint number = ref >> PAGE_SHIFT;
    ArenaPage *page = &arena->pages[number];
    const guint class = page->class;
    if (!page->free && !page->fresh) list_push(arena, &arena->partial[class], number);
    memcpy(arena_at(arena, ref), &page->free, sizeof page->free);
    page->free = ref;
    arena->used_bytes -= (gsize)ARENA_UNIT_BYTES << class;
    if (--page->used > 0) return;
    list_remove(arena, &arena->partial[class], number);
    list_push(arena, &arena->empty, number);
    if (!block_is_empty(arena, number / PAGES_PER_BLOCK)) return;
    arena->n_empty++;
    if (arena->n_empty > EMPTY_KEPT + arena->n_live / 8) drop_block(arena, number / PAGES_PER_BLOCK);
}

guint arena_class(const Arena *arena, ArenaRef ref) { return arena->pages[ref >> PAGE_SHIFT].class; }
