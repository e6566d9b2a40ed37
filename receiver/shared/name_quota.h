/* New names: what each peer may add to the dictionary of function names, processes and annotation keys.
 *
 * The dictionary is bounded, and nothing leaves it: an id stands in records, in statistics that are kept for years and
 * in the accounts of processes, so no text can take the id of another, and none is known to be needed no more. So no
 * peer may fill it.
 *   - New function names and annotation keys: naming.per-peer of each peer and naming.limit of all, since the start.
 *     Past that, numbers in further ones become "#", and once there are a quarter as many of those, "(other)"; the name
 *     as it was sent goes into an annotation (common/pack/pack.h).
 *   - All of it together: no peer adds more than is still free. So one leaves half of it to the others, and some is
 *     free for one that is new, however many there are.
 *
 * Any thread. A frame costs nothing here; a name that the dictionary does not have costs some atomic additions. */
#pragma once

#include "common/pack/pack.h"

/* Peers with figures of their own; those that come later have one account together. */
#define NAME_QUOTA_PEERS_MAX 65536u

typedef struct NameLimits {
    guint per_peer, all;
} NameLimits;

typedef struct NameQuota NameQuota;
/* The dictionary must outlive it. */
NameQuota *name_quota_new(Dict *dict, const NameLimits *limits);
void name_quota_free(NameQuota *quota);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NameQuota, name_quota_free)
/* What a peer may add; lives as long as 'quota', as it must outlive the peer's connections. */
const PackLimit *name_quota_of(NameQuota *quota, const char *peer);

typedef struct NameQuotaState {
    guint32 entries, limit; /* of the dictionary */
    double full;            /* 0 to 1: of its entries or of its bytes, whichever is more */
    guint64 folded;         /* spans' names and keys that came in another form, since the start; once for each batch */
    guint64 refused;        /* texts that a peer may not add, the same way */
} NameQuotaState;
NameQuotaState name_quota_state(NameQuota *quota);
/* NULL, or what to do as the dictionary is full, to be freed. */
char *name_quota_describe(NameQuota *quota);
/* Now and then, by one thread: says in the log when the dictionary is a half, four fifths, nineteen twentieths full.
 * TRUE: it has said so now. */
gboolean name_quota_watch(NameQuota *quota);
