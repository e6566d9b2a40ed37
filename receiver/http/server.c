#include "receiver/http/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "receiver/http/answer_lines.h"
#include "receiver/http/login_request.h"
#include "receiver/http/server_inside.h"
#include "receiver/http/ticket.h"
#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

#define IDLE_NS   (60 * NS_PER_SEC)
#define LINGER_NS (2 * NS_PER_SEC)
/* A reader that has shut its side for so long is gone: some shut it once they have asked, and wait for the answer. */
#define SHUT_NS (2 * NS_PER_SEC)
/* Of one connection, no more is read than this before it is dealt with. */
#define INPUT_BYTES (HTTP_HEAD_MAX_BYTES * 2)
/* And of one that brings spans: fewer system calls. */
#define SPANS_INPUT_BYTES (256u * 1024)
/* Steps in which memory for a body counts to its peer's share: the least; then it doubles, as the memory does. */
#define BODY_SHARE_BYTES ((gsize)16 * 1024)

void http_connection_set_phase(HttpConnection *connection, Phase phase) {
    connection->phase = phase;
    connection->since_ns = now_monotonic_ns();
    atomic_store(&connection->place->active_ns, connection->since_ns);
    atomic_store(&connection->place->busy, phase >= PHASE_ANSWERING);
}

/* ---- the end of a connection ---- */

void http_exchange_free(HttpExchange *exchange) {
    http_request_clear(&exchange->request);
    g_free(exchange->principal);
    g_free(exchange->session);
    g_free(exchange);
}

void http_connection_drop_spans(HttpConnection *connection) {
    http_body_clear(&connection->spans);
    peer_buffer(connection->place, connection->spans_share, 0);
    connection->spans_share = 0;
}

void http_exchange_tell_gone(HttpExchange *exchange) {
    void (*gone)(void *arg) = exchange->gone;
    exchange->gone = NULL;
    if (gone != NULL) gone(exchange->gone_arg);
}

void http_connection_free(HttpConnection *connection) {
    HttpServer *server = connection->server;
    HttpExchange *exchange = g_steal_pointer(&connection->exchange);
    const gboolean asked = connection->phase >= PHASE_ANSWERING;
    g_queue_unlink(&server->connections, &connection->link);
    ticket_leave(g_steal_pointer(&connection->ticket));
    unsent_remove(server->unsent, g_steal_pointer(&connection->body));
    http_connection_drop_spans(connection);
    peer_place_free(connection->place);
    bufferevent_free(connection->stream);
    g_free(connection->negotiated);
    g_free(connection->child_of);
    g_free(connection);
    if (exchange == NULL) return;
    exchange->connection = NULL;
    if (asked)
        http_exchange_tell_gone(exchange); /* its user still has it */
    else
        http_exchange_free(exchange);
}

/* Any thread. */
static void tell_cut_why(Counters *counters, const PeerPlace *place, Counter reason, const char *why) {
    static LogLimit limit;
    counter_add(counters, reason, 1);
    log_limited(&limit, LOG_LEVEL_WARNING, "HTTP connection of %s closed: %s", peer_place_name(place), why);
}

static void tell_cut(Counters *counters, const PeerPlace *place, Counter reason) {
    if (atomic_load(&place->gave_way)) reason = COUNTER_HTTP_GAVE_WAY;
    tell_cut_why(counters, place, reason, counter_info(reason).reason);
}

static void cut_off(HttpConnection *connection, Counter reason) {
    tell_cut(connection->server->options.counters, connection->place, reason);
    http_connection_free(connection);
}

static void end_or_cut(HttpConnection *connection) {
    if (atomic_load(&connection->place->gave_way))
        cut_off(connection, COUNTER_HTTP_GAVE_WAY);
    else
        http_connection_free(connection);
}

/* ---- reading ---- */

/* Nothing more of this connection is understood: its peer is told, and what it still sends is dropped. */
static void refuse_connection(HttpConnection *connection, int code, const char *why) {
    g_autoptr(GBytes) body = answer_error_body(why);
    counter_add(connection->server->options.counters, COUNTER_HTTP_MALFORMED, 1);
    if (connection->exchange != NULL) http_exchange_free(g_steal_pointer(&connection->exchange));
    http_connection_drop_spans(connection);
    connection->keep_alive = connection->silent = FALSE;
    connection->linger = TRUE;
    http_connection_send(connection, code, "application/json", answer_security_lines, body);
}

