#include "receiver/http/http_jobs.h"

#include <gio/gio.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/archive/consolidation/join.h"
#include "analyzer/query/jaeger/jaeger.h"
#include "analyzer/query/shared/json_compact.h"
#include "analyzer/query/shared/json_memory.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/fnv.h"
#include "common/base/thread.h"
#include "receiver/background/memory.h"
#include "receiver/http/status.h"
#include "receiver/state/status_accounts.h"

/* Questions give way to spans: with all processors busy, a question gets a tenth of what a thread that takes spans in
 * gets. */
#define QUERY_NICE 10
/* What a question took goes back soon, if it is so much: that costs some milliseconds. */
#define TRIM_QUESTION_BYTES ((gsize)8 * 1024 * 1024)
#define TYPE_JSON           "application/json"
#define TYPE_COLUMNS        "application/x-plumb-columns"
/* How often a job that waits for something else than a thread is looked at. */
#define LOOK_NS (50 * NS_PER_MS)
/* How long a question that may take any time waits for records that are on their way. */
#define RECORDS_WAIT_NS (600 * NS_PER_SEC)

struct HttpJob {
    HttpJob *same; /* asks the same, and is answered with it */
    JobKind kind;
    char *question;
    QueryParams *params;
    void *owner;
    char peer[PEER_NAME_BYTES];
    gboolean gzip;
    guint n_traces;
    guint64 traces[HTTP_JOB_TRACES];
    pthread_mutex_t lock;
    pthread_cond_t drained;
    gsize in_flight_bytes;
    gboolean cancelled;
};

/* What a query thread is at; the job itself may be gone once it is answered. */
typedef struct Running {
    JobKind kind;
    gboolean large;
    char peer[PEER_NAME_BYTES];
} Running;

struct HttpJobs {
    HttpJobsOptions options;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t ordered;
    guint orders;         /* threads that wait for shards */
    gboolean shards_left; /* no more of them */
    GQueue waiting;       /* HttpJob */
    GPtrArray *running;   /* Running */
    double flushes;       /* that may be begun at once, as of flushed_ns */
    gint64 flushed_ns;
    HttpAnswer *answers, **last_answer;
    gboolean stopping;
};

/* ---- jobs ---- */

HttpJob *http_job_new(JobKind kind, const char *question, QueryParams *params, void *owner) {
    HttpJob *job = g_new0(HttpJob, 1);
    job->kind = kind;
    job->question = g_strdup(question);
    job->params = params;
    job->owner = owner;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->drained, NULL);
    return job;
}

void http_job_add_trace(HttpJob *job, guint64 trace_id) {
    g_assert(job->n_traces < HTTP_JOB_TRACES);
    job->traces[job->n_traces++] = trace_id;
}

void http_job_set_gzip(HttpJob *job) { job->gzip = TRUE; }

void http_job_set_peer(HttpJob *job, const char *principal, const char *address) {
    g_autofree char *hash = NULL;
    const char *peer = principal != NULL ? principal : address;
    if (strlen(peer) >= sizeof job->peer) peer = hash = g_compute_checksum_for_string(G_CHECKSUM_MD5, peer, -1);
    g_strlcpy(job->peer, peer, sizeof job->peer);
}

gboolean http_job_is_flush(const HttpJob *job) { return job->kind == JOB_FLUSH; }

void *http_job_owner(const HttpJob *job) { return job->owner; }

void http_job_cancel(HttpJob *job) {
    pthread_mutex_lock(&job->lock);
    job->cancelled = TRUE;
    pthread_cond_signal(&job->drained);
    pthread_mutex_unlock(&job->lock);
}

void http_job_drained(HttpJob *job) {
    pthread_mutex_lock(&job->lock);
    job->in_flight_bytes = 0;
    pthread_cond_signal(&job->drained);
    pthread_mutex_unlock(&job->lock);
}

void http_job_free(HttpJob *job) {
    if (!job) return;
    query_params_free(job->params);
    pthread_cond_destroy(&job->drained);
    pthread_mutex_destroy(&job->lock);
    g_free(job->question);
    g_free(job);
}

