/* Bloom filters, each twice as large as the one before, which was full. All bits of an id lie in one line of the cache.
 * Bits are only ever set, and atomically: who adds and who asks need no lock. */
#include "analyzer/archive/tables/known_traces.h"

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/calltree/id_hash.h"

/* The first layer has 256 KiB, for 200,000 traces (the mean one of a cluster has 90 spans); six are for 13 million. */
#define LAYERS         12u /* at most */
#define FIRST_LOG      12u /* blocks of the first */
#define BLOCK_WORDS    8u
#define BITS_PER_TRACE 10u
#define PROBES         6u /* nine bits of the hash each */

typedef _Atomic guint64 Block[BLOCK_WORDS];

struct KnownTraces {
    guint64 secret; /* peers choose the ids */
    Block *layer[LAYERS];
    guint most_layers;
    _Atomic guint n_layers; /* the last one is added to */
    _Atomic guint64 added;  /* to the last one */
    _Atomic gboolean complete;
    pthread_mutex_t growing;
};

static gsize blocks_of(guint layer) { return (gsize)1 << (FIRST_LOG + layer); }

static void layer_add(KnownTraces *known) {
    guint n = known->n_layers;
    known->layer[n] = g_new0(Block, blocks_of(n));
    atomic_store_explicit(&known->added, 0, memory_order_relaxed);
    atomic_store_explicit(&known->n_layers, n + 1, memory_order_release);
}

KnownTraces *known_traces_new(gsize most_bytes) {
    KnownTraces *known = g_new0(KnownTraces, 1);
    /* n of them have 2^n - 1 times what the first has. */
    for (known->most_layers = 1; known->most_layers < LAYERS; known->most_layers++)
        if (((gsize)2 << known->most_layers) - 1 > most_bytes / (blocks_of(0) * sizeof(Block))) break;
    known->secret = span_id_secret();
    pthread_mutex_init(&known->growing, NULL);
    layer_add(known);
    return known;
}

void known_traces_free(KnownTraces *known) {
    if (known == NULL) return;
    for (guint i = 0; i < known->n_layers; i++) g_free(known->layer[i]);
    pthread_mutex_destroy(&known->growing);
    g_free(known);
}

static guint64 hash_of(const KnownTraces *known, guint64 trace_id) {
    guint64 h = (trace_id ^ known->secret) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 29) * (known->secret | 1);
    return h ^ h >> 32;
}

static _Atomic guint64 *block_of(const KnownTraces *known, guint layer, guint64 hash) {
    return known->layer[layer][hash & (blocks_of(layer) - 1)];
}

/* Other bits than those that tell the block. */
static guint64 probes_of(guint64 hash) { return (hash * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> (64 - 9 * PROBES); }

static gboolean block_has(_Atomic guint64 *block, guint64 probes) {
    for (guint i = 0; i < PROBES; i++, probes >>= 9)
        if (!(atomic_load_explicit(&block[probes >> 6 & 7], memory_order_relaxed) >> (probes & 63) & 1)) return FALSE;
    return TRUE;
}

static gboolean has(const KnownTraces *known, guint64 hash) {
    guint n = atomic_load_explicit(&known->n_layers, memory_order_acquire);
    for (guint i = 0; i < n; i++)
        if (block_has(block_of(known, i, hash), probes_of(hash))) return TRUE;
    return FALSE;
}

static guint64 capacity_of(guint layer) { return blocks_of(layer) * sizeof(Block) * 8 / BITS_PER_TRACE; }

/* The last layer is filled further, and says less and less. */
static void grow(KnownTraces *known, guint full) {
    if (full == known->most_layers) return;
    pthread_mutex_lock(&known->growing);
    if (known->n_layers == full) layer_add(known);
    pthread_mutex_unlock(&known->growing);
}

void known_traces_add(KnownTraces *known, guint64 trace_id) {
    guint64 hash = hash_of(known, trace_id), probes = probes_of(hash);
    if (has(known, hash)) return;
    guint n = atomic_load_explicit(&known->n_layers, memory_order_acquire);
    _Atomic guint64 *block = block_of(known, n - 1, hash);
    for (guint i = 0; i < PROBES; i++, probes >>= 9)
        atomic_fetch_or_explicit(&block[probes >> 6 & 7], (guint64)1 << (probes & 63), memory_order_relaxed);
    if (atomic_fetch_add_explicit(&known->added, 1, memory_order_relaxed) + 1 >= capacity_of(n - 1)) grow(known, n);
}

gboolean known_traces_is_complete(const KnownTraces *known) {
    return atomic_load_explicit(&known->complete, memory_order_acquire);
}

gboolean known_traces_may_have(const KnownTraces *known, guint64 trace_id) {
    return !known_traces_is_complete(known) || has(known, hash_of(known, trace_id));
}

void known_traces_complete(KnownTraces *known) { atomic_store_explicit(&known->complete, TRUE, memory_order_release); }

gsize known_traces_size_bytes(const KnownTraces *known) {
    gsize size_bytes = 0;
    for (guint i = 0; i < atomic_load_explicit(&known->n_layers, memory_order_acquire); i++)
        size_bytes += blocks_of(i) * sizeof(Block);
    return size_bytes;
}
