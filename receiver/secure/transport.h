/* The bytes of a connection, plain or under TLS, read and written as recv() and send() would.
 *
 * The trap: OpenSSL reads more from the socket than it gives. No event tells of what it holds then. So whoever stops
 * reading (for room, for a pause) and goes on later asks transport_holds(), and reads without waiting for an event. */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct ssl_st;
struct ssl_ctx_st;

typedef struct Transport {
    int fd;              /* its owner's */
    struct ssl_st *ssl;  /* NULL: plain */
    gboolean holds;      /* see transport_holds() */
    gboolean wants_room; /* reading goes on when the socket takes bytes */
} Transport;

/* TLS from now on, as the one that accepts. ahead: see tls_session_new(). */
void transport_accept(Transport *transport, struct ssl_ctx_st *context, gboolean ahead);
/* A step of the handshake. 1: it is over; 0: the end; -1 with errno, as below. */
int transport_greet(Transport *transport);
/* Bytes; 0: the end; -1 with errno: EAGAIN, EPROTO for what is no TLS, or that of the socket. */
ssize_t transport_read(Transport *transport, guint8 *into, gsize room);
/* The same, without an end. What is handed over after EAGAIN begins with the same bytes. */
ssize_t transport_write(Transport *transport, const guint8 *data, gsize size_bytes);
/* Is there something to be read of which no event tells? */
static inline gboolean transport_holds(const Transport *transport) { return transport->holds; }
/* Says farewell, if that takes no wait. The socket is its owner's to close. */
void transport_clear(Transport *transport);
/* What was wrong when errno was EPROTO; static. */
const char *transport_reason(void);