void http_answer_free(HttpAnswer *answer) {
    if (!answer) return;
    g_clear_pointer(&answer->body, g_bytes_unref);
    g_free(answer);
}

/* ---- answering; on query threads ---- */

static void post(HttpJobs *jobs, const HttpAnswer *content) {
    HttpAnswer *answer = g_new(HttpAnswer, 1);
    *answer = *content;
    answer->next = NULL;
    pthread_mutex_lock(&jobs->lock);
    *jobs->last_answer = answer;
    jobs->last_answer = &answer->next;
    pthread_mutex_unlock(&jobs->lock);
    jobs->options.ready(jobs->options.arg);
}

/* Packed as fast as it goes: most answers stay on the machine, or in one network. NULL: it is not worth it. */
static GBytes *pack(GBytes *body) {
    enum { LEVEL = 1 };
    gsize size_bytes, read_bytes = 0, packed_bytes = 0;
    const guint8 *data = g_bytes_get_data(body, &size_bytes);
    if (size_bytes <= HTTP_PACKED_FROM_BYTES) return NULL;
    g_autofree guint8 *packed = g_malloc(size_bytes);
    g_autoptr(GZlibCompressor) compressor = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, LEVEL);
    const GConverterResult result = g_converter_convert(G_CONVERTER(compressor), data, size_bytes, packed, size_bytes,
                                                        G_CONVERTER_INPUT_AT_END, &read_bytes, &packed_bytes, NULL);
    if (result != G_CONVERTER_FINISHED) return NULL;
    return g_bytes_new_take(g_realloc(g_steal_pointer(&packed), MAX(packed_bytes, 1)), packed_bytes);
}

static gboolean wants_packed(const HttpJob *job) {
    for (; job != NULL; job = job->same)
        if (job->gzip) return TRUE;
    return FALSE;
}

/* To the job and those that ask the same. Columns are numbers: they take ten times as long to pack as to be sent to a
 * browser beside plumbd. */
static void post_body(HttpJobs *jobs, HttpJob *job, int code, const char *type, GBytes *body) {
    const gboolean document = strcmp(type, TYPE_JSON) == 0;
    g_autoptr(GBytes) packed = document && wants_packed(job) ? pack(body) : NULL;
    const guint64 tag =
        document && code == 200 ? fnv64(FNV64_BASIS, g_bytes_get_data(body, NULL), g_bytes_get_size(body)) | 1 : 0;
    for (HttpJob *next; job != NULL; job = next) {
        /* Once posted it is the HTTP thread's. */
        next = g_steal_pointer(&job->same);
        const gboolean gzipped = packed != NULL && job->gzip;
        const HttpAnswer answer = {.job = job,
                                   .last = TRUE,
                                   .code = code,
                                   .type = type,
                                   .body = g_bytes_ref(gzipped ? packed : body),
                                   .gzipped = gzipped,
                                   .tag = tag};
        post(jobs, &answer);
    }
}

static void post_json(HttpJobs *jobs, HttpJob *job, int code, json_t *document) {
    g_autoptr(GBytes) body = json_compact_bytes(document);
    post_body(jobs, job, code, TYPE_JSON, body);
}

static int code_of(const GError *error) {
    if (error->domain != PLUMB_ERROR) return 500;
    switch ((PlumbError)error->code) {
    case PLUMB_ERROR_INPUT:
    case PLUMB_ERROR_CONFIG:
    case PLUMB_ERROR_LIMIT: return 400;
    case PLUMB_ERROR_NOT_FOUND: return 404;
    case PLUMB_ERROR_BUSY:
    case PLUMB_ERROR_NO_SPACE: return 503;
    default: return 500;
    }
}

/* As whoever asks reads errors. */
static json_t *error_document(const HttpJob *job, int code, const char *message) {
    if (!jaeger_is(job->question)) return json_pack("{s:s}", "error", message);
    return jaeger_error(job->question, code, message);
}

static void post_error(HttpJobs *jobs, HttpJob *job, int code, const char *message) {
    post_json(jobs, job, code, error_document(job, code, message));
}

