/* Whether plumbd takes spans, and if not, why. Whoever finds a reason shuts the gate for it and opens it again when the
 * reason is gone; network threads look before each frame, /readyz shows the reasons. Any thread. */
#pragma once

#include <glib.h>

typedef enum {
    GATE_STARTING,
    GATE_STOPPING,
    GATE_STORE_FAILS, /* a shard cannot write its traces */
    GATE_STORE_SPACE, /* less free space than store.min-free */
    GATE_JOURNAL_FAILS,
    GATE_JOURNAL_FULL, /* journal.limit reached while the store does not take what is in it */
    GATE_REASONS
} GateReason;

typedef struct Gate Gate;
Gate *gate_new(void);
void gate_free(Gate *gate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Gate, gate_free)

/* 'why' is for people and names the remedy; the latest is kept.
 * Counted, for reasons that several may find (shards): it is gone when each that shut has opened again. */
void gate_shut(Gate *gate, GateReason reason, const char *why);
void gate_open(Gate *gate, GateReason reason);
/* A new text for a reason that is shut already. */
void gate_explain(Gate *gate, GateReason reason, const char *why);
/* Uncounted, for all other reasons: shut with this text, or open when it is NULL. TRUE when that changed anything but
 * the text. */
gboolean gate_set(Gate *gate, GateReason reason, const char *why);

/* Cheap: one atomic load. */
gboolean gate_is_open(Gate *gate);
gboolean gate_is_shut_for(Gate *gate, GateReason reason);
/* All reasons in one text, to be freed; NULL when open. */
char *gate_describe(Gate *gate);
