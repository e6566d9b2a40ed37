/* Fair shares: what each peer has of what all peers share: connections, and memory for unfinished frames.
 *
 * A peer is a name; for now the address that its connections come from, of IPv6 the network of 64 bits, which one host
 * has to itself. As long as there is enough, one peer may have nearly all. When a limit is reached, the peer that has
 * most gives way: its longest idle connection is closed for a connection of a peer that has fewer, and what it asks for
 * itself is refused. Of memory a part stays free for who comes next. So a peer that behaves is served, whatever
 * another one does.
 *
 * Any thread. There is one lock, taken when a connection opens and when it ends; a frame costs at most some atomic
 * additions. A peer is known while it has a connection, so there are never more peers than connections. */
#pragma once

#include <glib.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define PEER_NAME_BYTES 64u
/* A peer may have so many times the memory that is left for all: alone three quarters, with n others like it
 * 3 / (3 n + 4) of it, and a free part always remains. */
#define PEER_BUFFER_FACTOR 3u

typedef enum { PEER_SENDERS, PEER_READERS, PEER_KINDS } PeerKind; /* the span port, the HTTP port */

typedef struct ShareLimits {
    guint connections[PEER_KINDS];
    guint per_address; /* senders' connections of one peer, but for this machine itself; 0: no limit */
    gsize buffer_bytes;
} ShareLimits;

typedef struct Shares Shares;
Shares *shares_new(const ShareLimits *limits);
/* When no connection is left. */
void shares_free(Shares *shares);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shares, shares_free)

/* The peer that an address stands for. */
void peer_name_of(const struct sockaddr *address, socklen_t length, char name[PEER_NAME_BYTES]);

/* The place of one connection. */
typedef struct Peer Peer;
typedef struct PeerPlace {
    Peer *peer;
    PeerKind kind;
    int fd;
    GList link;               /* in the peer's list */
    _Atomic gint64 active_ns; /* monotonic: when something last went on with it; by its owner */
    atomic_bool busy;         /* does not give way to another of the same peer; by its owner */
    atomic_bool gave_way;     /* its socket was shut down: its end is not the peer's doing */
} PeerPlace;

/* NULL: there is none, and this peer has as many as any. Another connection may have given way for it: that one's
 * socket is shut down, and its owner will see the end. One of the same peer may, too, unless it is busy, when it was
 * idle for own_idle_ns. */
PeerPlace *shares_take(Shares *shares, PeerKind kind, int fd, const char *name, gint64 own_idle_ns);
/* Why there is none: has this one peer as many as one may have? */
gboolean shares_peer_is_full(Shares *shares, PeerKind kind, const char *name);
/* Before the descriptor is closed. */
void peer_place_free(PeerPlace *place);
const char *peer_place_name(const PeerPlace *place);

/* The peer's memory for unfinished frames goes from so many bytes to so many of one connection. FALSE: that is more
 * than its share, and nothing changed; never when it becomes less. */
gboolean peer_buffer(PeerPlace *place, gsize from_bytes, gsize to_bytes);
/* Does it have more than it could get now? Then what it is slow with is in the way of others. */
gboolean peer_is_over(const PeerPlace *place);

guint shares_connections(Shares *shares, PeerKind kind);
/* Those that gave way, and whose owners have not closed their descriptors yet. */
guint shares_leaving(Shares *shares, PeerKind kind);
gsize shares_buffered_bytes(const Shares *shares);
guint shares_count(Shares *shares);
