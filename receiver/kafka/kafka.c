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
    GArray *replies; /* WireReply: one for each message of the round; it does not move while they are written */
    GArray *merged;  /* Run */
};

/* Messages of the round that were put as one batch. Its reply is in the place of the first. */
typedef struct Run {
    guint begin, end;
} Run;

/* ---- a round of messages ---- */

/* The first n of it. */
static void drop_messages(KafkaInput *input, guint n) {
    for (guint i = 0; i < n; i++) {
        ConsumerMessage *message = &g_array_index(input->round, ConsumerMessage, i);
        input->round_bytes -= message->payload.size_bytes;
        consumer_message_clear(message);
    }
    g_array_remove_range(input->round, 0, n);
}

static void forget_round(KafkaInput *input) { drop_messages(input, input->round->len); }

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

static const ConsumerMessage *message_at(const KafkaInput *input, guint i) {
    return &g_array_index(input->round, ConsumerMessage, i);
}

static WireReply *reply_at(const KafkaInput *input, guint i) { return &g_array_index(input->replies, WireReply, i); }

/* The decoded batch; its reply is that of message i. FALSE: not now. */
static gboolean put_batch(KafkaInput *input, guint i) {
    counter_add(input->options.counters, COUNTER_TEXTS_CUT, service_spans_cut(input->spans));
    return intake_batch(input->intake, input->batch, reply_at(input, i)) != INTAKE_LATER;
}

static void refuse(KafkaInput *input, guint i, const char *why) {
    static LogLimit limit;
    const ConsumerMessage *message = message_at(input, i);
    reply_at(input, i)->status = REPLY_REFUSED;
    log_limited(&limit, LOG_LEVEL_WARNING,
                "kafka: a message was skipped (topic '%s', partition %d, offset %" G_GINT64_FORMAT "): %s",
                input->options.settings->topic, message->partition, message->offset, why);
}

static gboolean put_each(KafkaInput *input, Run run) {
    for (guint i = run.begin; i < run.end; i++) {
        g_autoptr(GError) error = NULL;
        if (!decode_one(input, message_at(input, i)->payload, &error))
            refuse(input, i, error->message);
        else if (!put_batch(input, i))
            return FALSE;
    }
    return TRUE;
}

/* Spans in Thrift, as a rule one to a message, become one batch. Where something is amiss with it, each message is
 * looked at alone. */
static gboolean put_thrift(KafkaInput *input, Run run) {
    const guint n = run.end - run.begin;
    g_autofree Bytes *payloads = g_new(Bytes, n);
    gsize bytes = 0;
    for (guint i = 0; i < n; i++) {
        payloads[i] = message_at(input, run.begin + i)->payload;
        bytes += payloads[i].size_bytes;
    }
    if (n == 1 || bytes > KAFKA_MESSAGE_MAX_BYTES || !zipkin_v1_decode(input->spans, payloads, n, input->batch, NULL))
        return put_each(input, run);
    g_array_append_val(input->merged, run);
    return put_batch(input, run.begin);
}

/* In their order, those in Thrift that follow each other together; up to the first that cannot be taken now. */
static void put_round(KafkaInput *input) {
    gboolean taken = TRUE;
    Run run;
    for (run.begin = 0; taken && run.begin < input->round->len; run.begin = run.end) {
        run.end = run.begin + 1;
        if (is_json(message_at(input, run.begin)->payload)) {
            taken = put_each(input, run);
            continue;
        }
        while (run.end < input->round->len && !is_json(message_at(input, run.end)->payload)) run.end++;
        taken = put_thrift(input, run);
    }
    intake_finish(input->intake);
}

/* What became of a batch became of each of its messages. One that was refused, as for the length of what masking made
 * of it, is put again message by message: only those are refused that are too long by themselves. */
static void part_merged(KafkaInput *input) {
    gboolean taken = TRUE;
    for (guint i = 0; i < input->merged->len; i++) {
        const Run run = g_array_index(input->merged, Run, i);
        const WireReply reply = *reply_at(input, run.begin);
        const gboolean alone = reply.status != REPLY_OK && reply.status != REPLY_TRY_LATER;
        for (guint at = run.begin; at < run.end; at++)
            reply_at(input, at)->status = alone ? REPLY_TRY_LATER : reply.status;
        if (alone && taken) taken = put_each(input, run);
    }
    intake_finish(input->intake);
}

/* ---- taken, or not now ---- */

/* These are durable, or refused for good. */
static void settle(KafkaInput *input, guint n) {
    Counters *counters = input->options.counters;
    for (guint i = 0; i < n; i++) {
        counter_add(counters, COUNTER_BYTES_RECEIVED, message_at(input, i)->payload.size_bytes);
        if (reply_at(input, i)->status != REPLY_OK) counter_add(counters, COUNTER_KAFKA_REFUSED, 1);
    }
    counter_add(counters, COUNTER_KAFKA_MESSAGES, n);
    consumer_taken(input->consumer, message_at(input, 0), n);
    drop_messages(input, n);
}

/* TRUE: nothing of the round is left. Else it begins with a message that cannot be taken now: offsets are committed in
 * their order, so those behind it are put again, too. What was taken of them is known by its ids. */
static gboolean take_round(KafkaInput *input) {
    const guint n = input->round->len;
    if (intake_pressure(input->intake) != PRESSURE_NONE) return FALSE;
    g_array_set_size(input->replies, n);
    for (guint i = 0; i < n; i++) *reply_at(input, i) = (WireReply){.status = REPLY_TRY_LATER};
    g_array_set_size(input->merged, 0);

    put_round(input);
    part_merged(input);
    batch_clear(input->batch);

    guint settled = 0;
    while (settled < n && reply_at(input, settled)->status != REPLY_TRY_LATER) settled++;
    if (settled > 0) settle(input, settled);
    return settled == n;
}

static void *kafka_main(void *arg) {
    KafkaInput *input = arg;
    gboolean waits = FALSE;
    while (!atomic_load(&input->stopping)) {
        gather(input, waits);
        waits = input->round->len > 0 && !take_round(input);
        consumer_hold(input->consumer, waits);
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
    g_array_unref(input->merged);
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
    input->replies = g_array_new(FALSE, FALSE, sizeof(WireReply));
    input->merged = g_array_new(FALSE, FALSE, sizeof(Run));
    atomic_store(&input->json.limit_bytes, KAFKA_JSON_BYTES);

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
