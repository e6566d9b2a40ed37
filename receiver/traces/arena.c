#include "receiver/traces/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "common/base/region.h"

#define PAGE_SHIFT      8 /* units of a page: 16 KiB */
#define PAGE_UNITS      (1u << PAGE_SHIFT)
#define PAGES_PER_BLOCK (ARENA_BLOCK_BYTES / ARENA_UNIT_BYTES / PAGE_UNITS)
/* Empty blocks that are kept for the next traces: these, and a part of all. A new one takes a fraction of a
 * millisecond, and serves thousands of traces. */
#define EMPTY_KEPT 1u
#define EMPTY_PART 32u
/* Empty pages that are kept: so many, and a part of those in use. To give one back and have it again costs 4 us. */
#define PAGES_KEPT 128u
#define PAGES_PART 16u

G_STATIC_ASSERT(ARENA_BLOCK_BYTES / ARENA_UNIT_BYTES == 1u << ARENA_BLOCK_SHIFT);
G_STATIC_ASSERT(PAGE_UNITS >> (ARENA_CLASSES - 1) >= 2);
G_STATIC_ASSERT(ARENA_PAGE_BYTES == PAGE_UNITS * ARENA_UNIT_BYTES);

/* Pages are numbered through all blocks; 0, of the block that is not there, is none. */
typedef struct ArenaPage {
    ArenaRef free; /* pieces given back, linked through their first bytes */
    guint16 fresh; /* pieces never taken since the page got its class: they lie at its end */
    guint16 used;
    guint8 class;
} ArenaPage;

/* ---- sets of pages ---- */

static gsize words_of(guint n_blocks) { return ((gsize)n_blocks * PAGES_PER_BLOCK + 63) / 64; }
static gsize summary_of(guint n_blocks) { return (words_of(n_blocks) + 63) / 64; }

static guint64 *grown(guint64 *words, gsize from, gsize to) {
    words = g_renew(guint64, words, to);
    memset(words + from, 0, (to - from) * sizeof *words);
    return words;
}

static void set_grow(PageSet *set, guint from_blocks, guint to_blocks) {
    const gsize words = from_blocks > 0 ? words_of(from_blocks) : 0;
    const gsize summary = from_blocks > 0 ? summary_of(from_blocks) : 0;
    set->words = grown(set->words, words, words_of(to_blocks));
    set->summary = grown(set->summary, summary, summary_of(to_blocks));
}

static void set_clear(PageSet *set) {
    g_free(set->words);
    g_free(set->summary);
}

static inline void set_add(PageSet *set, guint page) {
    set->words[page / 64] |= (guint64)1 << (page % 64);
    set->summary[page / 4096] |= (guint64)1 << (page / 64 % 64);
}

static inline void set_remove(PageSet *set, guint page) {
    set->words[page / 64] &= ~((guint64)1 << (page % 64));
    if (set->words[page / 64] == 0) set->summary[page / 4096] &= ~((guint64)1 << (page / 64 % 64));
}

/* 0: it is empty. */
static inline guint set_first(const PageSet *set, guint n_blocks) {
    const gsize n = summary_of(n_blocks);
    for (gsize i = 0; i < n; i++) {
        if (set->summary[i] == 0) continue;
        const gsize word = i * 64 + (gsize)__builtin_ctzll(set->summary[i]);
        return (guint)(word * 64) + (guint)__builtin_ctzll(set->words[word]);
    }
    return 0;
}

/* Of a set that is not empty. */
static inline guint set_last(const PageSet *set, guint n_blocks) {
    gsize i = summary_of(n_blocks) - 1;
    while (set->summary[i] == 0) i--;
    const gsize word = i * 64 + 63 - (gsize)__builtin_clzll(set->summary[i]);
    return (guint)(word * 64) + 63 - (guint)__builtin_clzll(set->words[word]);
}

static inline gboolean set_has(const PageSet *set, guint page) { return set->words[page / 64] >> (page % 64) & 1; }

