#include "receiver/net/intake.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/htraced/hrpc.h"
#include "common/wire/otlp/scribe.h"
#include "receiver/net/name_check.h"
#include "receiver/shared/log.h"

/* A larger frame's batch, which takes about as much, goes before its spans are handed on. */
#define FRAME_LARGE_BYTES ((gsize)4 * 1024 * 1024)

typedef struct PendingReply {
    GByteArray *out;
    WireReply *into; /* of a batch that came without a frame: 'out' is NULL, and nothing is written */
    WireHeader header;
    WireReply reply;
    gboolean exception;  /* reply.message says what */
    SenderEntry *sender; /* of a batch that is being taken */
    guint32 refused[PACK_RESULT_COUNT];
    gboolean records; /* of Spark: accepted and refused are their numbers */
} PendingReply;

struct Intake {
    IntakeOptions options;
    Counters *counters;
    Packer *packer;
    Masker *masker; /* NULL: nothing is masked */
    SpanBatch *batch;
    ServiceSpans *services; /* of spans in Zipkin's form; NULL: none came yet */
    GByteArray **fragments; /* per shard: not yet handed over */
    gsize *marks;           /* per shard: length before the current frame */
    gsize pending_bytes;
    NameCheck *names;  /* NULL: names of servers are not judged */
    SpanSource source; /* of what comes */
    gboolean has_source;
    QuotaAccount *account; /* of who sends what comes; NULL: no quota */
    gint32 pause_ms;       /* see intake_pause_ms() */
    gboolean denied;       /* the sender of what comes may not send */
    SparkRecords *spare;   /* what the next batch of records is decoded into; NULL: none yet */
    GPtrArray *records;    /* SparkRecords, not yet handed over */
    GArray *frames;        /* JournalRecord, not yet written */
    GByteArray *made;      /* the frame of a batch that came without one */
    GArray *replies;       /* PendingReply */
    guint n_committed;     /* of replies */
    GArray *runs;          /* PackRun: whose spans were packed since the last commit */
    AccountPage *page;
    gboolean unsynced;
    guint64 synced_from; /* of the journal: what is unsynced was appended after it */
};

Intake *intake_new(const IntakeOptions *options, Counters *counters) {
    Intake *intake = g_new0(Intake, 1);
    intake->options = *options;
    intake->counters = counters;
    intake->packer = packer_new(options->rules, options->dict);
    if (options->mask != NULL) intake->masker = masker_new(options->mask);
    if (options->owners != NULL) intake->names = name_check_new(options->owners, options->dict);
    intake->batch = batch_new();
    intake->fragments = g_new0(GByteArray *, options->n_shards);
    for (guint i = 0; i < options->n_shards; i++) intake->fragments[i] = g_byte_array_new();
    intake->marks = g_new0(gsize, options->n_shards);
    intake->records = g_ptr_array_new_with_free_func((GDestroyNotify)spark_records_free);
    intake->made = g_byte_array_new();
    intake->frames = g_array_new(FALSE, FALSE, sizeof(JournalRecord));
    intake->replies = g_array_new(FALSE, FALSE, sizeof(PendingReply));
    intake->runs = g_array_new(FALSE, FALSE, sizeof(PackRun));
    intake->page = accounts_page(options->accounts);
    return intake;
}

void intake_free(Intake *intake) {
    if (!intake) return;
    for (guint i = 0; i < intake->options.n_shards; i++) g_byte_array_unref(intake->fragments[i]);
    g_free(intake->fragments);
    g_free(intake->marks);
    spark_records_free(intake->spare);
    g_ptr_array_unref(intake->records);
    g_array_unref(intake->frames);
    g_byte_array_unref(intake->made);
    g_array_unref(intake->replies);
    g_array_unref(intake->runs);
    packer_free(intake->packer);
    masker_free(intake->masker);
    name_check_free(intake->names);
    batch_free(intake->batch);
    service_spans_free(intake->services);
    g_free(intake);
}

Pressure intake_pressure(const Intake *intake) {
    if (!admission_is_open(intake->options.admission)) return PRESSURE_SHUT;
    for (guint i = 0; i < intake->options.n_shards; i++)
        if (shard_full(intake->options.shards[i])) return PRESSURE_QUEUES;
    if (intake->options.recorder != NULL && recorder_full(intake->options.recorder)) return PRESSURE_QUEUES;
    return PRESSURE_NONE;
}

