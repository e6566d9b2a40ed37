#include "analyzer/diagnosis/peers.h"

#include <math.h>

#include "analyzer/diagnosis/order.h"

/* One host's counted tasks in the loaded stage. */
typedef struct HostPart {
    guint32 first, n; /* of places */
    double sum;
} HostPart;

struct Peers {
    const TaskTable *table;
    const Stragglers *stragglers;
    const double *values;
    guint32 n; /* counted tasks with a value */
    double sum;
    OrderItem *sorted, *scratch; /* by value; index: the task */
    HostPart *hosts;             /* one a host of the table */
    guint32 *places;             /* host by host: where its tasks are in 'sorted', ascending */
    guint32 *touched;            /* hosts of the loaded stage */
    guint32 n_touched;
};

Peers *peers_new(const TaskTable *table, const Stragglers *stragglers) {
    guint32 largest = 0;
    for (guint32 i = 0; i < stragglers->n_stages; i++) largest = MAX(largest, stragglers->stages[i].n);
    Peers *peers = g_new0(Peers, 1);
    peers->table = table;
    peers->stragglers = stragglers;
    peers->sorted = g_new(OrderItem, largest);
    peers->scratch = g_new(OrderItem, largest);
    peers->places = g_new(guint32, largest);
    peers->hosts = g_new0(HostPart, table->n_hosts);
    peers->touched = g_new(guint32, table->n_hosts);
    return peers;
}

void peers_free(Peers *peers) {
    if (peers == NULL) return;
    g_free(peers->sorted);
    g_free(peers->scratch);
    g_free(peers->places);
    g_free(peers->hosts);
    g_free(peers->touched);
    g_free(peers);
}

static gboolean counts(const Peers *peers, guint32 task) {
    return peers->table->flags[task] & ROW_COUNTED && !isnan(peers->values[task]);
}

/* Tasks of one host come together, so that its part of the places is known when its first task comes. */
static void collect(Peers *peers, const guint32 *order, guint32 n) {
    for (guint32 i = 0; i < n; i++) {
        const guint32 task = order[i], host = peers->table->host[task];
        if (!counts(peers, task)) continue;
        HostPart *part = &peers->hosts[host];
        if (part->n == 0) {
            *part = (HostPart){.first = peers->n};
            peers->touched[peers->n_touched++] = host;
        }
        part->n++;
        part->sum += peers->values[task];
        peers->sum += peers->values[task];
        peers->sorted[peers->n++] = (OrderItem){peers->values[task], task};
    }
}

void peers_load(Peers *peers, const StageTasks *stage, const double *values) {
    for (guint32 i = 0; i < peers->n_touched; i++) peers->hosts[peers->touched[i]] = (HostPart){0};
    peers->n_touched = peers->n = 0;
    peers->sum = 0;
    peers->values = values;
    collect(peers, peers->stragglers->order + stage->first, stage->n);
    order_sort(peers->sorted, peers->scratch, peers->n);
    for (guint32 i = 0; i < peers->n_touched; i++) peers->hosts[peers->touched[i]].n = 0;
    for (guint32 place = 0; place < peers->n; place++) {
        HostPart *part = &peers->hosts[peers->table->host[peers->sorted[place].index]];
        peers->places[part->first + part->n++] = place;
    }
}

/* The value of rank k among those that are not in places[0..n): as many places lie before it as there are i with
 * places[i] - i <= k, which ascends. */
static double rank_without(const Peers *peers, const guint32 *places, guint32 n, guint32 k) {
    guint32 low = 0, high = n;
    while (low < high) {
        const guint32 middle = low + (high - low) / 2;
        if (places[middle] - middle <= k)
            low = middle + 1;
        else
            high = middle;
    }
    return peers->sorted[k + low].value;
}

static double median_without(const Peers *peers, const guint32 *places, guint32 n) {
    const guint32 left = peers->n - n;
    const double upper = rank_without(peers, places, n, left / 2);
    return left % 2 ? upper : (rank_without(peers, places, n, left / 2 - 1) + upper) / 2;
}

/* The value of rank k among a host's, those of equal rank as the task's own place left out (own = n: none). */
static double rank_in_host(const Peers *peers, const HostPart *part, guint32 own, guint32 k) {
    return peers->sorted[peers->places[part->first + (k < own ? k : k + 1)]].value;
}

static guint32 own_rank(const Peers *peers, const HostPart *part, guint32 task) {
    const double value = peers->values[task];
    const guint32 *places = peers->places + part->first;
    guint32 low = 0, high = part->n;
    while (low < high) {
        const guint32 middle = low + (high - low) / 2;
        if (peers->sorted[places[middle]].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low; /* of equal values it does not matter which one is left out */
}

void peers_of(const Peers *peers, guint32 task, PeerFigures *others, PeerFigures *same_host) {
    const HostPart *part = &peers->hosts[peers->table->host[task]];
    *others = *same_host = (PeerFigures){0, NAN, NAN};
    others->n = peers->n - part->n;
    if (others->n > 0) {
        others->mean = (peers->sum - part->sum) / others->n;
        others->median = median_without(peers, peers->places + part->first, part->n);
    }
    const gboolean inside = counts(peers, task);
    same_host->n = part->n - inside;
    if (same_host->n == 0) return;
    same_host->mean = (part->sum - (inside ? peers->values[task] : 0)) / same_host->n;
    const guint32 own = inside ? own_rank(peers, part, task) : part->n, half = same_host->n / 2;
    const double upper = rank_in_host(peers, part, own, half);
    same_host->median = same_host->n % 2 ? upper : (rank_in_host(peers, part, own, half - 1) + upper) / 2;
}
