#include <librdkafka/rdkafka.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/kafka/consumer.h"
#include "receiver/shared/log.h"

#define UPKEEP_NS NS_PER_SEC
/* How often is asked whether what was amiss still is, and how long an answer is waited for. */
#define LOOK_NS (5 * NS_PER_SEC)
/* The others of the group wait as long for us to give partitions back. */
#define SAVE_WAIT_MS 3000
#define LOOK_WAIT_MS 1000

struct Consumer {
    ConsumerOptions options;
    rd_kafka_t *kafka;
    rd_kafka_topic_t *topic;
    gboolean held;
    gboolean unsaved; /* offsets are to be committed */
    gboolean doubted; /* whether any broker answers; upkeep asks */
    gint64 upkeep_ns, look_ns;
};

/* ---- what librdkafka says ---- */

static void note_state(Consumer *consumer, KafkaState state) {
    atomic_store(&consumer->options.view->state, (int)state);
}

static KafkaState state_of(const Consumer *consumer) { return (KafkaState)atomic_load(&consumer->options.view->state); }

static void note_fine(Consumer *consumer) {
    const guint partitions = atomic_load(&consumer->options.view->partitions);
    note_state(consumer, partitions == 0 ? KAFKA_CONNECTING : consumer->held ? KAFKA_WAITING : KAFKA_READING);
}

static KafkaState state_of_error(rd_kafka_resp_err_t code) {
    switch (code) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT: return KAFKA_AWAY;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return KAFKA_NO_TOPIC;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: return KAFKA_DENIED;
    default: return KAFKA_TROUBLE;
    }
}

/* One broker of several may say so while the others answer: it is counted. */
static gboolean is_of_one_broker(rd_kafka_resp_err_t code) {
    return code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__RESOLVE ||
           code == RD_KAFKA_RESP_ERR__TIMED_OUT;
}

/* Only when it is news: librdkafka tries again, and says so each time. */
static void tell_trouble(Consumer *consumer, rd_kafka_resp_err_t code, const char *what) {
    static LogLimit limit;
    const KafkaSettings *settings = consumer->options.settings;
    const KafkaState state = state_of_error(code);
    if (state == state_of(consumer) && state != KAFKA_TROUBLE) return;
    note_state(consumer, state);
    consumer->look_ns = clock_monotonic_ns(clock_system()) + LOOK_NS;

    switch (state) {
    case KAFKA_AWAY:
        log_message(LOG_LEVEL_WARNING,
                    "kafka: no broker of kafka.brokers (%s) answers: %s; it is tried again all the time",
                    settings->brokers, what);
        break;
    case KAFKA_NO_TOPIC:
        log_message(LOG_LEVEL_WARNING,
                    "kafka: the brokers (%s) have no topic '%s' (kafka.topic); it is read when it is made",
                    settings->brokers, settings->topic);
        break;
    case KAFKA_DENIED:
        log_message(LOG_LEVEL_WARNING,
                    "kafka: the brokers (%s) do not let plumbd read topic '%s' as group '%s': %s (kafka.options, "
                    "kafka.secrets, the brokers' ACLs); it is tried again all the time",
                    settings->brokers, settings->topic, settings->group, what);
        break;
    default: log_limited(&limit, LOG_LEVEL_WARNING, "kafka: %s", what);
    }
}

/* From librdkafka, about anything that it does. */
static void hear_trouble(Consumer *consumer, rd_kafka_resp_err_t code, const char *what) {
    counter_add(consumer->options.counters, COUNTER_KAFKA_ERRORS, 1);
    /* It says so, too, of one that is away while the others are still being connected to. */
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        consumer->doubted = TRUE;
    else if (!is_of_one_broker(code))
        tell_trouble(consumer, code, what);
}

static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *arg) {
    (void)kafka;
    hear_trouble(arg, (rd_kafka_resp_err_t)code, reason);
}

/* What matters comes by on_error(). Any thread. */
static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text) {
    (void)kafka, (void)level;
    log_message(LOG_LEVEL_INFO, "kafka: %s: %s", facility, text);
}

static void on_commit(rd_kafka_t *kafka, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t *offsets,
                      void *arg) {
    static LogLimit limit;
    (void)kafka, (void)offsets;
    Consumer *consumer = arg;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
    consumer->unsaved = TRUE;
    counter_add(consumer->options.counters, COUNTER_KAFKA_ERRORS, 1);
    log_limited(&limit, LOG_LEVEL_NOTICE, "kafka: offsets were not committed: %s; it is tried again",
                rd_kafka_err2str(code));
}

/* ---- partitions come and go ---- */

static void save_offsets(Consumer *consumer, int patience_ms) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer->kafka);
    if (rd_kafka_commit_queue(consumer->kafka, NULL, queue, NULL, NULL) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, patience_ms);
        if (event != NULL) rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
}

