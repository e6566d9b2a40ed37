#include "receiver/facts/gate.h"

#include <pthread.h>
#include <stdatomic.h>

struct Gate {
    pthread_mutex_t lock;
    atomic_uint shut; /* bits by reason; written under the lock */
    guint holders[GATE_REASONS];
    char *why[GATE_REASONS];
};

Gate *gate_new(void) {
    Gate *gate = g_new0(Gate, 1);
    pthread_mutex_init(&gate->lock, NULL);
    return gate;
}

void gate_free(Gate *gate) {
    if (!gate) return;
    for (int i = 0; i < GATE_REASONS; i++) g_free(gate->why[i]);
    pthread_mutex_destroy(&gate->lock);
    g_free(gate);
}

void gate_shut(Gate *gate, GateReason reason, const char *why) {
    pthread_mutex_lock(&gate->lock);
    gate->holders[reason]++;
    g_free(gate->why[reason]);
    gate->why[reason] = g_strdup(why);
    atomic_fetch_or(&gate->shut, 1u << reason);
    pthread_mutex_unlock(&gate->lock);
}

void gate_explain(Gate *gate, GateReason reason, const char *why) {
    pthread_mutex_lock(&gate->lock);
    g_free(gate->why[reason]);
    gate->why[reason] = g_strdup(why);
    pthread_mutex_unlock(&gate->lock);
}

void gate_open(Gate *gate, GateReason reason) {
    pthread_mutex_lock(&gate->lock);
    g_assert(gate->holders[reason] > 0);
    if (--gate->holders[reason] == 0) atomic_fetch_and(&gate->shut, ~(1u << reason));
    pthread_mutex_unlock(&gate->lock);
}

gboolean gate_set(Gate *gate, GateReason reason, const char *why) {
    pthread_mutex_lock(&gate->lock);
    gboolean changed = (gate->holders[reason] > 0) != (why != NULL);
    gate->holders[reason] = why ? 1 : 0;
    if (why) {
        g_free(gate->why[reason]);
        gate->why[reason] = g_strdup(why);
        atomic_fetch_or(&gate->shut, 1u << reason);
    } else {
        atomic_fetch_and(&gate->shut, ~(1u << reason));
    }
    pthread_mutex_unlock(&gate->lock);
    return changed;
}

gboolean gate_is_open(Gate *gate) { return atomic_load(&gate->shut) == 0; }

gboolean gate_is_shut_for(Gate *gate, GateReason reason) { return (atomic_load(&gate->shut) & (1u << reason)) != 0; }

char *gate_describe(Gate *gate) {
    GString *text = NULL;
    pthread_mutex_lock(&gate->lock);
    for (int i = 0; i < GATE_REASONS; i++) {
        if (gate->holders[i] == 0) continue;
        if (!text)
            text = g_string_new(gate->why[i]);
        else
            g_string_append_printf(text, "; %s", gate->why[i]);
    }
    pthread_mutex_unlock(&gate->lock);
    return text ? g_string_free(text, FALSE) : NULL;
}