void intake_set_limit(Intake *intake, const PackLimit *limit) { packer_set_limit(intake->packer, limit); }

void intake_set_allowed(Intake *intake, gboolean allowed) { intake->denied = !allowed; }

void intake_set_quota(Intake *intake, QuotaAccount *account) { intake->account = account; }

void intake_set_source(Intake *intake, const SpanSource *source) {
    intake->has_source = source != NULL;
    if (source != NULL) intake->source = *source;
}

gint32 intake_pause_ms(const Intake *intake) { return intake->pause_ms; }

gsize intake_pending_bytes(const Intake *intake) { return intake->pending_bytes; }

gboolean intake_syncs(const Intake *intake) { return intake->options.sync; }

/* ---- replies ---- */

static WireReply reply_make(ReplyStatus status, const char *message) {
    WireReply reply = {.status = status, .version = WIRE_VERSION};
    g_strlcpy(reply.message, message, sizeof reply.message);
    return reply;
}

static WireReply reply_later(gint32 wait_ms, const char *message) {
    WireReply reply = reply_make(REPLY_TRY_LATER, message);
    reply.wait_ms = wait_ms;
    return reply;
}

static void queue_reply(Intake *intake, GByteArray *out, const WireHeader *header, const WireReply *reply) {
    PendingReply pending = {.out = out, .header = *header, .reply = *reply};
    g_array_append_val(intake->replies, pending);
}

static IntakeResult answer_later(Intake *intake, GByteArray *out, const WireHeader *header, Pressure pressure) {
    g_autofree char *why = pressure == PRESSURE_SHUT ? admission_describe(intake->options.admission) : NULL;
    gint32 wait_ms = pressure == PRESSURE_SHUT ? INTAKE_WAIT_SHUT_MS : INTAKE_WAIT_QUEUES_MS;
    WireReply reply = reply_later(wait_ms, why ? why : "busy");
    queue_reply(intake, out, header, &reply);
    intake->pause_ms = pressure == PRESSURE_SHUT ? INTAKE_WAIT_SHUT_MS / 2 : INTAKE_WAIT_QUEUES_MS;
    counter_add(intake->counters, COUNTER_TRY_LATER, 1);
    return INTAKE_LATER;
}

/* How long its sender has to wait, and for which quota; 0: it may go on. */
static gint64 quota_waits_ns(const Intake *intake, QuotaKind *kind) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    const gint64 spans_ns = quota_wait_ns(intake->account, QUOTA_SPANS, now_ns);
    const gint64 bytes_ns = quota_wait_ns(intake->account, QUOTA_BYTES, now_ns);
    *kind = bytes_ns > spans_ns ? QUOTA_BYTES : QUOTA_SPANS;
    return MAX(spans_ns, bytes_ns);
}

static IntakeResult answer_over_quota(Intake *intake, GByteArray *out, const WireHeader *header, QuotaKind kind,
                                      gint64 wait_ns) {
    static LogLimit limit;
    const gint32 wait_ms = (gint32)CLAMP(wait_ns / NS_PER_MS + 1, 1, INTAKE_WAIT_QUOTA_MAX_MS);
    g_autofree char *why = g_strdup_printf("%s is over %s", quota_account_name(intake->account), quota_keys[kind]);
    log_limited(&limit, LOG_LEVEL_NOTICE, "%s: it is told to wait", why);
    WireReply reply = reply_later(wait_ms, why);
    queue_reply(intake, out, header, &reply);
    quota_refused(intake->account, kind);
    intake->pause_ms = MIN(wait_ms, INTAKE_WAIT_SHUT_MS);
    counter_add(intake->counters, COUNTER_TRY_LATER, 1);
    counter_add(intake->counters, COUNTER_FRAME_QUOTA, 1);
    return INTAKE_LATER;
}

/* What is taken is paid for. */
static void charge(Intake *intake, QuotaKind kind, gsize n) {
    if (G_UNLIKELY(intake->account != NULL)) quota_charge(intake->account, kind, n, clock_monotonic_ns(clock_system()));
}