static void take_partitions(Consumer *consumer, rd_kafka_topic_partition_list_t *partitions) {
    const KafkaSettings *settings = consumer->options.settings;
    rd_kafka_assign(consumer->kafka, partitions);
    atomic_store(&consumer->options.view->partitions, (guint)partitions->cnt);
    if (consumer->held) rd_kafka_pause_partitions(consumer->kafka, partitions);
    log_message(LOG_LEVEL_NOTICE, "kafka: reading %d partitions of topic '%s' as group '%s' (%s)", partitions->cnt,
                settings->topic, settings->group, settings->brokers);
    note_fine(consumer);
}

static void give_partitions(Consumer *consumer) {
    if (consumer->unsaved && !rd_kafka_assignment_lost(consumer->kafka)) save_offsets(consumer, SAVE_WAIT_MS);
    consumer->unsaved = FALSE;
    rd_kafka_assign(consumer->kafka, NULL);
    atomic_store(&consumer->options.view->partitions, 0);
    atomic_store(&consumer->options.view->lag, 0);
    consumer->options.lost(consumer->options.arg);
    if (state_of(consumer) <= KAFKA_WAITING) note_fine(consumer);
}

static void on_rebalance(rd_kafka_t *kafka, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t *partitions,
                         void *arg) {
    (void)kafka;
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        take_partitions(arg, partitions);
    else
        give_partitions(arg);
}

/* ---- life ---- */

static gboolean set_option(void *arg, const char *key, const char *value, char **why) {
    char reason[512];
    if (rd_kafka_conf_set(arg, key, value, reason, sizeof reason) == RD_KAFKA_CONF_OK) return TRUE;
    *why = g_strdup(reason);
    return FALSE;
}

/* A site may choose the first ones otherwise: each is set again by its option. */
static gboolean configure(rd_kafka_conf_t *conf, const KafkaSettings *settings, GError **error) {
    const struct {
        const char *key;
        char *value;
    } values[] = {
        {"auto.offset.reset", g_strdup("earliest")},
        {"topic.metadata.refresh.interval.ms", g_strdup("30000")},
        {"queued.max.messages.kbytes", g_strdup_printf("%d", CONSUMER_AHEAD_KIB)},
        {"fetch.max.bytes", g_strdup_printf("%d", CONSUMER_FETCH_BYTES)},
        {"max.partition.fetch.bytes", g_strdup_printf("%d", CONSUMER_PARTITION_BYTES)},
        {"receive.message.max.bytes", g_strdup_printf("%d", CONSUMER_ANSWER_BYTES)},
        {"client.id", g_strdup("plumbd")},
        {"bootstrap.servers", g_strdup(settings->brokers)},
        {"group.id", g_strdup(settings->group)},
        {"enable.auto.commit", g_strdup("false")},
        {"enable.auto.offset.store", g_strdup("false")},
        {"partition.assignment.strategy", g_strdup("range,roundrobin")},
    };

    gboolean good = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autofree char *value = values[i].value, *why = NULL;
        if (good && !set_option(conf, values[i].key, value, &why))
            good = fail(error, PLUMB_ERROR_CONFIG, "kafka: %s", why);
    }
    return good && kafka_settings_apply(settings, set_option, conf, error);
}

static gboolean subscribe(Consumer *consumer, GError **error) {
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, consumer->options.settings->topic, RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t code = rd_kafka_subscribe(consumer->kafka, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return TRUE;
    return fail(error, PLUMB_ERROR_IO, "kafka: cannot subscribe to topic '%s': %s", consumer->options.settings->topic,
                rd_kafka_err2str(code));
}

Consumer *consumer_open(const ConsumerOptions *options, GError **error) {
    char reason[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (!configure(conf, options->settings, error)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }

    Consumer *consumer = g_new0(Consumer, 1);
    consumer->options = *options;
    rd_kafka_conf_set_opaque(conf, consumer);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    note_state(consumer, KAFKA_CONNECTING);

    consumer->kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
    if (consumer->kafka == NULL) {
        fail(error, PLUMB_ERROR_CONFIG, "kafka: %s", reason);
        rd_kafka_conf_destroy(conf);
        g_free(consumer);
        return NULL;
    }
    rd_kafka_poll_set_consumer(consumer->kafka);
    consumer->topic = rd_kafka_topic_new(consumer->kafka, options->settings->topic, NULL);
    if (subscribe(consumer, error)) return consumer;
    consumer_close(consumer, 0);
    return NULL;
}

/* Until we have left the group, or for so long. */
static void serve(Consumer *consumer, rd_kafka_queue_t *queue, int patience_ms) {
    const gint64 until_ns = clock_monotonic_ns(clock_system()) + patience_ms * NS_PER_MS;
    while (!rd_kafka_consumer_closed(consumer->kafka) && clock_monotonic_ns(clock_system()) < until_ns) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 50);
        if (event == NULL) continue;
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) rd_kafka_assign(consumer->kafka, NULL);
        rd_kafka_event_destroy(event);
    }
}

void consumer_close(Consumer *consumer, int patience_ms) {
    if (consumer == NULL) return;
    if (consumer->unsaved) save_offsets(consumer, patience_ms);
    consumer->unsaved = FALSE;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer->kafka);
    rd_kafka_error_t *problem = rd_kafka_consumer_close_queue(consumer->kafka, queue);
    if (problem == NULL) serve(consumer, queue, patience_ms);
    rd_kafka_error_destroy(problem);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_destroy(consumer->topic);
    rd_kafka_destroy_flags(consumer->kafka, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    note_state(consumer, KAFKA_OFF);
    g_free(consumer);
}