/* FALSE: it was answered here. */
static gboolean may_ask(HttpServer *server, HttpExchange *exchange) {
    const HttpRequest *request = &exchange->request;
    if (!http_names_has(server->options.names, request->host)) {
        counter_add(server->options.counters, COUNTER_HTTP_HOST, 1);
        exchange->action = AUDIT_DENIED;
        http_send_error(exchange, 421, "this server is not known by the name in Host: add it to http.hosts");
        return FALSE;
    }
    if (request->embedded || !http_origin_is_own(request->origin, request->host, exchange->connection->secret)) {
        counter_add(server->options.counters, COUNTER_HTTP_ORIGIN, 1);
        exchange->action = AUDIT_DENIED;
        http_send_error(exchange, 403, "pages of another server may not ask this one (Origin, Sec-Fetch-Site)");
        return FALSE;
    }
    return TRUE;
}

static void ask(HttpConnection *connection) {
    HttpServer *server = connection->server;
    HttpExchange *exchange = connection->exchange;
    http_connection_set_phase(connection, PHASE_ANSWERING);
    counter_add(server->options.counters, COUNTER_HTTP_REQUESTS, 1);
    if (may_ask(server, exchange)) server->options.ask(server->options.arg, exchange);
}

/* The memory of a body before it, which then is its peer's; NULL: there is none, or the peer has too much already. */
static GByteArray *take_spare(HttpConnection *connection) {
    HttpServer *server = connection->server;
    if (server->spare == NULL || !peer_buffer(connection->place, 0, server->spare_bytes)) return NULL;
    connection->spans_share = server->spare_bytes;
    return g_steal_pointer(&server->spare);
}

static void begin_spans(HttpConnection *connection) {
    http_body_init(&connection->spans, &connection->exchange->request, take_spare(connection));
    bufferevent_setwatermark(connection->stream, EV_READ, 0, SPANS_INPUT_BYTES);
    bufferevent_set_max_single_read(connection->stream, SPANS_INPUT_BYTES);
}

/* The answer does not wait for it: megabytes of strangers are no memory of ours. */
static void forgo_body(HttpConnection *connection) {
    connection->body_left = 0;
    connection->keep_alive = FALSE;
    connection->linger = TRUE;
}

static LoginSources login_sources(const HttpConnection *connection) {
    const HttpServerOptions *options = &connection->server->options;
    return (LoginSources){options->security, options->sessions, options->audit, options->counters, connection->secret};
}

/* found: whom the request names, taken over; NULL: nobody. */
static void set_asker(HttpConnection *connection, char *found) {
    const HttpServerOptions *options = &connection->server->options;
    HttpExchange *exchange = connection->exchange;
    const struct ssl_st *ssl = connection->secret ? bufferevent_openssl_get_ssl(connection->stream) : NULL;
    http_request_forget_login(&exchange->request);
    exchange->session = exchange->request.by_cookie ? login_cookie(exchange->request.cookie) : NULL;
    exchange->principal = found != NULL ? found : ssl != NULL ? tls_principal(ssl) : NULL;
    exchange->roles = security_roles(options->security, exchange->principal, exchange->token, options->open);
}

/* By what is judged at once. */
static void log_in(HttpConnection *connection) {
    HttpExchange *exchange = connection->exchange;
    if (connection->child_of) {
        const gboolean named = strcmp(connection->child_of, ACCESS_ANONYMOUS) != 0;
        exchange->principal = named ? g_strdup(connection->child_of) : NULL;
        exchange->roles = ACCESS_READ;
        return;
    }
    const LoginSources sources = login_sources(connection);
    set_asker(connection, request_login(&sources, &exchange->request, exchange->peer, &exchange->token));
}

static void begin_exchange(HttpConnection *connection) {
    HttpExchange *exchange = connection->exchange;
    exchange->connection = connection;
    exchange->server = connection->server;
    exchange->begun_ns = now_monotonic_ns();
    exchange->generation = security_generation(connection->server->options.security);
    g_strlcpy(exchange->peer, peer_place_name(connection->place), sizeof exchange->peer);
}

