/* What is configured of Kafka (kafka.*), and what a site may say to librdkafka: kafka.options and the secret file
 * kafka.secrets have its keys (security.protocol, sasl.mechanism, ssl.ca.location, ...), with the values that it takes.
 * Keys on which it depends that nothing is lost are ours, and passwords are in the secret file only. */
#pragma once

#include <glib.h>

#define KAFKA_OPTIONS_MAX 200u

typedef struct KafkaSettings {
    char *brokers; /* empty: nothing is read from Kafka */
    char *topic, *group;
    char **options; /* "key=value" */
    char *secrets;  /* file; empty: none */
} KafkaSettings;

void kafka_settings_clear(KafkaSettings *settings);
/* Reads no file and asks nobody. Errors: CONFIG. */
gboolean kafka_settings_check(const KafkaSettings *settings, GError **error);

/* One option for librdkafka: TRUE, or FALSE with why it does not take it, to be freed. */
typedef gboolean (*KafkaSetter)(void *arg, const char *key, const char *value, char **why);
/* All of kafka.options, then those of the secret file, in which empty lines and such that begin with # are skipped.
 * Errors: CONFIG, IO; values are in none. */
gboolean kafka_settings_apply(const KafkaSettings *settings, KafkaSetter set, void *arg, GError **error);
