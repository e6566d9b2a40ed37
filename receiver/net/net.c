#include "receiver/net/net.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/net/urgent.h"
#include "receiver/shared/log.h"

/* Connections accepted in one round: those that are there must not starve. */
#define ACCEPT_MAX 64
/* Senders that have nothing to send ask every ten seconds: one that was idle for so long may give way to another of the
 * same address. */
#define OWN_IDLE_NS (30 * NS_PER_SEC)

typedef struct NetThread {
    Net *net;
    guint number;
    pthread_t thread;
    NetContext context;
    struct event *wake, *tick;
    int wake_fd;
    pthread_mutex_t lock;
    GPtrArray *inbox; /* PeerPlace: connections handed over, under the lock */
    atomic_uint n_connections;
    _Atomic gint64 seen_ns;
} NetThread;

struct Net {
    NetOptions options;
    NetThread *threads;
    struct event *acceptable; /* on the first thread */
    atomic_bool stopping;
};

static void wake(NetThread *thread) {
    guint64 one = 1;
    (void)!write(thread->wake_fd, &one, sizeof one);
}

static gint64 tick_ns(const NetLimits *limits) {
    return CLAMP(MIN(MIN(limits->frame_timeout_ns, limits->idle_timeout_ns), limits->login_timeout_ns) / 4,
                 10 * NS_PER_MS, NS_PER_SEC / 2);
}

/* ---- accepting; on the first thread ---- */

static NetThread *least_busy(Net *net) {
    NetThread *best = &net->threads[0];
    for (guint i = 1; i < net->options.n_threads; i++)
        if (atomic_load(&net->threads[i].n_connections) < atomic_load(&best->n_connections)) best = &net->threads[i];
    return best;
}

static void refuse(Net *net, int fd, const char *peer) {
    static LogLimit limit, own_limit;
    Counters *counters = net->threads[0].context.counters;
    close(fd);
    if (shares_peer_is_full(net->options.shares, PEER_SENDERS, peer)) {
        counter_add(counters, COUNTER_CLOSED_PER_ADDRESS, 1);
        log_limited(&own_limit, LOG_LEVEL_WARNING,
                    "a connection of %s was refused: it has as many as one address may have, listen.per-address", peer);
        return;
    }
    counter_add(counters, COUNTER_CLOSED_TOO_MANY, 1);
    log_limited(&limit, LOG_LEVEL_WARNING,
                "a connection of %s was refused: there are %u, listen.max-connections, and none has more of them", peer,
                shares_connections(net->options.shares, PEER_SENDERS));
}

static void place(Net *net, int fd, const struct sockaddr *address, socklen_t length) {
    char name[PEER_NAME_BYTES];
    peer_name_of(address, length, name);
    PeerPlace *place = shares_take(net->options.shares, PEER_SENDERS, fd, name, OWN_IDLE_NS);
    if (!place) {
        refuse(net, fd, name);
        return;
    }

    NetThread *thread = least_busy(net);
    pthread_mutex_lock(&thread->lock);
    g_ptr_array_add(thread->inbox, place);
    atomic_fetch_add(&thread->n_connections, 1);
    pthread_mutex_unlock(&thread->lock);
    wake(thread);
}

static void on_acceptable(evutil_socket_t listen_fd, short what, void *arg) {
    (void)what;
    static LogLimit limit;
    Net *net = arg;

    for (int i = 0; i < ACCEPT_MAX; i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = accept4(listen_fd, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            place(net, fd, (const struct sockaddr *)&address, length);
            continue;
        }

        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_limited(&limit, LOG_LEVEL_ERROR, "no connection can be accepted: %s; raise LimitNOFILE",
                        g_strerror(errno));
            counter_add(net->threads[0].context.counters, COUNTER_CLOSED_NO_FILES, 1);
            event_del(net->acceptable); /* until the next tick */
        }
        if (errno != ECONNABORTED && errno != EINTR) return;
    }
}

/* ---- the loop ---- */

static void on_wake(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    NetThread *thread = arg;
    guint64 count;
    (void)!read(fd, &count, sizeof count);
    pthread_mutex_lock(&thread->lock);
    for (guint i = 0; i < thread->inbox->len; i++)
        connection_open(&thread->context, g_ptr_array_index(thread->inbox, i));
    g_ptr_array_set_size(thread->inbox, 0);
    pthread_mutex_unlock(&thread->lock);
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetThread *thread = arg;
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    atomic_store(&thread->seen_ns, now_ns);
    connections_tick(&thread->context, now_ns);
    if (thread->number == 0 && !atomic_load(&thread->net->stopping)) event_add(thread->net->acceptable, NULL);
}