static gboolean is_recovering(const HttpJobs *jobs) { return atomic_load(&jobs->options.backend.recovery->goes_on); }

/* Around everything that waits for a shard. FALSE: the shards are about to stop. */
static gboolean order_begin(HttpJobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    gboolean allowed = !jobs->shards_left;
    if (allowed) jobs->orders++;
    pthread_mutex_unlock(&jobs->lock);
    return allowed;
}

static void order_end(HttpJobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    jobs->orders--;
    pthread_cond_signal(&jobs->ordered);
    pthread_mutex_unlock(&jobs->lock);
}

/* Open spans of the trace that is asked for are stored first: so the answer has them, and is the same document as of
 * any other trace. When the store fails, what it has must do. */
static void store_trace(HttpJobs *jobs, guint64 trace_id) {
    if (!order_begin(jobs)) return;
    const HttpBackend *backend = &jobs->options.backend;
    Waiter *waiter = waiter_new(1);
    shard_store_trace(backend->shards[shard_of(trace_id, backend->n_shards)], trace_id, waiter);
    waiter_wait(waiter, NULL, NULL);
    order_end(jobs);
}

/* By all who ask it. */
static gboolean is_cancelled(HttpJob *job) {
    gboolean cancelled = TRUE;
    for (; job != NULL && cancelled; job = job->same) {
        pthread_mutex_lock(&job->lock);
        cancelled = job->cancelled;
        pthread_mutex_unlock(&job->lock);
    }
    return cancelled;
}

static gboolean is_gone(void *job) { return is_cancelled(job); }

/* A job that is worked at. */
typedef struct Work {
    HttpJobs *jobs;
    HttpJob *job;
} Work;

static gboolean waits_in_vain(void *arg) {
    const Work *work = arg;
    pthread_mutex_lock(&work->jobs->lock);
    const gboolean left = work->jobs->shards_left;
    pthread_mutex_unlock(&work->jobs->lock);
    return left || is_cancelled(work->job);
}

/* Records of Spark that were acknowledged before the question came are in its answer: who has sent a log may ask about
 * it at once. Not those of a store that fails: what it has must do. Within the allowance, as the wait is a part of what
 * is worked at the question. */
static gboolean await_records(HttpJobs *jobs, HttpJob *job, GError **error) {
    Recorder *recorder = jobs->options.backend.recorder;
    const gint64 timeout_ns = jobs->options.question_timeout_ns;
    const gint64 wait_ns = timeout_ns > 0 ? timeout_ns : RECORDS_WAIT_NS;
    gboolean settled;
    if (order_begin(jobs)) {
        Work work = {jobs, job};
        settled = recorder_settle(recorder, clock_monotonic_ns(clock_system()) + wait_ns, waits_in_vain, &work);
        order_end(jobs);
    } else {
        settled = recorder_waiting(recorder) == 0;
    }
    if (settled) return TRUE;
    if (is_cancelled(job)) return allowance_check(error); /* counted as one whose reader left */
    return fail(error, PLUMB_ERROR_BUSY,
                "records of Spark that came before are not in the store yet: ask again in a moment");
}

static Allowance allowance_of(const HttpJobs *jobs, HttpJob *job, gboolean timed) {
    const gint64 timeout_ns = timed ? jobs->options.question_timeout_ns : 0;
    return (Allowance){
        .budget = jobs->options.backend.questions,
        .timeout_ns = timeout_ns,
        .gone = is_gone,
        .arg = job,
    };
}

/* What a large question took lies free in the allocator, where the next one, on another thread, may not find it. Not
 * given back here: whoever does so holds the lock of each thread's part in turn, and this thread gives way to all. */
static void give_back(const Allowance *allowance) {
    if (allowance->peak_bytes >= TRIM_QUESTION_BYTES) memory_ask_trim();
}

