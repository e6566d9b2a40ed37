#include "common/store/store_skip.h"

static _Thread_local struct {
    gboolean begun;
    StoreReads reads;
} skipping;

void store_skip_begin(void) {
    g_return_if_fail(!skipping.begun);
    skipping.begun = TRUE;
}

StoreReads store_skip_end(void) {
    const StoreReads reads = skipping.reads;
    skipping.begun = FALSE;
    skipping.reads = (StoreReads){0};
    return reads;
}

gboolean store_skips(void) { return skipping.begun; }
void store_skipped(void) { skipping.reads.skipped = TRUE; }
void store_reads(guint family) {
    if (skipping.begun) skipping.reads.families |= 1u << family;
}