static IntakeResult answer_denied(Intake *intake, GByteArray *out, const WireHeader *header) {
    WireReply reply = reply_later(INTAKE_WAIT_DENIED_MS,
                                  "this sender lacks the role 'write': it has to log in, or access.write to name it");
    queue_reply(intake, out, header, &reply);
    counter_add(intake->counters, COUNTER_TRY_LATER, 1);
    counter_add(intake->counters, COUNTER_FRAME_DENIED, 1);
    return INTAKE_TAKEN;
}

static IntakeResult answer_foreign(Intake *intake, GByteArray *out, const WireHeader *header, const char *why) {
    WireReply reply = reply_later(INTAKE_WAIT_DENIED_MS, why);
    queue_reply(intake, out, header, &reply);
    intake->pause_ms = INTAKE_WAIT_SHUT_MS; /* it costs as much as a batch that is taken */
    counter_add(intake->counters, COUNTER_TRY_LATER, 1);
    counter_add(intake->counters, COUNTER_FRAME_FOREIGN_NAME, 1);
    return INTAKE_LATER;
}

static IntakeResult answer_refused(Intake *intake, GByteArray *out, const WireHeader *header, const GError *error) {
    static LogLimit limit;
    gboolean over_limit = g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    counter_add(intake->counters, over_limit ? COUNTER_FRAME_LIMIT : COUNTER_FRAME_MALFORMED, 1);
    log_limited(&limit, LOG_LEVEL_WARNING, "a batch was refused: %s", error->message);
    WireReply reply = reply_make(REPLY_REFUSED, error->message);
    queue_reply(intake, out, header, &reply);
    return INTAKE_TAKEN;
}

static IntakeResult answer_unknown(Intake *intake, GByteArray *out, const WireHeader *header) {
    PendingReply pending = {.out = out, .header = *header, .exception = TRUE};
    g_snprintf(pending.reply.message, sizeof pending.reply.message, "unknown method '%s'", header->method);
    g_array_append_val(intake->replies, pending);
    counter_add(intake->counters, COUNTER_FRAME_UNKNOWN_CALL, 1);
    return INTAKE_TAKEN;
}

/* ---- packing ---- */

static void roll_back(Intake *intake) {
    for (guint i = 0; i < intake->options.n_shards; i++)
        g_byte_array_set_size(intake->fragments[i], (guint)intake->marks[i]);
}

static void update_pending(Intake *intake) {
    intake->pending_bytes = 0;
    for (guint i = 0; i < intake->options.n_shards; i++) intake->pending_bytes += intake->fragments[i]->len;
    for (guint i = 0; i < intake->records->len; i++)
        intake->pending_bytes += spark_records_bytes(g_ptr_array_index(intake->records, i));
}

/* Packs the decoded batch into the shards' arrays. *refused counts by reason. On error (the dictionary cannot be
 * written) nothing was packed. */
static gboolean pack_batch(Intake *intake, const SpanBatch *batch, guint32 refused[PACK_RESULT_COUNT], GError **error) {
    for (guint i = 0; i < intake->options.n_shards; i++) intake->marks[i] = intake->fragments[i]->len;
    packer_begin_batch(intake->packer, batch);
    const guint n_traces = packer_group(intake->packer, batch);
    for (guint i = 0; i < n_traces; i++) {
        guint shard = shard_of(packer_trace(intake->packer, i), intake->options.n_shards);
        if (G_LIKELY(packer_fragment(intake->packer, batch, i, intake->fragments[shard], refused))) continue;
        roll_back(intake);
        g_propagate_prefixed_error(error, packer_take_error(intake->packer), "cannot write to the dictionary: ");
        return FALSE;
    }
    const GArray *runs = packer_runs(intake->packer);
    g_array_append_vals(intake->runs, runs->data, runs->len);
    update_pending(intake);
    return TRUE;
}

/* What pack_batch() has packed last is not taken. */
static void unpack_batch(Intake *intake) {
    g_array_set_size(intake->runs, intake->runs->len - packer_runs(intake->packer)->len);
    roll_back(intake);
    update_pending(intake);
}