/* The answer, or NULL: columns where the question is answered in them, else a document. */
static GBytes *make_body(const Query *query, const StateSources *state, GError **error) {
    g_auto(JsonRows) rows = {NULL, {NULL, 0, 0}};
    gsize size_bytes;
    json_auto_t *document = query_run_rows(query, &rows, error);
    if (!document) return NULL;
    if (*query->columns) return g_bytes_ref(*query->columns);
    if (strcmp(query->question, "status") == 0) json_object_set_new(document, "receiver", status_receiver(state));
    if (strcmp(query->question, "senders") == 0) accounts_senders(state, document);
    char *text = json_compact_rows(document, &rows, &size_bytes);
    g_autoptr(GBytes) body = g_bytes_new_take(text, size_bytes);
    return allowance_check(error) ? g_steal_pointer(&body) : NULL;
}

static void answer_query(HttpJobs *jobs, HttpJob *job) {
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < job->n_traces; i++) store_trace(jobs, job->traces[i]);
    Allowance allowance = allowance_of(jobs, job, !query_reads_all(job->question));
    allowance_begin(&allowance);
    const gboolean ready = !query_reads_records(job->question) || await_records(jobs, job, &error);

    g_autoptr(GBytes) columns = NULL;
    const Query query = {
        .archive = jobs->options.backend.archive,
        .question = job->question,
        .params = job->params,
        .now_ns = clock_wall_ns(clock_system()),
        .columns = &columns,
    };
    g_autoptr(GBytes) body = ready ? make_body(&query, jobs->options.state, &error) : NULL;
    allowance_end();
    give_back(&allowance);
    if (body)
        post_body(jobs, job, 200, columns ? TYPE_COLUMNS : TYPE_JSON, body);
    else
        post_error(jobs, job, code_of(error), error->message);
}

static void answer_flush(HttpJobs *jobs, HttpJob *job) {
    if (is_recovering(jobs)) {
        post_error(jobs, job, 503, "the store fails, and not all of the journal is recovered: see the log");
        return;
    }
    if (!order_begin(jobs)) {
        post_error(jobs, job, 503, "plumbd is stopping: it stores all open traces now");
        return;
    }

    const HttpBackend *backend = &jobs->options.backend;
    Waiter *waiter = waiter_new(backend->n_shards + 1);
    for (guint i = 0; i < backend->n_shards; i++) shard_flush(backend->shards[i], waiter);
    recorder_flush(backend->recorder, waiter);

    guint64 closed = 0;
    g_autoptr(GError) error = NULL;
    gboolean good = waiter_wait(waiter, &closed, &error);
    order_end(jobs);

    /* What cannot be joined keeps waiting, and the consolidation thread says why. */
    if (good) archive_join(backend->archive, NULL);
    /* Who asks wants them on disk, where `plumb --store` sees them. */
    good = good && store_sync(archive_store(backend->archive), &error);

    if (good)
        post_json(jobs, job, 200, json_pack("{s:I}", "closed_traces", (json_int_t)closed));
    else
        post_error(jobs, job, 503, error->message);
}

static gboolean stream_piece(void *arg, Bytes piece) {
    const Work *stream = arg;
    HttpJob *job = stream->job;
    pthread_mutex_lock(&job->lock);
    while (!job->cancelled && job->in_flight_bytes > HTTP_STREAM_BYTES) pthread_cond_wait(&job->drained, &job->lock);
    gboolean go_on = !job->cancelled;
    job->in_flight_bytes += piece.size_bytes;
    pthread_mutex_unlock(&job->lock);
    if (!go_on || piece.size_bytes == 0) return go_on;
    HttpAnswer answer = {.job = job, .code = 200, .body = g_bytes_new(piece.data, piece.size_bytes), .stream = TRUE};
    post(stream->jobs, &answer);
    return TRUE;
}

