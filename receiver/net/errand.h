/* Work that threads which serve give to one that does nothing else, for it takes long, and peers decide how often it is
 * done: tickets of Kerberos are a quarter of a millisecond of a processor each, and a file is locked and written for
 * them, on a disk that may hang. It comes back to where it was given. That thread has the priority of those that
 * accept: peers that are there, and those that come, do not wait for it. */
#pragma once

#include "receiver/net/inbox.h"

/* First in what is given. */
typedef struct Errand Errand;
struct Errand {
    void (*work)(Errand *errand); /* on the thread for it */
    void (*back)(Errand *errand); /* on the thread that gave it; it is done with then */
    GDestroyNotify free;          /* what 'back' does not get */
    Inbox *home;                  /* of Errand: the inbox of the thread that gave it */
    GList link;                   /* among those that wait */
    gboolean waits;               /* is it one of them? */
};

/* All that wait for their turn: those that came first, first. */
typedef struct Errands Errands;
Errands *errands_start(void);
/* Before the inboxes go: no other is begun, and none comes back any more. The one under way is waited for, for a
 * second: if it hangs it is left to itself. */
void errands_stop(Errands *errands);
/* After errands_stop(), when all that waited are withdrawn. */
void errands_free(Errands *errands);

/* Any thread. It is taken over, until it comes back. */
void errands_give(Errands *errands, Errand *errand);
/* The thread that gave it: nobody waits for it any more. TRUE: it had not begun, and is the caller's again. */
gboolean errands_withdraw(Errands *errands, Errand *errand);

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
