/* Many connections to plumbd in one thread: each has one batch under way, as a sender's thread has, and says it again
 * while it is told to wait or the connection is lost. Keeps account of what was acknowledged and how long it took. */
#pragma once

#include "bench/channel.h"
#include "bench/cluster.h"

typedef struct Sender Sender;

typedef struct SenderOptions {
    const char *address; /* host:port */
    guint32 connections;
    guint64 most_unanswered_bytes; /* past it, sender_push() waits for answers */
    double spans_per_s;            /* sender_push() keeps to it; 0: as fast as they are taken */
    gint64 give_up_ms;             /* with all connections lost, or told to wait, for so long */
    ChannelFiles files;            /* of TLS */
    gboolean own_addresses;        /* each connection comes from an address of its own on loopback */
} SenderOptions;

#define LATENCY_STEPS 16u /* of each power of two */
#define LATENCIES     (64u * LATENCY_STEPS)

typedef struct SenderCounts {
    guint64 batches, bytes;
    guint64 accepted, refused; /* spans, as the replies say */
    guint64 first_time;        /* spans of batches when they were acknowledged first */
    guint64 again;             /* and of those that were sent a second time on purpose */
    guint64 try_later;         /* answers */
    guint64 lost_connections;
    guint64 resent;             /* spans sent again because nobody knows whether they came */
    guint64 reconnect_ns;       /* under TLS: until all that were lost were taken again, the last time */
    guint64 latency[LATENCIES]; /* of batches, from the first byte to the acknowledgement */
    gint64 longest_ns;
} SenderCounts;

Sender *sender_new(const SenderOptions *options, Cluster *cluster, GError **error);
void sender_free(Sender *sender);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sender, sender_free)

/* Queues a frame and takes its reference. An error stays: sender_error(). */
void sender_push(Sender *sender, Frame *frame);
/* Hears answers until then (0: those that are there). */
void sender_hear(Sender *sender, gint64 until_ns);
/* Until all is acknowledged. */
gboolean sender_drain(Sender *sender, GError **error);
const GError *sender_error(const Sender *sender);
SenderCounts sender_counts(const Sender *sender);

/* The time below which this share of all is. */
gint64 latency_quantile(const guint64 latency[LATENCIES], double share);
