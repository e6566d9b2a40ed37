/* Answers, as they are written to their connections. */
#include <event2/buffer.h>
#include <string.h>
#include <time.h>

#include "receiver/http/answer_lines.h"
#include "receiver/http/login_request.h"
#include "receiver/http/server_inside.h"
#include "receiver/shared/log.h"

/* ---- writing ---- */

static void write_challenge(HttpConnection *connection, int code) {
    struct evbuffer *out = bufferevent_get_output(connection->stream);
    g_autofree char *negotiated = g_steal_pointer(&connection->negotiated);
    g_autoptr(Kerberos) kerberos = code == 401 ? security_kerberos(connection->server->options.security) : NULL;
    if (negotiated != NULL) evbuffer_add_printf(out, "WWW-Authenticate: Negotiate %s\r\n", negotiated);
    if (kerberos != NULL) evbuffer_add_printf(out, "WWW-Authenticate: Negotiate\r\n");
    if (code == 401) evbuffer_add_printf(out, "WWW-Authenticate: Bearer realm=\"plumbd\"\r\n");
}

/* lines: headers that say what a browser may do with it. */
static void write_head(HttpConnection *connection, int code, const char *type, const char *lines, gssize length) {
    struct evbuffer *out = bufferevent_get_output(connection->stream);
    char date[64];
    const time_t now = (time_t)(clock_wall_ns(clock_system()) / NS_PER_SEC);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n%s", code, http_reason(code), date,
                        type, lines);
    write_challenge(connection, code);
    if (connection->retry_after_s > 0) evbuffer_add_printf(out, "Retry-After: %u\r\n", connection->retry_after_s);
    connection->retry_after_s = 0;
    if (code == 405) evbuffer_add_printf(out, "Allow: GET, HEAD, POST\r\n");
    if (length >= 0)
        evbuffer_add_printf(out, "Content-Length: %zd\r\n", length);
    else if (connection->chunks)
        evbuffer_add_printf(out, "Transfer-Encoding: chunked\r\n");
    evbuffer_add_printf(out, "Connection: %s\r\n\r\n", connection->keep_alive ? "keep-alive" : "close");
}

static void drop_bytes(const void *data, size_t size_bytes, void *bytes) {
    (void)data;
    (void)size_bytes;
    g_bytes_unref(bytes);
}

static void write_bytes(HttpConnection *connection, GBytes *bytes) {
    gsize size_bytes;
    const void *data = g_bytes_get_data(bytes, &size_bytes);
    if (size_bytes == 0) return;
    evbuffer_add_reference(bufferevent_get_output(connection->stream), data, size_bytes, drop_bytes,
                           g_bytes_ref(bytes));
}

static void cut_longest_unsent(HttpServer *server) {
    static LogLimit limit;
    HttpConnection *oldest = unsent_oldest(server->unsent);
    log_limited(&limit, LOG_LEVEL_WARNING,
                "an answer to %s over HTTP is cut off: its reader is slow, and %zu bytes of answers wait",
                peer_place_name(oldest->place), unsent_bytes(server->unsent));
    counter_add(server->options.counters, COUNTER_HTTP_CUT, 1);
    http_connection_free(oldest);
}

/* The head is written. */
static void send_body(HttpConnection *connection, GBytes *body) {
    HttpServer *server = connection->server;
    http_connection_set_phase(connection, PHASE_SENDING);
    if (connection->silent) return;
    write_bytes(connection, body);
    connection->body = unsent_add(server->unsent, body, connection);
    while (unsent_is_over(server->unsent) && unsent_oldest(server->unsent) != connection) cut_longest_unsent(server);
}

void http_connection_send(HttpConnection *connection, int code, const char *type, const char *lines, GBytes *body) {
    write_head(connection, code, type, lines, (gssize)g_bytes_get_size(body));
    send_body(connection, body);
}

static void tell_audit_of(const HttpExchange *exchange, const char *outcome, int code, gsize bytes) {
    if (exchange->action == AUDIT_NOTHING) return;
    g_autofree char *query = masked_query(exchange->server->options.masker, exchange->request.query);
    const AuditEvent event = {
        .action = exchange->action,
        .port = "http",
        .principal = exchange->principal,
        .address = exchange->peer,
        .route = exchange->request.path,
        .query = query,
        .outcome = outcome,
        .status = code,
        .bytes = bytes,
        .duration_ns = now_monotonic_ns() - exchange->begun_ns,
    };
    audit_note(exchange->server->options.audit, &event);
}