static void begin_body(HttpConnection *connection) {
    const HttpExchange *exchange = connection->exchange;
    const HttpRequest *request = &exchange->request;
    void *arg = connection->server->options.arg;
    http_connection_drop_spans(connection); /* the share for a ticket */
    connection->keep_alive = request->keep_alive && connection->shut_ns == 0;
    connection->chunks = request->chunks;
    connection->silent = request->method == HTTP_HEAD;
    connection->body_left = request->body_bytes;
    connection->phase = PHASE_BODY; /* the time of the head goes on */
    const gboolean more = request->body_bytes > 0 || request->in_chunks;
    if (request->spans != HTTP_NO_SPANS && more && !connection->server->options.may_bring(arg, exchange))
        forgo_body(connection);
    else if (request->spans != HTTP_NO_SPANS)
        begin_spans(connection);
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (request->continues && more && !connection->linger)
        bufferevent_write(connection->stream, go_on, sizeof go_on - 1);
}

/* A ticket is in the head: FALSE when it was refused, for its peer has too much already. */
static gboolean let_head_grow(HttpConnection *connection) {
    if (peer_buffer(connection->place, 0, HTTP_TICKET_HEAD_BYTES)) {
        connection->spans_share = HTTP_TICKET_HEAD_BYTES;
        bufferevent_setwatermark(connection->stream, EV_READ, 0, 2 * HTTP_TICKET_HEAD_BYTES);
        return TRUE;
    }
    counter_add(connection->server->options.counters, COUNTER_HTTP_BUFFERS, 1);
    connection->retry_after_s = 1;
    refuse_connection(connection, 503, "tickets of this peer, or of all, take too much memory: ask again later");
    return FALSE;
}

/* The head that is here, whole; 0 bytes: it is not, or it was refused. */
static Bytes cut_head(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    g_autoptr(Kerberos) kerberos = security_kerberos(connection->server->options.security);
    HttpHeadState state;
    Bytes here;
    gsize head_bytes;
    do {
        const gsize most = connection->head.ticket ? HTTP_TICKET_HEAD_BYTES : HTTP_HEAD_MAX_BYTES;
        here.size_bytes = MIN(evbuffer_get_length(input), most);
        here.data = evbuffer_pullup(input, (ssize_t)here.size_bytes);
        state = http_head_look(&connection->head, here, kerberos != NULL, &head_bytes);
    } while (state == HEAD_GROWS && let_head_grow(connection) && evbuffer_get_length(input) > here.size_bytes);
    if (state == HEAD_TOO_LONG) refuse_connection(connection, 431, "the head of the request is too long");
    return (Bytes){here.data, state == HEAD_WHOLE ? head_bytes : 0};
}

static void on_judged(void *arg, char *principal, char *answer, const GError *error);

/* FALSE: it shows none that could be judged. */
static gboolean judge_ticket(HttpConnection *connection) {
    const HttpServer *server = connection->server;
    HttpRequest *request = &connection->exchange->request;
    if (connection->child_of != NULL || !request_shows_ticket(request)) return FALSE;
    Kerberos *kerberos = security_kerberos(server->options.security);
    if (kerberos == NULL) return FALSE;
    const HttpTicketOptions options = {
        .errands = server->options.errands,
        .home = server->done,
        .sources = login_sources(connection),
        .judged = on_judged,
        .owner = connection,
    };
    connection->phase = PHASE_LOGIN; /* the time of the head goes on */
    connection->ticket = ticket_judge(&options, kerberos, connection->exchange->peer, request);
    return TRUE;
}

static gboolean is_late(const HttpConnection *connection, gint64 now_ns) {
    return now_ns - connection->since_ns > connection->server->options.timeout_ns;
}

/* That its ticket is not judged is not the peer's fault. */
static void give_up_login(HttpConnection *connection) {
    static LogLimit limit;
    HttpExchange *exchange = connection->exchange;
    log_limited(&limit, LOG_LEVEL_WARNING,
                "a ticket of %s was not judged within http.timeout: the cache of replays of Kerberos (KRB5RCACHENAME) "
                "is on a disk that hangs, or too many tickets come",
                peer_place_name(connection->place));
    counter_add(connection->server->options.counters, COUNTER_HTTP_TICKET, 1);
    ticket_leave(g_steal_pointer(&connection->ticket));
    http_request_forget_login(&exchange->request);
    http_connection_set_phase(connection, PHASE_ANSWERING);
    connection->silent = exchange->request.method == HTTP_HEAD;
    connection->retry_after_s = 1;
    forgo_body(connection);
    http_send_error(exchange, 503, "tickets of Kerberos are not judged in time here: ask again later");
}

