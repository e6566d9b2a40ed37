/* Who comes in at a port. A thread of its own accepts connections, sees by the first byte whether they are TLS, and
 * goes through their handshakes; then they are handed to the thread that serves them. Handshakes are a millisecond of a
 * processor each. So this thread has a lower priority than those that serve: peers that are there do not wait for those
 * that come, however many do, nor for those that say nothing.
 *
 * Any number of such threads may accept from one socket. */
#pragma once

#include "receiver/secure/audit.h"
#include "receiver/secure/security.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/shares.h"

/* The priority of its thread: below that of those that serve (0), above that of questions. */
#define ACCEPTOR_NICE 2

/* So long a peer may take to log in, where nobody may do anything without, and for its handshake. */
#define ACCEPTOR_LOGIN_NS (10 * G_GINT64_CONSTANT(1000000000))
/* What share of all connections may be in their handshake, and what share may be past it and not logged in; past that
 * one of the address with most of them gives way. */
#define ACCEPTOR_STRANGERS_SHARE 8u

typedef struct Arrival {
    PeerPlace *place;   /* the receiver's from now on, and the descriptor in it */
    struct ssl_st *ssl; /* the receiver's; NULL: it is plain */
    gboolean holds;     /* see transport_holds() */
    gint64 opened_ns;
} Arrival;

/* Closes one that was not taken, for an inbox. */
void arrival_drop(void *arrival);

/* What the ports have of their own. */
typedef struct AcceptorPort {
    const char *name;       /* "thrift": in the audit log */
    const char *connection; /* "a connection": in messages */
    const char *limit;      /* the option that says how many there may be */
    PeerKind kind;
    gint64 own_idle_ns; /* see shares_take() */
    gboolean greets;    /* TLS may come first; else each is handed over at once */
    gboolean ahead;     /* see tls_session_new() */
    guint role;         /* AccessRole: who has it without a login is no stranger; 0: all are */
} AcceptorPort;

typedef struct AcceptorOptions AcceptorOptions;
struct AcceptorOptions {
    const char *thread_name;
    int listen_fd; /* listening; its owner's */
    AcceptorPort port;
    Counters *counters; /* of this thread */
    Security *security;
    Audit *audit; /* NULL: none */
    Shares *shares;
    gboolean open; /* the port: see port_is_open() */
    gint64 idle_timeout_ns, login_timeout_ns, tick_ns;
    guint strangers;           /* that may be here, where a peer has to log in */
    const atomic_uint *inside; /* those that were handed over, by all acceptors, and have not logged in: this one's part
                                * of them counts, too, up to half of 'strangers'; NULL: nobody counts them */
    guint n_acceptors;
    void (*arrived)(void *arg, Arrival *arrival); /* on this thread; it is the receiver's to free */
    void *arg;
    /* On this thread: says why a connection is refused or closed, COUNTER_CLOSED_...; COUNTER_COUNT: by its peer, in
     * order. */
    void (*tell)(const AcceptorOptions *options, const PeerPlace *place, Counter reason);
};

typedef struct Acceptor Acceptor;
/* thread_name is used now alone. */
Acceptor *acceptor_start(const AcceptorOptions *options);
/* Ends the thread, and closes what it still has. */
void acceptor_stop(Acceptor *acceptor);
void acceptor_free(Acceptor *acceptor);
/* Any thread: when it last went through its loop (monotonic), which it does by itself; connections that it has. */
gint64 acceptor_seen_ns(const Acceptor *acceptor);
guint acceptor_connections(const Acceptor *acceptor);
