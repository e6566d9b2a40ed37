#include "receiver/mailbox.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/base/clock.h"

struct Mailbox {
    gsize limit_bytes;
    _Atomic gsize bytes;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    MailItem *first;
    MailItem **last;
};

Mailbox *mailbox_new(gsize limit_bytes) {
    Mailbox *box = g_new0(Mailbox, 1);
    box->limit_bytes = limit_bytes;
    box->last = &box->first;
    pthread_mutex_init(&box->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&box->filled, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return box;
}

void mailbox_free(Mailbox *box) {
    if (!box) return;
    g_assert(box->first == NULL);
    pthread_cond_destroy(&box->filled);
    pthread_mutex_destroy(&box->lock);
    g_free(box);
}

void mailbox_put(Mailbox *box, MailItem *item) {
    item->next = NULL;
    pthread_mutex_lock(&box->lock);
    *box->last = item;
    box->last = &item->next;
    atomic_fetch_add(&box->bytes, item->size_bytes);
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->lock);
}

gsize mailbox_bytes(Mailbox *box) { return atomic_load(&box->bytes); }

gboolean mailbox_full(Mailbox *box) { return mailbox_bytes(box) >= box->limit_bytes; }

MailItem *mailbox_take(Mailbox *box, gint64 timeout_ms) {
    gint64 until_ns = clock_monotonic_ns(clock_system()) + timeout_ms * NS_PER_MS;
    struct timespec until = {.tv_sec = until_ns / NS_PER_SEC, .tv_nsec = until_ns % NS_PER_SEC};
    pthread_mutex_lock(&box->lock);
    int waited = 0;
    while (!box->first && waited == 0) waited = pthread_cond_timedwait(&box->filled, &box->lock, &until);
    MailItem *items = box->first;
    box->first = NULL;
    box->last = &box->first;
    pthread_mutex_unlock(&box->lock);
    return items;
}

void mailbox_done(Mailbox *box, gsize size_bytes) { atomic_fetch_sub(&box->bytes, size_bytes); }
