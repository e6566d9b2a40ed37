#include "analyzer/archive/index/failed_calls.h"

static const char *const names[FAILURE_KEYS] = {"exception", "error"};

void failure_keys_init(FailureKeys *keys) {
    *keys = (FailureKeys){.dict_size = 0};
    for (guint i = 0; i < FAILURE_KEYS; i++) keys->of[i] = G_MAXUINT32;
}

void failure_keys_look(FailureKeys *keys, Dict *dict) {
    const guint32 size = dict_size(dict);
    if (keys->dict_size == size) return;
    keys->dict_size = size;
    for (guint i = 0; i < FAILURE_KEYS; i++) {
        const guint32 key = keys->of[i] == G_MAXUINT32 ? dict_find(dict, names[i], strlen(names[i])) : 0;
        if (key != 0) keys->of[i] = key;
    }
}

static gboolean has_failed(const FailureKeys *keys, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation))
        if (is_failure(keys, &annotation)) return TRUE;
    return FALSE;
}

void failed_calls_find(const FailureKeys *keys, const CallTree *tree, GArray *nodes) {
    g_array_set_size(nodes, 0);
    for (guint32 i = 1; i < tree->n_nodes; i++)
        if (tree->span[i] != NULL && has_failed(keys, tree->span[i])) g_array_append_val(nodes, i);
}
