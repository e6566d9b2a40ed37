#include "receiver/net/net.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/net/closing.h"
#include "receiver/net/inbox.h"
#include "receiver/net/urgent.h"

/* Senders that have nothing to send ask every ten seconds: one that was idle for so long may give way to another of the
 * same address. */
#define OWN_IDLE_NS (30 * NS_PER_SEC)

typedef struct NetThread {
    Net *net;
    guint number;
    pthread_t thread;
    NetContext context;
    struct event *arrived, *done, *tick;
    Inbox *arrivals;           /* Arrival */
    atomic_uint n_connections; /* beside those that wait */
    _Atomic gint64 seen_ns;
} NetThread;

struct Net {
    NetOptions options;
    NetThread *threads;
    Acceptor **acceptors;  /* as many as threads */
    atomic_uint strangers; /* that were handed over */
    atomic_bool stopping;
};

static gint64 tick_ns(const NetLimits *limits) {
    return CLAMP(MIN(MIN(limits->frame_timeout_ns, limits->idle_timeout_ns), limits->login_timeout_ns) / 4,
                 10 * NS_PER_MS, NS_PER_SEC / 2);
}

/* ---- what has arrived; on an acceptor's thread ---- */

/* Those that are placed, and those that wait to be. */
static guint connections_of(const NetThread *thread) {
    return atomic_load(&thread->n_connections) + inbox_waiting(thread->arrivals);
}

static NetThread *least_busy(Net *net) {
    NetThread *best = &net->threads[0];
    for (guint i = 1; i < net->options.n_threads; i++)
        if (connections_of(&net->threads[i]) < connections_of(best)) best = &net->threads[i];
    return best;
}

static void on_arrival(void *arg, Arrival *arrival) { inbox_put(least_busy(arg)->arrivals, arrival); }

static void tell_closed(const AcceptorOptions *options, const PeerPlace *place, Counter reason) {
    const ClosingPort port = {options->port.name, options->counters, options->audit};
    closing_tell(&port, place, NULL, reason);
}

/* ---- the loop ---- */

static void update_count(NetThread *thread) {
    atomic_store(&thread->n_connections, thread->context.connections.length);
}

static void take_arrival(void *arg, void *item) {
    NetThread *thread = arg;
    g_autofree Arrival *arrival = item;
    connection_open(&thread->context, arrival);
    update_count(thread);
}

static void on_arrived(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetThread *thread = arg;
    inbox_take(thread->arrivals, take_arrival, thread);
}

static void on_done(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetThread *thread = arg;
    inbox_take(thread->context.done, errand_back, NULL);
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetThread *thread = arg;
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    atomic_store(&thread->seen_ns, now_ns);
    connections_tick(&thread->context, now_ns);
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
    thread->arrivals = inbox_new(arrival_drop);

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
    context->errands = net->options.errands;
    context->done = inbox_new(errand_drop);
    connections_init(context);

    const int arrived = inbox_fd(thread->arrivals), done = inbox_fd(context->done);
    thread->arrived = event_new(context->base, arrived, EV_READ | EV_PERSIST, on_arrived, thread);
    event_add(thread->arrived, NULL);
    thread->done = event_new(context->base, done, EV_READ | EV_PERSIST, on_done, thread);
    event_add(thread->done, NULL);

    gint64 every_ns = tick_ns(&context->limits);
    struct timeval every = {every_ns / NS_PER_SEC, every_ns % NS_PER_SEC / NS_PER_US};
    thread->tick = event_new(context->base, -1, EV_PERSIST, on_tick, thread);
    event_add(thread->tick, &every);
}

static void thread_clear(NetThread *thread) {
    NetContext *context = &thread->context;
    event_free(thread->arrived);
    event_free(thread->done);
    inbox_free(thread->arrivals);
    inbox_free(context->done);
    event_free(thread->tick);
    connections_clear(context);
    event_base_free(context->base);
    intake_free(context->intake);
}

static Acceptor *start_acceptor(Net *net, guint number) {
    const NetOptions *options = &net->options;
    const NetProtocol *protocol = options->protocol;
    g_autofree char *name = g_strdup_printf("%s%s-%u", protocol->logs_in ? "" : "hrpc-", "accept", number);
    const AcceptorOptions acceptor = {
        .thread_name = name,
        .listen_fd = options->listen_fd,
        .port = {.name = protocol->port,
                 .connection = "a connection",
                 .limit = "listen.max-connections",
                 .kind = PEER_SENDERS,
                 .own_idle_ns = OWN_IDLE_NS,
                 .greets = protocol->logs_in,
                 .ahead = TRUE,
                 .role = ACCESS_WRITE},
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
        .tell = tell_closed,
    };
    return acceptor_start(&acceptor);
}

Net *net_start(const NetOptions *options) {
    Net *net = g_new0(Net, 1);
    net->options = *options;
    net->threads = g_new0(NetThread, options->n_threads);
    net->acceptors = g_new0(Acceptor *, options->n_threads);
    for (guint i = 0; i < options->n_threads; i++) thread_init(net, i);
    for (guint i = 0; i < options->n_threads; i++) {
        g_autofree char *name =
            g_strdup_printf("%s-%u", options->protocol->logs_in ? "net" : options->protocol->port, i);
        thread_start(&net->threads[i].thread, name, net_main, &net->threads[i]);
    }
    for (guint i = 0; i < options->n_threads; i++) net->acceptors[i] = start_acceptor(net, i);
    return net;
}

void net_stop(Net *net) {
    for (guint i = 0; i < net->options.n_threads; i++) acceptor_stop(net->acceptors[i]);
    atomic_store(&net->stopping, TRUE);
    for (guint i = 0; i < net->options.n_threads; i++) inbox_wake(net->threads[i].arrivals);
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
        n += connections_of(&net->threads[i]) + acceptor_connections(net->acceptors[i]);
    return n;
}
