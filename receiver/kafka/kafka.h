/* Spans from a topic of Kafka: Zipkin's spans of version 1 in Thrift, one or a list of them to a message, as HTrace's
 * receiver and old reporters write them, and lists of version 2 in JSON, as newer reporters do. One thread with an
 * intake of its own (receiver/net/intake.h): what comes is journaled, bounded and masked as what comes to the Thrift
 * port.
 *
 * At least once: an offset is committed when the spans before it are as durable as those that the Thrift port
 * acknowledges (journal.ack). What comes again, after a crash or from another member of the group, is known by the ids
 * of its spans, as a batch that is sent again is. While spans cannot be taken, partitions are on hold, and the messages
 * wait in the topic. What is no span costs its own message only. */
#pragma once

#include "receiver/kafka/kafka_settings.h"
#include "receiver/net/intake.h"
#include "receiver/shared/kafka_view.h"

/* A message; larger ones are refused. */
#define KAFKA_MESSAGE_MAX_BYTES (8u * 1024 * 1024)
/* What is taken at once, with one sync of the journal: so many messages, or bytes. */
#define KAFKA_ROUND_MESSAGES 2000u
#define KAFKA_ROUND_BYTES    (4u * 1024 * 1024)
/* What the document of one message in JSON may take: at worst thirty times its bytes, so that any of 1 MiB fits, which
 * is what brokers take unless told otherwise. */
#define KAFKA_JSON_BYTES (32u * 1024 * 1024)
/* Memory of all that, about: of librdkafka's messages, a round, and what becomes of it; and one document. What
 * librdkafka unpacks is not in it (consumer.h). */
#define KAFKA_MEMORY_BYTES (32u * 1024 * 1024 + KAFKA_JSON_BYTES)

typedef struct KafkaOptions {
    const KafkaSettings *settings; /* outlives it */
    IntakeOptions intake;
    Counters *counters; /* of its thread */
    const PackLimit *limit;
    KafkaView *view;
} KafkaOptions;

typedef struct KafkaInput KafkaInput;
/* Asks no broker yet: where none answers, plumbd runs without, and tries again. NULL: CONFIG (an option that librdkafka
 * does not take), IO. */
KafkaInput *kafka_start(const KafkaOptions *options, GError **error);
/* Takes no more, commits what was taken, leaves the group, frees it. NULL is taken. */
void kafka_stop(KafkaInput *input);
