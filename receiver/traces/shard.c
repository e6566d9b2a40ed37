#include "receiver/traces/shard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "analyzer/archive/write/large_trace.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/region.h"
#include "common/base/thread.h"
#include "receiver/shared/log.h"
#include "receiver/traces/mailbox.h"
#include "receiver/traces/needs.h"
#include "receiver/traces/unflushed.h"
#include "receiver/traces/unstored.h"

/* What a shard keeps of the memory that a large trace needed when it was closed. */
#define RECORDS_KEPT_BYTES (2u * 1024 * 1024)
/* Where it needs more, it is asked for at once, so much for each span; they seldom need less. */
#define RECORD_BYTES 112u
/* After so many traces that cannot be read back the shard turns to its messages first. */
#define UNREADABLE_MOST 16u
/* So long may it store what has waited for long enough, before it turns to them: when the rate falls, or the journal
 * fills up, many traces have at the same time. */
#define STORE_SLICE_NS (20 * NS_PER_MS)

typedef enum {
    MESSAGE_SPANS,
    MESSAGE_FLUSH,
    MESSAGE_TRACE,
    MESSAGE_SEGMENTS,
    MESSAGE_LIMITS,
    MESSAGE_STOP
} MessageKind;

typedef struct Message {
    MailItem item; /* first: the mailbox deals in these */
    MessageKind kind;
    JournalSegment *segment; /* SPANS */
    guint64 number;          /* TRACE: id; SEGMENTS: up to; STOP: how long to go on trying, ns */
    OpenLimits limits;       /* LIMITS */
    Waiter *waiter;          /* FLUSH, TRACE, STOP */
    gsize fragments_bytes;   /* SPANS */
    const guint8 *fragments; /* SPANS: FragmentHeads and bodies, in 'copy' or in 'taken' */
    GByteArray *taken;       /* SPANS: NULL: none */
    guint64 copy[];
} Message;

struct Shard {
    ShardOptions options;
    pthread_t thread;
    Mailbox *mailbox;
    Counters *counters;
    AccountPage *page;

    /* of the thread alone */
    OpenTraces *traces;
    ArchiveWriter *writer;
    Needs needs;
    GByteArray *records; /* SpanRecs of the trace that is being closed */
    GArray *group;       /* guint64: oldest segment of each trace in the writer's group */
    guint64 group_spans;
    gint64 group_since_ns, group_oldest_ns; /* 0: empty */
    gint64 retry_ns;                        /* no attempt before this; 0: the last one went well */
    gint64 pause_ns;
    gboolean admission_shut;
    GError *last_error;
    gboolean stopping;
    guint64 spill_written, spill_failures; /* as counted so far */

    /* for others to read */
    Unflushed unflushed;
    _Atomic guint64 oldest_needed;
    _Atomic guint64 n_traces, n_large, n_spans, n_bytes, arena_bytes, arena_held_bytes;
    _Atomic guint64 spilled_spans, spilled_bytes, spill_file_bytes;
    _Atomic gint64 oldest_ns;
    _Atomic gsize replay_bytes; /* in the mailbox, from segments that are replayed */
    /* set by others */
    _Atomic gsize memory_bytes;
    _Atomic guint64 disk_bytes;
    _Atomic gint64 idle_ns, large_idle_ns;
    _Atomic gint64 stop_by_ns; /* no trace is stored from then on */
};

static gint64 now_monotonic_ns(void) { return clock_monotonic_ns(clock_system()); }

/* ---- storing; on the shard's thread ---- */

static void publish_spilled(Shard *shard) {
    const OpenSpilled spilled = open_traces_spilled(shard->traces);
    counter_add(shard->counters, COUNTER_SPILLED_BYTES, spilled.written_bytes - shard->spill_written);
    counter_add(shard->counters, COUNTER_SPILL_FAILURES, spilled.failures - shard->spill_failures);
    shard->spill_written = spilled.written_bytes;
    shard->spill_failures = spilled.failures;
    atomic_store(&shard->spilled_spans, spilled.spans);
    atomic_store(&shard->spilled_bytes, spilled.bytes);
    atomic_store(&shard->spill_file_bytes, spilled.file_bytes);
    static LogLimit limit;
    g_autoptr(GError) error = open_traces_take_error(shard->traces);
    if (error)
        log_limited(&limit, LOG_LEVEL_WARNING,
                    "open traces stay in memory, so that others are stored before they are complete: %s; make "
                    "room there, or raise memory.limit",
                    error->message);
}

