#include "receiver/net/inbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct Inbox {
    int wake_fd;
    GDestroyNotify drop;
    pthread_mutex_t lock;
    GPtrArray *items; /* under the lock */
    atomic_uint n_waiting;
};

Inbox *inbox_new(GDestroyNotify drop) {
    Inbox *inbox = g_new0(Inbox, 1);
    inbox->drop = drop;
    inbox->items = g_ptr_array_new();
    pthread_mutex_init(&inbox->lock, NULL);
    inbox->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (inbox->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));
    return inbox;
}

void inbox_free(Inbox *inbox) {
    if (!inbox) return;
    g_ptr_array_set_free_func(inbox->items, inbox->drop);
    g_ptr_array_unref(inbox->items);
    pthread_mutex_destroy(&inbox->lock);
    close(inbox->wake_fd);
    g_free(inbox);
}

void inbox_put(Inbox *inbox, void *item) {
    pthread_mutex_lock(&inbox->lock);
    g_ptr_array_add(inbox->items, item);
    atomic_fetch_add(&inbox->n_waiting, 1);
    pthread_mutex_unlock(&inbox->lock);
    inbox_wake(inbox);
}

void inbox_wake(Inbox *inbox) {
    const guint64 one = 1;
    (void)!write(inbox->wake_fd, &one, sizeof one);
}

guint inbox_waiting(const Inbox *inbox) { return atomic_load(&inbox->n_waiting); }

int inbox_fd(const Inbox *inbox) { return inbox->wake_fd; }

void inbox_take(Inbox *inbox, void (*take)(void *arg, void *item), void *arg) {
    guint64 count;
    gsize n;
    (void)!read(inbox->wake_fd, &count, sizeof count);
    pthread_mutex_lock(&inbox->lock);
    g_autofree void **items = g_ptr_array_steal(inbox->items, &n);
    pthread_mutex_unlock(&inbox->lock);
    for (gsize i = 0; i < n; i++) take(arg, items[i]);
    atomic_fetch_sub(&inbox->n_waiting, (guint)n); /* those who count see each here, or where it was taken to */
}
