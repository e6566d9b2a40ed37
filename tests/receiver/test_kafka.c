/* Rounds of messages into a real intake. Messages come from a list here instead of a broker, so that a round ends and
 * plumbd has no time exactly where the test wants it; tests/ecosystem/test_kafka.py has the broker. */
#include <string.h>

#include "common/base/limits.h"
#include "receiver/kafka/consumer.h"
#include "receiver/kafka/kafka.h"
#include "tests/receiver/fixture.h"

/* ---- the topic ---- */

struct Consumer {
    GPtrArray *messages;  /* GBytes */
    _Atomic guint sent;   /* so many of them are there yet */
    guint next;           /* of the reading thread */
    _Atomic gint64 taken; /* the offset that is committed */
    atomic_bool held;
};
static struct Consumer topic;

static void topic_begin(void) {
    topic.messages = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    topic.next = 0;
    atomic_store(&topic.sent, G_MAXUINT);
    atomic_store(&topic.taken, 0);
    atomic_store(&topic.held, FALSE);
}

static void topic_add(GString *message) { g_ptr_array_add(topic.messages, g_string_free_to_bytes(message)); }

static void topic_end(void) { g_ptr_array_unref(topic.messages); }

Consumer *consumer_open(const ConsumerOptions *options, GError **error) {
    (void)options, (void)error;
    return &topic;
}

gboolean consumer_poll(Consumer *consumer, int timeout_ms, ConsumerMessage *message) {
    if (consumer->next >= MIN(atomic_load(&consumer->sent), consumer->messages->len)) {
        g_usleep(timeout_ms > 0 ? 1000 : 0);
        return FALSE;
    }
    gsize size_bytes;
    const gint64 offset = consumer->next++;
    gconstpointer data = g_bytes_get_data(g_ptr_array_index(consumer->messages, offset), &size_bytes);
    *message = (ConsumerMessage){.payload = {data, size_bytes}, .offset = offset};
    return TRUE;
}

/* In their order, none twice and none left out. */
void consumer_taken(Consumer *consumer, const ConsumerMessage *messages, guint n) {
    for (guint i = 0; i < n; i++) g_assert_cmpint(messages[i].offset, ==, atomic_fetch_add(&consumer->taken, 1));
}

void consumer_hold(Consumer *consumer, gboolean hold) { atomic_store(&consumer->held, hold); }
void consumer_message_clear(ConsumerMessage *message) { *message = (ConsumerMessage){0}; }
void consumer_upkeep(Consumer *consumer) { (void)consumer; }
void consumer_close(Consumer *consumer, int patience_ms) { (void)consumer, (void)patience_ms; }

/* ---- what reads it ---- */

static const KafkaSettings settings = {.topic = "zipkin"};
static KafkaView status;

static KafkaInput *start(Fixture *fixture, const Mask *mask) {
    g_autoptr(GError) error = NULL;
    KafkaOptions options = {.settings = &settings,
                            .intake = fixture_intake(fixture),
                            .counters = counter_set_add(fixture->counters),
                            .view = &status};
    options.intake.mask = mask;
    KafkaInput *input = kafka_start(&options, &error);
    g_assert_no_error(error);
    return input;
}

/* ---- messages ---- */

static void put_i32(GString *out, gint32 value) {
    value = (gint32)GINT32_TO_BE(value);
    g_string_append_len(out, (const char *)&value, sizeof value);
}

static void put_field(GString *out, char type, guint8 number) {
    const char head[] = {type, 0, (char)number};
    g_string_append_len(out, head, sizeof head);
}

static void put_text(GString *out, guint8 number, const char *text) {
    put_field(out, 11, number);
    put_i32(out, (gint32)strlen(text));
    g_string_append(out, text);
}

static void put_i64(GString *out, guint8 number, gint64 value) {
    value = (gint64)GINT64_TO_BE(value);
    put_field(out, 10, number);
    g_string_append_len(out, (const char *)&value, sizeof value);
}

static void put_list(GString *out, guint8 number, guint n) {
    put_field(out, 15, number);
    g_string_append_c(out, 12);
    put_i32(out, (gint32)n);
}

static void put_moment(GString *out, gint64 time_us, const char *what) {
    put_i64(out, 1, time_us);
    put_text(out, 2, what);
    g_string_append_c(out, 0);
}

/* A span of version 1 with so many annotations of this value. */
static GString *v1_span(gint64 id, guint n, const char *value) {
    GString *out = g_string_new(NULL);
    put_i64(out, 1, 7);
    put_text(out, 3, "work");
    put_i64(out, 4, id);
    put_list(out, 6, 2);
    put_moment(out, 1000, "cs");
    put_moment(out, 1009, "cr");

    put_list(out, 8, n);
    for (guint i = 0; i < n; i++) {
        g_autofree char *key = g_strdup_printf("key%u", i);
        put_text(out, 1, key);
        put_text(out, 2, value);
        put_field(out, 8, 3);
        put_i32(out, 6); /* a string */
        g_string_append_c(out, 0);
    }
    g_string_append_c(out, 0);
    return out;
}

