#include "receiver/kafka/kafka.h"

#include <pthread.h>

#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/thread.h"
#include "common/wire/otlp/zipkin.h"
#include "common/wire/otlp/zipkin_v1.h"
#include "receiver/kafka/consumer.h"
#include "receiver/shared/log.h"

/* How long a message is waited for, also while partitions are on hold; a stop is seen as soon. */
#define POLL_MS 100
#define HOLD_MS 50
/* For each of the last steps: to commit, to leave the group. Without them the group waits for us, and messages come
 * again; nothing is lost. */
#define STOP_MS 2000
/* What the document of one message in JSON may take: some thirty times its bytes. */
#define JSON_DOCUMENT_BYTES ((gsize)256 * 1024 * 1024)

struct KafkaInput {
    KafkaOptions options;
    Consumer *consumer;
    pthread_t thread;
    atomic_bool stopping;
    /* the thread's */
    Intake *intake;
    ServiceSpans *spans;
    SpanBatch *batch;
    AllowanceBudget json;
    GArray *round; /* ConsumerMessage: not taken yet */
    gsize round_bytes;
    GArray *replies; /* WireReply: one place for each message of the round, which does not move */
    guint n_replies;
    guint64 refused; /* messages of the round */
};

/* ---- a round of messages ---- */

static void forget_round(KafkaInput *input) {
    for (guint i = 0; i < input->round->len; i++)
        consumer_message_clear(&g_array_index(input->round, ConsumerMessage, i));
    g_array_set_size(input->round, 0);
    input->round_bytes = 0;
}

/* Partitions were taken away: they begin at what was committed, wherever they are read now. */
static void lose_round(void *arg) {
    KafkaInput *input = arg;
    if (input->round->len > 0)
        log_message(LOG_LEVEL_INFO, "kafka: %u messages that were not taken yet are left to whoever reads them now",
                    input->round->len);
    forget_round(input);
}

static gboolean round_is_full(const KafkaInput *input) {
    return input->round->len >= KAFKA_ROUND_MESSAGES || input->round_bytes >= KAFKA_ROUND_BYTES;
}

/* The first is waited for; then what is there. While the round waits, what was on its way joins it. */
static void gather(KafkaInput *input, gboolean waits) {
    int timeout_ms = waits ? HOLD_MS : POLL_MS;
    ConsumerMessage message;
    while (consumer_poll(input->consumer, timeout_ms, &message)) {
        g_array_append_val(input->round, message);
        input->round_bytes += message.payload.size_bytes;
        timeout_ms = 0;
        if (round_is_full(input)) return;
    }
}

/* ---- into the intake ---- */

static gboolean is_json(Bytes payload) { return payload.size_bytes > 0 && *(const char *)payload.data == '['; }

static gboolean decode_json(KafkaInput *input, Bytes payload, GError **error) {
    Allowance allowance = {.budget = &input->json};
    g_autoptr(GError) failure = NULL;
    allowance_begin(&allowance);
    const gboolean good = zipkin_decode(input->spans, payload, input->batch, &failure);
    const gboolean fits = allowance_check(error);
    allowance_end();
    if (fits && !good) g_propagate_error(error, g_steal_pointer(&failure));
    return fits && good;
}

static gboolean decode_one(KafkaInput *input, Bytes payload, GError **error) {
    if (payload.size_bytes == 0) return fail(error, PLUMB_ERROR_INPUT, "a message is empty");
    if (payload.size_bytes > KAFKA_MESSAGE_MAX_BYTES)
        return fail(error, PLUMB_ERROR_LIMIT, "a message has more than %u bytes", KAFKA_MESSAGE_MAX_BYTES);
    return is_json(payload) ? decode_json(input, payload, error)
                            : zipkin_v1_decode(input->spans, &payload, 1, input->batch, error);
}

static void put_batch(KafkaInput *input) {
    counter_add(input->options.counters, COUNTER_TEXTS_CUT, service_spans_cut(input->spans));
    intake_batch(input->intake, input->batch, &g_array_index(input->replies, WireReply, input->n_replies++));
}

static void refuse(KafkaInput *input, const ConsumerMessage *message, const char *why) {
    static LogLimit limit;
    input->refused++;
    log_limited(&limit, LOG_LEVEL_WARNING,
                "kafka: a message was skipped (topic '%s', partition %d, offset %" G_GINT64_FORMAT "): %s",
                input->options.settings->topic, message->partition, message->offset, why);
}

