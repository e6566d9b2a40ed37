/* Work that a thread which serves gives to the one that accepts (acceptor_do()), for it takes long and peers decide how
 * often it is done: tickets of Kerberos. It comes back to where it was given. */
#pragma once

#include <stdatomic.h>

#include "receiver/net/inbox.h"

/* First in what is given. */
typedef struct Errand Errand;
struct Errand {
    void (*work)(Errand *errand);
    void (*back)(Errand *errand); /* on the thread that gave it; it is done with then */
    GDestroyNotify free;          /* what 'back' does not get */
    Inbox *home;                  /* of Errand: the inbox of the thread that gave it */
    atomic_bool in_vain;          /* nobody waits for it any more: it comes back as it is */
};

static inline void errand_do(Errand *errand) {
    if (!atomic_load(&errand->in_vain)) errand->work(errand);
    inbox_put(errand->home, errand);
}

/* For inboxes: what was taken, on the thread that gave it; what is never taken. */
static inline void errand_back(void *arg, void *item) {
    (void)arg;
    Errand *errand = item;
    errand->back(errand);
}

static inline void errand_drop(void *item) {
    Errand *errand = item;
    errand->free(errand);
}
