#include "receiver/traces/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/thread.h"
#include "receiver/shared/log.h"
#include "receiver/traces/mailbox.h"
#include "receiver/traces/unflushed.h"

/* Pauses between attempts while the store fails. */
#define RETRY_MIN_NS (100 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_SEC)
#define WAIT_MS      1000

typedef enum { MESSAGE_RECORDS, MESSAGE_FLUSH, MESSAGE_SETTLE, MESSAGE_STOP } MessageKind;

typedef struct Message {
    MailItem item; /* first: the mailbox deals in these */
    MessageKind kind;
    SparkRecords *records;   /* RECORDS */
    JournalSegment *segment; /* RECORDS */
    Waiter *waiter;          /* FLUSH, SETTLE, STOP */
    gint64 give_up_ns;       /* STOP: how long to go on trying */
} Message;

struct Recorder {
    RecorderOptions options;
    pthread_t thread;
    Mailbox *mailbox;
    Counters *counters;
    Unflushed unflushed;
    _Atomic guint64 waiting;

    /* of the thread alone */
    GQueue pending;            /* Message: records that are not written yet */
    GError *last_error;        /* NULL: the last attempt went well */
    gint64 retry_ns, pause_ns; /* no attempt before this; 0: the last one went well */
};

static gint64 now_ns(void) { return clock_monotonic_ns(clock_system()); }

/* ---- storing; on the recorder's thread ---- */

static void note_success(Recorder *recorder) {
    recorder->retry_ns = recorder->pause_ns = 0;
    if (recorder->last_error == NULL) return;
    g_clear_error(&recorder->last_error);
    admission_open(recorder->options.admission, ADMISSION_STORE_FAILS);
    log_message(LOG_LEVEL_NOTICE, "the store takes records of Spark again");
}

static void note_failure(Recorder *recorder, GError *error) {
    counter_add(recorder->counters, COUNTER_COMMIT_FAILURES, 1);
    recorder->pause_ns = CLAMP(recorder->pause_ns * 2, RETRY_MIN_NS, RETRY_MAX_NS);
    recorder->retry_ns = now_ns() + recorder->pause_ns;
    g_autofree char *why = g_strdup_printf("the store does not take records of Spark: %s", error->message);
    if (recorder->last_error == NULL) {
        admission_shut(recorder->options.admission, ADMISSION_STORE_FAILS, why);
        log_message(LOG_LEVEL_ERROR, "%s; senders are asked to wait, nothing acknowledged is lost", why);
    } else {
        admission_explain(recorder->options.admission, ADMISSION_STORE_FAILS, why);
    }
    g_clear_error(&recorder->last_error);
    recorder->last_error = error;
}

/* Worth another attempt: what is wrong is with the disk, not with these records. */
static gboolean may_pass(const GError *error) {
    return g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE) ||
           g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_IO) || g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
}

/* FALSE: the store fails, and it may be tried again. */
static gboolean store_once(Recorder *recorder, const Message *message) {
    g_autoptr(GError) error = NULL;
    SparkPut put = {0};
    const gint64 wall_ms = clock_wall_ns(clock_system()) / NS_PER_MS;

    if (archive_spark_put(recorder->options.archive, message->records, wall_ms, &put, &error)) {
        counter_add(recorder->counters, COUNTER_RECORDS_STORED, put.added + put.changed);
        counter_add(recorder->counters, COUNTER_RECORDS_UNCHANGED, put.unchanged);
        counter_add(recorder->counters, COUNTER_RECORDS_FAILED, put.refused);
        note_success(recorder);
        return TRUE;
    }

    if (may_pass(error)) {
        note_failure(recorder, g_steal_pointer(&error));
        return FALSE;
    }

    const gsize n = spark_records_count(message->records);
    counter_add(recorder->counters, COUNTER_RECORDS_FAILED, n);
    log_message(LOG_LEVEL_ERROR,
                "%" G_GSIZE_FORMAT " records of Spark cannot be stored (%s): once the store is repaired, read their "
                "logs again, which changes nothing of what is there",
                n, error->message);
    return TRUE;
}

static void message_free(Recorder *recorder, Message *message) {
    const gsize size_bytes = message->item.size_bytes;
    if (message->records != NULL) {
        atomic_fetch_sub(&recorder->waiting, spark_records_count(message->records));
        spark_records_free(message->records);
    }
    g_free(message);
    mailbox_done(recorder->mailbox, size_bytes);
}

/* FALSE: the store fails; what is left waits. */
static gboolean store_pending(Recorder *recorder) {
    Message *message;
    while ((message = g_queue_peek_head(&recorder->pending)) != NULL) {
        if (!store_once(recorder, message)) return FALSE;
        g_queue_pop_head(&recorder->pending);
        unflushed_add(&recorder->unflushed, store_next_mark(archive_store(recorder->options.archive)),
                      journal_segment_number(message->segment), now_ns());
        journal_release(message->segment);
        message_free(recorder, message);
    }
    return TRUE;
}

