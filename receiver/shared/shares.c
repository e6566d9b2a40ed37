#include "receiver/shared/shares.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"

struct Peer {
    Shares *shares;
    char name[PEER_NAME_BYTES];
    GQueue places[PEER_KINDS]; /* PeerPlace; under the lock */
    guint held;                /* places that point here, those that gave way included; under the lock */
    _Atomic gsize buffered;
};

struct Shares {
    pthread_mutex_t lock;
    GHashTable *by_name; /* Peer.name -> Peer */
    ShareLimits limits;
    guint connections[PEER_KINDS]; /* without those that gave way */
    guint leaving[PEER_KINDS];     /* those */
    _Atomic gsize buffered;
};

Shares *shares_new(const ShareLimits *limits) {
    Shares *shares = g_new0(Shares, 1);
    pthread_mutex_init(&shares->lock, NULL);
    shares->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    shares->limits = *limits;
    return shares;
}

void shares_free(Shares *shares) {
    if (!shares) return;
    g_hash_table_unref(shares->by_name);
    pthread_mutex_destroy(&shares->lock);
    g_free(shares);
}

static gint64 now_ns(void) { return clock_monotonic_ns(clock_system()); }

/* ---- names ---- */

static void name_of_v6(const struct in6_addr *address, char name[PEER_NAME_BYTES]) {
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        inet_ntop(AF_INET, address->s6_addr + 12, name, PEER_NAME_BYTES);
        return;
    }
    struct in6_addr network = *address;
    const gboolean local = IN6_IS_ADDR_LOOPBACK(address);
    if (!local) memset(network.s6_addr + 8, 0, 8);
    inet_ntop(AF_INET6, &network, name, PEER_NAME_BYTES);
    if (!local) g_strlcat(name, "/64", PEER_NAME_BYTES);
}

void peer_name_of(const struct sockaddr *address, socklen_t length, char name[PEER_NAME_BYTES]) {
    if (length >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, name, PEER_NAME_BYTES);
    else if (length >= sizeof(struct sockaddr_in6) && address->sa_family == AF_INET6)
        name_of_v6(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, name);
    else
        g_strlcpy(name, "?", PEER_NAME_BYTES);
}

/* ---- connections; with the lock held ---- */

static Peer *get(Shares *shares, const char *name) {
    Peer *peer = g_hash_table_lookup(shares->by_name, name);
    if (peer != NULL) return peer;
    peer = g_new0(Peer, 1);
    peer->shares = shares;
    g_strlcpy(peer->name, name, sizeof peer->name);
    for (int i = 0; i < PEER_KINDS; i++) g_queue_init(&peer->places[i]);
    g_hash_table_insert(shares->by_name, peer->name, peer);
    return peer;
}

static void drop_unused(Peer *peer) {
    if (peer->held == 0) g_hash_table_remove(peer->shares->by_name, peer->name);
}

static Peer *heaviest(Shares *shares, PeerKind kind) {
    Peer *most = NULL;
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, shares->by_name);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Peer *peer = value;
        if (most == NULL || peer->places[kind].length > most->places[kind].length) most = peer;
    }
    return most;
}

/* NULL: all are busy. */
static PeerPlace *longest_idle(const Peer *peer, PeerKind kind, gboolean busy_too) {
    PeerPlace *idle = NULL;
    gint64 since_ns = G_MAXINT64;
    for (const GList *at = peer->places[kind].head; at != NULL; at = at->next) {
        PeerPlace *place = at->data;
        if (!busy_too && atomic_load(&place->busy)) continue;
        const gint64 active_ns = atomic_load_explicit(&place->active_ns, memory_order_relaxed);
        if (active_ns >= since_ns) continue;
        idle = place;
        since_ns = active_ns;
    }
    return idle;
}

static void leave(PeerPlace *place) {
    Peer *peer = place->peer;
    g_queue_unlink(&peer->places[place->kind], &place->link);
    peer->shares->connections[place->kind]--;
}

/* Its owner still holds the place, and the descriptor with it, until it has seen the end. */
static void give_way(PeerPlace *place) {
    leave(place);
    place->peer->shares->leaving[place->kind]++;
    atomic_store(&place->gave_way, TRUE);
    shutdown(place->fd, SHUT_RDWR);
}

/* What comes from this machine may come by a proxy, from anybody. */
static gboolean has_all_places(const Shares *shares, PeerKind kind, const Peer *peer) {
    if (kind != PEER_SENDERS || shares->limits.per_address == 0) return FALSE;
    if (strcmp(peer->name, "127.0.0.1") == 0 || strcmp(peer->name, "::1") == 0) return FALSE;
    return peer->places[kind].length >= shares->limits.per_address;
}

