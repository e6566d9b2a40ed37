/* Which calls failed: spans with an annotation "exception" (our agent's: the class of what was thrown) or "error"
 * (OpenTelemetry's and Zipkin's) whose value is not "false". They are counted in rows of their own, too (stats.h),
 * since a call that fails quickly says nothing of how fast its host is. */
#pragma once

#include <string.h>

#include "analyzer/calltree/tree.h"
#include "common/store/dict.h"

#define FAILURE_KEYS 2u
typedef struct FailureKeys {
    guint32 of[FAILURE_KEYS]; /* dictionary ids; G_MAXUINT32: no span had it so far. (0 is that of the empty text.) */
    guint32 dict_size;        /* when they were looked for last */
} FailureKeys;

void failure_keys_init(FailureKeys *keys);
/* Looks for those that the dictionary has got since. */
void failure_keys_look(FailureKeys *keys, Dict *dict);

static inline gboolean failure_keys_has(const FailureKeys *keys, guint32 key) {
    return key == keys->of[0] || key == keys->of[1];
}

static inline gboolean is_failure(const FailureKeys *keys, const SpanAnnotation *annotation) {
    if (!failure_keys_has(keys, annotation->key)) return FALSE;
    return annotation->length != 5 || memcmp(annotation->value, "false", 5) != 0;
}

/* The nodes of the tree whose calls failed (guint32, ascending), in place of what the list has. */
void failed_calls_find(const FailureKeys *keys, const CallTree *tree, GArray *nodes);
