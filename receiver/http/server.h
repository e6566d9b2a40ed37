/* HTTP connections: reads requests, and writes answers, on one thread with its event loop. What is asked and answered
 * is for its user. Another thread accepts connections, and makes their handshakes (receiver/net/acceptor.h).
 *
 * A connection is in one of these phases, each with an end of its own, so that none lasts for ever:
 *   idle       between two requests: 60 s
 *   request    from its first byte until it is whole: timeout_ns; as long its ticket may take to be judged, and then
 *              the rest to come
 *   answering  somebody works on the answer: as long as its user takes
 *   sending    the answer is there, or its pieces come: timeout_ns without a byte that is taken
 *   lingering  drops what still comes after a refusal, so that it is read before the connection ends: 2 s
 *
 * How many there may be, and who gives way, is in receiver/shared/shares.h. Whole answers that wait for their readers
 * are bounded for all together (receiver/http/unsent.h): past that the connection whose answer has waited longest is
 * closed, and its reader sees that the answer is not whole. The newest answer waits in any case, however large. */
#pragma once

#include <event2/event.h>

#include "common/base/allowance.h"
#include "receiver/http/http_names.h"
#include "receiver/http/login.h"
#include "receiver/http/masked.h"
#include "receiver/http/request.h"
#include "receiver/net/acceptor.h"
#include "receiver/net/errand.h"
#include "receiver/secure/audit.h"
#include "receiver/secure/security.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/shares.h"

/* A request that is to be answered: by one http_send(), or by http_send_start(), any number of pieces, and
 * http_send_end() or http_cut(); each of these but the pieces gives it back. */
typedef struct HttpExchange HttpExchange;

typedef struct HttpServerOptions {
    int listen_fd; /* listening; closed by http_server_free() */
    struct event_base *base;
    Shares *shares;
    const HttpNames *names;
    AllowanceBudget *questions; /* whose memory answers on their way count to */
    Counters *counters;         /* this thread's block */
    Counters *accept_counters;  /* that of the thread that accepts */
    guint strangers;            /* connections that may be in their handshake */
    gint64 timeout_ns;
    Security *security;
    Errands *errands; /* judges tickets */
    Audit *audit;     /* NULL: none */
    Masker *masker;   /* of what the audit log shows; NULL: nothing is masked */
    gboolean secret;  /* connections are under TLS */
    gboolean open;    /* the port: see port_is_open() */
    Sessions *sessions;
    void (*ask)(void *arg, HttpExchange *exchange);
    /* May whoever sends the head send what it brings? Else its body is not read, and it is asked about without. */
    gboolean (*may_bring)(void *arg, const HttpExchange *exchange);
    void *arg;
    int children_fd; /* listening, for processes of our own, who may read; -1: none. It stays the caller's */
    /* Who has the process that has connected ask, a new string; NULL: it is none of ours. name: of the peer to whose
     * share it counts. */
    char *(*child_of)(void *arg, int fd, char name[PEER_NAME_BYTES]);
} HttpServerOptions;

typedef struct HttpServer HttpServer;
HttpServer *http_server_new(const HttpServerOptions *options);
/* Closes all connections. When no exchange is left. */
void http_server_free(HttpServer *server);
/* Any thread: when the thread that accepts last went through its loop (monotonic). */
gint64 http_server_seen_ns(const HttpServer *server);

/* Until it is answered. */
const HttpRequest *http_exchange_request(const HttpExchange *exchange);
/* The name of the peer (receiver/shared/shares.h). */
const char *http_exchange_peer(const HttpExchange *exchange);
/* Who has logged in with this request: "token:NAME", "cert:NAME"; NULL: nobody. */
const char *http_exchange_principal(const HttpExchange *exchange);
/* The token of "token:NAME". */
TokenMark http_exchange_token(const HttpExchange *exchange);
/* What the audit log calls it once it is answered; AUDIT_NOTHING until then, and AUDIT_DENIED when it is denied. */
void http_exchange_audit(HttpExchange *exchange, AuditAction action);
/* AccessRole: what one may do who asks. */
guint http_exchange_roles(const HttpExchange *exchange);
/* FALSE: what it may do is to be asked anew, as the rules have changed or the session it came in has ended. */
gboolean http_exchange_is_current(const HttpExchange *exchange);
/* The audit log says now that it has begun, and not only once it has ended. */
void http_exchange_tell_begun(const HttpExchange *exchange);
/* Its connection has ended, or its reader has shut its side for two seconds: nobody needs the answer. What is answered
 * then goes where it can. NULL: nobody is told any more. */
void http_exchange_on_gone(HttpExchange *exchange, void (*gone)(void *arg), void *arg);
/* Has the connection ended, or its reader shut its side? */
gboolean http_exchange_is_gone(const HttpExchange *exchange);

/* The body of a request that brings spans (HttpRequest.spans); it is the caller's from then on. */
GByteArray *http_exchange_take_body(HttpExchange *exchange);
/* It is done with: its memory may serve the next one. Taken over. */
void http_exchange_give_body(HttpExchange *exchange, GByteArray *body);

typedef struct HttpContent {
    int code;
    const char *type;
    GBytes *body;
    gboolean gzipped;
    guint64 tag; /* of what it says, whether gzipped or not: peers who have that already get 304; 0: none */
} HttpContent;

/* The bytes are not copied. */
void http_send_content(HttpExchange *exchange, const HttpContent *content);
void http_send(HttpExchange *exchange, int code, const char *type, GBytes *body);
void http_send_text(HttpExchange *exchange, int code, const char *text);
void http_send_error(HttpExchange *exchange, int code, const char *message); /* {"error": message} */
/* What is sent next says when to ask again. */
void http_retry_after(HttpExchange *exchange, guint seconds);
/* An answer without contents that begins (id) or ends (NULL) a browser's session. */
void http_send_session(HttpExchange *exchange, const char *id);
/* A page with script of our own, for who has not logged in. */
void http_send_own(HttpExchange *exchange, int code, const char *type, const char *text);
/* Who asks lacks the role: 401 when it has not logged in, else 403. */
void http_send_denied(HttpExchange *exchange);

/* A file of our own page, gzipped. lasting: the reader may keep it. */
void http_send_page_file(HttpExchange *exchange, const char *type, gboolean lasting, GBytes *gzipped);

/* An answer whose length is not known. 'drained' is called whenever all pieces so far have been taken. */
void http_send_start(HttpExchange *exchange, const char *type, void (*drained)(void *arg), void *arg);
void http_send_piece(HttpExchange *exchange, GBytes *piece);
void http_send_end(HttpExchange *exchange);
/* The reader sees that it is not whole. */
void http_cut(HttpExchange *exchange);
