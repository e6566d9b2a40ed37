#include "receiver/net/net.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/net/acceptor.h"
#include "receiver/net/urgent.h"
#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

typedef struct NetThread {
    Net *net;
    guint number;
    pthread_t thread;
    NetContext context;
    struct event *wake, *tick;
    int wake_fd;
    pthread_mutex_t lock;
    GArray *inbox; /* Arrival: connections handed over, under the lock */
    atomic_uint n_connections;
    _Atomic gint64 seen_ns;
} NetThread;

struct Net {
    NetOptions options;
    NetThread *threads;
    Acceptor **acceptors;  /* as many as threads */
    atomic_uint strangers; /* that were handed over */
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

/* ---- what has arrived; on an acceptor's thread ---- */

static NetThread *least_busy(Net *net) {
    NetThread *best = &net->threads[0];
    for (guint i = 1; i < net->options.n_threads; i++)
        if (atomic_load(&net->threads[i].n_connections) < atomic_load(&best->n_connections)) best = &net->threads[i];
    return best;
}

static void on_arrival(void *arg, const Arrival *arrival) {
    NetThread *thread = least_busy(arg);
    pthread_mutex_lock(&thread->lock);
    g_array_append_val(thread->inbox, *arrival);
    atomic_fetch_add(&thread->n_connections, 1);
    pthread_mutex_unlock(&thread->lock);
    wake(thread);
}

/* ---- the loop ---- */

static void on_wake(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    NetThread *thread = arg;
    guint64 count;
    (void)!read(fd, &count, sizeof count);
    pthread_mutex_lock(&thread->lock);
    for (guint i = 0; i < thread->inbox->len; i++)
        connection_open(&thread->context, &g_array_index(thread->inbox, Arrival, i));
    g_array_set_size(thread->inbox, 0);
    pthread_mutex_unlock(&thread->lock);
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetThread *thread = arg;
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    atomic_store(&thread->seen_ns, now_ns);
    connections_tick(&thread->context, now_ns);
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

static guint strangers_each(const NetOptions *options) {
    return MAX(options->limits.strangers / options->n_threads, 1);
}

static void thread_init(Net *net, guint number) {
    NetThread *thread = &net->threads[number];
    thread->net = net;
    thread->number = number;
    atomic_init(&thread->seen_ns, clock_monotonic_ns(clock_system()));
    thread->inbox = g_array_new(FALSE, FALSE, sizeof(Arrival));
    pthread_mutex_init(&thread->lock, NULL);
    thread->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (thread->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));

    NetContext *context = &thread->context;
    context->base = event_base_new();
    context->protocol = net->options.protocol;
    context->counters = counter_set_add(net->options.counters);
    context->intake = intake_new(&net->options.intake, context->counters);
    context->limits = net->options.limits;
    context->limits.strangers = strangers_each(&net->options);
    context->strangers_inside = &net->strangers;
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
        const Arrival *arrival = &g_array_index(thread->inbox, Arrival, i);
        Transport transport = {.fd = arrival->place->fd, .ssl = arrival->ssl};
        transport_clear(&transport);
        peer_place_free(arrival->place);
        close(transport.fd);
    }
    event_free(thread->wake);
    event_free(thread->tick);
    connections_clear(context);
    event_base_free(context->base);
    intake_free(context->intake);
    g_array_unref(thread->inbox);
    pthread_mutex_destroy(&thread->lock);
    close(thread->wake_fd);
}

static Acceptor *start_acceptor(Net *net, guint number) {
    const NetOptions *options = &net->options;
    g_autofree char *name = g_strdup_printf("%s%s-%u", options->protocol->logs_in ? "" : "hrpc-", "accept", number);
    const AcceptorOptions acceptor = {
        .thread_name = name,
        .listen_fd = options->listen_fd,
        .protocol = options->protocol,
        .counters = counter_set_add(options->counters),
        .security = options->security,
        .audit = options->audit,
        .shares = options->shares,
        .open = options->open,
        .idle_timeout_ns = options->limits.idle_timeout_ns,
        .login_timeout_ns = options->limits.login_timeout_ns,
        .tick_ns = tick_ns(&options->limits),
        .strangers = strangers_each(options),
        .inside = &net->strangers,
        .n_acceptors = options->n_threads,
        .arrived = on_arrival,
        .arg = net,
    };
    return acceptor_start(&acceptor);
}

Net *net_start(const NetOptions *options) {
    Net *net = g_new0(Net, 1);
    net->options = *options;
    net->threads = g_new0(NetThread, options->n_threads);
    for (guint i = 0; i < options->n_threads; i++) thread_init(net, i);
    for (guint i = 0; i < options->n_threads; i++) {
        g_autofree char *name =
            g_strdup_printf("%s-%u", options->protocol->logs_in ? "net" : options->protocol->port, i);
        thread_start(&net->threads[i].thread, name, net_main, &net->threads[i]);
    }
    net->acceptors = g_new0(Acceptor *, options->n_threads);
    for (guint i = 0; i < options->n_threads; i++) net->acceptors[i] = start_acceptor(net, i);
    return net;
}

void net_stop(Net *net) {
    for (guint i = 0; i < net->options.n_threads; i++) acceptor_stop(net->acceptors[i]);
    atomic_store(&net->stopping, TRUE);
    for (guint i = 0; i < net->options.n_threads; i++) wake(&net->threads[i]);
    for (guint i = 0; i < net->options.n_threads; i++) pthread_join(net->threads[i].thread, NULL);
    close(net->options.listen_fd);
}

void net_free(Net *net) {
    if (!net) return;
    for (guint i = 0; i < net->options.n_threads; i++) acceptor_free(net->acceptors[i]);
    for (guint i = 0; i < net->options.n_threads; i++) thread_clear(&net->threads[i]);
    g_free(net->acceptors);
    g_free(net->threads);
    g_free(net);
}

gint64 net_seen_ns(Net *net) {
    gint64 seen_ns = G_MAXINT64;
    for (guint i = 0; i < net->options.n_threads; i++) {
        seen_ns = MIN(seen_ns, atomic_load(&net->threads[i].seen_ns));
        seen_ns = MIN(seen_ns, acceptor_seen_ns(net->acceptors[i]));
    }
    return seen_ns;
}

guint net_connections(Net *net) {
    guint n = 0;
    for (guint i = 0; i < net->options.n_threads; i++)
        n += atomic_load(&net->threads[i].n_connections) + acceptor_connections(net->acceptors[i]);
    return n;
}
