#include "analyzer/cli/import/importer.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/cli/import/follow.h"
#include "analyzer/cli/import/input.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/wire/client.h"
#include "common/wire/json/span_json.h"

#define CONNECT_TIMEOUT_MS 10000
/* plumbd may pause its senders while its store is behind, and may be started anew meanwhile. */
#define GIVE_UP_MS 60000
/* Following, each try is short, so that signals are seen between them. */
#define FOLLOW_TRY_MS 1000

typedef struct Sent {
    guint64 sent, accepted, refused;
} Sent;

struct Importer {
    ImportOptions options;
    WireClient *client;
    SpanBatch *batch;
    SparkRecords *records;
    char *sender; /* our name among plumbd's senders */
    gint64 sequence;
    gint64 begin_ns;
    json_t *files;
    Sent spans, of_spark;
    guint64 bad_values;
    char *refused_message;
};

/* One file while it is read. */
typedef struct FileRun {
    Importer *importer;
    const char *path;
    Input *input;
    SpanJsonReader *reader;
    Follow *follow;
    guint64 bytes, spans, records, bad_values; /* of readers before this one: after truncation and rotation */
    char *first_error;
} FileRun;

Importer *importer_new(const ImportOptions *options, GError **error) {
    WireClient *client = wire_client_connect(options->thrift, options->security, CONNECT_TIMEOUT_MS, error);
    if (client == NULL) return NULL;
    Importer *importer = g_new0(Importer, 1);
    importer->options = *options;
    importer->client = client;
    importer->batch = batch_new();
    importer->records = spark_records_new();
    importer->begin_ns = clock_monotonic_ns(clock_system());
    importer->sender = g_strdup_printf("plumb import/%s/%d@%" G_GINT64_FORMAT, g_get_host_name(), (int)getpid(),
                                       clock_wall_ns(clock_system()) / NS_PER_MS);
    importer->files = json_array();
    return importer;
}

void importer_free(Importer *importer) {
    if (importer == NULL) return;
    wire_client_close(importer->client);
    batch_free(importer->batch);
    spark_records_free(importer->records);
    json_decref(importer->files);
    g_free(importer->sender);
    g_free(importer->refused_message);
    g_free(importer);
}

static void name_sender(Importer *importer) {
    BatchSender *sender = &importer->batch->sender;
    sender->sender = batch_copy(importer->batch, importer->sender, strlen(importer->sender));
    sender->sequence = ++importer->sequence;
    sender->spans_sent = (gint64)(importer->spans.sent + importer->batch->spans->len);
    sender->spans_queued = 0;
}

static gboolean try_for(Importer *importer, gboolean of_spark, gint64 give_up_ms, WireReply *reply, GError **error) {
    return of_spark ? wire_client_deliver_records(importer->client, importer->records, give_up_ms, reply, error)
                    : wire_client_deliver(importer->client, importer->batch, give_up_ms, reply, error);
}

/* Following, plumbd may be away for as long as it likes: nothing is lost, the file waits. */
static gboolean deliver_patiently(FileRun *run, gboolean of_spark, WireReply *reply, GError **error) {
    Importer *importer = run->importer;
    gboolean said = FALSE;
    for (;;) {
        g_autoptr(GError) why = NULL;
        if (try_for(importer, of_spark, FOLLOW_TRY_MS, reply, &why)) {
            if (said) importer->options.say(importer->options.arg, "plumbd takes spans again");
            return TRUE;
        }
        gboolean passing =
            g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_PEER) || g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_BUSY);
        if (!passing || follow_stopped(run->follow)) {
            g_propagate_error(error, g_steal_pointer(&why));
            return FALSE;
        }
        if (!said) importer->options.say(importer->options.arg, why->message);
        said = TRUE;
    }
}

static void count_reply(Importer *importer, Sent *sent, const WireReply *reply, guint64 n) {
    sent->sent += n;
    gboolean whole = reply->status == REPLY_REFUSED;
    sent->accepted += whole ? 0 : (guint64)MAX(reply->accepted, 0);
    sent->refused += whole ? n : (guint64)MAX(reply->refused, 0);
    if ((whole || reply->refused > 0) && importer->refused_message == NULL)
        importer->refused_message = g_strdup(reply->message[0] != '\0' ? reply->message : "no reason was given");
}

