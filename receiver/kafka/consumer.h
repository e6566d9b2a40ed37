/* One topic of Kafka, read as a member of a group. The only file with librdkafka is consumer_librdkafka.c; a build
 * without it (PLUMB_KAFKA=OFF) has consumer_none.c, which says so.
 *
 * An offset is committed only when consumer_taken() was told of its message, so what was not taken comes again: after a
 * crash, and whenever the group gives partitions anew. All calls from one thread. */
#pragma once

#include "common/base/bytes.h"
#include "receiver/kafka/kafka_settings.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/kafka_view.h"

/* Messages that librdkafka fetches beforehand; what it asks for at a time, which is a round (kafka.h), and of one
 * partition; the largest answer of a broker that it takes, in which the largest message has room. A site may choose
 * others (kafka.options).
 *
 * These bound what comes from a broker, and what zstd is unpacked to. librdkafka unpacks a batch of gzip, snappy or lz4
 * whole before plumbd sees anything of it, and has no limit for that: message.max.bytes of the brokers bounds the
 * packed batch only, of which gzip can make a thousand times as much. Where producers are not trusted, the topic has to
 * have compression.type=uncompressed; the brokers then unpack, and message.max.bytes bounds what comes here. */
#define CONSUMER_AHEAD_KIB       8192
#define CONSUMER_FETCH_BYTES     (4 * 1024 * 1024)
#define CONSUMER_PARTITION_BYTES (1024 * 1024)
#define CONSUMER_ANSWER_BYTES    (16 * 1024 * 1024)

typedef struct ConsumerMessage {
    Bytes payload;
    gint32 partition;
    gint64 offset;
    void *handle;
} ConsumerMessage;
void consumer_message_clear(ConsumerMessage *message);

typedef struct ConsumerOptions {
    const KafkaSettings *settings; /* outlives the consumer */
    KafkaView *view;
    Counters *counters;      /* of the thread that reads; errors are counted here */
    void (*lost)(void *arg); /* partitions were taken away: what was not taken comes again, to whoever has them then */
    void *arg;
} ConsumerOptions;

typedef struct Consumer Consumer;
/* Asks no broker yet. NULL: CONFIG, for what librdkafka does not take, or IO. */
Consumer *consumer_open(const ConsumerOptions *options, GError **error);
/* TRUE: the next message, to be cleared. FALSE: none within the time, or something else happened. */
gboolean consumer_poll(Consumer *consumer, int timeout_ms, ConsumerMessage *message);
/* While it is on hold, partitions stay ours and no message comes (but those that were on their way). */
void consumer_hold(Consumer *consumer, gboolean hold);
/* These are durable, or refused for good. */
void consumer_taken(Consumer *consumer, const ConsumerMessage *messages, guint n);
/* Whenever the thread comes round: commits about once a second, looks how far behind it is, and whether what was amiss
 * still is. */
void consumer_upkeep(Consumer *consumer);
/* Commits and leaves the group, each for at most so long; frees it. NULL is taken. */
void consumer_close(Consumer *consumer, int patience_ms);
