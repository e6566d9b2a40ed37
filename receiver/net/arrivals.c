#include "receiver/net/arrivals.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "receiver/secure/transport.h"

struct Arrivals {
    int wake_fd;
    pthread_mutex_t lock;
    GArray *inbox; /* Arrival; under the lock */
    atomic_uint n_waiting;
};

Arrivals *arrivals_new(void) {
    Arrivals *arrivals = g_new0(Arrivals, 1);
    arrivals->inbox = g_array_new(FALSE, FALSE, sizeof(Arrival));
    pthread_mutex_init(&arrivals->lock, NULL);
    arrivals->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (arrivals->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));
    return arrivals;
}

static void close_arrival(const Arrival *arrival) {
    Transport transport = {.fd = arrival->place->fd, .ssl = arrival->ssl};
    transport_clear(&transport);
    peer_place_free(arrival->place);
    close(transport.fd);
}

void arrivals_free(Arrivals *arrivals) {
    if (!arrivals) return;
    for (guint i = 0; i < arrivals->inbox->len; i++) close_arrival(&g_array_index(arrivals->inbox, Arrival, i));
    g_array_unref(arrivals->inbox);
    pthread_mutex_destroy(&arrivals->lock);
    close(arrivals->wake_fd);
    g_free(arrivals);
}

void arrivals_put(Arrivals *arrivals, const Arrival *arrival) {
    pthread_mutex_lock(&arrivals->lock);
    g_array_append_val(arrivals->inbox, *arrival);
    atomic_store(&arrivals->n_waiting, arrivals->inbox->len);
    pthread_mutex_unlock(&arrivals->lock);
    arrivals_wake(arrivals);
}

void arrivals_wake(Arrivals *arrivals) {
    const guint64 one = 1;
    (void)!write(arrivals->wake_fd, &one, sizeof one);
}

guint arrivals_waiting(const Arrivals *arrivals) { return atomic_load(&arrivals->n_waiting); }

int arrivals_fd(const Arrivals *arrivals) { return arrivals->wake_fd; }

void arrivals_take(Arrivals *arrivals, void (*take)(void *arg, const Arrival *arrival), void *arg) {
    guint64 count;
    (void)!read(arrivals->wake_fd, &count, sizeof count);
    pthread_mutex_lock(&arrivals->lock);
    for (guint i = 0; i < arrivals->inbox->len; i++) take(arg, &g_array_index(arrivals->inbox, Arrival, i));
    g_array_set_size(arrivals->inbox, 0);
    atomic_store(&arrivals->n_waiting, 0);
    pthread_mutex_unlock(&arrivals->lock);
}
