#include "receiver/shared/name_quota.h"

#include <pthread.h>
#include <stdatomic.h>

#include "receiver/shared/log.h"

/* So many times as many names may come as they are as with their numbers folded. */
#define FOLDED_PART 4u
/* Full is said before nothing fits at all: peers that are new have little by then. */
#define FULL 0.999

typedef struct QuotaPeer {
    PackLimit limit;
    NameQuota *quota;
    char *name;
    atomic_uint added[PACK_NEW_KINDS];
    _Atomic guint64 entries, bytes;
    atomic_bool said;
} QuotaPeer;

struct NameQuota {
    Dict *dict;
    NameLimits limits;
    pthread_mutex_t lock;
    GHashTable *peers; /* QuotaPeer.name -> QuotaPeer */
    QuotaPeer *others;
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

static void say(QuotaPeer *peer) {
    if (atomic_exchange(&peer->said, TRUE)) return;
    log_message(LOG_LEVEL_WARNING,
                "%s has sent %u new names of functions and annotations since the start (naming.per-peer is %u, "
                "naming.limit %u): do they hold numbers or ids? In further ones numbers become #, and then all is "
                "(other); a rule in naming.rules keeps a number apart from its name",
                peer->name, atomic_load(&peer->added[PACK_NEW_NAME]), peer->quota->limits.per_peer,
                peer->quota->limits.all);
}

/* May the peer have so much of the dictionary, and leave as much? */
static gboolean leaves_enough(const QuotaPeer *peer, gsize length) {
    const DictUsage usage = dict_usage(peer->quota->dict);
    const double own = MAX((double)(atomic_load(&peer->entries) + 1) / usage.most_entries,
                           (double)(atomic_load(&peer->bytes) + length) / (double)usage.most_bytes);
    return own <= 1 - dict_usage_full(&usage);
}

static gboolean may_add(void *arg, PackNew what, gsize length) {
    QuotaPeer *peer = arg;
    NameQuota *quota = peer->quota;
    const gboolean few = atomic_load(&peer->added[what]) < most_of(quota->limits.per_peer, what) &&
                         atomic_load(&quota->added[what]) < most_of(quota->limits.all, what);
    if (!few && what == PACK_NEW_NAME) say(peer);
    if (!few || (what != PACK_NEW_FIXED && !leaves_enough(peer, length))) {
        atomic_fetch_add(what == PACK_NEW_TEXT ? &quota->refused : &quota->folded, 1);
        return FALSE;
    }

    atomic_fetch_add(&peer->added[what], 1);
    atomic_fetch_add(&quota->added[what], 1);
    atomic_fetch_add(&peer->entries, 1);
    atomic_fetch_add(&peer->bytes, length);
    return TRUE;
}

/* ---- peers ---- */

static QuotaPeer *peer_new(NameQuota *quota, const char *name) {
    QuotaPeer *peer = g_new0(QuotaPeer, 1);
    peer->quota = quota;
    peer->name = g_strdup(name);
    peer->limit = (PackLimit){may_add, peer};
    return peer;
}

static void peer_free(void *data) {
    QuotaPeer *peer = data;
    g_free(peer->name);
    g_free(peer);
}

NameQuota *name_quota_new(Dict *dict, const NameLimits *limits) {
    NameQuota *quota = g_new0(NameQuota, 1);
    quota->dict = dict;
    quota->limits = *limits;
    pthread_mutex_init(&quota->lock, NULL);
    quota->peers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, peer_free);
    quota->others = peer_new(quota, "one of very many peers");
    return quota;
}

void name_quota_free(NameQuota *quota) {
    if (!quota) return;
    g_hash_table_unref(quota->peers);
    peer_free(quota->others);
    pthread_mutex_destroy(&quota->lock);
    g_free(quota);
}

const PackLimit *name_quota_of(NameQuota *quota, const char *name) {
    pthread_mutex_lock(&quota->lock);
    QuotaPeer *peer = g_hash_table_lookup(quota->peers, name);
    if (peer == NULL && g_hash_table_size(quota->peers) < NAME_QUOTA_PEERS_MAX) {
        peer = peer_new(quota, name);
        g_hash_table_insert(quota->peers, peer->name, peer);
    }
    if (peer == NULL) peer = quota->others;
    pthread_mutex_unlock(&quota->lock);
    return &peer->limit;
}

/* ---- how full ---- */

NameQuotaState name_quota_state(NameQuota *quota) {
    const DictUsage usage = dict_usage(quota->dict);
    return (NameQuotaState){
        .entries = usage.entries,
        .limit = usage.most_entries,
        .full = dict_usage_full(&usage),
        .folded = atomic_load(&quota->folded),
        .refused = atomic_load(&quota->refused),
    };
}

char *name_quota_describe(NameQuota *quota) {
    const NameQuotaState state = name_quota_state(quota);
    if (state.full < FULL) return NULL;
    return g_strdup_printf("the dictionary of names and processes is full (%u entries of %u): spans with new ones are "
                           "refused, all others are taken; docs/plumbd.md says what to do",
                           state.entries, state.limit);
}

gboolean name_quota_watch(NameQuota *quota) {
    static const double marks[] = {0.5, 0.8, 0.95};
    const NameQuotaState state = name_quota_state(quota);
    guint level = 0;
    while (level < G_N_ELEMENTS(marks) && state.full >= marks[level]) level++;
    const gboolean more = level > quota->level;
    if (more)
        log_message(level == G_N_ELEMENTS(marks) ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
                    "the dictionary of names and processes is %.0f %% full (%u entries of %u): nothing leaves it; see "
                    "which senders put numbers or ids into names (plumb functions, plumb status --senders)",
                    state.full * 100, state.entries, state.limit);
    quota->level = level;
    return more;
}