static void tell_audit(const HttpExchange *exchange, int code, gsize bytes) {
    tell_audit_of(exchange, code == 0 ? "cut off" : code < 400 ? "ok" : http_reason(code), code, bytes);
}

/* The exchange is its connection's no more, which ends it on its own. NULL: the connection is closed. code: what it is
 * answered with; 0: with nothing more. */
static HttpConnection *let_go(HttpExchange *exchange, int code, gsize bytes) {
    HttpConnection *connection = exchange->connection;
    tell_audit(exchange, code, bytes);
    if (connection != NULL) {
        connection->exchange = NULL;
        http_connection_drop_spans(connection);
    }
    http_exchange_free(exchange);
    return connection;
}

void http_send(HttpExchange *exchange, int code, const char *type, GBytes *body) {
    HttpConnection *connection = let_go(exchange, code, g_bytes_get_size(body));
    if (connection != NULL) http_connection_send(connection, code, type, answer_security_lines, body);
}

void http_send_content(HttpExchange *exchange, const HttpContent *content) {
    const gboolean known = content->code == 200 && answer_is_known(exchange->request.known, content->tag);
    HttpConnection *connection =
        let_go(exchange, known ? 304 : content->code, known ? 0 : g_bytes_get_size(content->body));
    if (connection == NULL) return;
    g_autoptr(GBytes) nothing = g_bytes_new(NULL, 0);
    g_autofree char *lines = answer_content_lines(content->tag, content->gzipped);
    http_connection_send(connection, known ? 304 : content->code, content->type, lines,
                         known ? nothing : content->body);
}

void http_send_text(HttpExchange *exchange, int code, const char *text) {
    g_autoptr(GBytes) body = g_bytes_new(text, strlen(text));
    http_send(exchange, code, "text/plain; charset=utf-8", body);
}

void http_send_page_file(HttpExchange *exchange, const char *type, gboolean lasting, GBytes *gzipped) {
    HttpConnection *connection = let_go(exchange, 200, g_bytes_get_size(gzipped));
    if (connection != NULL)
        http_connection_send(connection, 200, type, lasting ? answer_lasting_lines : answer_page_lines, gzipped);
}

void http_send_error(HttpExchange *exchange, int code, const char *message) {
    g_autoptr(GBytes) body = answer_error_body(message);
    http_send(exchange, code, "application/json", body);
}

void http_retry_after(HttpExchange *exchange, guint seconds) {
    if (exchange->connection != NULL) exchange->connection->retry_after_s = seconds;
}

void http_send_session(HttpExchange *exchange, const char *id) {
    HttpConnection *connection = let_go(exchange, 200, 0);
    if (connection == NULL) return;
    g_autoptr(GBytes) body = g_bytes_new_static("{}", 2);
    g_autofree char *lines =
        g_strdup_printf("%sSet-Cookie: " LOGIN_COOKIE "=%s; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=%d\r\n",
                        answer_security_lines, id != NULL ? id : "", id != NULL ? LOGIN_SECONDS : 0);
    http_connection_send(connection, 200, "application/json", lines, body);
}

void http_send_own(HttpExchange *exchange, int code, const char *type, const char *text) {
    HttpConnection *connection = let_go(exchange, code, strlen(text));
    if (connection == NULL) return;
    g_autoptr(GBytes) body = g_bytes_new(text, strlen(text));
    http_connection_send(connection, code, type, answer_own_lines, body);
}

void http_send_denied(HttpExchange *exchange) {
    HttpConnection *connection = exchange->connection;
    if (connection != NULL) counter_add(connection->server->options.counters, COUNTER_HTTP_DENIED, 1);
    exchange->action = AUDIT_DENIED;
    if (exchange->principal == NULL) {
        http_send_error(exchange, 401, request_login_needed(&exchange->request));
        return;
    }
    g_autofree char *text =
        g_strdup_printf("%s lacks the role that this needs: see docs/security.md and access.read", exchange->principal);
    http_send_error(exchange, 403, text);
}

