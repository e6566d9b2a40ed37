/* Who comes in at a port for senders. A thread of its own accepts connections, sees by the first byte whether they are
 * TLS, and goes through their handshakes; then they are handed to a network thread. Handshakes are a millisecond of a
 * processor each. So this thread has a lower priority than the network threads: senders that are there do not wait for
 * those that come, however many do, nor for those that say nothing.
 *
 * Any number of such threads may accept from one socket. */
#pragma once

#include "receiver/net/closing.h"
#include "receiver/net/protocol.h"
#include "receiver/secure/security.h"

typedef struct Arrival {
    PeerPlace *place;   /* the receiver's from now on, and the descriptor in it */
    struct ssl_st *ssl; /* the receiver's; NULL: it is plain */
    gboolean holds;     /* see transport_holds() */
    gint64 opened_ns;
} Arrival;

typedef struct AcceptorOptions {
    const char *thread_name;
    int listen_fd; /* listening; its owner's */
    const NetProtocol *protocol;
    Counters *counters; /* of this thread */
    Security *security;
    Audit *audit;
    Shares *shares;
    gboolean open; /* the port: see port_is_open() */
    gint64 idle_timeout_ns, login_timeout_ns, tick_ns;
    guint strangers;           /* that may be here, where a peer has to log in */
    const atomic_uint *inside; /* those that were handed over, by all acceptors, and have not logged in: this one's part
                                * of them counts, too, up to half of 'strangers' */
    guint n_acceptors;
    void (*arrived)(void *arg, const Arrival *arrival); /* on this thread */
    void *arg;
} AcceptorOptions;

typedef struct Acceptor Acceptor;
Acceptor *acceptor_start(const AcceptorOptions *options);
/* Ends the thread, and closes what it still has. */
void acceptor_stop(Acceptor *acceptor);
void acceptor_free(Acceptor *acceptor);
/* Any thread: when it last went through its loop (monotonic), which it does by itself; connections that it has. */
gint64 acceptor_seen_ns(const Acceptor *acceptor);
guint acceptor_connections(const Acceptor *acceptor);