static void answer(Recorder *recorder, Waiter *waiter) {
    waiter_answer(waiter, 0, recorder->last_error != NULL ? g_error_copy(recorder->last_error) : NULL);
}

static void take_stop(Recorder *recorder, const Message *message) {
    const gint64 until_ns = now_ns() + message->give_up_ns;
    while (!store_pending(recorder) && now_ns() < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = RETRY_MIN_NS}, NULL);
    answer(recorder, message->waiter);
    /* Of what is left the journal keeps the segments: their holds stay. */
    for (Message *left; (left = g_queue_pop_head(&recorder->pending)) != NULL;) message_free(recorder, left);
}

/* FALSE: that was the last. */
static gboolean take_message(Recorder *recorder, Message *message) {
    const MessageKind kind = message->kind;
    if (kind == MESSAGE_RECORDS) {
        g_queue_push_tail(&recorder->pending, message);
        if (now_ns() >= recorder->retry_ns) store_pending(recorder);
        return TRUE;
    }
    if (kind == MESSAGE_STOP) {
        take_stop(recorder, message);
    } else if (kind == MESSAGE_SETTLE) {
        waiter_answer(message->waiter, 0, NULL); /* what came before was stored as it was taken, or the store fails */
    } else {
        store_pending(recorder);
        answer(recorder, message->waiter);
    }
    message_free(recorder, message);
    return kind != MESSAGE_STOP;
}

static void *recorder_main(void *arg) {
    Recorder *recorder = arg;
    for (gboolean go_on = TRUE; go_on;) {
        const gint64 left_ns = recorder->retry_ns - now_ns();
        const gint64 wait_ms = recorder->retry_ns == 0 ? WAIT_MS : CLAMP(left_ns / NS_PER_MS + 1, 1, WAIT_MS);
        MailItem *items = mailbox_take(recorder->mailbox, wait_ms);
        while (items != NULL) {
            Message *message = (Message *)items;
            items = items->next;
            go_on = take_message(recorder, message) && go_on;
        }
        if (now_ns() >= recorder->retry_ns) store_pending(recorder);
    }
    return NULL;
}

/* ---- any thread ---- */

Recorder *recorder_start(const RecorderOptions *options) {
    Recorder *recorder = g_new0(Recorder, 1);
    recorder->options = *options;
    recorder->mailbox = mailbox_new(options->mailbox_bytes);
    recorder->counters = counter_set_add(options->counters);
    unflushed_init(&recorder->unflushed);
    g_queue_init(&recorder->pending);
    thread_start(&recorder->thread, "recorder", recorder_main, recorder);
    return recorder;
}

static Message *message_new(const Message *content) {
    Message *message = g_new(Message, 1);
    *message = *content;
    return message;
}

static void put_message(Recorder *recorder, const Message *content) {
    mailbox_put(recorder->mailbox, &message_new(content)->item);
}

gboolean recorder_stop(Recorder *recorder, gint64 give_up_ns, GError **error) {
    Waiter *waiter = waiter_new(1);
    put_message(recorder, &(Message){.kind = MESSAGE_STOP, .waiter = waiter, .give_up_ns = give_up_ns});
    const gboolean good = waiter_wait(waiter, NULL, error);
    pthread_join(recorder->thread, NULL);
    return good;
}

void recorder_free(Recorder *recorder) {
    if (recorder == NULL) return;
    mailbox_free(recorder->mailbox);
    unflushed_clear(&recorder->unflushed);
    g_clear_error(&recorder->last_error);
    g_free(recorder);
}

void recorder_put(Recorder *recorder, SparkRecords *records, JournalSegment *segment) {
    Message message = {.kind = MESSAGE_RECORDS, .records = records, .segment = segment};
    message.item.size_bytes = spark_records_bytes(records);
    atomic_fetch_add(&recorder->waiting, spark_records_count(records));
    journal_hold(segment);
    put_message(recorder, &message);
}

gboolean recorder_full(Recorder *recorder) { return mailbox_full(recorder->mailbox); }

void recorder_flush(Recorder *recorder, Waiter *waiter) {
    put_message(recorder, &(Message){.kind = MESSAGE_FLUSH, .waiter = waiter});
}

gboolean recorder_settle(Recorder *recorder, gint64 until_ns, gboolean (*gone)(void *arg), void *arg) {
    if (recorder_waiting(recorder) == 0) return TRUE;
    Waiter *waiter = waiter_new(1);
    mailbox_put_urgent(recorder->mailbox, &message_new(&(Message){.kind = MESSAGE_SETTLE, .waiter = waiter})->item);
    return waiter_wait_until(waiter, until_ns, gone, arg);
}

guint64 recorder_needs(Recorder *recorder, guint64 reached_mark) {
    return unflushed_needs(&recorder->unflushed, reached_mark);
}

gint64 recorder_unflushed_since_ns(Recorder *recorder) { return unflushed_since_ns(&recorder->unflushed); }
gsize recorder_queued_bytes(Recorder *recorder) { return mailbox_bytes(recorder->mailbox); }
guint64 recorder_waiting(Recorder *recorder) { return atomic_load(&recorder->waiting); }