/* FALSE: it is not whole yet, or was refused. */
static gboolean read_head(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    if (!g_ascii_isupper(*evbuffer_pullup(input, 1))) {
        refuse_connection(connection, 400, "this is no HTTP");
        return FALSE;
    }
    const Bytes head = cut_head(connection);
    if (head.size_bytes == 0) return FALSE;

    g_autoptr(GError) error = NULL;
    int code = 400;
    connection->exchange = g_new0(HttpExchange, 1);
    if (!http_request_parse((Bytes){head.data, head.size_bytes - 4}, &connection->exchange->request, &code, &error)) {
        refuse_connection(connection, code, error->message);
        return FALSE;
    }
    evbuffer_drain(input, head.size_bytes);
    if (connection->head.ticket) bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_BYTES);
    connection->head = (HttpHead){0};
    begin_exchange(connection);
    if (judge_ticket(connection)) return FALSE;
    log_in(connection);
    begin_body(connection);
    return TRUE;
}

/* What came with a request changes nothing. TRUE: all of it has. */
static gboolean drop_body(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    const gsize here = MIN(evbuffer_get_length(input), connection->body_left);
    evbuffer_drain(input, here);
    connection->body_left -= here;
    return connection->body_left == 0;
}

/* FALSE: more than the peer's share. */
static gboolean share_spans(HttpConnection *connection) {
    gsize share = MAX(connection->spans_share, BODY_SHARE_BYTES);
    while (share < connection->spans.bytes->len) share *= 2;
    if (!peer_buffer(connection->place, connection->spans_share, share)) return FALSE;
    connection->spans_share = share;
    return TRUE;
}

/* What libevent has read. */
static BodyState feed_body(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    gsize taken = 0;
    const gsize n = evbuffer_get_contiguous_space(input);
    const guint8 *data = n > 0 ? evbuffer_pullup(input, (ssize_t)n) : NULL;
    const BodyState state = http_body_feed(&connection->spans, (Bytes){data, n}, &taken);
    evbuffer_drain(input, taken);
    return state;
}

/* What the socket has beyond that: libevent reads 4 KiB at a time, with three calls of the system for each. An end of
 * the stream, and errors, are libevent's to find. FALSE: nothing came. */
static gboolean read_body(HttpConnection *connection, BodyState *state) {
    gsize room;
    if (connection->secret) return FALSE;
    guint8 *into = http_body_room(&connection->spans, &room);
    if (into == NULL) return FALSE;
    const ssize_t came = recv(connection->place->fd, into, room, 0);
    *state = http_body_filled(&connection->spans, room, (gsize)MAX(came, 0));
    return came > 0;
}

static gboolean refuse_share(HttpConnection *connection) {
    counter_add(connection->server->options.counters, COUNTER_HTTP_BUFFERS, 1);
    connection->retry_after_s = 1;
    refuse_connection(connection, 503, "bodies of this peer, or of all, take too much memory: send it later");
    return FALSE;
}

/* TRUE: all of it is there. */
static gboolean keep_body(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    const gsize most = connection->spans.bytes->len + SPANS_INPUT_BYTES; /* of a round: others have their turn, too */
    BodyState state;
    gboolean more;
    do {
        state = feed_body(connection);
        more = evbuffer_get_length(input) > 0;
        if (state == BODY_MORE && !more) more = read_body(connection, &state) && connection->spans.bytes->len < most;
        if (state <= BODY_WHOLE && !share_spans(connection)) return refuse_share(connection);
    } while (state == BODY_MORE && more);

    if (state == BODY_BROKEN) refuse_connection(connection, 400, "the chunks of the body are malformed");
    if (state == BODY_TOO_LARGE)
        refuse_connection(connection, 413, "the body is too large: send fewer spans at a time");
    return state == BODY_WHOLE;
}

static gboolean take_body(HttpConnection *connection) {
    return connection->spans.bytes != NULL ? keep_body(connection) : drop_body(connection);
}