static void answer_export(HttpJobs *jobs, HttpJob *job) {
    g_autoptr(GError) error = NULL;
    Work stream = {jobs, job};
    QuerySink sink = {stream_piece, &stream};
    gint64 now_ns = clock_wall_ns(clock_system());
    Allowance allowance = allowance_of(jobs, job, FALSE);
    allowance_begin(&allowance);
    const gboolean good = await_records(jobs, job, &error) &&
                          query_export(jobs->options.backend.archive, job->params, now_ns, &sink, &error);
    allowance_end();
    give_back(&allowance);
    if (good) {
        HttpAnswer end = {.job = job, .last = TRUE, .code = 200, .stream = TRUE};
        post(jobs, &end);
        return;
    }
    post_error(jobs, job, error ? code_of(error) : 500, error ? error->message : "the reader went away");
}

static gboolean asks_the_same(const HttpJob *a, const HttpJob *b) {
    return a->kind == JOB_QUERY && b->kind == JOB_QUERY && strcmp(a->question, b->question) == 0 &&
           query_params_equal(a->params, b->params);
}

/* Those that wait and ask the same are answered with it: what is computed from now on is true for them, too. */
static void take_same(GQueue *waiting, HttpJob *job) {
    HttpJob *last = job;
    for (GList *link = waiting->head, *next; link != NULL; link = next) {
        next = link->next;
        if (!asks_the_same(job, link->data)) continue;
        last->same = link->data;
        last = link->data;
        g_queue_delete_link(waiting, link);
    }
}

/* A flush is begun when all that the journal held is with the shards: it is to be stored, too. When the store fails,
 * who asks is told so. */
static gboolean must_wait(const HttpJobs *jobs, const HttpJob *job) {
    return job->kind == JOB_FLUSH && is_recovering(jobs) &&
           !admission_is_shut_for(jobs->options.backend.admission, ADMISSION_STORE_FAILS);
}

/* ---- whose turn it is; with the lock held ---- */

/* Of one kind, or of all (-1); of one peer, or of all (NULL). A flush is everybody's. */
static guint count_running(const HttpJobs *jobs, int kind, const char *peer) {
    guint n = 0;
    for (guint i = 0; i < jobs->running->len; i++) {
        const Running *job = g_ptr_array_index(jobs->running, i);
        if (kind >= 0 && (int)job->kind != kind) continue;
        if (peer != NULL && (job->kind == JOB_FLUSH || strcmp(job->peer, peer) != 0)) continue;
        n++;
    }
    return n;
}

static double flushes_allowed(const HttpJobs *jobs) {
    const gint64 passed_ns = clock_monotonic_ns(clock_system()) - jobs->flushed_ns;
    return MIN(jobs->flushes + (double)passed_ns / HTTP_FLUSH_PAUSE_NS, HTTP_FLUSHES_AT_ONCE);
}

static gboolean is_large(const HttpJob *job) { return job->kind == JOB_QUERY && query_is_large(job->question); }

static gboolean large_runs(const HttpJobs *jobs) {
    for (guint i = 0; i < jobs->running->len; i++)
        if (((const Running *)g_ptr_array_index(jobs->running, i))->large) return TRUE;
    return FALSE;
}

static gboolean may_begin(const HttpJobs *jobs, const HttpJob *job) {
    const guint per_peer = jobs->options.per_peer;
    if (must_wait(jobs, job)) return FALSE;
    if (job->kind == JOB_FLUSH) return count_running(jobs, JOB_FLUSH, NULL) == 0 && flushes_allowed(jobs) >= 1;
    if (count_running(jobs, -1, job->peer) >= per_peer) return FALSE;
    if (is_large(job) && large_runs(jobs)) return FALSE;
    return job->kind != JOB_EXPORT || (count_running(jobs, JOB_EXPORT, NULL) < per_peer &&
                                       count_running(jobs, JOB_EXPORT, job->peer) < MAX(per_peer / 2, 1));
}

static HttpJob *next_job(HttpJobs *jobs) {
    GList *best = NULL;
    guint fewest = G_MAXUINT;
    for (GList *link = jobs->waiting.head; link != NULL; link = link->next) {
        const HttpJob *job = link->data;
        const guint running = count_running(jobs, -1, job->peer);
        if (running >= fewest || !may_begin(jobs, job)) continue;
        best = link;
        fewest = running;
    }
    if (best == NULL) return NULL;
    HttpJob *job = best->data;
    g_queue_delete_link(&jobs->waiting, best);
    return job;
}