static void publish(Shard *shard) {
    publish_spilled(shard);
    const OpenTrace *first = open_traces_first(shard->traces);
    gint64 oldest_ns = first ? open_trace_opened_ns(first, now_monotonic_ns()) : 0;
    if (shard->group_oldest_ns && (!oldest_ns || shard->group_oldest_ns < oldest_ns))
        oldest_ns = shard->group_oldest_ns;
    atomic_store(&shard->oldest_ns, oldest_ns);
    atomic_store(&shard->n_traces, open_traces_count(shard->traces));
    atomic_store(&shard->n_large, open_traces_large(shard->traces));
    atomic_store(&shard->arena_bytes, open_traces_bytes(shard->traces));
    atomic_store(&shard->arena_held_bytes, open_traces_held_bytes(shard->traces));
    atomic_store(&shard->n_spans, open_traces_spans(shard->traces) + archive_writer_pending_spans(shard->writer));
    atomic_store(&shard->n_bytes, open_traces_bytes(shard->traces) + archive_writer_pending_bytes(shard->writer));
    atomic_store(&shard->oldest_needed, needs_oldest(&shard->needs));
}

static void note_success(Shard *shard) {
    shard->retry_ns = shard->pause_ns = 0;
    g_clear_error(&shard->last_error);
    if (!shard->admission_shut) return;
    shard->admission_shut = FALSE;
    admission_open(shard->options.admission, ADMISSION_STORE_FAILS);
    log_message(LOG_LEVEL_NOTICE, "shard %u: the store takes traces again", shard->options.number);
}

static void note_failure(Shard *shard, GError *error) {
    counter_add(shard->counters, COUNTER_COMMIT_FAILURES, 1);
    shard->pause_ns = CLAMP(shard->pause_ns * 2, SHARD_RETRY_MIN_NS, SHARD_RETRY_MAX_NS);
    shard->retry_ns = now_monotonic_ns() + shard->pause_ns;
    g_autofree char *why = g_strdup_printf("the store does not take traces: %s", error->message);
    if (!shard->admission_shut) {
        shard->admission_shut = TRUE;
        admission_shut(shard->options.admission, ADMISSION_STORE_FAILS, why);
        log_message(LOG_LEVEL_ERROR, "shard %u: %s; senders are asked to wait, nothing acknowledged is lost",
                    shard->options.number, why);
    } else {
        admission_explain(shard->options.admission, ADMISSION_STORE_FAILS, why);
    }
    g_clear_error(&shard->last_error);
    shard->last_error = error;
}

static gboolean commit(Shard *shard) {
    if (shard->group->len == 0) return TRUE;
    GError *error = NULL;
    if (!archive_writer_commit(shard->writer, FALSE, &error)) {
        note_failure(shard, error);
        return FALSE;
    }

    guint64 oldest = JOURNAL_NONE;
    for (guint i = 0; i < shard->group->len; i++) oldest = MIN(oldest, g_array_index(shard->group, guint64, i));

    /* Before publish() tells that the shard needs them no more: shard_needs() looks there first. */
    unflushed_add(&shard->unflushed, store_next_mark(archive_store(shard->options.archive)), oldest,
                  now_monotonic_ns());

    counter_add(shard->counters, COUNTER_COMMITS, 1);
    counter_add(shard->counters, COUNTER_SPANS_STORED, shard->group_spans);
    for (guint i = 0; i < shard->group->len; i++) needs_remove(&shard->needs, g_array_index(shard->group, guint64, i));
    g_array_set_size(shard->group, 0);
    shard->group_spans = 0;
    shard->group_since_ns = shard->group_oldest_ns = 0;

    note_success(shard);
    return TRUE;
}

