#include "receiver/net/acceptor.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/net/strangers.h"
#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

/* The first byte of a handshake of TLS. */
#define TLS_FIRST 0x16
/* Connections accepted in one round, and handshakes that go on in it: neither must keep the other waiting for long. */
#define ACCEPT_MAX     64
#define HANDSHAKES_MAX 16
/* Connections that gave way and are not closed yet. With more of them the next one waits a moment: their descriptors
 * would be missed elsewhere. */
#define LEAVING_MAX 16

typedef struct Greeting {
    Acceptor *acceptor;
    GList link; /* in acceptor->greetings */
    Transport transport;
    PeerPlace *place;
    Stranger stranger;
    struct event *event;
    short waits_for; /* EV_READ or EV_WRITE */
    gint64 opened_ns;
} Greeting;

struct Acceptor {
    AcceptorOptions options;
    struct event_base *base;
    struct event *acceptable, *tick, *wake;
    int wake_fd;
    GQueue greetings; /* Greeting: those that came first, first */
    Strangers *strangers;
    guint handshakes; /* that went on in this round */
    atomic_uint n_greetings;
    atomic_bool stopping;
    _Atomic gint64 seen_ns;
    pthread_t thread;
};

static gint64 now_monotonic_ns(void) { return clock_monotonic_ns(clock_system()); }

/* Of senders: readers have other figures. */
static void count(const Acceptor *acceptor, Counter counter) {
    if (acceptor->options.port.kind == PEER_SENDERS) counter_add(acceptor->options.counters, counter, 1);
}

/* ---- one that comes ---- */

/* The transport and the place are its caller's. */
static void greeting_free(Greeting *greeting) {
    Acceptor *acceptor = greeting->acceptor;
    strangers_remove(acceptor->strangers, &greeting->stranger);
    g_queue_unlink(&acceptor->greetings, &greeting->link);
    atomic_store(&acceptor->n_greetings, acceptor->greetings.length);
    event_free(greeting->event);
    g_free(greeting);
}

static void close_greeting(Greeting *greeting, Counter reason) {
    const Acceptor *acceptor = greeting->acceptor;
    PeerPlace *place = greeting->place;
    const int fd = greeting->transport.fd;
    acceptor->options.tell(&acceptor->options, place, reason);
    count(acceptor, COUNTER_CONNECTIONS_CLOSED);
    transport_clear(&greeting->transport);
    greeting_free(greeting);
    peer_place_free(place);
    close(fd);
}

static void hand_over(Greeting *greeting) {
    const AcceptorOptions *options = &greeting->acceptor->options;
    Arrival *arrival = g_new0(Arrival, 1);
    *arrival =
        (Arrival){greeting->place, greeting->transport.ssl, transport_holds(&greeting->transport), greeting->opened_ns};
    greeting_free(greeting);
    options->arrived(options->arg, arrival);
}

void arrival_drop(void *data) {
    g_autofree Arrival *arrival = data;
    Transport transport = {.fd = arrival->place->fd, .ssl = arrival->ssl};
    transport_clear(&transport);
    peer_place_free(arrival->place);
    close(transport.fd);
}

static void on_ready(evutil_socket_t fd, short what, void *arg);

static void wait_for(Greeting *greeting, short what) {
    if (greeting->waits_for == what) return;
    greeting->waits_for = what;
    event_del(greeting->event);
    event_assign(greeting->event, greeting->acceptor->base, greeting->transport.fd, (short)(what | EV_PERSIST),
                 on_ready, greeting);
    event_add(greeting->event, NULL);
}

static void got_on(Greeting *greeting) {
    greeting->stranger.got_on_ns = now_monotonic_ns();
    strangers_spoke(&greeting->stranger);
    atomic_store_explicit(&greeting->place->active_ns, greeting->stranger.got_on_ns, memory_order_relaxed);
}

/* Is it TLS, and is it to be? Known by its first byte, which stays where it is. FALSE: it waits, or there is no such
 * connection any more. */
static gboolean sniff(Greeting *greeting) {
    const AcceptorOptions *options = &greeting->acceptor->options;
    guint8 first;
    const ssize_t got = recv(greeting->transport.fd, &first, 1, MSG_PEEK);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return FALSE;
    if (got <= 0) {
        close_greeting(greeting, COUNTER_COUNT);
        return FALSE;
    }

    got_on(greeting);
    struct ssl_ctx_st *tls = security_tls(options->security);
    const gboolean wanted = tls != NULL, is_tls = first == TLS_FIRST;
    if (wanted && is_tls) transport_accept(&greeting->transport, tls, options->port.ahead);
    tls_context_unref(tls);
    if (wanted == is_tls) return TRUE;
    close_greeting(greeting, wanted ? COUNTER_CLOSED_PLAIN : COUNTER_CLOSED_TLS_HERE);
    return FALSE;
}

