#include "spark-bridge/bridge_send.h"

#include "common/base/clock.h"
#include "common/wire/client.h"

#define CALL_TIMEOUT_MS 30000
/* plumbd may be started anew, or pause its senders while its store is behind. */
#define GIVE_UP_MS (60 * 1000)
/* Short, so that signals are seen between two tries. */
#define TRY_MS   1000
#define PAUSE_US (200 * 1000)

struct BridgeSender {
    BridgeSenderOptions options;
    char *receiver;
    WireClient *client; /* NULL: not connected yet */
    BridgeSent sent;
    char *refused_why;
};

BridgeSender *bridge_sender_new(const BridgeSenderOptions *options) {
    BridgeSender *sender = g_new0(BridgeSender, 1);
    sender->options = *options;
    sender->receiver = g_strdup(options->receiver);
    return sender;
}

void bridge_sender_free(BridgeSender *sender) {
    if (sender == NULL) return;
    wire_client_close(sender->client);
    g_free(sender->receiver);
    g_free(sender->refused_why);
    g_free(sender);
}

BridgeSent bridge_sender_sent(const BridgeSender *sender) {
    BridgeSent sent = sender->sent;
    sent.refused_why = sender->refused_why;
    return sent;
}

static gboolean try_once(BridgeSender *sender, const SparkRecords *records, WireReply *reply, GError **error) {
    if (sender->client == NULL)
        sender->client = wire_client_connect(sender->receiver, &sender->options.security, CALL_TIMEOUT_MS, error);
    return sender->client != NULL && wire_client_deliver_records(sender->client, records, TRY_MS, reply, error);
}

static gboolean is_passing(const GError *error) {
    return g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_PEER) ||
           g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
}

/* Tries until it is taken, until it cannot be, or until it is time to give up. */
static gboolean deliver_in_time(BridgeSender *sender, const SparkRecords *records, WireReply *reply, GError **error) {
    const BridgeSenderOptions *options = &sender->options;
    const gint64 until_ns = clock_monotonic_ns(clock_system()) + GIVE_UP_MS * NS_PER_MS;
    gboolean said = FALSE;
    for (;;) {
        g_autoptr(GError) why = NULL;
        if (try_once(sender, records, reply, &why)) {
            if (said) options->say(options->arg, "plumbd takes records again");
            return TRUE;
        }
        const gboolean over = !options->patient && clock_monotonic_ns(clock_system()) >= until_ns;
        if (!is_passing(why) || over || options->stopped(options->arg)) {
            g_propagate_error(error, g_steal_pointer(&why));
            return FALSE;
        }
        if (!said) options->say(options->arg, why->message);
        said = TRUE;
        g_usleep(PAUSE_US);
    }
}

gboolean bridge_sender_deliver(BridgeSender *sender, const SparkRecords *records, GError **error) {
    WireReply reply;
    const guint64 n = spark_records_count(records);
    sender->sent.failed = !deliver_in_time(sender, records, &reply, error);
    if (sender->sent.failed) return FALSE;
    if (reply.status == REPLY_VERSION) {
        sender->sent.failed = TRUE;
        return fail(error, PLUMB_ERROR_VERSION, "the plumbd at %s is too old for records of Spark (its version %d)",
                    sender->receiver, reply.version);
    }
    const gboolean whole = reply.status == REPLY_REFUSED;
    sender->sent.sent += n;
    sender->sent.accepted += whole ? 0 : (guint64)MAX(reply.accepted, 0);
    sender->sent.refused += whole ? n : (guint64)MAX(reply.refused, 0);
    if ((whole || reply.refused > 0) && sender->refused_why == NULL)
        sender->refused_why = g_strdup(reply.message[0] != '\0' ? reply.message : "no reason was given");
    return TRUE;
}