static void grow_sets(Arena *arena, guint from_blocks) {
    for (guint i = 0; i < ARENA_CLASSES; i++) set_grow(&arena->partial[i], from_blocks, arena->blocks_room);
    set_grow(&arena->empty, from_blocks, arena->blocks_room);
    set_grow(&arena->gone, from_blocks, arena->blocks_room);
}

void arena_init(Arena *arena) {
    *arena = (Arena){.n_blocks = 1, .blocks_room = 64, .free_numbers = g_array_new(FALSE, FALSE, sizeof(guint))};
    arena->blocks = g_new0(guint8 *, arena->blocks_room);
    arena->pages = g_new0(ArenaPage, arena->blocks_room * PAGES_PER_BLOCK);
    grow_sets(arena, 0);
}

void arena_clear(Arena *arena) {
    for (guint i = 1; i < arena->n_blocks; i++)
        if (arena->blocks[i]) large_free(arena->blocks[i], ARENA_BLOCK_BYTES);
    g_free(arena->blocks);
    g_free(arena->pages);
    for (guint i = 0; i < ARENA_CLASSES; i++) set_clear(&arena->partial[i]);
    set_clear(&arena->empty);
    set_clear(&arena->gone);
    g_array_unref(arena->free_numbers);
}

/* ---- blocks ---- */

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
        grow_sets(arena, arena->blocks_room / 2);
    }
    return arena->n_blocks++;
}

static void add_block(Arena *arena) {
    const guint number = next_number(arena);
    arena->blocks[number] = large_new0(ARENA_BLOCK_BYTES); /* one huge page can hold it */
    arena->n_live++;
    arena->n_empty++;
    ArenaPage *pages = &arena->pages[(gsize)number * PAGES_PER_BLOCK];
    memset(pages, 0, PAGES_PER_BLOCK * sizeof *pages);
    for (guint i = 0; i < PAGES_PER_BLOCK; i++) set_add(&arena->empty, number * PAGES_PER_BLOCK + i);
    arena->n_pages_empty += PAGES_PER_BLOCK;
}

static gboolean block_is_empty(const Arena *arena, guint number) {
    const ArenaPage *pages = &arena->pages[(gsize)number * PAGES_PER_BLOCK];
    for (guint i = 0; i < PAGES_PER_BLOCK; i++)
        if (pages[i].used > 0) return FALSE;
    return TRUE;
}

static gboolean block_has_gone(const Arena *arena, guint number) {
    G_STATIC_ASSERT(PAGES_PER_BLOCK % 64 == 0);
    const guint64 *words = arena->gone.words + (gsize)number * PAGES_PER_BLOCK / 64;
    for (guint i = 0; i < PAGES_PER_BLOCK / 64; i++)
        if (words[i] != 0) return TRUE;
    return FALSE;
}

static void drop_block(Arena *arena, guint number) {
    for (guint page = number * PAGES_PER_BLOCK; page < (number + 1) * PAGES_PER_BLOCK; page++) {
        if (set_has(&arena->gone, page)) {
            set_remove(&arena->gone, page);
            arena->n_pages_gone--;
        } else {
            set_remove(&arena->empty, page);
            arena->n_pages_empty--;
        }
    }
    large_free(arena->blocks[number], ARENA_BLOCK_BYTES);
    arena->blocks[number] = NULL;
    arena->n_live--;
    arena->n_empty--;
    g_array_append_val(arena->free_numbers, number);
}

/* ---- pieces ---- */

/* The last of the empty pages. Its block is done with as a huge page, and the kernel must not make it one again. */
static void give_back_page(Arena *arena) {
    const guint page = set_last(&arena->empty, arena->n_blocks), number = page / PAGES_PER_BLOCK;
    if (arena->n_pages_gone == 0 || !block_has_gone(arena, number))
        madvise(arena->blocks[number], ARENA_BLOCK_BYTES, MADV_NOHUGEPAGE);
    if (madvise(arena->blocks[number] + (gsize)(page % PAGES_PER_BLOCK) * ARENA_PAGE_BYTES, ARENA_PAGE_BYTES,
                MADV_DONTNEED) != 0)
        return;
    set_remove(&arena->empty, page);
    set_add(&arena->gone, page);
    arena->n_pages_empty--;
    arena->n_pages_gone++;
}

