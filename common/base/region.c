#include "common/base/region.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES ((gsize)2 * 1024 * 1024)
/* From here on pieces are mapped apart. */
#define LARGE_BYTES ((gsize)1024 * 1024)
/* Of a block that is mapped: what is not touched costs nothing. */
#define MAPPED_BYTES ((gsize)16 * 1024 * 1024)
#define FIRST_BYTES  ((gsize)32 * 1024)
#define ALIGN_BYTES  ((gsize)16)

typedef struct RegionBlock {
    struct RegionBlock *before;
    gsize size_bytes; /* this included */
} RegionBlock;
G_STATIC_ASSERT(sizeof(RegionBlock) % ALIGN_BYTES == 0);

static gsize rounded(gsize size, gsize unit) { return (size + unit - 1) / unit * unit; }

/* Whole huge pages, zeroed. */
static gpointer map_huge(gsize size_bytes) {
    guint8 *wide =
        mmap(NULL, size_bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (wide == MAP_FAILED) g_error("no memory: %" G_GSIZE_FORMAT " bytes cannot be mapped", size_bytes);
    const gsize before = (HUGE_BYTES - (uintptr_t)wide % HUGE_BYTES) % HUGE_BYTES;
    if (before > 0) munmap(wide, before);
    if (before < HUGE_BYTES) munmap(wide + before + size_bytes, HUGE_BYTES - before);
    madvise(wide + before, size_bytes, MADV_HUGEPAGE);
    return wide + before;
}

#ifdef __SANITIZE_ADDRESS__
/* Each piece for itself, so that a byte beyond it is found. */
static RegionBlock *block_new(const Region *region, gsize least_bytes) {
    (void)region;
    RegionBlock *block = g_malloc0(least_bytes);
    block->size_bytes = least_bytes;
    return block;
}

static void block_free(RegionBlock *block) { g_free(block); }
#else
static RegionBlock *block_new(const Region *region, gsize least_bytes) {
    gsize size = MAX(MAX(least_bytes, region->size_bytes), FIRST_BYTES);
    const gboolean large = size >= LARGE_BYTES;
    if (large) size = rounded(MAX(least_bytes, MAPPED_BYTES), HUGE_BYTES);
    RegionBlock *block = large ? map_huge(size) : g_malloc0(size);
    block->size_bytes = size;
    return block;
}

static void block_free(RegionBlock *block) {
    if (block->size_bytes >= LARGE_BYTES)
        munmap(block, block->size_bytes);
    else
        g_free(block);
}
#endif

gpointer region_take(Region *region, gsize size_bytes) {
    const gsize size = rounded(size_bytes, ALIGN_BYTES);
    if (size > region->left_bytes) {
        RegionBlock *block = block_new(region, sizeof *block + size);
        block->before = region->blocks;
        region->blocks = block;
        region->at = (guint8 *)(block + 1);
        region->left_bytes = block->size_bytes - sizeof *block;
        region->size_bytes += block->size_bytes;
    }
    guint8 *piece = region->at;
    region->at += size;
    region->left_bytes -= size;
    return piece;
}

void region_clear(Region *region) {
    while (region->blocks != NULL) {
        RegionBlock *block = region->blocks;
        region->blocks = block->before;
        block_free(block);
    }
    *region = (Region){.blocks = NULL};
}

gpointer large_new(gsize size_bytes) {
    return size_bytes < LARGE_BYTES ? g_malloc(size_bytes) : map_huge(rounded(size_bytes, HUGE_BYTES));
}

gpointer large_new0(gsize size_bytes) {
    return size_bytes < LARGE_BYTES ? g_malloc0(size_bytes) : map_huge(rounded(size_bytes, HUGE_BYTES));
}

gboolean large_fresh(gsize size_bytes) { return size_bytes >= LARGE_BYTES; }

void large_free(gpointer piece, gsize size_bytes) {
    if (size_bytes < LARGE_BYTES)
        g_free(piece);
    else if (piece != NULL)
        munmap(piece, rounded(size_bytes, HUGE_BYTES));
}

void large_hint(gpointer piece, gsize size_bytes) {
    const uintptr_t begin = rounded((uintptr_t)piece, HUGE_BYTES);
    const uintptr_t end = ((uintptr_t)piece + size_bytes) / HUGE_BYTES * HUGE_BYTES;
    if (begin < end) madvise((gpointer)begin, end - begin, MADV_HUGEPAGE);
}
