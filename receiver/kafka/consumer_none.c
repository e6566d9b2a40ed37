#include "common/base/error.h"
#include "receiver/kafka/consumer.h"

Consumer *consumer_open(const ConsumerOptions *options, GError **error) {
    fail(error, PLUMB_ERROR_CONFIG, "kafka.brokers = %s: this plumbd was built without Kafka (PLUMB_KAFKA=OFF)",
         options->settings->brokers);
    return NULL;
}

/* There is none that these could be called with. */
void consumer_message_clear(ConsumerMessage *message) { (void)message; }

gboolean consumer_poll(Consumer *consumer, int timeout_ms, ConsumerMessage *message) {
    (void)consumer, (void)timeout_ms, (void)message;
    return FALSE;
}

void consumer_hold(Consumer *consumer, gboolean hold) { (void)consumer, (void)hold; }

void consumer_taken(Consumer *consumer, const ConsumerMessage *messages, guint n) {
    (void)consumer, (void)messages, (void)n;
}

void consumer_upkeep(Consumer *consumer) { (void)consumer; }

void consumer_close(Consumer *consumer, int patience_ms) { (void)consumer, (void)patience_ms; }