/* Is it under the name of a server that is another's, and not to be taken for that? *why: a new string. */
static gboolean is_refused_name(Intake *intake, char **why) {
    if (intake->names == NULL || !intake->has_source) return FALSE;
    if (G_LIKELY(!name_check_is_foreign(intake->names, packer_runs(intake->packer), &intake->source))) return FALSE;
    counter_add(intake->counters, COUNTER_FOREIGN_NAMES, 1);
    return name_check_refuses(intake->names, &intake->source, why);
}

static gboolean decode_log(Intake *intake, const WireHeader *header, GError **error) {
    if (intake->services == NULL) intake->services = service_spans_new();
    if (!scribe_decode(intake->services, header, intake->batch, error)) return FALSE;
    counter_add(intake->counters, COUNTER_TEXTS_CUT, service_spans_cut(intake->services));
    return TRUE;
}

static gboolean decode(Intake *intake, const WireHeader *header, WireVersions *versions, GError **error) {
    if (header->call == CALL_SUBMIT) return wire_batch_decode(header, intake->batch, versions, error);
    *versions = (WireVersions){WIRE_VERSION, 1};
    if (header->call == CALL_LOG) return decode_log(intake, header, error);
    if (header->call == CALL_WRITE_SPANS) return hrpc_decode(header, intake->batch, error);
    return wire_plain_decode(header, intake->batch, error);
}

static void describe_refused(const guint32 refused[PACK_RESULT_COUNT], WireReply *reply) {
    for (int i = 0; i < PACK_RESULT_COUNT; i++) reply->refused += (gint32)refused[i];
    if (G_LIKELY(reply->refused == 0)) return;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < PACK_RESULT_COUNT; i++) {
        if (refused[i] == 0) continue;
        g_string_append_printf(text, "%s%s: %u", text->len > 0 ? ", " : "", pack_result_text((PackResult)i),
                               refused[i]);
    }
    g_strlcpy(reply->message, text->str, sizeof reply->message);
}

static IntakeResult take_batch(Intake *intake, const SpanBatch *batch, Bytes frame, const WireHeader *header,
                               GByteArray *out) {
    guint32 refused[PACK_RESULT_COUNT] = {0};
    g_autoptr(GError) error = NULL;

    if (!pack_batch(intake, batch, refused, &error)) {
        static LogLimit limit;
        log_limited(&limit, LOG_LEVEL_ERROR, "%s; senders are asked to wait", error->message);
        WireReply reply = reply_later(INTAKE_WAIT_SHUT_MS, error->message);
        queue_reply(intake, out, header, &reply);
        intake->pause_ms = INTAKE_WAIT_QUEUES_MS;
        counter_add(intake->counters, COUNTER_TRY_LATER, 1);
        return INTAKE_LATER;
    }

    g_autofree char *why = NULL;
    if (G_UNLIKELY(is_refused_name(intake, &why))) {
        unpack_batch(intake);
        return answer_foreign(intake, out, header, why);
    }

    WireReply reply = reply_make(REPLY_OK, "");
    describe_refused(refused, &reply);
    reply.accepted = (gint32)batch->spans->len - reply.refused;
    charge(intake, QUOTA_SPANS, batch->spans->len);
    if (reply.accepted > 0 && intake->options.journal) {
        JournalRecord record = journal_record(frame);
        g_array_append_val(intake->frames, record);
    }

    queue_reply(intake, out, header, &reply);
    PendingReply *pending = &g_array_index(intake->replies, PendingReply, intake->replies->len - 1);
    memcpy(pending->refused, refused, sizeof refused);
    pending->sender = senders_note(intake->options.senders, &batch->sender, clock_wall_ns(clock_system()));
    return INTAKE_TAKEN;
}

/* ---- records of Spark ---- */

#define REFUSED_RECORDS "records without what tells them from others, or marks that are more than a day ahead"

static gboolean call_known(const Intake *intake, const WireHeader *header) {
    return header->call != CALL_UNKNOWN && (header->call != CALL_SUBMIT_RECORDS || intake->options.recorder != NULL);
}

/* What the next batch is decoded into; take_records() takes it away. */
static SparkRecords *next_records(Intake *intake) {
    if (intake->spare == NULL) intake->spare = spark_records_new();
    return intake->spare;
}

