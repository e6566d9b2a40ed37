#include "receiver/kafka/kafka_settings.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/secret_file.h"

#define TOPIC_CHARACTERS_MAX 249u /* of Kafka */

/* What plumbd sets itself: which brokers, which group, and when offsets are committed. */
static const char *const ours[] = {
    "bootstrap.servers",
    "metadata.broker.list",
    "group.id",
    "enable.auto.commit",
    "auto.commit.enable",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "partition.assignment.strategy",
    "plugin.library.paths",
};

static const char *const secret_words[] = {
    "password", "secret", "passphrase", "private.key", "ssl.key.pem", "oauthbearer.config",
};

void kafka_settings_clear(KafkaSettings *settings) {
    g_free(settings->brokers);
    g_free(settings->topic);
    g_free(settings->group);
    g_strfreev(settings->options);
    g_free(settings->secrets);
}

static gboolean is_ours(const char *key) {
    for (guint i = 0; i < G_N_ELEMENTS(ours); i++)
        if (strcmp(key, ours[i]) == 0) return TRUE;
    return FALSE;
}

static gboolean is_secret(const char *key) {
    for (guint i = 0; i < G_N_ELEMENTS(secret_words); i++)
        if (strstr(key, secret_words[i]) != NULL) return TRUE;
    return FALSE;
}

/* "key = value" in its parts; whole is changed. */
static gboolean split(char *whole, const char *source, char **key, char **value, GError **error) {
    char *sign = strchr(whole, '=');
    if (sign == NULL) return fail(error, PLUMB_ERROR_CONFIG, "%s: an entry has no '=': write key=value", source);
    *sign = '\0';
    *key = g_strstrip(whole);
    *value = g_strstrip(sign + 1);
    if (!is_ours(*key)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "%s: %s is set by plumbd; leave it out", source, *key);
}

static gboolean check_option(const char *option, GError **error) {
    g_autofree char *copy = g_strdup(option);
    char *key, *value;
    if (!split(copy, "kafka.options", &key, &value, error)) return FALSE;
    if (!is_secret(key)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG,
                "kafka.options: %s is a secret: put it into a file of mode 600, and name that in kafka.secrets", key);
}

static gboolean check_topic(const char *topic, GError **error) {
    const gsize length = strlen(topic);
    if (length > 0 && length <= TOPIC_CHARACTERS_MAX &&
        strspn(topic, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-") == length)
        return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "kafka.topic: '%s' is no name of a topic: letters, digits, '.', '_' and '-'",
                topic);
}

gboolean kafka_settings_check(const KafkaSettings *settings, GError **error) {
    if (settings->brokers[0] == '\0') return TRUE;
    if (!check_topic(settings->topic, error)) return FALSE;
    if (settings->group[0] == '\0') return fail(error, PLUMB_ERROR_CONFIG, "kafka.group is empty: name a group");
    if (g_strv_length(settings->options) > KAFKA_OPTIONS_MAX)
        return fail(error, PLUMB_ERROR_CONFIG, "kafka.options: more than %u entries", KAFKA_OPTIONS_MAX);
    for (guint i = 0; settings->options[i] != NULL; i++)
        if (!check_option(settings->options[i], error)) return FALSE;
    return TRUE;
}

static gboolean apply_option(const char *option, KafkaSetter set, void *arg, GError **error) {
    g_autofree char *copy = g_strdup(option), *why = NULL;
    char *key, *value;
    if (!split(copy, "kafka.options", &key, &value, error)) return FALSE;
    return set(arg, key, value, &why) || fail(error, PLUMB_ERROR_CONFIG, "kafka.options: %s", why);
}

/* Why a value is not taken may have the value in it. */
static gboolean apply_secret(char *line, KafkaSetter set, void *arg, GError **error) {
    g_autofree char *why = NULL;
    char *key, *value;
    if (!split(line, "kafka.secrets", &key, &value, error)) return FALSE;
    return set(arg, key, value, &why) ||
           fail(error, PLUMB_ERROR_CONFIG, "kafka.secrets: librdkafka does not know %s, or does not take its value",
                key);
}

static gboolean apply_lines(char *text, KafkaSetter set, void *arg, GError **error) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL; line = strtok_r(NULL, "\r\n", &rest)) {
        line = g_strstrip(line);
        if (line[0] == '\0' || line[0] == '#') continue;
        if (!apply_secret(line, set, arg, error)) return FALSE;
    }
    return TRUE;
}

gboolean kafka_settings_apply(const KafkaSettings *settings, KafkaSetter set, void *arg, GError **error) {
    for (guint i = 0; settings->options[i] != NULL; i++)
        if (!apply_option(settings->options[i], set, arg, error)) return FALSE;
    if (settings->secrets[0] == '\0') return TRUE;

    gsize size_bytes;
    char *secrets = secret_file_read(settings->secrets, &size_bytes, error);
    if (secrets == NULL) {
        g_prefix_error(error, "kafka.secrets: ");
        return FALSE;
    }
    const gboolean good = apply_lines(secrets, set, arg, error);
    secret_free(secrets, size_bytes);
    return good;
}