/* Worth another attempt: what is wrong is with the disk, not with this trace. */
static gboolean may_pass(const GError *error) {
    return g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE) ||
           g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_IO) || g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
}

/* What the store can never take (the stored part of the trace is damaged) must not hold up the rest for good. */
static gboolean set_aside(Shard *shard, const OpenTrace *trace, const GError *why) {
    GError *error = NULL;
    g_autofree char *file = NULL;
    Bytes records = {shard->records->data, shard->records->len};
    if (!unstored_write(shard->options.archive, shard->options.unstored_dir, records, &file, &error)) {
        note_failure(shard, error);
        return FALSE;
    }
    counter_add(shard->counters, COUNTER_SPANS_SET_ASIDE, trace->n_spans);
    for (gsize at = 0; at < records.size_bytes;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(shard->records->data + at);
        account_page_add(shard->page, span->tracer, ACCOUNT_ASIDE, 1);
        at += span->size_bytes;
    }
    log_message(LOG_LEVEL_ERROR,
                "trace %016" G_GINT64_MODIFIER "x cannot be stored (%s): its %u new spans were appended to %s; "
                "`plumb import` takes them in once the store is repaired",
                trace->id, why->message, trace->n_spans, file);
    return TRUE;
}

/* Only the journal has its spans now, which it keeps, as the trace goes on needing its segments. */
static void note_unreadable(Shard *shard, OpenTrace *trace, GError *error) {
    static LogLimit limit;
    counter_add(shard->counters, COUNTER_UNSPILL_FAILURES, 1);
    log_limited(&limit, LOG_LEVEL_ERROR,
                "trace %016" G_GINT64_MODIFIER "x cannot be stored for now: %s; its %u spans are in the journal, which "
                "keeps them: if this does not pass, see to the disk and start plumbd anew",
                trace->id, error->message, trace->n_spans);
    open_traces_put_off(shard->traces, trace, now_monotonic_ns());
    g_clear_error(&shard->last_error);
    shard->last_error = error;
}

static void records_end(Shard *shard) {
    if (shard->records->len <= RECORDS_KEPT_BYTES) return;
    g_byte_array_unref(shard->records);
    shard->records = g_byte_array_new();
}

static void records_begin(Shard *shard, guint32 n_spans) {
    const guint64 expected = (guint64)n_spans * RECORD_BYTES;
    if (expected > RECORDS_KEPT_BYTES && expected < G_MAXUINT32 / 2) {
        g_byte_array_unref(shard->records); /* growing, it would be copied */
        shard->records = g_byte_array_sized_new((guint)expected);
        large_hint(shard->records->data, expected);
    }
    g_byte_array_set_size(shard->records, 0);
}

/* Makes shard->records the spans of the trace. */
static gboolean unpack(Shard *shard, OpenTrace *trace) {
    records_begin(shard, trace->n_spans);
    GError *error = NULL;
    if (open_traces_unpack(shard->traces, trace, shard->records, &error)) return TRUE;
    note_unreadable(shard, trace, error);
    return FALSE;
}

/* Moves a trace into the group; frees it. FALSE: the store fails, the trace is as before; or the trace cannot be read,
 * see store_fails(). */
static gboolean group_trace(Shard *shard, OpenTrace *trace, Counter reason) {
    g_autoptr(GError) error = NULL;
    if (!unpack(shard, trace)) return FALSE;
    archive_writer_replaying(shard->writer, trace->oldest_segment <= shard->options.replayed);

    if (archive_writer_add(shard->writer, trace->id, shard->records->data, shard->records->len, &error)) {
        gint64 now_ns = now_monotonic_ns();
        gint64 opened_ns = open_trace_opened_ns(trace, now_ns);
        if (shard->group->len == 0) shard->group_since_ns = now_ns;
        if (!shard->group_oldest_ns || opened_ns < shard->group_oldest_ns) shard->group_oldest_ns = opened_ns;
        g_array_append_val(shard->group, trace->oldest_segment);
        shard->group_spans += trace->n_spans;
    } else if (may_pass(error)) {
        note_failure(shard, g_steal_pointer(&error));
        return FALSE;
    } else {
        if (!set_aside(shard, trace, error)) return FALSE;
        needs_remove(&shard->needs, trace->oldest_segment);
    }

    counter_add(shard->counters, reason, 1);
    open_traces_remove(shard->traces, trace);
    return TRUE;
}