/* ---- messages ---- */

void consumer_message_clear(ConsumerMessage *message) {
    if (message->handle != NULL) rd_kafka_message_destroy(message->handle);
    *message = (ConsumerMessage){0};
}

gboolean consumer_poll(Consumer *consumer, int timeout_ms, ConsumerMessage *message) {
    rd_kafka_message_t *got = rd_kafka_consumer_poll(consumer->kafka, timeout_ms);
    if (got == NULL) return FALSE;
    if (got->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        hear_trouble(consumer, got->err, rd_kafka_message_errstr(got));
        rd_kafka_message_destroy(got);
        return FALSE;
    }
    if (state_of(consumer) > KAFKA_WAITING) note_fine(consumer);
    *message = (ConsumerMessage){{got->payload, got->len}, got->partition, got->offset, got};
    return TRUE;
}

void consumer_hold(Consumer *consumer, gboolean hold) {
    if (consumer->held == hold) return;
    rd_kafka_topic_partition_list_t *partitions = NULL;
    consumer->held = hold;
    if (rd_kafka_assignment(consumer->kafka, &partitions) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    if (hold)
        rd_kafka_pause_partitions(consumer->kafka, partitions);
    else
        rd_kafka_resume_partitions(consumer->kafka, partitions);
    rd_kafka_topic_partition_list_destroy(partitions);
    if (state_of(consumer) <= KAFKA_WAITING) note_fine(consumer);
}

void consumer_taken(Consumer *consumer, const ConsumerMessage *messages, guint n) {
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(8);
    const char *topic = consumer->options.settings->topic;
    for (guint i = 0; i < n; i++) {
        rd_kafka_topic_partition_t *row = rd_kafka_topic_partition_list_find(offsets, topic, messages[i].partition);
        if (row == NULL) row = rd_kafka_topic_partition_list_add(offsets, topic, messages[i].partition);
        row->offset = MAX(row->offset, messages[i].offset + 1);
    }
    /* An error means that the partition is another's now, who reads them again. */
    rd_kafka_offsets_store(consumer->kafka, offsets);
    rd_kafka_topic_partition_list_destroy(offsets);
    consumer->unsaved = TRUE;
}

/* ---- upkeep ---- */

static void note_lag(Consumer *consumer) {
    rd_kafka_topic_partition_list_t *partitions = NULL;
    guint64 lag = 0;
    if (rd_kafka_assignment(consumer->kafka, &partitions) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    rd_kafka_position(consumer->kafka, partitions);
    for (int i = 0; i < partitions->cnt; i++) {
        const rd_kafka_topic_partition_t *row = &partitions->elems[i];
        gint64 low, high;
        if (rd_kafka_get_watermark_offsets(consumer->kafka, row->topic, row->partition, &low, &high) !=
                RD_KAFKA_RESP_ERR_NO_ERROR ||
            high < 0)
            continue;
        const gint64 at = row->offset >= 0 ? row->offset : low;
        if (at >= 0 && high > at) lag += (guint64)(high - at);
    }
    rd_kafka_topic_partition_list_destroy(partitions);
    atomic_store(&consumer->options.view->lag, lag);
}

/* Nobody says that a broker is there again, or a topic, while no message comes; nor for sure that none is there. */
static void look(Consumer *consumer, gint64 now_ns) {
    const struct rd_kafka_metadata *metadata = NULL;
    consumer->look_ns = now_ns + LOOK_NS;
    consumer->doubted = FALSE;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(consumer->kafka, 0, consumer->topic, &metadata, LOOK_WAIT_MS);
    const rd_kafka_resp_err_t topic = code == RD_KAFKA_RESP_ERR_NO_ERROR && metadata->topic_cnt > 0
                                          ? metadata->topics[0].err
                                          : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || topic != RD_KAFKA_RESP_ERR_NO_ERROR) {
        counter_add(consumer->options.counters, COUNTER_KAFKA_ERRORS, 1);
        tell_trouble(consumer, code ? code : topic, rd_kafka_err2str(code ? code : topic));
    } else if (state_of(consumer) > KAFKA_WAITING) {
        log_message(LOG_LEVEL_NOTICE, "kafka: the brokers (%s) answer, and have topic '%s'",
                    consumer->options.settings->brokers, consumer->options.settings->topic);
        note_fine(consumer);
    }
    if (metadata != NULL) rd_kafka_metadata_destroy(metadata);
}

void consumer_upkeep(Consumer *consumer) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (now_ns < consumer->upkeep_ns) return;
    consumer->upkeep_ns = now_ns + UPKEEP_NS;
    if (consumer->unsaved) {
        consumer->unsaved = FALSE;
        rd_kafka_commit(consumer->kafka, NULL, 1);
    }
    note_lag(consumer);
    if (consumer->doubted || (state_of(consumer) > KAFKA_WAITING && now_ns >= consumer->look_ns))
        look(consumer, now_ns);
}
