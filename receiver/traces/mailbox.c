#include "receiver/traces/mailbox.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/base/clock.h"

/* Of the thread that takes. */
typedef enum {
    TAKER_AWAKE,
    TAKER_DOZES, /* looks again by itself in a moment; only much makes it look earlier */
    TAKER_SLEEPS
} Taker;

struct Mailbox {
    gsize limit_bytes;
    _Atomic gsize bytes;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    MailItem *first;
    MailItem **last;
    Taker taker;
    gboolean busy; /* the last time there was something */
};

Mailbox *mailbox_new(gsize limit_bytes) {
    Mailbox *box = g_new0(Mailbox, 1);
    box->limit_bytes = limit_bytes;
    box->last = &box->first;
    pthread_mutex_init(&box->lock, NULL);
    cond_init_monotonic(&box->filled);
    return box;
}

void mailbox_free(Mailbox *box) {
    if (!box) return;
    g_assert(box->first == NULL);
    pthread_cond_destroy(&box->filled);
    pthread_mutex_destroy(&box->lock);
    g_free(box);
}

/* With the lock held. */
static gboolean must_wake(Mailbox *box, gboolean urgent) {
    if (box->taker == TAKER_DOZES) return urgent || 2 * mailbox_bytes(box) >= box->limit_bytes;
    return box->taker == TAKER_SLEEPS;
}

static void put(Mailbox *box, MailItem *item, gboolean urgent) {
    item->next = NULL;
    pthread_mutex_lock(&box->lock);
    *box->last = item;
    box->last = &item->next;
    atomic_fetch_add(&box->bytes, item->size_bytes);
    const gboolean wake = must_wake(box, urgent);
    if (wake) box->taker = TAKER_AWAKE;
    pthread_mutex_unlock(&box->lock);
    if (wake) pthread_cond_signal(&box->filled); /* now that the lock is free for it */
}

void mailbox_put(Mailbox *box, MailItem *item) { put(box, item, FALSE); }

void mailbox_put_urgent(Mailbox *box, MailItem *item) { put(box, item, TRUE); }

gsize mailbox_bytes(Mailbox *box) { return atomic_load(&box->bytes); }

gboolean mailbox_full(Mailbox *box) { return mailbox_bytes(box) >= box->limit_bytes; }

/* With the lock held; until somebody wakes it, or the time. */
static void rest(Mailbox *box, Taker how, gint64 until_ns) {
    const struct timespec until = timespec_of(until_ns);
    box->taker = how;
    int waited = 0;
    while (box->taker == how && waited == 0) waited = pthread_cond_timedwait(&box->filled, &box->lock, &until);
    box->taker = TAKER_AWAKE;
}

MailItem *mailbox_take(Mailbox *box, gint64 timeout_ms) {
    const gint64 now_ns = clock_monotonic_ns(clock_system()), until_ns = now_ns + timeout_ms * NS_PER_MS;
    pthread_mutex_lock(&box->lock);
    if (!box->first && box->busy) rest(box, TAKER_DOZES, MIN(now_ns + MAILBOX_DOZE_NS, until_ns));
    if (!box->first) rest(box, TAKER_SLEEPS, until_ns);
    MailItem *items = box->first;
    box->first = NULL;
    box->last = &box->first;
    box->busy = items != NULL;
    pthread_mutex_unlock(&box->lock);
    return items;
}

void mailbox_done(Mailbox *box, gsize size_bytes) { atomic_fetch_sub(&box->bytes, size_bytes); }