static gboolean out_of_time(const Shard *shard) {
    const gint64 stop_by_ns = atomic_load(&shard->stop_by_ns);
    return stop_by_ns != G_MAXINT64 && now_monotonic_ns() >= stop_by_ns;
}

/* The same, and stores the group when it is full; then after a FALSE the trace may be safe in the group. */
static gboolean store_trace(Shard *shard, OpenTrace *trace, Counter reason) {
    if (out_of_time(shard)) return FALSE;
    gboolean large = large_trace_begin(shard->options.archive, trace->n_spans, open_trace_bytes(trace));
    gboolean grouped = group_trace(shard, trace, reason);
    records_end(shard);
    if (large) large_trace_end(shard->options.archive);
    return grouped && (archive_writer_pending_bytes(shard->writer) < SHARD_GROUP_BYTES || commit(shard));
}

/* After a FALSE: no other trace would fare better now. */
static gboolean store_fails(const Shard *shard) { return shard->retry_ns != 0 || out_of_time(shard); }

/* Everything, now. Those that cannot be read are put off behind all others: each is tried once. */
static gboolean store_all(Shard *shard, Counter reason, guint64 *closed) {
    guint unreadable = 0;
    for (guint left = open_traces_count(shard->traces); left > 0; left--) {
        guint before = open_traces_count(shard->traces);
        gboolean good = store_trace(shard, open_traces_first(shard->traces), reason);
        const guint stored = before - open_traces_count(shard->traces);
        *closed += stored;
        if (!good && store_fails(shard)) return FALSE;
        unreadable += stored == 0;
    }
    g_autoptr(GError) why = unreadable > 0 ? g_error_copy(shard->last_error) : NULL;
    if (!commit(shard)) return FALSE;
    if (why && !shard->last_error) shard->last_error = g_steal_pointer(&why);
    return unreadable == 0;
}

static gboolean may_try(const Shard *shard, gint64 now_ns) { return now_ns >= shard->retry_ns; }

/* What time and memory ask for. */
static void store_due(Shard *shard) {
    static const Counter reasons[] = {
        [DUE_IDLE] = COUNTER_TRACE_IDLE, [DUE_AGE] = COUNTER_TRACE_AGE, [DUE_MEMORY] = COUNTER_TRACE_MEMORY};
    gint64 now_ns = now_monotonic_ns();
    if (!may_try(shard, now_ns)) return;
    if (shard->retry_ns && !commit(shard)) return;
    open_traces_set_share(shard->traces, atomic_load(&shard->memory_bytes), atomic_load(&shard->disk_bytes));
    open_traces_set_idle(shard->traces, atomic_load(&shard->idle_ns), atomic_load(&shard->large_idle_ns));
    DueReason reason;
    OpenTrace *trace;
    guint unreadable = 0;
    while (unreadable < UNREADABLE_MOST && (trace = open_traces_due(shard->traces, now_ns, &reason))) {
        if (reason != DUE_MEMORY && now_monotonic_ns() - now_ns > STORE_SLICE_NS) break;
        if (store_trace(shard, trace, reasons[reason])) continue;
        if (store_fails(shard)) return;
        unreadable++;
    }
    if (shard->group->len > 0 && now_ns - shard->group_since_ns >= SHARD_GROUP_WAIT_NS && !commit(shard)) return;
    if (shard->group->len == 0) note_success(shard);
}

/* ---- messages; on the shard's thread ---- */

static void message_free(Message *message) {
    if (message->taken != NULL) g_byte_array_unref(message->taken);
    g_free(message);
}

static void take_fragment(Shard *shard, const FragmentHead *fragment, guint64 segment, gint64 now_ns) {
    OpenTrace *trace = open_traces_add(shard->traces, fragment, now_ns);
    if (segment < trace->oldest_segment) {
        needs_add(&shard->needs, segment);
        needs_remove(&shard->needs, trace->oldest_segment);
        trace->oldest_segment = segment;
    }
    if (open_trace_full(shard->traces, trace) && may_try(shard, now_ns)) store_trace(shard, trace, COUNTER_TRACE_SIZE);
}