static void begin(HttpJobs *jobs, const HttpJob *job, Running *running) {
    running->kind = job->kind;
    running->large = is_large(job);
    g_strlcpy(running->peer, job->peer, sizeof running->peer);
    g_ptr_array_add(jobs->running, running);
    if (job->kind != JOB_FLUSH) return;
    jobs->flushes = flushes_allowed(jobs) - 1;
    jobs->flushed_ns = clock_monotonic_ns(clock_system());
}

/* For a question, or, while one waits that may not be begun yet, for a look whether it still may not. */
static void wait_filled(HttpJobs *jobs) {
    if (g_queue_is_empty(&jobs->waiting)) {
        pthread_cond_wait(&jobs->filled, &jobs->lock);
        return;
    }
    const struct timespec until = timespec_of(clock_monotonic_ns(clock_system()) + LOOK_NS);
    pthread_cond_timedwait(&jobs->filled, &jobs->lock, &until);
}

static HttpJob *take_job(HttpJobs *jobs, Running *running) {
    HttpJob *job = NULL;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && (job = next_job(jobs)) == NULL) wait_filled(jobs);
    if (job != NULL) {
        take_same(&jobs->waiting, job);
        begin(jobs, job, running);
    }
    /* Others look after what is left, which may have to wait: this one has something to do. */
    if (!g_queue_is_empty(&jobs->waiting)) pthread_cond_signal(&jobs->filled);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

static void answer(HttpJobs *jobs, HttpJob *job) {
    if (is_cancelled(job) && job->kind != JOB_FLUSH) {
        post_error(jobs, job, 503, "the reader went away"); /* nobody reads it */
        return;
    }
    switch (job->kind) {
    case JOB_QUERY: answer_query(jobs, job); break;
    case JOB_EXPORT: answer_export(jobs, job); break;
    case JOB_FLUSH: answer_flush(jobs, job); break;
    }
}

static void *query_main(void *arg) {
    HttpJobs *jobs = arg;
    setpriority(PRIO_PROCESS, 0, QUERY_NICE); /* of this thread alone; nothing is lost if it may not */
    HttpJob *job;
    Running running;
    while ((job = take_job(jobs, &running))) {
        answer(jobs, job);
        pthread_mutex_lock(&jobs->lock);
        g_ptr_array_remove_fast(jobs->running, &running);
        pthread_cond_signal(&jobs->filled); /* what may be begun now */
        pthread_mutex_unlock(&jobs->lock);
    }
    return NULL;
}

/* ---- life ---- */

HttpJobs *http_jobs_start(const HttpJobsOptions *options) {
    HttpJobs *jobs = g_new0(HttpJobs, 1);
    jobs->options = *options;
    json_memory_counted();
    jobs->last_answer = &jobs->answers;
    pthread_mutex_init(&jobs->lock, NULL);
    cond_init_monotonic(&jobs->filled);
    pthread_cond_init(&jobs->ordered, NULL);
    g_queue_init(&jobs->waiting);
    jobs->running = g_ptr_array_new();
    jobs->flushes = HTTP_FLUSHES_AT_ONCE;
    jobs->threads = g_new0(pthread_t, options->n_threads);
    for (guint i = 0; i < options->n_threads; i++) {
        thread_start(&jobs->threads[i], "query", query_main, jobs);
    }
    return jobs;
}

void http_jobs_leave_shards(HttpJobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    jobs->shards_left = TRUE;
    while (jobs->orders > 0) pthread_cond_wait(&jobs->ordered, &jobs->lock);
    pthread_mutex_unlock(&jobs->lock);
}

void http_jobs_stop(HttpJobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    jobs->stopping = TRUE;
    pthread_cond_broadcast(&jobs->filled);
    pthread_mutex_unlock(&jobs->lock);
    for (guint i = 0; i < jobs->options.n_threads; i++) pthread_join(jobs->threads[i], NULL);
    HttpJob *job;
    while ((job = g_queue_pop_head(&jobs->waiting))) post_error(jobs, job, 503, "plumbd is stopping");
}