static void read_request(HttpConnection *connection) {
    struct evbuffer *input = bufferevent_get_input(connection->stream);
    if (connection->phase == PHASE_LINGER) evbuffer_drain(input, evbuffer_get_length(input));
    if (connection->phase == PHASE_IDLE && evbuffer_get_length(input) > 0)
        http_connection_set_phase(connection, PHASE_HEAD);
    if (connection->phase == PHASE_HEAD && !read_head(connection)) return;
    if (connection->phase == PHASE_LOGIN && is_late(connection, now_monotonic_ns())) give_up_login(connection);
    if (connection->phase != PHASE_BODY) return;
    if (take_body(connection))
        ask(connection);
    else if (connection->phase == PHASE_BODY && connection->shut_ns > 0)
        end_or_cut(connection); /* the rest does not come any more */
}

static void on_judged(void *arg, char *principal, char *answer, const GError *error) {
    HttpConnection *connection = arg;
    HttpExchange *exchange = connection->exchange;
    connection->ticket = NULL;
    connection->negotiated = answer;
    connection->since_ns = now_monotonic_ns(); /* the wait was ours */
    if (principal == NULL) request_refuse_login(&exchange->request, error->message);
    set_asker(connection, principal);
    begin_body(connection);
    read_request(connection);
}

static void on_readable(struct bufferevent *stream, void *connection) {
    (void)stream;
    read_request(connection);
}

/* All that was to be written is. */
static void on_written(struct bufferevent *stream, void *arg) {
    HttpConnection *connection = arg;
    if (evbuffer_get_length(bufferevent_get_output(stream)) > 0) return;

    if (connection->phase == PHASE_PIECES) {
        http_connection_set_phase(connection, PHASE_PIECES);
        connection->exchange->drained(connection->exchange->drained_arg);
        return;
    }
    if (connection->phase != PHASE_SENDING) return;

    unsent_remove(connection->server->unsent, g_steal_pointer(&connection->body));
    if (connection->keep_alive) {
        http_connection_set_phase(connection, PHASE_IDLE);
        read_request(connection); /* it may have come already */
    } else if (connection->linger && connection->shut_ns == 0) {
        http_connection_set_phase(connection, PHASE_LINGER);
        shutdown(connection->place->fd, SHUT_WR);
        read_request(connection);
    } else {
        http_connection_free(connection);
    }
}

static gboolean tls_failed(const HttpConnection *connection, short what) {
    if (!connection->secret) return FALSE;
    if ((what & BEV_EVENT_ERROR) != 0 && bufferevent_get_openssl_error(connection->stream) != 0) return TRUE;
    return tls_session_is_cut(bufferevent_openssl_get_ssl(connection->stream));
}

/* The peer sends no more, or the connection is broken. A peer that has shut only its own side, and waits for the
 * answer, looks the same as one that has left. */
static void on_event(struct bufferevent *stream, short what, void *arg) {
    (void)stream;
    HttpConnection *connection = arg;
    if (tls_failed(connection, what)) {
        cut_off(connection, COUNTER_HTTP_TLS);
        return;
    }
    const gboolean shut = (what & BEV_EVENT_EOF) != 0 && !atomic_load(&connection->place->gave_way);
    const gboolean waits = connection->phase == PHASE_LOGIN || connection->phase >= PHASE_ANSWERING;
    if (!shut || !waits || connection->phase == PHASE_LINGER) {
        end_or_cut(connection);
        return;
    }
    connection->shut_ns = now_monotonic_ns();
    connection->keep_alive = FALSE;
}

/* ---- accepting ---- */

/* ssl: its handshake is over; NULL: plain. It is the stream's, and the descriptor, too. */
static struct bufferevent *stream_new(struct event_base *base, int fd, struct ssl_st *ssl) {
    if (ssl == NULL) return bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    struct bufferevent *stream =
        bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_OPEN, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
    return stream;
}

