#include "analyzer/calltree/stats/call_log.h"

#include "common/base/region.h"

static gsize block_words(guint i) { return i == 0 ? LOG_FIRST_WORDS : LOG_BLOCK_WORDS; }

void log_grow(CallLog *log) {
    if (log->n_blocks > 0) {
        guint32 *block = log->blocks[log->n_blocks - 1];
        block[0] = (guint32)(log->at - block);
    }
    const gsize words = block_words(log->n_blocks);
    log->blocks = g_renew(guint32 *, log->blocks, log->n_blocks + 1);
    guint32 *block = log->blocks[log->n_blocks++] = large_new(words * sizeof *block);
    log->at = block + 1;
    log->last = block + words - CALL_MAX_WORDS;
}

void log_empty(CallLog *log) {
    for (guint i = 0; i < log->n_blocks; i++) large_free(log->blocks[i], block_words(i) * sizeof(guint32));
    g_free(log->blocks);
    *log = (CallLog){.blocks = NULL};
}

gsize log_size_bytes(const CallLog *log) {
    if (log->n_blocks == 0) return 0;
    gsize words = (gsize)(log->at - log->blocks[log->n_blocks - 1]);
    for (guint i = 0; i + 1 < log->n_blocks; i++) words += block_words(i);
    return words * sizeof(guint32);
}