static void put_each(KafkaInput *input, const ConsumerMessage *messages, guint n) {
    for (guint i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        if (decode_one(input, messages[i].payload, &error))
            put_batch(input);
        else
            refuse(input, &messages[i], error->message);
    }
}

/* Spans in Thrift, as a rule one to a message, become one batch. Where something is amiss with it, each message is
 * looked at alone. */
static void put_thrift(KafkaInput *input, const ConsumerMessage *messages, guint n) {
    g_autofree Bytes *payloads = g_new(Bytes, n);
    gsize bytes = 0;
    for (guint i = 0; i < n; i++) {
        payloads[i] = messages[i].payload;
        bytes += payloads[i].size_bytes;
    }
    if (bytes <= KAFKA_MESSAGE_MAX_BYTES && zipkin_v1_decode(input->spans, payloads, n, input->batch, NULL))
        put_batch(input);
    else
        put_each(input, messages, n);
}

/* In their order, those in Thrift that follow each other together. */
static void put_round(KafkaInput *input) {
    const ConsumerMessage *messages = (const ConsumerMessage *)(gpointer)input->round->data;
    const guint n = input->round->len;
    guint end;
    for (guint i = 0; i < n; i = end) {
        end = i + 1;
        if (is_json(messages[i].payload)) {
            put_each(input, &messages[i], 1);
            continue;
        }
        while (end < n && !is_json(messages[end].payload)) end++;
        put_thrift(input, &messages[i], end - i);
    }
}

/* ---- taken, or not now ---- */

static void count_round(KafkaInput *input) {
    Counters *counters = input->options.counters;
    counter_add(counters, COUNTER_KAFKA_MESSAGES, input->round->len);
    counter_add(counters, COUNTER_KAFKA_REFUSED, input->refused);
    counter_add(counters, COUNTER_BYTES_RECEIVED, input->round_bytes);
}

/* TRUE: all of the round is durable, or refused for good. Else it is put again as a whole: what was taken of it is
 * known by its ids. */
static gboolean take_round(KafkaInput *input) {
    if (intake_pressure(input->intake) != PRESSURE_NONE) return FALSE;
    g_array_set_size(input->replies, input->round->len);
    input->n_replies = 0;
    input->refused = 0;
    put_round(input);
    intake_finish(input->intake);
    batch_clear(input->batch);

    for (guint i = 0; i < input->n_replies; i++) {
        const WireReply *reply = &g_array_index(input->replies, WireReply, i);
        if (reply->status == REPLY_TRY_LATER) return FALSE;
        if (reply->status != REPLY_OK) input->refused++;
    }
    count_round(input);
    return TRUE;
}

static void *kafka_main(void *arg) {
    KafkaInput *input = arg;
    gboolean waits = FALSE;
    while (!atomic_load(&input->stopping)) {
        gather(input, waits);
        waits = input->round->len > 0 && !take_round(input);
        consumer_hold(input->consumer, waits);
        if (!waits && input->round->len > 0) {
            consumer_taken(input->consumer, (const ConsumerMessage *)(gpointer)input->round->data, input->round->len);
            forget_round(input);
        }
        consumer_upkeep(input->consumer);
    }
    return NULL;
}

/* ---- life ---- */

static void kafka_free(KafkaInput *input) {
    forget_round(input);
    consumer_close(input->consumer, STOP_MS);
    intake_free(input->intake);
    service_spans_free(input->spans);
    batch_free(input->batch);
    g_array_unref(input->round);
    g_array_unref(input->replies);
    g_free(input);
}

KafkaInput *kafka_start(const KafkaOptions *options, GError **error) {
    KafkaInput *input = g_new0(KafkaInput, 1);
    input->options = *options;
    input->intake = intake_new(&options->intake, options->counters);
    intake_set_limit(input->intake, options->limit);
    input->spans = service_spans_new();
    input->batch = batch_new();
    input->round = g_array_new(FALSE, FALSE, sizeof(ConsumerMessage));
    input->replies = g_array_new(FALSE, TRUE, sizeof(WireReply));
    atomic_store(&input->json.limit_bytes, JSON_DOCUMENT_BYTES);

    const ConsumerOptions consumer = {options->settings, options->view, options->counters, lose_round, input};
    input->consumer = consumer_open(&consumer, error);
    if (input->consumer == NULL) {
        kafka_free(input);
        return NULL;
    }
    thread_start(&input->thread, "kafka", kafka_main, input);
    return input;
}

void kafka_stop(KafkaInput *input) {
    if (input == NULL) return;
    atomic_store(&input->stopping, TRUE);
    pthread_join(input->thread, NULL);
    kafka_free(input);
}