/* Leaves out marks of a time that is too far ahead; how many there were. */
static guint32 drop_marks_ahead(SparkRecords *records) {
    const gint64 now_ns = clock_wall_ns(clock_system());
    GArray *marks = records->of[SPARK_MARK];
    guint kept = 0;
    for (guint i = 0; i < marks->len; i++) {
        const HostMark mark = *spark_mark(records, i);
        if (mark_is_ahead(mark.begin_ns, now_ns) || mark_is_ahead(mark.end_ns, now_ns)) continue;
        g_array_index(marks, HostMark, kept++) = mark;
    }
    const guint dropped = marks->len - kept;
    g_array_set_size(marks, kept);
    return dropped;
}

static IntakeResult take_records(Intake *intake, Bytes frame, const WireHeader *header, guint32 refused,
                                 GByteArray *out) {
    WireReply reply = reply_make(REPLY_OK, refused > 0 ? REFUSED_RECORDS : "");
    reply.accepted = (gint32)spark_records_count(intake->spare);
    reply.refused = (gint32)refused;
    charge(intake, QUOTA_SPANS, (gsize)reply.accepted);
    if (reply.accepted > 0) {
        g_ptr_array_add(intake->records, g_steal_pointer(&intake->spare));
        if (intake->options.journal) {
            JournalRecord record = journal_record(frame);
            g_array_append_val(intake->frames, record);
        }
        update_pending(intake);
    }
    queue_reply(intake, out, header, &reply);
    g_array_index(intake->replies, PendingReply, intake->replies->len - 1).records = TRUE;
    return INTAKE_TAKEN;
}

static void hand_over_records(Intake *intake, JournalSegment *segment) {
    for (guint i = 0; i < intake->records->len; i++)
        recorder_put(intake->options.recorder, g_ptr_array_index(intake->records, i), segment);
    while (intake->records->len > 0) g_ptr_array_steal_index(intake->records, intake->records->len - 1);
}

/* ---- frames that are made here ---- */

/* The bytes of such a frame that are kept for the next one. */
#define MADE_KEPT_BYTES (1024u * 1024)

/* What the journal has of the batch. Without a journal nobody needs it. It is there until the next one is made. */
static Bytes make_frame(Intake *intake, const SpanBatch *batch) {
    g_byte_array_set_size(intake->made, 0);
    if (!intake->options.journal) return (Bytes){NULL, 0};
    wire_batch_encode_packed(batch, intake->made);
    return (Bytes){intake->made->data + FRAME_HEADER_BYTES, intake->made->len - FRAME_HEADER_BYTES};
}

static void drop_frame(Intake *intake) {
    if (intake->made->len <= MADE_KEPT_BYTES) return;
    g_byte_array_unref(intake->made);
    intake->made = g_byte_array_new();
}

static Bytes make_records_frame(Intake *intake, const SparkRecords *records) {
    g_byte_array_set_size(intake->made, 0);
    if (!intake->options.journal) return (Bytes){NULL, 0};
    wire_records_encode(records, PROTOCOL_COMPACT, 0, intake->made);
    return (Bytes){intake->made->data + FRAME_HEADER_BYTES, intake->made->len - FRAME_HEADER_BYTES};
}

static IntakeResult refuse_made(Intake *intake, GByteArray *out, const WireHeader *header) {
    g_autoptr(GError) error = NULL;
    fail(&error, PLUMB_ERROR_LIMIT, "the batch takes more than %u bytes: send fewer spans at a time",
         LIMIT_FRAME_BYTES);
    return answer_refused(intake, out, header, error);
}

/* What was decoded, in our own form and masked, which the journal gets instead of what came; committed at once. */
static IntakeResult take_made(Intake *intake, const WireHeader *header, guint32 refused, GByteArray *out) {
    const gboolean records = header->call == CALL_SUBMIT_RECORDS;
    IntakeResult result;
    if (intake->masker != NULL && records)
        masker_records(intake->masker, intake->spare);
    else if (intake->masker != NULL)
        masker_batch(intake->masker, intake->batch);

    const Bytes frame = records ? make_records_frame(intake, intake->spare) : make_frame(intake, intake->batch);
    if (frame.size_bytes > LIMIT_FRAME_BYTES)
        result = refuse_made(intake, out, header);
    else if (records)
        result = take_records(intake, frame, header, refused, out);
    else
        result = take_batch(intake, intake->batch, frame, header, out);

    intake_commit(intake);
    drop_frame(intake);
    batch_clear(intake->batch);
    return result;
}