void http_jobs_free(HttpJobs *jobs) {
    if (!jobs) return;
    pthread_cond_destroy(&jobs->ordered);
    pthread_cond_destroy(&jobs->filled);
    pthread_mutex_destroy(&jobs->lock);
    g_ptr_array_unref(jobs->running);
    g_free(jobs->threads);
    g_free(jobs);
}

/* NULL: none waits. With the lock held. */
static HttpJob *waiting_flush(const HttpJobs *jobs) {
    for (const GList *link = jobs->waiting.head; link != NULL; link = link->next) {
        HttpJob *job = link->data;
        if (job->kind == JOB_FLUSH) return job;
    }
    return NULL;
}

gboolean http_jobs_put(HttpJobs *jobs, HttpJob *job) {
    pthread_mutex_lock(&jobs->lock);
    HttpJob *flush = job->kind == JOB_FLUSH ? waiting_flush(jobs) : NULL;
    gboolean room = flush != NULL || jobs->waiting.length < jobs->options.queue;
    if (flush != NULL) {
        job->same = flush->same;
        flush->same = job;
    } else if (room) {
        g_queue_push_tail(&jobs->waiting, job);
        pthread_cond_signal(&jobs->filled);
    }
    pthread_mutex_unlock(&jobs->lock);
    return room;
}

/* With the lock held. */
static gboolean leave_queue(HttpJobs *jobs, HttpJob *job) {
    for (GList *link = jobs->waiting.head; link != NULL; link = link->next) {
        HttpJob *first = link->data;
        HttpJob **at = &first;
        while (*at != NULL && *at != job) at = &(*at)->same;
        if (*at == NULL) continue;
        *at = g_steal_pointer(&job->same);
        link->data = first;
        if (first == NULL) g_queue_delete_link(&jobs->waiting, link);
        return TRUE;
    }
    return FALSE;
}

gboolean http_jobs_withdraw(HttpJobs *jobs, HttpJob *job) {
    pthread_mutex_lock(&jobs->lock);
    gboolean waited = leave_queue(jobs, job);
    pthread_mutex_unlock(&jobs->lock);
    return waited;
}

/* Peer -> how many questions of it wait, and then one more for the peer that asks. With the lock held. */
static GHashTable *count_waiting(const HttpJobs *jobs, const HttpJob *asks) {
    GHashTable *counts = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(counts, (gpointer)asks->peer, GINT_TO_POINTER(1));
    for (const GList *link = jobs->waiting.head; link != NULL; link = link->next) {
        HttpJob *job = link->data;
        if (job->kind == JOB_FLUSH) continue;
        const int n = GPOINTER_TO_INT(g_hash_table_lookup(counts, job->peer));
        g_hash_table_insert(counts, job->peer, GINT_TO_POINTER(n + 1));
    }
    return counts;
}

HttpJob *http_jobs_give_way(HttpJobs *jobs, const HttpJob *job) {
    GList *newest = NULL;
    pthread_mutex_lock(&jobs->lock);
    g_autoptr(GHashTable) counts = count_waiting(jobs, job);
    int most = GPOINTER_TO_INT(g_hash_table_lookup(counts, job->peer));
    for (GList *link = jobs->waiting.tail; link != NULL; link = link->prev) {
        const HttpJob *other = link->data;
        const int waiting = GPOINTER_TO_INT(g_hash_table_lookup(counts, other->peer));
        if (other->kind == JOB_FLUSH || waiting <= most) continue;
        most = waiting;
        newest = link;
    }
    HttpJob *given = newest != NULL ? newest->data : NULL;
    if (newest != NULL) g_queue_delete_link(&jobs->waiting, newest);
    pthread_mutex_unlock(&jobs->lock);
    return given;
}

HttpAnswer *http_jobs_take(HttpJobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    HttpAnswer *answers = jobs->answers;
    jobs->answers = NULL;
    jobs->last_answer = &jobs->answers;
    pthread_mutex_unlock(&jobs->lock);
    return answers;
}