/* Connections that wait in the inbox are counted when they are placed. */
static void update_count(NetThread *thread) {
    pthread_mutex_lock(&thread->lock);
    atomic_store(&thread->n_connections, thread->context.connections.length + thread->inbox->len);
    pthread_mutex_unlock(&thread->lock);
}

static void *net_main(void *arg) {
    NetThread *thread = arg;
    thread_is_urgent();
    while (!atomic_load(&thread->net->stopping)) {
        event_base_loop(thread->context.base, EVLOOP_ONCE);
        guint before = thread->context.connections.length;
        connections_answer(&thread->context, TRUE);
        if (before != thread->context.connections.length) update_count(thread);
    }
    connections_close_all(&thread->context);
    update_count(thread);
    return NULL;
}

/* ---- life ---- */

static void thread_init(Net *net, guint number) {
    NetThread *thread = &net->threads[number];
    thread->net = net;
    thread->number = number;
    atomic_init(&thread->seen_ns, clock_monotonic_ns(clock_system()));
    thread->inbox = g_ptr_array_new();
    pthread_mutex_init(&thread->lock, NULL);
    thread->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (thread->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));

    NetContext *context = &thread->context;
    context->base = event_base_new();
    context->protocol = net->options.protocol;
    context->counters = counter_set_add(net->options.counters);
    context->intake = intake_new(&net->options.intake, context->counters);
    context->limits = net->options.limits;
    context->quota = net->options.quota;
    context->security = net->options.security;
    context->audit = net->options.audit;
    context->quotas = net->options.quotas;
    context->open = net->options.open;
    connections_init(context);

    thread->wake = event_new(context->base, thread->wake_fd, EV_READ | EV_PERSIST, on_wake, thread);
    event_add(thread->wake, NULL);

    gint64 every_ns = tick_ns(&context->limits);
    struct timeval every = {every_ns / NS_PER_SEC, every_ns % NS_PER_SEC / NS_PER_US};
    thread->tick = event_new(context->base, -1, EV_PERSIST, on_tick, thread);
    event_add(thread->tick, &every);
}

static void thread_clear(NetThread *thread) {
    NetContext *context = &thread->context;
    for (guint i = 0; i < thread->inbox->len; i++) {
        PeerPlace *place = g_ptr_array_index(thread->inbox, i);
        int fd = place->fd;
        peer_place_free(place);
        close(fd);
    }
    event_free(thread->wake);
    event_free(thread->tick);
    connections_clear(context);
    event_base_free(context->base);
    intake_free(context->intake);
    g_ptr_array_unref(thread->inbox);
    pthread_mutex_destroy(&thread->lock);
    close(thread->wake_fd);
}

Net *net_start(const NetOptions *options) {
    Net *net = g_new0(Net, 1);
    net->options = *options;
    net->threads = g_new0(NetThread, options->n_threads);
    for (guint i = 0; i < options->n_threads; i++) thread_init(net, i);
    net->acceptable =
        event_new(net->threads[0].context.base, options->listen_fd, EV_READ | EV_PERSIST, on_acceptable, net);
    event_add(net->acceptable, NULL);
    for (guint i = 0; i < options->n_threads; i++) {
        g_autofree char *name =
            g_strdup_printf("%s-%u", options->protocol->logs_in ? "net" : options->protocol->port, i);
        thread_start(&net->threads[i].thread, name, net_main, &net->threads[i]);
    }
    return net;
}

void net_stop(Net *net) {
    atomic_store(&net->stopping, TRUE);
    for (guint i = 0; i < net->options.n_threads; i++) wake(&net->threads[i]);
    for (guint i = 0; i < net->options.n_threads; i++) pthread_join(net->threads[i].thread, NULL);
    close(net->options.listen_fd);
}

void net_free(Net *net) {
    if (!net) return;
    event_free(net->acceptable);
    for (guint i = 0; i < net->options.n_threads; i++) thread_clear(&net->threads[i]);
    g_free(net->threads);
    g_free(net);
}

gint64 net_seen_ns(Net *net) {
    gint64 seen_ns = G_MAXINT64;
    for (guint i = 0; i < net->options.n_threads; i++) seen_ns = MIN(seen_ns, atomic_load(&net->threads[i].seen_ns));
    return seen_ns;
}

guint net_connections(Net *net) {
    guint n = 0;
    for (guint i = 0; i < net->options.n_threads; i++) n += atomic_load(&net->threads[i].n_connections);
    return n;
}
