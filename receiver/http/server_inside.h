/* What the two sides of the HTTP server have of a connection: server.c reads requests and ends connections, answers.c
 * writes what is answered. */
#pragma once

#include <event2/bufferevent.h>

#include "common/base/clock.h"
#include "receiver/http/body.h"
#include "receiver/http/server.h"
#include "receiver/http/unsent.h"

typedef enum {
    PHASE_IDLE,
    PHASE_HEAD,
    PHASE_LOGIN,
    PHASE_BODY,
    PHASE_ANSWERING,
    PHASE_PIECES,
    PHASE_SENDING,
    PHASE_LINGER,
} Phase;

struct HttpTicket;

typedef struct HttpConnection {
    HttpServer *server;
    PeerPlace *place;
    struct bufferevent *stream;
    GList link; /* in server->connections */
    Phase phase;
    gint64 since_ns; /* when the phase began, or when it last got on */
    gsize output_bytes;
    HttpHead head;
    gsize body_left;
    HttpBody spans;    /* of a request that brings some */
    gsize spans_share; /* what of the peer's memory they have, until they are answered; or a head with a ticket */
    guint retry_after_s;
    HttpExchange *exchange; /* PHASE_LOGIN to PHASE_PIECES */
    gboolean keep_alive, linger;
    gboolean secret;           /* under TLS */
    char *child_of;            /* of a process of our own: for whom it asks; NULL: of anybody else */
    struct HttpTicket *ticket; /* PHASE_LOGIN; else NULL */
    char *negotiated;          /* what a login by it is answered with; NULL: nothing */
    gboolean chunks;           /* pieces are framed */
    gboolean silent;           /* HEAD: no body */
    gint64 shut_ns;            /* when the peer shut its side; 0: it has not */
    UnsentBody *body;          /* of the answer that is being sent; NULL: none */
} HttpConnection;

struct HttpExchange {
    HttpServer *server;
    HttpConnection *connection; /* NULL: it is closed */
    AuditAction action;         /* what is told of it when it is answered */
    gint64 begun_ns;
    gsize sent_bytes; /* of pieces */
    HttpRequest request;
    char peer[PEER_NAME_BYTES];
    guint roles;
    guint generation; /* of security, by which the roles are */
    char *principal;  /* who asks; NULL: somebody who has not logged in */
    TokenMark token;  /* by which it has logged in, if by one */
    char *session;    /* whose cookie says so; NULL: none */
    void (*gone)(void *arg);
    void *gone_arg;
    void (*drained)(void *arg);
    void *drained_arg;
};

struct HttpServer {
    HttpServerOptions options;
    GQueue connections; /* HttpConnection */
    Unsent *unsent;
    Acceptor *acceptor;
    Inbox *arrivals; /* Arrival */
    Inbox *done;     /* Errand: come back */
    struct event *arrived, *judged, *tick;
    struct event *children; /* NULL: none */
    GByteArray *spare;      /* the memory of a body that is done with, for the next one; NULL: none */
    gsize spare_bytes;      /* that it takes, whatever is in it */
};

static inline gint64 now_monotonic_ns(void) { return clock_monotonic_ns(clock_system()); }

void http_connection_set_phase(HttpConnection *connection, Phase phase);
void http_connection_free(HttpConnection *connection);
/* The body of its request, and what of its peer's memory that takes. */
void http_connection_drop_spans(HttpConnection *connection);
void http_exchange_free(HttpExchange *exchange);
/* Its user, once. */
void http_exchange_tell_gone(HttpExchange *exchange);
/* A whole answer. lines: of the head, beside those that every answer has. */
void http_connection_send(HttpConnection *connection, int code, const char *type, const char *lines, GBytes *body);