/* Those of no segment have the highest number of all. */
static gboolean is_replayed(const Shard *shard, const JournalSegment *segment) {
    return journal_segment_number(segment) <= shard->options.replayed;
}

static void take_spans(Shard *shard, Message *message) {
    guint64 segment = journal_segment_number(message->segment);
    gint64 now_ns = now_monotonic_ns();
    const guint8 *at = message->fragments, *end = at + message->fragments_bytes;
    while (at < end) {
        const FragmentHead *fragments[OPEN_TRACES_EXPECTED];
        guint n = 0;
        for (; at < end && n < OPEN_TRACES_EXPECTED; at += fragment_size_bytes(fragments[n++]))
            fragments[n] = (const FragmentHead *)(gconstpointer)at;
        open_traces_expect(shard->traces, fragments, n);
        for (guint i = 0; i < n; i++) take_fragment(shard, fragments[i], segment, now_ns);
    }
    publish(shard); /* before the hold goes: journal_trim() must find one of the two */
    if (is_replayed(shard, message->segment)) atomic_fetch_sub(&shard->replay_bytes, message->item.size_bytes);
    journal_release(message->segment);
}

static GError *copy_error(const Shard *shard) {
    if (shard->last_error) return g_error_copy(shard->last_error);
    const char *why = out_of_time(shard) ? "plumbd is stopping, and the time for it is over" : "the store fails";
    return g_error_new_literal(PLUMB_ERROR, PLUMB_ERROR_BUSY, why);
}

static void answer(Shard *shard, Waiter *waiter, gboolean good, guint64 amount) {
    publish(shard);
    waiter_answer(waiter, amount, good ? NULL : copy_error(shard));
}

static void take_trace_order(Shard *shard, const Message *message) {
    OpenTrace *trace = open_traces_find(shard->traces, message->number);
    guint before = open_traces_count(shard->traces);
    const gboolean in_group = trace != NULL || archive_writer_has(shard->writer, message->number);
    gboolean good = !trace || store_trace(shard, trace, COUNTER_TRACE_ASKED);
    good = good && (!in_group || commit(shard));
    answer(shard, message->waiter, good, before - open_traces_count(shard->traces));
}

static void take_segments_order(Shard *shard, guint64 up_to) {
    if (!may_try(shard, now_monotonic_ns())) return;
    OpenTrace *trace = open_traces_first(shard->traces), *next;
    /* Those that cannot be read are put off behind all others: each is looked at once. */
    for (guint left = open_traces_count(shard->traces); left > 0; left--, trace = next) {
        next = open_traces_next(shard->traces, trace);
        if (trace->oldest_segment > up_to || store_trace(shard, trace, COUNTER_TRACE_JOURNAL)) continue;
        if (store_fails(shard)) return;
    }
    commit(shard);
}

static void sleep_ns(gint64 ns) {
    const struct timespec pause = timespec_of(ns);
    nanosleep(&pause, NULL);
}

static void take_stop(Shard *shard, const Message *message) {
    gint64 until_ns = now_monotonic_ns() + (gint64)message->number;
    guint64 closed = 0;
    gboolean good;
    while (!(good = store_all(shard, COUNTER_TRACE_STOP, &closed)) && !out_of_time(shard) &&
           now_monotonic_ns() < until_ns)
        sleep_ns(SHARD_RETRY_MIN_NS);
    /* With a store that works, what there was no time for is no failure. */
    if (!good && out_of_time(shard) && shard->retry_ns == 0) good = commit(shard);
    shard->stopping = TRUE;
    answer(shard, message->waiter, good, closed);
}

/* Until it is told of another share. */
static void share_limits(Shard *shard, const OpenLimits *limits) {
    const ShardShare share = {limits->memory_bytes, limits->disk_bytes, limits->idle_ns, limits->idle_ns};
    shard_set_share(shard, &share);
}