/* The journal knows frames of Thrift alone. */
static gboolean is_foreign_form(const WireHeader *header) {
    return header->call == CALL_LOG || header->call == CALL_WRITE_SPANS;
}

static IntakeResult take_call(Intake *intake, const WireHeader *header, Bytes frame, GByteArray *out) {
    if (!call_known(intake, header)) return answer_unknown(intake, out, header);
    if (G_UNLIKELY(intake->denied)) return answer_denied(intake, out, header);
    QuotaKind kind;
    const gint64 wait_ns = G_LIKELY(intake->account == NULL) ? 0 : quota_waits_ns(intake, &kind);
    if (G_UNLIKELY(wait_ns > 0)) return answer_over_quota(intake, out, header, kind, wait_ns);
    Pressure pressure = intake_pressure(intake);
    if (pressure != PRESSURE_NONE) return answer_later(intake, out, header, pressure);

    const gboolean records = header->call == CALL_SUBMIT_RECORDS;
    g_autoptr(GError) error = NULL;
    WireVersions versions = {0};
    guint32 refused = 0;
    charge(intake, QUOTA_BYTES, frame.size_bytes); /* what is refused costs time, too */
    const gboolean decoded = records ? wire_records_decode(header, next_records(intake), &versions, &refused, &error)
                                     : decode(intake, header, &versions, &error);
    if (versions.needs > WIRE_VERSION) {
        counter_add(intake->counters, COUNTER_FRAME_VERSION, 1);
        WireReply reply = reply_make(REPLY_VERSION, "the batch needs a newer receiver");
        queue_reply(intake, out, header, &reply);
        return INTAKE_TAKEN;
    }
    if (!decoded) return answer_refused(intake, out, header, error);

    const guint32 ahead = records ? drop_marks_ahead(intake->spare) : 0;
    if (G_UNLIKELY(ahead > 0 || intake->masker != NULL || is_foreign_form(header)))
        return take_made(intake, header, refused + ahead, out);
    if (records) return take_records(intake, frame, header, refused, out);
    const IntakeResult result = take_batch(intake, intake->batch, frame, header, out);
    if (frame.size_bytes > FRAME_LARGE_BYTES) batch_clear(intake->batch);
    return result;
}

IntakeResult intake_frame(Intake *intake, Bytes frame, GByteArray *out) {
    counter_add(intake->counters, COUNTER_FRAMES, 1);
    WireHeader header;
    if (!wire_header_decode(frame, &header, NULL)) return INTAKE_BROKEN;
    return take_call(intake, &header, frame, out);
}

IntakeResult intake_hrpc(Intake *intake, Bytes request, GByteArray *out) {
    counter_add(intake->counters, COUNTER_FRAMES, 1);
    WireHeader header;
    hrpc_header_decode(request, &header);
    return take_call(intake, &header, request, out);
}

/* ---- batches without a frame ---- */

/* What was put last: its answer, and to the journal. */
static void settle_made(Intake *intake, WireReply *reply) {
    g_array_index(intake->replies, PendingReply, intake->replies->len - 1).into = reply;
    intake_commit(intake);
    drop_frame(intake);
}

IntakeResult intake_records(Intake *intake, SparkRecords *records, WireReply *reply) {
    const WireHeader header = {.call = CALL_SUBMIT_RECORDS};
    const Pressure pressure = intake_pressure(intake);
    IntakeResult result;
    counter_add(intake->counters, COUNTER_FRAMES, 1);
    spark_records_free(intake->spare);
    intake->spare = records;

    if (pressure != PRESSURE_NONE) {
        result = answer_later(intake, NULL, &header, pressure);
    } else {
        if (intake->masker != NULL) masker_records(intake->masker, records);
        result = take_records(intake, make_records_frame(intake, records), &header, 0, NULL);
    }
    settle_made(intake, reply);
    return result;
}