void http_send_start(HttpExchange *exchange, const char *type, void (*drained)(void *arg), void *arg) {
    HttpConnection *connection = exchange->connection;
    exchange->drained = drained;
    exchange->drained_arg = arg;
    if (connection == NULL) return;
    if (!connection->chunks) connection->keep_alive = FALSE; /* its end is the answer's */
    write_head(connection, 200, type, answer_security_lines, -1);
    http_connection_set_phase(connection, PHASE_PIECES);
}

void http_send_piece(HttpExchange *exchange, GBytes *piece) {
    HttpConnection *connection = exchange->connection;
    const gsize size_bytes = g_bytes_get_size(piece);
    exchange->sent_bytes += size_bytes;
    if (connection == NULL || connection->silent || size_bytes == 0) {
        exchange->drained(exchange->drained_arg);
        return;
    }
    struct evbuffer *out = bufferevent_get_output(connection->stream);
    if (connection->chunks) evbuffer_add_printf(out, "%zx\r\n", size_bytes);
    write_bytes(connection, piece);
    if (connection->chunks) evbuffer_add(out, "\r\n", 2);
}

void http_send_end(HttpExchange *exchange) {
    HttpConnection *connection = let_go(exchange, 200, exchange->sent_bytes);
    if (connection == NULL) return;
    struct evbuffer *out = bufferevent_get_output(connection->stream);
    if (connection->chunks && !connection->silent) evbuffer_add(out, "0\r\n\r\n", 5);
    http_connection_set_phase(connection, PHASE_SENDING);
    if (evbuffer_get_length(out) == 0) bufferevent_trigger(connection->stream, EV_WRITE, BEV_OPT_DEFER_CALLBACKS);
}

void http_cut(HttpExchange *exchange) {
    HttpConnection *connection = let_go(exchange, 0, exchange->sent_bytes);
    if (connection != NULL) http_connection_free(connection);
}

/* ---- exchanges ---- */

const HttpRequest *http_exchange_request(const HttpExchange *exchange) { return &exchange->request; }

const char *http_exchange_principal(const HttpExchange *exchange) { return exchange->principal; }

TokenMark http_exchange_token(const HttpExchange *exchange) { return exchange->token; }

void http_exchange_audit(HttpExchange *exchange, AuditAction action) { exchange->action = action; }

guint http_exchange_roles(const HttpExchange *exchange) { return exchange->roles; }

gboolean http_exchange_is_current(const HttpExchange *exchange) {
    const HttpServerOptions *options = &exchange->server->options;
    TokenMark token;
    return exchange->generation == security_generation(options->security) &&
           (exchange->session == NULL ||
            sessions_find(options->sessions, exchange->session, now_monotonic_ns(), &token) != NULL);
}

void http_exchange_tell_begun(const HttpExchange *exchange) { tell_audit_of(exchange, "begun", 200, 0); }

GByteArray *http_exchange_take_body(HttpExchange *exchange) {
    HttpConnection *connection = exchange->connection;
    return connection != NULL ? g_steal_pointer(&connection->spans.bytes) : g_byte_array_new();
}

/* Fresh pages of a large one cost more than what is read into them. */
#define BODY_KEPT_BYTES (1024u * 1024)

void http_exchange_give_body(HttpExchange *exchange, GByteArray *body) {
    HttpServer *server = exchange->server;
    const gsize taken_bytes = exchange->connection != NULL ? exchange->connection->spans_share : 0;
    if (server->spare != NULL || taken_bytes == 0 || taken_bytes > BODY_KEPT_BYTES) {
        g_byte_array_unref(body);
        return;
    }
    server->spare = g_byte_array_set_size(body, 0);
    server->spare_bytes = taken_bytes;
}

const char *http_exchange_peer(const HttpExchange *exchange) { return exchange->peer; }

gboolean http_exchange_is_gone(const HttpExchange *exchange) {
    return exchange->connection == NULL || exchange->connection->shut_ns > 0;
}

void http_exchange_on_gone(HttpExchange *exchange, void (*gone)(void *arg), void *arg) {
    exchange->gone = gone;
    exchange->gone_arg = arg;
    if (gone != NULL && exchange->connection == NULL) http_exchange_tell_gone(exchange);
}
