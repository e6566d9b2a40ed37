/* The span port: network threads, each with an event loop of its own, and as many that accept connections. These hand
 * each to the network thread that has fewest (a shared listening port would spread a few long-lived connections
 * unevenly, and would let a second plumbd share the port unnoticed). */
#pragma once

#include "receiver/net/connection.h"

typedef struct NetOptions {
    const NetProtocol *protocol;
    int listen_fd; /* listening; closed by net_stop() */
    guint n_threads;
    NetLimits limits;
    IntakeOptions intake;
    CounterSet *counters;
    NameQuota *quota;
    Security *security;
    Audit *audit;
    Quotas *quotas;
    Errands *errands;
    gboolean open;  /* the port: see port_is_open() */
    Shares *shares; /* its limit of connections and of buffers counts */
} NetOptions;

typedef struct Net Net;
Net *net_start(const NetOptions *options);
/* Stops accepting and reading; what was taken is answered; ends the threads. It stays readable until net_free(). */
void net_stop(Net *net);
void net_free(Net *net);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Net, net_free)
/* Any thread: since when all network threads have gone through their loops (monotonic). They do by themselves. */
gint64 net_seen_ns(Net *net);
/* Any thread: open connections. */
guint net_connections(Net *net);