/* child_of: taken over; NULL for others than processes of our own. */
static void open_connection(HttpServer *server, PeerPlace *place, struct ssl_st *ssl, char *child_of) {
    HttpConnection *connection = g_new0(HttpConnection, 1);
    connection->server = server;
    connection->place = place;
    connection->link.data = connection;
    connection->child_of = child_of;
    connection->secret = ssl != NULL;
    connection->stream = stream_new(server->options.base, place->fd, ssl);
    g_queue_push_tail_link(&server->connections, &connection->link);
    http_connection_set_phase(connection, PHASE_HEAD); /* who connects asks */
    bufferevent_setcb(connection->stream, on_readable, on_written, on_event, connection);
    bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_BYTES);
    bufferevent_enable(connection->stream, EV_READ | EV_WRITE);
}

static void take_arrival(void *arg, void *item) {
    const int on = 1;
    g_autofree Arrival *arrival = item;
    /* A long answer is written in pieces, and the last would wait for the acknowledgement of those before: 40 ms. */
    setsockopt(arrival->place->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    open_connection(arg, arrival->place, arrival->ssl, NULL);
}

static void on_arrived(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    HttpServer *server = arg;
    inbox_take(server->arrivals, take_arrival, server);
}

static void on_done(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    const HttpServer *server = arg;
    inbox_take(server->done, errand_back, NULL);
}

/* On the thread that accepts. */
static void on_arrival(void *arg, Arrival *arrival) {
    const HttpServer *server = arg;
    inbox_put(server->arrivals, arrival);
}

/* A certificate that is none of ours is a login that was refused. */
static void tell_no_tls(const AcceptorOptions *options, const PeerPlace *place, Counter reason) {
    g_autofree char *why = g_strdup(reason == COUNTER_CLOSED_TLS ? transport_reason() : counter_info(reason).reason);
    const AuditEvent event = {
        .action = AUDIT_LOGIN_REFUSED, .port = options->port.name, .address = peer_place_name(place), .outcome = why};
    tell_cut_why(options->counters, place, COUNTER_HTTP_TLS, why);
    audit_note(options->audit, &event);
}

/* The same thread: of connections that are not here yet. */
static void tell_closed(const AcceptorOptions *options, const PeerPlace *place, Counter reason) {
    if (atomic_load(&place->gave_way)) {
        tell_cut(options->counters, place, COUNTER_HTTP_GAVE_WAY);
        return;
    }
    switch (reason) {
    case COUNTER_CLOSED_STRANGERS: tell_cut(options->counters, place, COUNTER_HTTP_TOO_MANY); break;
    case COUNTER_CLOSED_NO_LOGIN:
    case COUNTER_CLOSED_IDLE: tell_cut(options->counters, place, COUNTER_HTTP_SLOW_REQUEST); break;
    case COUNTER_COUNT: break;
    default: tell_no_tls(options, place, reason);
    }
}

static void on_child(evutil_socket_t listen_fd, short what, void *arg) {
    (void)what;
    static LogLimit limit;
    HttpServer *server = arg;
    char name[PEER_NAME_BYTES];
    const int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) event_del(server->children); /* until a tick */
        return;
    }
    char *of = server->options.child_of(server->options.arg, fd, name);
    PeerPlace *place = of != NULL ? shares_take(server->options.shares, PEER_READERS, fd, name, 0) : NULL;
    if (place != NULL) {
        open_connection(server, place, NULL, of);
        return;
    }
    if (of != NULL) {
        counter_add(server->options.counters, COUNTER_HTTP_TOO_MANY, 1);
        log_limited(&limit, LOG_LEVEL_WARNING,
                    "a command of the shell was refused: there are %u HTTP connections, http.max-connections, none has "
                    "more of them, and its own are at work",
                    shares_connections(server->options.shares, PEER_READERS));
    }
    g_free(of);
    close(fd);
}

/* ---- time ---- */

/* Has the reader taken something? */
static gboolean gets_on(HttpConnection *connection) {
    const gsize output_bytes = evbuffer_get_length(bufferevent_get_output(connection->stream));
    const gboolean changed = output_bytes == 0 || output_bytes != connection->output_bytes;
    connection->output_bytes = output_bytes;
    return changed;
}