static void greet(Greeting *greeting) {
    if (greeting->acceptor->handshakes++ >= HANDSHAKES_MAX) return; /* in the next round */
    const int result = transport_greet(&greeting->transport);
    if (result > 0) {
        hand_over(greeting);
    } else if (result < 0 && (errno == EAGAIN || errno == EINTR)) {
        wait_for(greeting, greeting->transport.wants_room ? EV_WRITE : EV_READ);
        greeting->transport.wants_room = FALSE;
        got_on(greeting);
    } else {
        close_greeting(greeting, result < 0 && errno == EPROTO ? COUNTER_CLOSED_TLS : COUNTER_COUNT);
    }
}

static void on_ready(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Greeting *greeting = arg;
    if (greeting->transport.ssl == NULL && !sniff(greeting)) return;
    if (greeting->transport.ssl == NULL)
        hand_over(greeting);
    else
        greet(greeting);
}

/* ---- accepting ---- */

static gboolean must_log_in(const Acceptor *acceptor) {
    const AcceptorOptions *options = &acceptor->options;
    if (options->port.role == 0) return TRUE;
    const guint anonymous = security_roles(options->security, NULL, 0, options->open);
    return !access_suffices(anonymous, options->port.role);
}

static void let_strangers_in(Acceptor *acceptor) {
    const AcceptorOptions *options = &acceptor->options;
    const guint most = options->strangers;
    const guint inside = options->inside != NULL ? atomic_load(options->inside) / options->n_acceptors : 0;
    const guint room = MAX(most - MIN(inside, most / 2), 1);
    if (strangers_count(acceptor->strangers) <= room || !must_log_in(acceptor)) return;
    const Stranger *stranger = strangers_who_gives_way(acceptor->strangers, now_monotonic_ns());
    close_greeting(stranger->owner, COUNTER_CLOSED_STRANGERS);
}

static void refuse(const Acceptor *acceptor, int fd, const char *peer) {
    static LogLimit limits[PEER_KINDS], own_limit;
    const AcceptorOptions *options = &acceptor->options;
    const AcceptorPort *port = &options->port;
    close(fd);
    if (shares_peer_is_full(options->shares, port->kind, peer)) {
        counter_add(options->counters, COUNTER_CLOSED_PER_ADDRESS, 1);
        log_limited(&own_limit, LOG_LEVEL_WARNING,
                    "a connection of %s was refused: it has as many as one address may have, listen.per-address", peer);
        return;
    }
    counter_add(options->counters, port->kind == PEER_SENDERS ? COUNTER_CLOSED_TOO_MANY : COUNTER_HTTP_TOO_MANY, 1);
    log_limited(&limits[port->kind], LOG_LEVEL_WARNING,
                "%s of %s was refused: there are %u, %s, none has more of them, and its own are at work",
                port->connection, peer, shares_connections(options->shares, port->kind), port->limit);
}

static void open_greeting(Acceptor *acceptor, int fd, const struct sockaddr *address, socklen_t length) {
    char name[PEER_NAME_BYTES];
    peer_name_of(address, length, name);
    const AcceptorPort *port = &acceptor->options.port;
    PeerPlace *place = shares_take(acceptor->options.shares, port->kind, fd, name, port->own_idle_ns);
    if (!place) {
        refuse(acceptor, fd, name);
        return;
    }

    count(acceptor, COUNTER_CONNECTIONS_OPENED);
    Greeting *greeting = g_new0(Greeting, 1);
    greeting->acceptor = acceptor;
    greeting->link.data = greeting;
    greeting->transport.fd = fd;
    greeting->place = place;
    greeting->opened_ns = now_monotonic_ns();
    greeting->stranger = (Stranger){.owner = greeting, .fd = fd, .got_on_ns = greeting->opened_ns};
    greeting->waits_for = EV_READ;
    greeting->event = event_new(acceptor->base, fd, EV_READ | EV_PERSIST, on_ready, greeting);
    g_queue_push_tail_link(&acceptor->greetings, &greeting->link);
    atomic_store(&acceptor->n_greetings, acceptor->greetings.length);
    if (!port->greets) {
        hand_over(greeting);
        return;
    }
    strangers_add(acceptor->strangers, &greeting->stranger, place->peer);
    event_add(greeting->event, NULL);
    let_strangers_in(acceptor);
}

