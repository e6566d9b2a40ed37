/* How it stands with the topic of Kafka that spans are read from: the thread that reads sets it, any reads it. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef enum {
    KAFKA_OFF,        /* no kafka.brokers */
    KAFKA_CONNECTING, /* no partition was given to us yet */
    KAFKA_READING,
    KAFKA_WAITING,  /* plumbd is too busy, or takes no spans: the messages wait in the topic */
    KAFKA_AWAY,     /* no broker answers */
    KAFKA_NO_TOPIC, /* there is no such topic */
    KAFKA_DENIED,   /* the brokers do not let us in, or not at the topic or the group */
    KAFKA_TROUBLE,  /* another error: the log has it */
} KafkaState;

typedef struct KafkaView {
    _Atomic int state;
    _Atomic guint partitions; /* given to us */
    _Atomic guint64 lag;      /* messages of these that were not taken yet, as far as is known */
} KafkaView;

/* As status and metrics call it: "reading", "no topic", ... */
static inline const char *kafka_state_name(KafkaState state) {
    static const char *const names[] = {
        [KAFKA_OFF] = "off",          [KAFKA_CONNECTING] = "connecting", [KAFKA_READING] = "reading",
        [KAFKA_WAITING] = "waiting",  [KAFKA_AWAY] = "no broker",        [KAFKA_NO_TOPIC] = "no topic",
        [KAFKA_DENIED] = "no access", [KAFKA_TROUBLE] = "trouble",
    };
    return names[state];
}
