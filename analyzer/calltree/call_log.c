#include "analyzer/calltree/call_log.h"

void log_grow(CallLog *log) {
    if (log->in_use == log->blocks->len) g_ptr_array_add(log->blocks, g_new(guint32, LOG_BLOCK_WORDS));
    log->at = (guint32 *)log->blocks->pdata[log->in_use++] + 1;
}
