/* What a thread reads of a store, and whether it goes past what cannot be read. Each thread has its own. */
#pragma once

#include <glib.h>

typedef struct StoreReads {
    gboolean skipped; /* something could not be read */
    guint families;   /* that were read: 1 << StoreFamily */
} StoreReads;

/* Until the end, iterators of the calling thread that are moved forward go past what cannot be read, to the next key
 * that can. For those who answer with what there is, and remove what nobody asks for any more. */
void store_skip_begin(void);
StoreReads store_skip_end(void);

/* ---- for the engine ---- */
gboolean store_skips(void);
void store_skipped(void);
void store_reads(guint family);
