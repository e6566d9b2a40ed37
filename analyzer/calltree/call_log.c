#include "analyzer/calltree/call_log.h"

void log_grow(CallLog *log) {
    if (log->in_use > 0) {
        guint32 *block = log->blocks->pdata[log->in_use - 1];
        block[0] = (guint32)(log->at - block);
    }
    if (log->in_use == log->blocks->len) g_ptr_array_add(log->blocks, g_new(guint32, LOG_BLOCK_WORDS));
    guint32 *block = log->blocks->pdata[log->in_use++];
    log->at = block + 1;
    log->last = block + LOG_BLOCK_WORDS - CALL_MAX_WORDS;
}

void log_empty(CallLog *log) {
    g_ptr_array_set_size(log->blocks, 0);
    log->in_use = 0;
    log->at = log->last = NULL;
}

gsize log_size_bytes(const CallLog *log) {
    if (log->in_use == 0) return 0;
    const guint32 *last = log->blocks->pdata[log->in_use - 1];
    return ((gsize)(log->in_use - 1) * LOG_BLOCK_WORDS + (gsize)(log->at - last)) * sizeof(guint32);
}