static void take_message(Shard *shard, Message *message) {
    guint64 closed = 0;
    switch (message->kind) {
    case MESSAGE_SPANS: take_spans(shard, message); break;
    case MESSAGE_FLUSH: {
        gboolean good = store_all(shard, COUNTER_TRACE_FLUSH, &closed);
        answer(shard, message->waiter, good, closed);
        break;
    }
    case MESSAGE_TRACE: take_trace_order(shard, message); break;
    case MESSAGE_SEGMENTS: take_segments_order(shard, message->number); break;
    case MESSAGE_LIMITS:
        open_traces_set_limits(shard->traces, &message->limits);
        share_limits(shard, &message->limits);
        break;
    case MESSAGE_STOP: take_stop(shard, message); break;
    }
}

static gint64 wait_ms(const Shard *shard) {
    gint64 now_ns = now_monotonic_ns();
    gint64 due_ns = MIN(open_traces_next_due_ns(shard->traces, now_ns), now_ns + NS_PER_SEC);
    if (shard->group->len > 0) due_ns = MIN(due_ns, shard->group_since_ns + SHARD_GROUP_WAIT_NS);
    due_ns = MAX(due_ns, shard->retry_ns);
    return CLAMP((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS, 1, 1000);
}

static void *shard_main(void *arg) {
    Shard *shard = arg;

    while (!shard->stopping) {
        MailItem *items = mailbox_take(shard->mailbox, wait_ms(shard));
        account_page_begin(shard->page);
        while (items) {
            Message *message = (Message *)items;
            gsize size_bytes = items->size_bytes;
            items = items->next;
            take_message(shard, message);
            message_free(message);
            if (!shard->stopping) store_due(shard);
            mailbox_done(shard->mailbox, size_bytes);
        }

        if (!shard->stopping) {
            store_due(shard);
            open_traces_compact(shard->traces, now_monotonic_ns());
        }

        publish(shard);
        account_page_end(shard->page);
    }
    return NULL;
}

/* ---- any thread ---- */

Shard *shard_start(const ShardOptions *options) {
    Shard *shard = g_new0(Shard, 1);
    shard->options = *options;
    share_limits(shard, &options->limits);
    atomic_init(&shard->stop_by_ns, G_MAXINT64);
    shard->mailbox = mailbox_new(options->mailbox_bytes);
    shard->counters = counter_set_add(options->counters);
    shard->page = accounts_page(options->accounts);
    shard->traces = open_traces_new(&options->limits);
    if (options->spill_dir) open_traces_spill_to(shard->traces, options->spill_dir);
    shard->writer = archive_writer_new(options->archive);
    shard->group = g_array_new(FALSE, FALSE, sizeof(guint64));
    shard->records = g_byte_array_new();
    needs_init(&shard->needs);
    unflushed_init(&shard->unflushed);
    atomic_store(&shard->oldest_needed, JOURNAL_NONE);
    g_autofree char *name = g_strdup_printf("shard-%u", options->number);
    thread_start(&shard->thread, name, shard_main, shard);
    return shard;
}

static Message *message_new(MessageKind kind, Waiter *waiter) {
    Message *message = g_new0(Message, 1);
    message->kind = kind;
    message->waiter = waiter;
    return message;
}

void shards_stop_by(Shard *const *shards, guint n, gint64 stop_by_ns) {
    for (guint i = 0; i < n; i++) atomic_store(&shards[i]->stop_by_ns, stop_by_ns);
}

gboolean shards_stop(Shard *const *shards, guint n, gint64 give_up_ns, GError **error) {
    Waiter *waiter = waiter_new(n);
    for (guint i = 0; i < n; i++) {
        Message *message = message_new(MESSAGE_STOP, waiter);
        message->number = (guint64)give_up_ns;
        mailbox_put(shards[i]->mailbox, &message->item);
    }
    gboolean good = waiter_wait(waiter, NULL, error);
    for (guint i = 0; i < n; i++) pthread_join(shards[i]->thread, NULL);
    return good;
}

void shard_free(Shard *shard) {
    if (!shard) return;
    archive_writer_free(shard->writer);
    open_traces_free(shard->traces);
    needs_clear(&shard->needs);
    unflushed_clear(&shard->unflushed);
    g_array_unref(shard->group);
    g_byte_array_unref(shard->records);
    g_clear_error(&shard->last_error);
    mailbox_free(shard->mailbox);
    g_free(shard);
}

static void put_spans(Shard *shard, Message *message) {
    message->item.size_bytes = sizeof *message + message->fragments_bytes;
    if (is_replayed(shard, message->segment)) atomic_fetch_add(&shard->replay_bytes, message->item.size_bytes);
    journal_hold(message->segment);
    mailbox_put(shard->mailbox, &message->item);
}

void shard_put_spans(Shard *shard, Bytes fragments, JournalSegment *segment) {
    Message *message = g_malloc(sizeof *message + fragments.size_bytes);
    *message = (Message){.kind = MESSAGE_SPANS, .segment = segment, .fragments_bytes = fragments.size_bytes};
    message->fragments = (const guint8 *)message->copy;
    memcpy(message->copy, fragments.data, fragments.size_bytes);
    put_spans(shard, message);
}

void shard_give_spans(Shard *shard, GByteArray *fragments, JournalSegment *segment) {
    Message *message = message_new(MESSAGE_SPANS, NULL);
    message->segment = segment;
    message->fragments = fragments->data;
    message->fragments_bytes = fragments->len;
    message->taken = fragments;
    put_spans(shard, message);
}

gboolean shard_full(Shard *shard) { return mailbox_full(shard->mailbox); }

gboolean shard_replay_full(Shard *shard) {
    return atomic_load(&shard->replay_bytes) >= shard->options.mailbox_bytes / 2;
}

void shard_flush(Shard *shard, Waiter *waiter) {
    mailbox_put_urgent(shard->mailbox, &message_new(MESSAGE_FLUSH, waiter)->item);
}

void shard_store_trace(Shard *shard, guint64 trace_id, Waiter *waiter) {
    Message *message = message_new(MESSAGE_TRACE, waiter);
    message->number = trace_id;
    mailbox_put_urgent(shard->mailbox, &message->item);
}

void shard_store_segments(Shard *shard, guint64 up_to_number) {
    Message *message = message_new(MESSAGE_SEGMENTS, NULL);
    message->number = up_to_number;
    mailbox_put(shard->mailbox, &message->item);
}

void shard_set_limits(Shard *shard, const OpenLimits *limits) {
    Message *message = message_new(MESSAGE_LIMITS, NULL);
    message->limits = *limits;
    mailbox_put(shard->mailbox, &message->item);
}

guint64 shard_needs(Shard *shard, guint64 reached_mark) {
    guint64 open = atomic_load(&shard->oldest_needed);
    return MIN(open, unflushed_needs(&shard->unflushed, reached_mark));
}

gint64 shard_unflushed_since_ns(Shard *shard) { return unflushed_since_ns(&shard->unflushed); }

void shard_set_share(Shard *shard, const ShardShare *share) {
    atomic_store(&shard->memory_bytes, share->memory_bytes);
    atomic_store(&shard->disk_bytes, share->disk_bytes);
    atomic_store(&shard->idle_ns, share->idle_ns);
    atomic_store(&shard->large_idle_ns, share->large_idle_ns);
}

ShardState shard_state(Shard *shard) {
    return (ShardState){
        .traces = atomic_load(&shard->n_traces),
        .large_traces = atomic_load(&shard->n_large),
        .spans = atomic_load(&shard->n_spans),
        .bytes = atomic_load(&shard->n_bytes),
        .mailbox_bytes = mailbox_bytes(shard->mailbox),
        .arena_bytes = atomic_load(&shard->arena_bytes),
        .arena_held_bytes = atomic_load(&shard->arena_held_bytes),
        .oldest_ns = atomic_load(&shard->oldest_ns),
        .spilled_spans = atomic_load(&shard->spilled_spans),
        .spilled_bytes = atomic_load(&shard->spilled_bytes),
        .spill_file_bytes = atomic_load(&shard->spill_file_bytes),
    };
}