/* Sends n spans, or records of Spark. */
static gboolean send_some(FileRun *run, gboolean of_spark, guint64 n, GError **error) {
    Importer *importer = run->importer;
    WireReply reply;
    const char *what = of_spark ? "records of Spark" : "spans";
    gboolean done = run->follow != NULL ? deliver_patiently(run, of_spark, &reply, error)
                                        : try_for(importer, of_spark, GIVE_UP_MS, &reply, error);
    if (!done) return FALSE;
    if (reply.status == REPLY_VERSION)
        return fail(error, PLUMB_ERROR_VERSION, "the plumbd at %s is too old for these %s (its version %d, ours %d)",
                    importer->options.thrift, what, reply.version, WIRE_VERSION);
    if (reply.status == REPLY_TRY_LATER)
        return fail(error, PLUMB_ERROR_BUSY, "the plumbd at %s takes no %s now: %s", importer->options.thrift, what,
                    reply.message);
    count_reply(importer, of_spark ? &importer->of_spark : &importer->spans, &reply, n);
    return TRUE;
}

/* Sends what was read and empties it. */
static gboolean deliver(FileRun *run, GError **error) {
    Importer *importer = run->importer;
    const guint64 spans = importer->batch->spans->len, records = spark_records_count(importer->records);
    if (spans > 0) {
        name_sender(importer);
        if (!send_some(run, FALSE, spans, error)) return FALSE;
        batch_clear(importer->batch);
    }
    if (records > 0) {
        if (!send_some(run, TRUE, records, error)) return FALSE;
        spark_records_clear(importer->records);
    }
    if (spans + records == 0) return TRUE;
    progress_update(importer->options.progress, importer->spans.sent, 0, "spans");
    progress_fraction(importer->options.progress, input_fraction(run->input));
    return TRUE;
}

static gboolean feed(FileRun *run, Bytes piece, GError **error) {
    const guint8 *at = piece.data;
    gsize left = piece.size_bytes;
    do {
        gsize consumed = 0;
        span_json_feed(run->reader, (Bytes){at, left}, IMPORT_BATCH_SPANS, run->importer->batch, &consumed);
        at += consumed;
        left -= consumed;
        const gboolean full = left > 0 || run->importer->batch->spans->len >= IMPORT_BATCH_SPANS;
        if (full && !deliver(run, error)) return FALSE;
    } while (left > 0);
    return TRUE;
}

/* The end of one file's content: counts of the reader go to the run's. */
static void finish_reader(FileRun *run) {
    span_json_finish(run->reader);
    SpanJsonCounts counts = span_json_counts(run->reader);
    run->bytes += counts.bytes;
    run->spans += counts.spans;
    run->records += counts.records;
    run->bad_values += counts.bad_values;
    if (counts.first_error != NULL && run->first_error == NULL)
        run->first_error = g_strdup(counts.first_error->message);
    g_clear_pointer(&run->reader, span_json_reader_free);
}

static SpanJsonReader *new_reader(const FileRun *run) {
    SpanJsonReader *reader = span_json_reader_new();
    span_json_take_records(reader, run->importer->records);
    return reader;
}

static gboolean start_over(FileRun *run, FollowEvent event, GError **error) {
    finish_reader(run);
    run->reader = new_reader(run);
    if (event == FOLLOW_TRUNCATED) return input_rewind(run->input, error);
    Input *next = input_open(run->path, error);
    if (next == NULL) return FALSE;
    input_close(run->input);
    run->input = next;
    return TRUE;
}

/* At the end of the file: TRUE to go on. *done without an error is the end. */
static gboolean wait_for_more(FileRun *run, gboolean *done, GError **error) {
    *done = run->follow == NULL;
    if (*done) return TRUE;
    FollowEvent event = follow_wait(run->follow, input_fd(run->input), input_position(run->input), error);
    switch (event) {
    case FOLLOW_GROWN: return TRUE;
    case FOLLOW_TRUNCATED:
    case FOLLOW_REPLACED: return start_over(run, event, error);
    case FOLLOW_STOPPED: *done = TRUE; return TRUE;
    case FOLLOW_FAILED: return FALSE;
    }
    g_assert_not_reached();
}

