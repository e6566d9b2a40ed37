/* What the call-tree library asks about dictionary ids. It does no I/O and knows no store: whoever links it says what
 * an id means. All pointers live as long as the Lookup's owner. */
#pragma once

#include "common/model/role.h"
#include "common/model/span.h"

typedef struct Lookup {
    /* The bytes of a dictionary id; "" and 0 when unknown. */
    const char *(*text)(void *arg, guint32 id, gsize *length);
    /* Role, and dictionary id of the host, of a tracer's dictionary id. */
    void (*process)(void *arg, guint32 tracer, Role *role, guint32 *host);
    /* Dictionary id of the annotation key that holds the bytes a span handled ("bytes"); 0: none. */
    guint32 (*bytes_key)(void *arg);
    void *arg;
} Lookup;

static inline SpanTexts lookup_texts(const Lookup *lookup) { return (SpanTexts){lookup->text, lookup->arg}; }

/* Names of the nodes that stand for no span. They are no dictionary ids. */
#define NAME_TRACE   0u          /* node 0: the trace itself, above its roots */
#define NAME_MISSING 0xffffffffu /* placeholder for a parent that never came */
#define NAME_OTHERS  0xfffffffeu /* in a mixed pattern: calls that got no node of their own */
