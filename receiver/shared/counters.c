#include "receiver/shared/counters.h"

#include <pthread.h>

static const CounterInfo table[COUNTER_COUNT] = {
    [COUNTER_BYTES_RECEIVED] = {"received_bytes", "Bytes read from senders", GROUP_NONE, NULL},
    [COUNTER_FRAMES] = {"frames", "Whole frames received", GROUP_NONE, NULL},
    [COUNTER_BATCHES] = {"batches", "Batches taken", GROUP_NONE, NULL},
    [COUNTER_SPANS] = {"spans", "Spans taken", GROUP_NONE, NULL},
    [COUNTER_TRY_LATER] = {"try_later", "Batches whose senders were told to try later", GROUP_NONE, NULL},
    [COUNTER_FOREIGN_NAMES] = {"foreign_names", "Batches with the name of a server that another principal sent first",
                               GROUP_NONE, NULL},
    [COUNTER_CONNECTIONS_OPENED] = {"connections_opened", "Connections of senders accepted", GROUP_NONE, NULL},
    [COUNTER_CONNECTIONS_CLOSED] = {"connections_closed", "Connections of senders that ended", GROUP_NONE, NULL},
    [COUNTER_CLOSED_TOO_MANY] = {"connections_refused", "Connections refused or closed by plumbd", GROUP_CONNECTIONS,
                                 "too many connections"},
    [COUNTER_CLOSED_GAVE_WAY] = {"connections_refused", NULL, GROUP_CONNECTIONS, "gave way to another peer"},
    [COUNTER_CLOSED_NO_FILES] = {"connections_refused", NULL, GROUP_CONNECTIONS, "out of file descriptors"},
    [COUNTER_CLOSED_SLOW_FRAME] = {"connections_refused", NULL, GROUP_CONNECTIONS, "frame took too long"},
    [COUNTER_CLOSED_IDLE] = {"connections_refused", NULL, GROUP_CONNECTIONS, "idle"},
    [COUNTER_CLOSED_BUFFERS] = {"connections_refused", NULL, GROUP_CONNECTIONS, "buffers full"},
    [COUNTER_CLOSED_UNREAD] = {"connections_refused", NULL, GROUP_CONNECTIONS, "replies not read"},
    [COUNTER_CLOSED_TLS] = {"connections_refused", NULL, GROUP_CONNECTIONS, "TLS failed"},
    [COUNTER_CLOSED_PLAIN] = {"connections_refused", NULL, GROUP_CONNECTIONS, "no TLS, which this port needs"},
    [COUNTER_CLOSED_TLS_HERE] = {"connections_refused", NULL, GROUP_CONNECTIONS, "TLS, which this port lacks"},
    [COUNTER_CLOSED_NO_LOGIN] = {"connections_refused", NULL, GROUP_CONNECTIONS, "may not send"},
    [COUNTER_CLOSED_BAD_LOGIN] = {"connections_refused", NULL, GROUP_CONNECTIONS, "login refused"},
    [COUNTER_CLOSED_STRANGERS] = {"connections_refused", NULL, GROUP_CONNECTIONS, "too many that had not logged in"},
    [COUNTER_CLOSED_PER_ADDRESS] = {"connections_refused", NULL, GROUP_CONNECTIONS, "too many of one address"},
    [COUNTER_CLOSED_QUOTA] = {"connections_refused", NULL, GROUP_CONNECTIONS, "over its quota"},
    [COUNTER_FRAME_TOO_LARGE] = {"frames_rejected", "Frames not taken", GROUP_FRAMES, "too large"},
    [COUNTER_FRAME_GARBAGE] = {"frames_rejected", NULL, GROUP_FRAMES, "garbage"},
    [COUNTER_FRAME_CUT] = {"frames_rejected", NULL, GROUP_FRAMES, "cut"},
    [COUNTER_FRAME_MALFORMED] = {"frames_rejected", NULL, GROUP_FRAMES, "malformed"},
    [COUNTER_FRAME_LIMIT] = {"frames_rejected", NULL, GROUP_FRAMES, "over a limit"},
    [COUNTER_FRAME_UNKNOWN_CALL] = {"frames_rejected", NULL, GROUP_FRAMES, "unknown call"},
    [COUNTER_FRAME_VERSION] = {"frames_rejected", NULL, GROUP_FRAMES, "needs a newer receiver"},
    [COUNTER_FRAME_DENIED] = {"frames_rejected", NULL, GROUP_FRAMES, "sender may not send"},
    [COUNTER_FRAME_QUOTA] = {"frames_rejected", NULL, GROUP_FRAMES, "sender is over its quota"},
    [COUNTER_FRAME_FOREIGN_NAME] = {"frames_rejected", NULL, GROUP_FRAMES, "name of another principal"},
    [COUNTER_TRACE_IDLE] = {"traces_closed", "Traces closed and stored", GROUP_TRACES, "idle"},
    [COUNTER_TRACE_AGE] = {"traces_closed", NULL, GROUP_TRACES, "max-age"},
    [COUNTER_TRACE_SIZE] = {"traces_closed", NULL, GROUP_TRACES, "max-spans"},
    [COUNTER_TRACE_MEMORY] = {"traces_closed", NULL, GROUP_TRACES, "memory"},
    [COUNTER_TRACE_JOURNAL] = {"traces_closed", NULL, GROUP_TRACES, "journal"},
    [COUNTER_TRACE_FLUSH] = {"traces_closed", NULL, GROUP_TRACES, "flush"},
    [COUNTER_TRACE_ASKED] = {"traces_closed", NULL, GROUP_TRACES, "asked for"},
    [COUNTER_TRACE_STOP] = {"traces_closed", NULL, GROUP_TRACES, "stop"},
    [COUNTER_SPANS_STORED] = {"spans_stored", "Spans given to the store", GROUP_NONE, NULL},
    [COUNTER_SPANS_SET_ASIDE] = {"spans_set_aside", "Spans written to unstored files, see docs/plumbd.md", GROUP_NONE,
                                 NULL},
    [COUNTER_COMMITS] = {"commits", "Groups of traces written to the store", GROUP_NONE, NULL},
    [COUNTER_COMMIT_FAILURES] = {"commit_failures", "Attempts to write to the store that failed", GROUP_NONE, NULL},
    [COUNTER_SPILLED_BYTES] = {"spilled_bytes", "Bytes of open traces written to the disk to make room in memory",
                               GROUP_NONE, NULL},
    [COUNTER_SPILL_FAILURES] = {"spill_failures", "Attempts to write them that failed: traces close early instead",
                                GROUP_NONE, NULL},
    [COUNTER_UNSPILL_FAILURES] = {"unspill_failures", "Attempts to read an open trace back from the disk that failed",
                                  GROUP_NONE, NULL},
    [COUNTER_JOURNAL_BYTES] = {"journal_written_bytes", "Bytes written to the journal", GROUP_NONE, NULL},
    [COUNTER_JOURNAL_FAILURES] = {"journal_failures", "Attempts to write to the journal that failed", GROUP_NONE, NULL},
    [COUNTER_RECOVERED_FRAMES] = {"recovered_frames", "Frames replayed from the journal at the start", GROUP_NONE,
                                  NULL},
    [COUNTER_RECOVERED_SPANS] = {"recovered_spans", "Spans replayed from the journal at the start", GROUP_NONE, NULL},
    [COUNTER_DAMAGED_RECORDS] = {"journal_damages", "Damaged places found in the journal at the start", GROUP_NONE,
                                 NULL},
    [COUNTER_RECORDS] = {"records", "Records of Spark and of hosts taken", GROUP_NONE, NULL},
    [COUNTER_RECORDS_REFUSED] = {"records_refused", "Records of Spark refused for good: without what tells them apart",
                                 GROUP_NONE, NULL},
    [COUNTER_RECORDS_STORED] = {"records_stored", "Records of Spark written to the store", GROUP_NONE, NULL},
    [COUNTER_RECORDS_UNCHANGED] = {"records_unchanged", "Records of Spark that the store had already", GROUP_NONE,
                                   NULL},
    [COUNTER_RECORDS_FAILED] = {"records_failed", "Records of Spark that a damaged store cannot take", GROUP_NONE,
                                NULL},
    [COUNTER_HTTP_REQUESTS] = {"http_requests", "HTTP requests", GROUP_NONE, NULL},
    [COUNTER_HTTP_REFUSED] = {"http_refused", "HTTP requests refused because too many were waiting", GROUP_NONE, NULL},
    [COUNTER_HTTP_CUT] = {"http_cut", "HTTP answers cut off because slow readers left too much waiting", GROUP_NONE,
                          NULL},
    [COUNTER_HTTP_TOO_MANY] = {"http_rejected", "HTTP connections and requests refused or cut off by plumbd",
                               GROUP_HTTP, "too many connections"},
    [COUNTER_HTTP_GAVE_WAY] = {"http_rejected", NULL, GROUP_HTTP, "gave way to another peer"},
    [COUNTER_HTTP_SLOW_REQUEST] = {"http_rejected", NULL, GROUP_HTTP, "request took too long"},
    [COUNTER_HTTP_UNREAD] = {"http_rejected", NULL, GROUP_HTTP, "answer not read"},
    [COUNTER_HTTP_MALFORMED] = {"http_rejected", NULL, GROUP_HTTP, "malformed"},
    [COUNTER_HTTP_HOST] = {"http_rejected", NULL, GROUP_HTTP, "unknown Host"},
    [COUNTER_HTTP_ORIGIN] = {"http_rejected", NULL, GROUP_HTTP, "foreign Origin"},
    [COUNTER_HTTP_BUFFERS] = {"http_rejected", NULL, GROUP_HTTP, "buffers full"},
    [COUNTER_HTTP_TLS] = {"http_rejected", NULL, GROUP_HTTP, "TLS failed"},
    [COUNTER_HTTP_DENIED] = {"http_rejected", NULL, GROUP_HTTP, "lacks the role"},
    [COUNTER_HTTP_BAD_LOGIN] = {"http_rejected", NULL, GROUP_HTTP, "login refused"},
    [COUNTER_HTTP_QUOTA] = {"http_rejected", NULL, GROUP_HTTP, "over its quota"},
    [COUNTER_HTTP_TICKET] = {"http_rejected", NULL, GROUP_HTTP, "ticket not judged in time"},
    [COUNTER_POSTS] = {"http_bodies", "Bodies with spans received over HTTP", GROUP_NONE, NULL},
    [COUNTER_TEXTS_CUT] = {"texts_cut", "Texts of spans over HTTP that were too long or no UTF-8, and were mended",
                           GROUP_NONE, NULL},
    [COUNTER_KAFKA_MESSAGES] = {"kafka_messages", "Messages of Kafka that were taken or refused", GROUP_NONE, NULL},
    [COUNTER_KAFKA_REFUSED] = {"kafka_messages_refused", "Of them, those that were skipped: no spans, or over a limit",
                               GROUP_NONE, NULL},
    [COUNTER_KAFKA_ERRORS] = {"kafka_errors", "Errors of Kafka's brokers: not there, no topic, no access, ...",
                              GROUP_NONE, NULL},
};

