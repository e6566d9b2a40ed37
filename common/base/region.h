/* Large memory for moments: what a group is sealed in, or a large trace is opened in.
 *
 * The kernel clears, maps and unmaps small pages one by one, 2.7 us each on a virtual machine; as huge pages the same
 * memory costs a sixth. So large pieces are mapped apart, and aligned for them. Where the system gives no huge pages
 * they are small ones, and all is well. */
#pragma once

#include <glib.h>

/* Pieces that go back together. All zeros: empty. Of one thread at a time. */
typedef struct Region {
    struct RegionBlock *blocks; /* the last one first */
    guint8 *at;                 /* in it */
    gsize left_bytes;
    gsize size_bytes; /* of all blocks */
} Region;
/* Zeroed, aligned for anything; until region_clear(). What is taken for 0 bytes is not to be looked at. */
gpointer region_take(Region *region, gsize size_bytes);
void region_clear(Region *region);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Region, region_clear)
#define region_new(region, Type, n) ((Type *)region_take(region, (gsize)(n) * sizeof(Type)))

/* One piece, of any content; from 1 MiB on it begins where a huge page may. size_bytes is the same for both. */
gpointer large_new(gsize size_bytes);
gpointer large_new0(gsize size_bytes); /* zeroed */
/* What large_new() gives of so many bytes is zeroed, and takes memory only where it is written to. */
gboolean large_fresh(gsize size_bytes);
void large_free(gpointer piece, gsize size_bytes);
/* What was allocated otherwise, and not written to yet, may come in huge pages as far as it is aligned for them. */
void large_hint(gpointer piece, gsize size_bytes);