static void on_acceptable(evutil_socket_t listen_fd, short what, void *arg) {
    (void)what;
    static LogLimit limits[PEER_KINDS];
    Acceptor *acceptor = arg;
    const AcceptorPort *port = &acceptor->options.port;

    for (int i = 0; i < ACCEPT_MAX; i++) {
        if (shares_leaving(acceptor->options.shares, port->kind) >= LEAVING_MAX) {
            g_usleep(G_USEC_PER_SEC / 1000);
            return;
        }

        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        const int fd = accept4(listen_fd, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            open_greeting(acceptor, fd, (const struct sockaddr *)&address, length);
            continue;
        }

        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_limited(&limits[port->kind], LOG_LEVEL_ERROR,
                        "%s cannot be accepted: %s; raise `ulimit -n`, or LimitNOFILE", port->connection,
                        g_strerror(errno));
            count(acceptor, COUNTER_CLOSED_NO_FILES);
            event_del(acceptor->acceptable); /* until the next tick */
        }
        if (errno != ECONNABORTED && errno != EINTR) return;
    }
}

/* ---- the loop ---- */

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Acceptor *acceptor = arg;
    const AcceptorOptions *options = &acceptor->options;
    const gint64 now_ns = now_monotonic_ns();
    const gboolean logs_in = must_log_in(acceptor);
    atomic_store(&acceptor->seen_ns, now_ns);
    event_add(acceptor->acceptable, NULL);
    for (GList *at = acceptor->greetings.head, *next; at != NULL; at = next) {
        next = at->next;
        Greeting *greeting = at->data;
        if (logs_in && now_ns - greeting->opened_ns > options->login_timeout_ns)
            close_greeting(greeting, COUNTER_CLOSED_NO_LOGIN);
        else if (now_ns - greeting->stranger.got_on_ns > options->idle_timeout_ns)
            close_greeting(greeting, COUNTER_CLOSED_IDLE);
    }
}

static void on_wake(evutil_socket_t fd, short what, void *arg) { (void)fd, (void)what, (void)arg; }

static void *acceptor_main(void *arg) {
    Acceptor *acceptor = arg;
    setpriority(PRIO_PROCESS, 0, ACCEPTOR_NICE); /* of this thread alone; nothing is lost if it may not */
    while (!atomic_load(&acceptor->stopping)) {
        event_base_loop(acceptor->base, EVLOOP_ONCE);
        acceptor->handshakes = 0;
    }
    while (acceptor->greetings.head != NULL) close_greeting(acceptor->greetings.head->data, COUNTER_COUNT);
    return NULL;
}

/* ---- life ---- */

Acceptor *acceptor_start(const AcceptorOptions *options) {
    Acceptor *acceptor = g_new0(Acceptor, 1);
    acceptor->options = *options;
    atomic_init(&acceptor->seen_ns, now_monotonic_ns());
    acceptor->strangers = strangers_new();
    acceptor->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (acceptor->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));

    acceptor->base = event_base_new();
    acceptor->wake = event_new(acceptor->base, acceptor->wake_fd, EV_READ | EV_PERSIST, on_wake, acceptor);
    event_add(acceptor->wake, NULL);
    acceptor->acceptable = event_new(acceptor->base, options->listen_fd, EV_READ | EV_PERSIST, on_acceptable, acceptor);
    event_add(acceptor->acceptable, NULL);
    const struct timeval every = {options->tick_ns / NS_PER_SEC, options->tick_ns % NS_PER_SEC / NS_PER_US};
    acceptor->tick = event_new(acceptor->base, -1, EV_PERSIST, on_tick, acceptor);
    event_add(acceptor->tick, &every);
    thread_start(&acceptor->thread, options->thread_name, acceptor_main, acceptor);
    return acceptor;
}

void acceptor_stop(Acceptor *acceptor) {
    const guint64 one = 1;
    atomic_store(&acceptor->stopping, TRUE);
    (void)!write(acceptor->wake_fd, &one, sizeof one);
    pthread_join(acceptor->thread, NULL);
}

void acceptor_free(Acceptor *acceptor) {
    if (!acceptor) return;
    event_free(acceptor->acceptable);
    event_free(acceptor->tick);
    event_free(acceptor->wake);
    event_base_free(acceptor->base);
    strangers_free(acceptor->strangers);
    close(acceptor->wake_fd);
    g_free(acceptor);
}

gint64 acceptor_seen_ns(const Acceptor *acceptor) { return atomic_load(&acceptor->seen_ns); }

guint acceptor_connections(const Acceptor *acceptor) { return atomic_load(&acceptor->n_greetings); }