IntakeResult intake_batch(Intake *intake, SpanBatch *batch, WireReply *reply) {
    const WireHeader header = {.call = CALL_SUBMIT};
    const Pressure pressure = intake_pressure(intake);
    IntakeResult result;
    counter_add(intake->counters, COUNTER_FRAMES, 1);

    if (pressure != PRESSURE_NONE) {
        result = answer_later(intake, NULL, &header, pressure);
    } else {
        if (intake->masker != NULL) masker_batch(intake->masker, batch);
        const Bytes frame = make_frame(intake, batch);
        result = frame.size_bytes > LIMIT_FRAME_BYTES ? refuse_made(intake, NULL, &header)
                                                      : take_batch(intake, batch, frame, &header, NULL);
    }

    settle_made(intake, reply);
    return result;
}

/* ---- to the journal and the shards ---- */

/* An array that a large batch needed is not kept. */
#define FRAGMENTS_KEPT_BYTES (4u * 1024 * 1024)

static void hand_over(Intake *intake, JournalSegment *segment) {
    account_page_begin(intake->page);
    for (guint i = 0; i < intake->runs->len; i++) {
        const PackRun *run = &g_array_index(intake->runs, PackRun, i);
        account_page_add(intake->page, run->tracer, ACCOUNT_RECEIVED, run->spans);
    }
    g_array_set_size(intake->runs, 0);

    for (guint i = 0; i < intake->options.n_shards; i++) {
        GByteArray *fragments = intake->fragments[i];
        if (fragments->len == 0) continue;
        if (fragments->len > FRAGMENTS_KEPT_BYTES) {
            shard_give_spans(intake->options.shards[i], fragments, segment);
            intake->fragments[i] = g_byte_array_new();
            continue;
        }
        shard_put_spans(intake->options.shards[i], (Bytes){fragments->data, fragments->len}, segment);
        g_byte_array_set_size(fragments, 0);
    }

    hand_over_records(intake, segment);
    account_page_end(intake->page);
    intake->pending_bytes = 0;
}

static void count_batch(Intake *intake, PendingReply *pending) {
    guint64 spans = (guint64)pending->reply.accepted;
    counter_add(intake->counters, COUNTER_BATCHES, 1);
    counter_add(intake->counters, COUNTER_SPANS, spans);
    for (int i = 0; i < PACK_RESULT_COUNT; i++)
        if (pending->refused[i]) counter_add(intake->counters, (Counter)(COUNTER_REFUSED + i), pending->refused[i]);
    senders_took(intake->options.senders, g_steal_pointer(&pending->sender), spans, pending->refused);
}

static void count_records(Intake *intake, const PendingReply *pending) {
    counter_add(intake->counters, COUNTER_BATCHES, 1);
    counter_add(intake->counters, COUNTER_RECORDS, (guint64)pending->reply.accepted);
    counter_add(intake->counters, COUNTER_RECORDS_REFUSED, (guint64)pending->reply.refused);
}

static void count_commit(Intake *intake) {
    for (guint i = intake->n_committed; i < intake->replies->len; i++) {
        PendingReply *pending = &g_array_index(intake->replies, PendingReply, i);
        if (pending->sender) count_batch(intake, pending);
        if (pending->records) count_records(intake, pending);
    }
}

/* What was OK since 'from' is not: the sender has to send it again. */
static void take_back(Intake *intake, guint from, const GError *error) {
    g_autofree char *why = g_strdup_printf("the journal cannot be written: %s", error->message);
    counter_add(intake->counters, COUNTER_JOURNAL_FAILURES, 1);
    if (admission_set(intake->options.admission, ADMISSION_JOURNAL_FAILS, why))
        log_message(LOG_LEVEL_ERROR, "%s; senders are asked to wait", why);
    for (guint i = from; i < intake->replies->len; i++) {
        PendingReply *pending = &g_array_index(intake->replies, PendingReply, i);
        if (pending->exception || pending->reply.status != REPLY_OK) continue;
        if (pending->sender) senders_took(intake->options.senders, g_steal_pointer(&pending->sender), 0, NULL);
        pending->reply = reply_later(INTAKE_WAIT_SHUT_MS, why);
        counter_add(intake->counters, COUNTER_TRY_LATER, 1);
    }
}