static void look_at(HttpConnection *connection, gint64 now_ns) {
    const gint64 timeout_ns = connection->server->options.timeout_ns;
    const gint64 passed_ns = now_ns - connection->since_ns;

    switch (connection->phase) {
    case PHASE_IDLE:
        if (passed_ns > IDLE_NS) http_connection_free(connection);
        break;
    case PHASE_LOGIN: /* it is answered, later: an answer may end others */
        if (is_late(connection, now_ns)) bufferevent_trigger(connection->stream, EV_READ, BEV_OPT_DEFER_CALLBACKS);
        break;
    case PHASE_HEAD:
    case PHASE_BODY:
        if (passed_ns > timeout_ns) cut_off(connection, COUNTER_HTTP_SLOW_REQUEST);
        break;
    case PHASE_ANSWERING:
        if (connection->shut_ns > 0 && now_ns - connection->shut_ns > SHUT_NS)
            http_exchange_tell_gone(connection->exchange);
        break;
    case PHASE_PIECES:
    case PHASE_SENDING:
        if (gets_on(connection))
            http_connection_set_phase(connection, connection->phase);
        else if (passed_ns > timeout_ns)
            cut_off(connection, COUNTER_HTTP_UNREAD);
        break;
    case PHASE_LINGER:
        if (passed_ns > LINGER_NS) http_connection_free(connection);
        break;
    }
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    HttpServer *server = arg;
    const gint64 now_ns = now_monotonic_ns();
    if (server->children != NULL) event_add(server->children, NULL);
    for (GList *at = server->connections.head, *next; at != NULL; at = next) {
        next = at->next; /* looking at one ends no other */
        look_at(at->data, now_ns);
    }
}

/* ---- life ---- */

static Acceptor *start_acceptor(HttpServer *server, gint64 tick_ns) {
    const HttpServerOptions *options = &server->options;
    const AcceptorOptions acceptor = {
        .thread_name = "http-accept",
        .listen_fd = options->listen_fd,
        .port = {.name = "http",
                 .connection = "an HTTP connection",
                 .limit = "http.max-connections",
                 .kind = PEER_READERS,
                 .greets = options->secret},
        .counters = options->accept_counters,
        .security = options->security,
        .audit = options->audit,
        .shares = options->shares,
        .open = options->open,
        .idle_timeout_ns = options->timeout_ns,
        .login_timeout_ns = MIN(ACCEPTOR_LOGIN_NS, options->timeout_ns),
        .tick_ns = tick_ns,
        .strangers = options->strangers,
        .n_acceptors = 1,
        .arrived = on_arrival,
        .arg = server,
        .tell = tell_closed,
    };
    return acceptor_start(&acceptor);
}

HttpServer *http_server_new(const HttpServerOptions *options) {
    HttpServer *server = g_new0(HttpServer, 1);
    server->options = *options;
    g_queue_init(&server->connections);
    server->unsent = unsent_new(options->questions);
    server->arrivals = inbox_new(arrival_drop);
    server->arrived = event_new(options->base, inbox_fd(server->arrivals), EV_READ | EV_PERSIST, on_arrived, server);
    event_add(server->arrived, NULL);
    server->done = inbox_new(errand_drop);
    server->judged = event_new(options->base, inbox_fd(server->done), EV_READ | EV_PERSIST, on_done, server);
    event_add(server->judged, NULL);
    if (options->children_fd >= 0) {
        server->children = event_new(options->base, options->children_fd, EV_READ | EV_PERSIST, on_child, server);
        event_add(server->children, NULL);
    }
    const gint64 every_ns = CLAMP(options->timeout_ns / 4, 10 * NS_PER_MS, NS_PER_SEC / 2);
    const struct timeval every = {every_ns / NS_PER_SEC, every_ns % NS_PER_SEC / NS_PER_US};
    server->tick = event_new(options->base, -1, EV_PERSIST, on_tick, server);
    event_add(server->tick, &every);
    server->acceptor = start_acceptor(server, every_ns);
    return server;
}

void http_server_free(HttpServer *server) {
    if (!server) return;
    acceptor_stop(server->acceptor);
    while (server->connections.head != NULL) http_connection_free(server->connections.head->data);
    event_free(server->tick);
    event_free(server->arrived);
    event_free(server->judged);
    inbox_free(server->arrivals);
    acceptor_free(server->acceptor);
    inbox_free(server->done);
    if (server->children != NULL) event_free(server->children);
    close(server->options.listen_fd);
    unsent_free(server->unsent);
    if (server->spare != NULL) g_byte_array_unref(server->spare);
    g_free(server);
}

gint64 http_server_seen_ns(const HttpServer *server) { return acceptor_seen_ns(server->acceptor); }
