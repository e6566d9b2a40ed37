/* The connections of the load client, plain or under TLS, on sockets that do not block. */
#pragma once

#include <glib.h>
#include <sys/types.h>
#include <sys/uio.h>

struct ssl_st;
struct ssl_ctx_st;

typedef struct ChannelFiles {
    const char *ca;                /* PEM: who signs plumbd's certificate; NULL: plain */
    const char *certificate, *key; /* PEM: ours; NULL: none */
} ChannelFiles;

/* For all connections; NULL with no error: plain. CONFIG: a file that cannot be used. */
struct ssl_ctx_st *channel_context_new(const ChannelFiles *files, GError **error);
void channel_context_free(struct ssl_ctx_st *context);

typedef struct Channel {
    int fd;
    struct ssl_st *ssl; /* NULL: plain */
    gboolean greeted;   /* under TLS: the receiver has taken our certificate, too */
} Channel;

/* The socket is its owner's. Says the first words of a handshake. context: NULL for plain. */
void channel_open(Channel *channel, int fd, struct ssl_ctx_st *context);
void channel_close(Channel *channel);
/* Bytes, or -1 with errno. EAGAIN: *wants_room says whether the socket has no room, or something is to be received. */
gssize channel_send(Channel *channel, const struct iovec *parts, guint n, gboolean *wants_room);
/* Bytes; 0 at the end; -1 with errno. To be called until EAGAIN. */
gssize channel_receive(Channel *channel, guint8 *into, gsize room);