gboolean intake_commit(Intake *intake) {
    g_autoptr(GError) error = NULL;
    JournalSegment *segment = NULL;
    const JournalRecord *frames = (const JournalRecord *)intake->frames->data;
    guint n = intake->frames->len;

    if (n > 0 && intake->options.sync && !intake->unsynced)
        intake->synced_from = journal_position(intake->options.journal);
    gboolean good = n == 0 || journal_append(intake->options.journal, frames, n, &segment, &error);

    if (good) {
        for (guint i = 0; i < n; i++)
            counter_add(intake->counters, COUNTER_JOURNAL_BYTES, frames[i].payload.size_bytes);
        hand_over(intake, segment);
        journal_release(segment);
        count_commit(intake);
        intake->unsynced = intake->unsynced || n > 0;
    } else {
        memset(intake->marks, 0, intake->options.n_shards * sizeof *intake->marks);
        g_array_set_size(intake->runs, 0);
        g_ptr_array_set_size(intake->records, 0);
        roll_back(intake);
        intake->pending_bytes = 0;
        take_back(intake, intake->n_committed, error);
    }

    g_array_set_size(intake->frames, 0);
    intake->n_committed = intake->replies->len;
    return good;
}

static void write_reply(const Intake *intake, const PendingReply *pending) {
    if (pending->into != NULL) {
        *pending->into = pending->reply;
        return;
    }
    if (pending->header.hrpc) {
        const gboolean good = !pending->exception && pending->reply.status == REPLY_OK;
        hrpc_reply_encode(&pending->header, good ? NULL : pending->reply.message, pending->out);
        return;
    }
    const gboolean log = pending->header.call == CALL_LOG;
    if (pending->exception || (log && pending->reply.status != REPLY_OK)) {
        wire_exception_encode(&pending->header, pending->reply.message, pending->out);
        return;
    }
    if (log) {
        wire_log_reply_encode(&pending->header, pending->out);
        return;
    }
    const char *sampling = atomic_load(intake->options.sampling);
    WireReply reply = pending->reply;
    reply.sampling = (BatchString){sampling, (guint32)strlen(sampling)};
    wire_reply_encode(&pending->header, &reply, pending->out);
}

void intake_finish(Intake *intake) {
    g_assert(intake->n_committed == intake->replies->len);
    g_autoptr(GError) error = NULL;
    /* Spans that a failed sync leaves in doubt are with the shards already: they come again, and are then duplicates.
     */
    if (intake->options.sync && intake->unsynced && !journal_sync(intake->options.journal, intake->synced_from, &error))
        take_back(intake, 0, error);
    intake->unsynced = FALSE;
    for (guint i = 0; i < intake->replies->len; i++) {
        const PendingReply *pending = &g_array_index(intake->replies, PendingReply, i);
        if (!pending->header.oneway) write_reply(intake, pending);
    }
    g_array_set_size(intake->replies, 0);
    intake->n_committed = 0;
}

static gboolean replay_records(Intake *intake, const WireHeader *header, JournalSegment *segment, guint32 *spans,
                               GError **error) {
    WireVersions versions;
    guint32 refused;
    if (!wire_records_decode(header, next_records(intake), &versions, &refused, error)) return FALSE;
    counter_add(intake->counters, COUNTER_RECORDS, spark_records_count(intake->spare));
    if (intake->masker != NULL) masker_records(intake->masker, intake->spare);
    g_ptr_array_add(intake->records, g_steal_pointer(&intake->spare));
    hand_over_records(intake, segment);
    *spans = 0;
    return TRUE;
}

gboolean intake_replay(Intake *intake, Bytes frame, JournalSegment *segment, guint32 *spans, GError **error) {
    WireHeader header;
    WireVersions versions;
    guint32 refused[PACK_RESULT_COUNT] = {0};
    if (!wire_header_decode(frame, &header, error)) return FALSE;
    if (!call_known(intake, &header) || header.call == CALL_LOG)
        return fail(error, PLUMB_ERROR_INPUT, "unknown method '%s'", header.method);
    if (header.call == CALL_SUBMIT_RECORDS) return replay_records(intake, &header, segment, spans, error);
    if (!decode(intake, &header, &versions, error)) return FALSE;
    if (intake->masker != NULL)
        masker_batch(intake->masker, intake->batch); /* it may have come before there were rules */
    if (!pack_batch(intake, intake->batch, refused, error)) return FALSE;
    WireReply reply = {0};
    describe_refused(refused, &reply);
    *spans = intake->batch->spans->len - (guint32)reply.refused;
    hand_over(intake, segment);
    return TRUE;
}
