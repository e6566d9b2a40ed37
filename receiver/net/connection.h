/* One sender's connection, on one network thread. Private to the network files.
 *
 * Bytes are read into the thread's scratch buffer, and frames are cut and decoded right there; only the cut-off end of
 * a frame is kept, in a buffer of the connection that grows as bytes come, never by what a length declares. Frames of
 * many connections lie in scratch one behind the other until it is full or the round ends: they share one write to
 * the journal and one message to each shard, and then all are answered. */
#pragma once

#include <event2/event.h>

#include "receiver/net/acceptor.h"
#include "receiver/net/closing.h"
#include "receiver/net/errand.h"
#include "receiver/net/intake.h"
#include "receiver/net/protocol.h"
#include "receiver/net/strangers.h"
#include "receiver/secure/audit.h"
#include "receiver/secure/quota.h"
#include "receiver/secure/security.h"
#include "receiver/shared/name_quota.h"
#include "receiver/shared/shares.h"

/* Small enough to stay in the cache: what is decoded is written to the journal a moment later. */
#define NET_SCRATCH_BYTES (512u * 1024)
/* A read takes at most this much: large enough to make system calls rare. */
#define NET_READ_BYTES (256u * 1024)
/* Packed spans that wait for the journal. */
#define NET_PENDING_BYTES (1024u * 1024)
/* Replies a peer has not read; one is about 60 bytes. */
#define NET_OUT_BYTES_MAX (64u * 1024)
/* How often is looked whether there is room in the queues again, for which connections wait in a line. */
#define NET_STALL_PAUSE_MS 2

typedef struct NetLimits {
    gsize frame_bytes;
    gint64 frame_timeout_ns;
    gint64 idle_timeout_ns;
    gint64 login_timeout_ns;
    guint strangers; /* connections that have not logged in, where they have to */
} NetLimits;

typedef struct Connection Connection;

/* What the connections of one thread share. */
typedef struct NetContext {
    struct event_base *base;
    const NetProtocol *protocol;
    Intake *intake;
    Counters *counters;
    NetLimits limits;
    NameQuota *quota;
    Security *security;
    Audit *audit; /* NULL: none */
    ClosingPort port;
    Quotas *quotas;
    gboolean open;                 /* the port: see port_is_open() */
    Errands *errands;              /* judges tickets */
    Inbox *done;                   /* Errand: come back from there */
    guint8 *scratch;               /* NET_SCRATCH_BYTES */
    gsize scratch_used;            /* by frames that wait for the journal */
    GQueue connections;            /* Connection */
    Strangers *strangers;          /* Connection: have not logged in and have to */
    atomic_uint *strangers_inside; /* of all threads */
    GQueue stalled;                /* Connection: wait for room in the queues, those first that came first */
    struct event *unstall;         /* when the first of them looks again */
    GPtrArray *touched;            /* have output, or are to be closed, at the end of this round */
} NetContext;

/* What stands above scratch is given, the rest is made. */
void connections_init(NetContext *context);
void connections_clear(NetContext *context);
/* Takes over what has arrived. */
void connection_open(NetContext *context, const Arrival *arrival);
/* Commits what was taken, and answers it: when scratch is full, and at the end of a round, where connections that are
 * done with are freed too. */
void connections_answer(NetContext *context, gboolean round_ends);
/* Time-outs and memory of idle buffers. */
void connections_tick(NetContext *context, gint64 now_ns);
void connections_close_all(NetContext *context);