static guint take_page(Arena *arena) {
    if (arena->n_pages_empty == 0 && arena->n_pages_gone > 0) {
        const guint page = set_first(&arena->gone, arena->n_blocks);
        set_remove(&arena->gone, page);
        arena->n_pages_gone--;
        return page;
    }
    if (arena->n_pages_empty == 0) add_block(arena);
    const guint page = set_first(&arena->empty, arena->n_blocks);
    set_remove(&arena->empty, page);
    arena->n_pages_empty--;
    return page;
}

static guint open_page(Arena *arena, guint class) {
    const guint page = take_page(arena);
    if (block_is_empty(arena, page / PAGES_PER_BLOCK)) arena->n_empty--;
    arena->pages[page] = (ArenaPage){.class = (guint8) class, .fresh = (guint16)(PAGE_UNITS >> class)};
    set_add(&arena->partial[class], page);
    return page;
}

/* The first page that has room for the class, or is free for it. */
static guint page_for(Arena *arena, guint class) {
    const guint partial = set_first(&arena->partial[class], arena->n_blocks);
    const guint empty = set_first(&arena->empty, arena->n_blocks);
    return partial && (!empty || partial < empty) ? partial : open_page(arena, class);
}

ArenaRef arena_take(Arena *arena, guint class) {
    const guint number = page_for(arena, class);
    ArenaPage *page = &arena->pages[number];
    ArenaRef ref = page->free;
    if (ref) {
        memcpy(&page->free, arena_at(arena, ref), sizeof page->free);
    } else {
        ref = (number << PAGE_SHIFT) + ((PAGE_UNITS >> class) - page->fresh) * (1u << class);
        page->fresh--;
    }
    page->used++;
    if (!page->free && !page->fresh) set_remove(&arena->partial[class], number);
    arena->used_bytes += (gsize)ARENA_UNIT_BYTES << class;
    return ref;
}

void arena_give(Arena *arena, ArenaRef ref) {
    const guint number = ref >> PAGE_SHIFT;
    ArenaPage *page = &arena->pages[number];
    const guint class = page->class;
    if (!page->free && !page->fresh) set_add(&arena->partial[class], number);
    memcpy(arena_at(arena, ref), &page->free, sizeof page->free);
    page->free = ref;
    arena->used_bytes -= (gsize)ARENA_UNIT_BYTES << class;
    if (--page->used > 0) return;
    set_remove(&arena->partial[class], number);
    set_add(&arena->empty, number);
    arena->n_pages_empty++;
    if (block_is_empty(arena, number / PAGES_PER_BLOCK)) {
        arena->n_empty++;
        if (arena->n_empty > EMPTY_KEPT + arena->n_live / EMPTY_PART) drop_block(arena, number / PAGES_PER_BLOCK);
    }
    const guint n_used = arena->n_live * PAGES_PER_BLOCK - arena->n_pages_empty - arena->n_pages_gone;
    if (arena->n_pages_empty > PAGES_KEPT + n_used / PAGES_PART) give_back_page(arena);
}

guint arena_class(const Arena *arena, ArenaRef ref) { return arena->pages[ref >> PAGE_SHIFT].class; }

gboolean arena_lies_loose(const Arena *arena, ArenaRef ref) {
    const guint number = ref >> PAGE_SHIFT;
    const ArenaPage *page = &arena->pages[number];
    if (page->used * 4u >= (PAGE_UNITS >> page->class) * 3u) return FALSE;
    return set_first(&arena->partial[page->class], arena->n_blocks) < number;
}

ArenaRef arena_move(Arena *arena, ArenaRef ref) {
    const guint class = arena_class(arena, ref);
    const ArenaRef to = arena_take(arena, class);
    memcpy(arena_at(arena, to), arena_at(arena, ref), (gsize)ARENA_UNIT_BYTES << class);
    arena_give(arena, ref);
    return to;
}