CounterInfo counter_info(Counter counter) {
    if (counter < COUNTER_REFUSED || counter > COUNTER_REFUSED_LAST) return table[counter];
    PackResult result = (PackResult)(counter - COUNTER_REFUSED);
    gboolean shown = result != PACK_OK && result != PACK_STORE_FAILED;
    const char *help = result == PACK_OK ? "Spans refused for good" : NULL;
    return (CounterInfo){"spans_refused", help, GROUP_REFUSED, shown ? pack_result_text(result) : ""};
}

struct CounterSet {
    pthread_mutex_t lock;
    Counters *first;
};

CounterSet *counter_set_new(void) {
    CounterSet *set = g_new0(CounterSet, 1);
    pthread_mutex_init(&set->lock, NULL);
    return set;
}

void counter_set_free(CounterSet *set) {
    if (!set) return;
    while (set->first) {
        Counters *first = set->first;
        set->first = first->next;
        g_free(first);
    }
    pthread_mutex_destroy(&set->lock);
    g_free(set);
}

Counters *counter_set_add(CounterSet *set) {
    Counters *counters = g_new0(Counters, 1);
    pthread_mutex_lock(&set->lock);
    counters->next = set->first;
    set->first = counters;
    pthread_mutex_unlock(&set->lock);
    return counters;
}

guint64 counter_set_sum(CounterSet *set, Counter counter) {
    guint64 sum = 0;
    pthread_mutex_lock(&set->lock);
    for (Counters *c = set->first; c; c = c->next)
        sum += atomic_load_explicit(&c->values[counter], memory_order_relaxed);
    pthread_mutex_unlock(&set->lock);
    return sum;
}