/* FALSE: nobody has to give way to this peer. */
static gboolean make_place(Shares *shares, PeerKind kind, const Peer *peer, gint64 own_idle_ns) {
    const gboolean all = has_all_places(shares, kind, peer);
    if (!all && shares->connections[kind] < shares->limits.connections[kind]) return TRUE;
    const Peer *most = heaviest(shares, kind);
    const gboolean others_too = !all && most->places[kind].length > peer->places[kind].length + 1;
    PeerPlace *idle = longest_idle(others_too ? most : peer, kind, others_too);
    if (idle == NULL || (!others_too && now_ns() - atomic_load(&idle->active_ns) < own_idle_ns)) return FALSE;
    give_way(idle);
    return TRUE;
}

PeerPlace *shares_take(Shares *shares, PeerKind kind, int fd, const char *name, gint64 own_idle_ns) {
    PeerPlace *place = NULL;
    pthread_mutex_lock(&shares->lock);
    Peer *peer = get(shares, name);
    if (make_place(shares, kind, peer, own_idle_ns)) {
        place = g_new0(PeerPlace, 1);
        place->peer = peer;
        place->kind = kind;
        place->fd = fd;
        place->link.data = place;
        atomic_init(&place->active_ns, now_ns());
        g_queue_push_tail_link(&peer->places[kind], &place->link);
        shares->connections[kind]++;
        peer->held++;
    } else {
        drop_unused(peer);
    }
    pthread_mutex_unlock(&shares->lock);
    return place;
}

void peer_place_free(PeerPlace *place) {
    if (!place) return;
    Peer *peer = place->peer;
    Shares *shares = peer->shares;
    pthread_mutex_lock(&shares->lock);
    if (atomic_load(&place->gave_way))
        shares->leaving[place->kind]--;
    else
        leave(place);
    peer->held--;
    drop_unused(peer);
    pthread_mutex_unlock(&shares->lock);
    g_free(place);
}

const char *peer_place_name(const PeerPlace *place) { return place->peer->name; }

/* ---- memory ---- */

static gboolean fits(const Shares *shares, gsize all_bytes, gsize peer_bytes) {
    const gsize limit = shares->limits.buffer_bytes;
    return all_bytes <= limit && peer_bytes / PEER_BUFFER_FACTOR <= limit - all_bytes;
}

gboolean peer_buffer(PeerPlace *place, gsize from_bytes, gsize to_bytes) {
    Peer *peer = place->peer;
    Shares *shares = peer->shares;
    if (to_bytes <= from_bytes) {
        atomic_fetch_sub(&shares->buffered, from_bytes - to_bytes);
        atomic_fetch_sub(&peer->buffered, from_bytes - to_bytes);
        return TRUE;
    }
    const gsize more = to_bytes - from_bytes;
    const gsize all_bytes = atomic_fetch_add(&shares->buffered, more) + more;
    const gsize peer_bytes = atomic_fetch_add(&peer->buffered, more) + more;
    if (fits(shares, all_bytes, peer_bytes)) return TRUE;
    atomic_fetch_sub(&shares->buffered, more);
    atomic_fetch_sub(&peer->buffered, more);
    return FALSE;
}

gboolean peer_is_over(const PeerPlace *place) {
    const Peer *peer = place->peer;
    return !fits(peer->shares, atomic_load(&peer->shares->buffered), atomic_load(&peer->buffered));
}

/* ---- figures ---- */

gboolean shares_peer_is_full(Shares *shares, PeerKind kind, const char *name) {
    pthread_mutex_lock(&shares->lock);
    const Peer *peer = g_hash_table_lookup(shares->by_name, name);
    const gboolean full = peer != NULL && has_all_places(shares, kind, peer);
    pthread_mutex_unlock(&shares->lock);
    return full;
}

guint shares_leaving(Shares *shares, PeerKind kind) {
    pthread_mutex_lock(&shares->lock);
    const guint n = shares->leaving[kind];
    pthread_mutex_unlock(&shares->lock);
    return n;
}

guint shares_connections(Shares *shares, PeerKind kind) {
    pthread_mutex_lock(&shares->lock);
    guint n = shares->connections[kind];
    pthread_mutex_unlock(&shares->lock);
    return n;
}

gsize shares_buffered_bytes(const Shares *shares) { return atomic_load(&shares->buffered); }

guint shares_count(Shares *shares) {
    pthread_mutex_lock(&shares->lock);
    guint n = g_hash_table_size(shares->by_name);
    pthread_mutex_unlock(&shares->lock);
    return n;
}