/* Whoever has a log of Spark tries this command first. */
static gboolean check_begin(const FileRun *run, Bytes begin, GError **error) {
    static const char of_spark[] = "{\"Event\":\"SparkListener";
    if (begin.size_bytes < sizeof of_spark - 1 || memcmp(begin.data, of_spark, sizeof of_spark - 1) != 0) return TRUE;
    return fail(
        error, PLUMB_ERROR_CONFIG,
        "%s is an event log of Spark: 'plumb-bridge %s' sends it to plumbd, 'plumb --store DIR import' reads it "
        "into a store of its own",
        run->path, run->path);
}

static gboolean read_all(FileRun *run, GError **error) {
    gboolean done = FALSE, begun = FALSE;

    while (!done) {
        Bytes piece;
        switch (input_read(run->input, &piece, error)) {
        case INPUT_DATA:
            if (run->follow != NULL && input_compressed(run->input))
                return fail(error, PLUMB_ERROR_CONFIG, "%s is compressed: --follow reads plain files", run->path);
            if (!begun && !check_begin(run, piece, error)) return FALSE;
            begun = TRUE;
            if (!feed(run, piece, error)) return FALSE;
            if (run->follow != NULL && follow_stopped(run->follow)) return deliver(run, error);
            break;
        case INPUT_IDLE:
            if (!deliver(run, error)) return FALSE;
            break;
        case INPUT_END:
            if (!deliver(run, error) || !wait_for_more(run, &done, error)) return FALSE;
            break;
        case INPUT_FAILED: {
            /* What was read whole before the damage is sent all the same. */
            g_autoptr(GError) second = NULL;
            if (!deliver(run, &second) && error != NULL && *error == NULL)
                g_propagate_error(error, g_steal_pointer(&second));
            return FALSE;
        }
        }
    }
    return TRUE;
}

static void add_report(FileRun *run, const GError *error) {
    json_t *file = json_pack("{s:s, s:I, s:I, s:I}", "file", run->path, "bytes", (json_int_t)run->bytes, "spans",
                             (json_int_t)run->spans, "bad_values", (json_int_t)run->bad_values);
    if (file == NULL) return; /* a file name that is not UTF-8 */
    if (run->records > 0) json_object_set_new(file, "records", json_integer((json_int_t)run->records));
    if (run->first_error != NULL) json_object_set_new(file, "first_error", json_string(run->first_error));
    if (error != NULL) json_object_set_new(file, "error", json_string(error->message));
    json_array_append_new(run->importer->files, file);
    run->importer->bad_values += run->bad_values;
}

gboolean importer_file(Importer *importer, const char *path, GError **error) {
    FileRun run = {.importer = importer, .path = path};
    GError *why = NULL;
    gboolean done = FALSE;
    if (importer->options.follow) run.follow = follow_new(path, &why);
    if (why == NULL) run.input = input_open(path, &why);
    if (run.input != NULL) {
        run.reader = new_reader(&run);
        done = read_all(&run, &why);
        if (run.reader != NULL) finish_reader(&run);
    }
    batch_clear(importer->batch);
    spark_records_clear(importer->records);
    add_report(&run, why);
    input_close(run.input);
    follow_free(run.follow);
    g_free(run.first_error);
    if (why != NULL) g_propagate_error(error, why);
    return done;
}

gboolean importer_clean(const Importer *importer) {
    return importer->bad_values == 0 && importer->spans.refused == 0 && importer->of_spark.refused == 0;
}

json_t *importer_report(const Importer *importer) {
    gint64 duration_ns = clock_monotonic_ns(clock_system()) - importer->begin_ns;
    json_t *report = json_pack("{s:O, s:I, s:I, s:I, s:I, s:I}", "files", importer->files, "spans_sent",
                               (json_int_t)importer->spans.sent, "spans_accepted", (json_int_t)importer->spans.accepted,
                               "spans_refused", (json_int_t)importer->spans.refused, "bad_values",
                               (json_int_t)importer->bad_values, "duration_ns", (json_int_t)duration_ns);
    if (importer->of_spark.sent > 0) {
        json_object_set_new(report, "records_sent", json_integer((json_int_t)importer->of_spark.sent));
        json_object_set_new(report, "records_accepted", json_integer((json_int_t)importer->of_spark.accepted));
        json_object_set_new(report, "records_refused", json_integer((json_int_t)importer->of_spark.refused));
    }
    if (importer->refused_message != NULL)
        json_object_set_new(report, "refused_message", json_string(importer->refused_message));
    return report;
}