static GString *json_span(guint id, const char *value) {
    GString *out = g_string_new(NULL);
    g_string_printf(out,
                    "[{\"traceId\":\"7\",\"id\":\"%x\",\"name\":\"load\",\"timestamp\":1000,\"duration\":5,"
                    "\"tags\":{\"key\":\"%s\"}}]",
                    id, value);
    return out;
}

static char *repeated(const char *begin, const char *piece, guint n) {
    GString *out = g_string_new(begin);
    for (guint i = 0; i < n; i++) g_string_append(out, piece);
    return g_string_free(out, FALSE);
}

/* ---- tests ---- */

/* Shards that have enough to do take a part of a round. That part is committed and does not come again. */
static void test_pressure(void) {
    const guint n = 50;
    g_autoptr(Fixture) fixture = fixture_new();
    g_autofree char *value = repeated("", "x", 4000);
    fixture->mailbox_bytes = 16 * 1024;
    fixture_start(fixture, 1);
    topic_begin();
    for (guint i = 1; i <= n; i++) topic_add(json_span(i, value));

    /* With the first all names are written, which nobody can while the store is held. */
    atomic_store(&topic.sent, 1);
    KafkaInput *input = start(fixture, NULL);
    WAIT_FOR(atomic_load(&topic.taken) == 1);
    g_assert_true(fixture_flush(fixture, NULL));
    Waiter *waiter = fixture_hold_shards(fixture);
    atomic_store(&topic.sent, n);
    WAIT_FOR(atomic_load(&topic.held));
    const gint64 taken = atomic_load(&topic.taken);
    g_assert_cmpint(taken, >, 1);
    g_assert_cmpint(taken, <, n);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_MESSAGES), ==, (guint64)taken);

    fixture_let_go(waiter);
    WAIT_FOR(atomic_load(&topic.taken) == n);
    kafka_stop(input);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_MESSAGES), ==, n);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_REFUSED), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_SPANS), ==, n);
    topic_end();
}

/* Masked, the second message is too long for a frame, and so is whatever is merged with it: it is refused alone. */
static void test_masks_make_it_long(void) {
    static const char *const rules[] = {"path=hash", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Mask) mask = mask_new(rules, "0123456789abcdef", MASK_KEY_MIN_BYTES, &error);
    g_assert_no_error(error);
    g_autofree char *path = repeated(" ", "/a", MASK_COMPONENTS_MAX), *value = repeated("paths:", path, 40);
    const guint long_n = LIMIT_FRAME_BYTES / 9 / strlen(value) + 50;

    g_autoptr(Fixture) fixture = fixture_new();
    fixture->mailbox_bytes = 256 * 1024 * 1024;
    fixture_start(fixture, 1);
    topic_begin();
    topic_add(v1_span(1, 10, value));
    topic_add(v1_span(2, long_n, value));
    topic_add(v1_span(3, 10, value));

    KafkaInput *input = start(fixture, mask);
    WAIT_FOR(atomic_load(&topic.taken) == 3);
    kafka_stop(input);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_MESSAGES), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_REFUSED), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_SPANS), ==, 2);
    topic_end();
}

/* While no spans are taken, no message is. One that is no span lies between others. */
static void test_gate_is_shut(void) {
    g_autoptr(Fixture) fixture = fixture_new();
    fixture_start(fixture, 1);
    admission_set(fixture->admission, ADMISSION_STORE_SPACE, "make room");
    topic_begin();
    topic_add(v1_span(1, 0, ""));
    topic_add(g_string_new("no span"));
    topic_add(v1_span(2, 0, ""));

    KafkaInput *input = start(fixture, NULL);
    WAIT_FOR(atomic_load(&topic.held));
    g_assert_cmpint(atomic_load(&topic.taken), ==, 0);
    admission_set(fixture->admission, ADMISSION_STORE_SPACE, NULL);
    WAIT_FOR(atomic_load(&topic.taken) == 3);
    kafka_stop(input);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_KAFKA_REFUSED), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, COUNTER_SPANS), ==, 2);
    topic_end();
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/receiver/kafka/pressure", test_pressure);
    g_test_add_func("/receiver/kafka/masks-make-it-long", test_masks_make_it_long);
    g_test_add_func("/receiver/kafka/gate-is-shut", test_gate_is_shut);
    return g_test_run();
}
