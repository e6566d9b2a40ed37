#include "receiver/shared/name_quota.h"

#include <pthread.h>
#include <stdatomic.h>

#include "receiver/shared/log.h"

/* So many times as many names may come as they are as with their numbers folded. */
#define FOLDED_PART 4u
/* Full is said before nothing fits at all: peers that are new have little by then. */
#define FULL 0.999

typedef struct NamesPeer {
    PackLimit limit;
    NameQuota *names;
    char *name;
    atomic_uint added[PACK_NEW_KINDS];
    _Atomic guint64 entries, bytes;
    atomic_bool said;
} NamesPeer;

struct NameQuota {
    Dict *dict;
    NameLimits limits;
    pthread_mutex_t lock;
    GHashTable *peers; /* NamesPeer.name -> NamesPeer */
    NamesPeer *others;
    atomic_uint added[PACK_NEW_KINDS];
    _Atomic guint64 folded, refused;
    guint level; /* of name_quota_watch(): what was said last */
};

/* ---- may it? ---- */

static guint most_of(guint limit, PackNew what) {
    switch (what) {
    case PACK_NEW_NAME: return limit;
    case PACK_NEW_FOLDED: return MAX(limit / FOLDED_PART, 1);
    default: return G_MAXUINT;
    }
}

static void say(NamesPeer *peer) {
    if (atomic_exchange(&peer->said, TRUE)) return;
    log_message(LOG_LEVEL_WARNING,
                "%s has sent %u new names of functions and annotations since the start (naming.per-peer is %u, "
                "naming.limit %u): do they hold numbers or ids? In further ones numbers become #, and then all is "
                "(other); a rule in naming.rules keeps a number apart from its name",
                peer->name, atomic_load(&peer->added[PACK_NEW_NAME]), peer->names->limits.per_peer,
                peer->names->limits.all);
}

/* May the peer have so much of the dictionary, and leave as much? */
static gboolean leaves_enough(const NamesPeer *peer, gsize length) {
    const DictUsage usage = dict_usage(peer->names->dict);
    const double own = MAX((double)(atomic_load(&peer->entries) + 1) / usage.most_entries,
                           (double)(atomic_load(&peer->bytes) + length) / (double)usage.most_bytes);
    return own <= 1 - dict_usage_full(&usage);
}

static gboolean may_add(void *arg, PackNew what, gsize length) {
    NamesPeer *peer = arg;
    NameQuota *names = peer->names;
    const gboolean few = atomic_load(&peer->added[what]) < most_of(names->limits.per_peer, what) &&
                         atomic_load(&names->added[what]) < most_of(names->limits.all, what);
    if (!few && what == PACK_NEW_NAME) say(peer);
    if (!few || (what != PACK_NEW_FIXED && !leaves_enough(peer, length))) {
        atomic_fetch_add(what == PACK_NEW_TEXT ? &names->refused : &names->folded, 1);
        return FALSE;
    }

    atomic_fetch_add(&peer->added[what], 1);
    atomic_fetch_add(&names->added[what], 1);
    atomic_fetch_add(&peer->entries, 1);
    atomic_fetch_add(&peer->bytes, length);
    return TRUE;
}

/* ---- peers ---- */

static NamesPeer *peer_new(NameQuota *names, const char *name) {
    NamesPeer *peer = g_new0(NamesPeer, 1);
    peer->names = names;
    peer->name = g_strdup(name);
    peer->limit = (PackLimit){may_add, peer};
    return peer;
}

static void peer_free(void *data) {
    NamesPeer *peer = data;
    g_free(peer->name);
    g_free(peer);
}

NameQuota *name_quota_new(Dict *dict, const NameLimits *limits) {
    NameQuota *names = g_new0(NameQuota, 1);
    names->dict = dict;
    names->limits = *limits;
    pthread_mutex_init(&names->lock, NULL);
    names->peers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, peer_free);
    names->others = peer_new(names, "one of very many peers");
    return names;
}

void name_quota_free(NameQuota *names) {
    if (!names) return;
    g_hash_table_unref(names->peers);
    peer_free(names->others);
    pthread_mutex_destroy(&names->lock);
    g_free(names);
}

const PackLimit *name_quota_of(NameQuota *names, const char *name) {
    pthread_mutex_lock(&names->lock);
    NamesPeer *peer = g_hash_table_lookup(names->peers, name);
    if (peer == NULL && g_hash_table_size(names->peers) < NAME_QUOTA_PEERS_MAX) {
        peer = peer_new(names, name);
        g_hash_table_insert(names->peers, peer->name, peer);
    }
    if (peer == NULL) peer = names->others;
    pthread_mutex_unlock(&names->lock);
    return &peer->limit;
}

/* ---- how full ---- */

NameQuotaState name_quota_state(NameQuota *names) {
    const DictUsage usage = dict_usage(names->dict);
    return (NameQuotaState){
        .entries = usage.entries,
        .limit = usage.most_entries,
        .full = dict_usage_full(&usage),
        .folded = atomic_load(&names->folded),
        .refused = atomic_load(&names->refused),
    };
}

char *name_quota_describe(NameQuota *names) {
    const NameQuotaState state = name_quota_state(names);
    if (state.full < FULL) return NULL;
    return g_strdup_printf("the dictionary of names and processes is full (%u entries of %u): spans with new ones are "
                           "refused, all others are taken; docs/plumbd.md says what to do",
                           state.entries, state.limit);
}

gboolean name_quota_watch(NameQuota *names) {
    static const double marks[] = {0.5, 0.8, 0.95};
    const NameQuotaState state = name_quota_state(names);
    guint level = 0;
    while (level < G_N_ELEMENTS(marks) && state.full >= marks[level]) level++;
    const gboolean more = level > names->level;
    if (more)
        log_message(level == G_N_ELEMENTS(marks) ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
                    "the dictionary of names and processes is %.0f %% full (%u entries of %u): nothing leaves it; see "
                    "which senders put numbers or ids into names (plumb functions, plumb status --senders)",
                    state.full * 100, state.entries, state.limit);
    names->level = level;
    return more;
}
