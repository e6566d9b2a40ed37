#include "receiver/http/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyzer/query/question/json_compact.h"
#include "receiver/facts/log.h"
#include "receiver/http/http_jobs.h"
#include "receiver/http/http_unsent.h"
#include "receiver/http/metrics.h"

#define API "/api/v1/"
/* How often readers of answers that are being made are looked for. */
#define HTTP_LOOK_US 250000
/* A reader that has shut its side of the connection for so many looks is gone: some shut it once they have asked, and
 * wait for the answer. */
#define HTTP_GONE_LOOKS 8u

struct Http {
    HttpOptions options;
    struct event_base *base;
    struct evhttp *server;
    struct evconnlistener *listener; /* the server's */
    struct event *resume;
    struct event *wake;
    struct event *look; /* for readers that have gone */
    int wake_fd;
    HttpJobs *jobs;
    HttpUnsent *unsent;
    GHashTable *open; /* HttpJob whose request is unanswered: a set */
    pthread_t thread;
    atomic_bool stopping;
};

/* ---- answers ---- */

static const char *reason_of(int code) {
    switch (code) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
    }
}

static void set_type(struct evhttp_request *request, const char *type) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
}

static void send_buffer(struct evhttp_request *request, int code, const char *type, struct evbuffer *buffer) {
    set_type(request, type);
    evhttp_send_reply(request, code, reason_of(code), buffer);
    evbuffer_free(buffer);
}

static void send_bytes(struct evhttp_request *request, int code, const char *type, Bytes body) {
    struct evbuffer *buffer = evbuffer_new();
    evbuffer_add(buffer, body.data, body.size_bytes);
    send_buffer(request, code, type, buffer);
}

static void send_text(struct evhttp_request *request, int code, const char *text) {
    send_bytes(request, code, "text/plain; charset=utf-8", (Bytes){text, strlen(text)});
}

static void send_error(struct evhttp_request *request, int code, const char *message) {
    json_auto_t *document = json_pack("{s:s}", "error", message);
    gsize size_bytes;
    g_autofree char *text = json_compact(document, &size_bytes);
    send_bytes(request, code, "application/json", (Bytes){text, size_bytes});
}

static void drop_piece(const void *data, size_t size_bytes, void *piece) {
    (void)data;
    (void)size_bytes;
    g_bytes_unref(piece);
}

/* What is sent is not copied. */
static struct evbuffer *piece_buffer(GBytes *piece) {
    struct evbuffer *buffer = evbuffer_new();
    gsize size_bytes;
    const void *data = g_bytes_get_data(piece, &size_bytes);
    evbuffer_add_reference(buffer, data, size_bytes, drop_piece, g_bytes_ref(piece));
    return buffer;
}

static void send_body(Http *http, struct evhttp_request *request, int code, const char *type, GBytes *body) {
    send_buffer(request, code, type, http_unsent_buffer(http->unsent, request, body));
}

/* ---- what this thread answers itself ---- */

static void answer_ready(Http *http, struct evhttp_request *request) {
    g_autofree char *why = admission_describe(http->options.sources->admission);
    g_autofree char *text = why ? g_strconcat(why, "\n", NULL) : g_strdup("ready\n");
    send_text(request, why ? 503 : 200, text);
}

static void answer_metrics(Http *http, struct evhttp_request *request) {
    g_autoptr(GString) text = g_string_new(NULL);
    metrics_write(http->options.sources, text);
    g_autoptr(GBytes) body = g_string_free_to_bytes(g_steal_pointer(&text));
    send_body(http, request, 200, "text/plain; version=0.0.4; charset=utf-8", body);
}

/* ---- what query threads answer ---- */

static void on_closed(struct evhttp_connection *connection, void *job) {
    (void)connection;
    http_job_cancel(job);
}

static void forget_job(Http *http, HttpJob *job) {
    struct evhttp_request *request = http_job_owner(job);
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    if (connection) evhttp_connection_set_closecb(connection, NULL, NULL);
    g_hash_table_remove(http->open, job);
}

static void on_drained(struct evhttp_connection *connection, void *job) {
    (void)connection;
    http_job_drained(job);
}

static void send_piece(HttpJob *job, HttpAnswer *answer, gboolean first) {
    struct evhttp_request *request = http_job_owner(job);
    if (first) {
        set_type(request, "application/x-ndjson");
        evhttp_send_reply_start(request, 200, reason_of(200));
    }
    if (!answer->body) return;
    if (!evhttp_request_get_connection(request)) {
        http_job_cancel(job);
        return;
    }
    struct evbuffer *buffer = piece_buffer(answer->body);
    evhttp_send_reply_chunk_with_cb(request, buffer, on_drained, job);
    evbuffer_free(buffer);
}

static void send_answer(Http *http, HttpAnswer *answer) {
    HttpJob *job = answer->job;
    struct evhttp_request *request = http_job_owner(job);
    gboolean started = GPOINTER_TO_INT(g_hash_table_lookup(http->open, job));
    if (answer->stream) {
        send_piece(job, answer, !started);
        if (!started) g_hash_table_replace(http->open, job, GINT_TO_POINTER(TRUE));
        started = TRUE;
    }
    if (!answer->last) return;
    forget_job(http, job);
    http_job_free(job);
    if (!started) {
        send_body(http, request, answer->code, "application/json", answer->body);
        return;
    }
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    if (answer->code != 200 && connection)
        evhttp_connection_free(connection); /* cut, so that the reader sees that the export is not whole */
    else
        evhttp_send_reply_end(request);
}

static void send_answers(Http *http) {
    HttpAnswer *answer = http_jobs_take(http->jobs);
    while (answer) {
        HttpAnswer *next = answer->next;
        send_answer(http, answer);
        http_answer_free(answer);
        answer = next;
    }
}

/* The reader hung up, or has shut its side: what it would hear, nobody may be there to hear. */
static gboolean is_gone(const HttpJob *job) {
    struct evhttp_connection *connection = evhttp_request_get_connection(http_job_owner(job));
    if (!connection) return TRUE;
    struct pollfd peer = {bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), POLLRDHUP, 0};
    return poll(&peer, 1, 0) > 0;
}

/* Questions that wait leave the queue when their readers have: flushes, or all. */
static void withdraw_gone(Http *http, gboolean all) {
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, http->open);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        HttpJob *job = key;
        if (!(all || http_job_is_flush(job)) || !is_gone(job) || !http_jobs_withdraw(http->jobs, job)) continue;
        struct evhttp_request *request = http_job_owner(job);
        struct evhttp_connection *connection = evhttp_request_get_connection(request);
        if (connection) evhttp_connection_set_closecb(connection, NULL, NULL);
        g_hash_table_iter_remove(&iter);
        http_job_free(job);
        send_error(request, 503, "the reader had closed its side of the connection, and others were waiting");
    }
}

/* Nobody reads from a connection whose answer is being made, so nothing else tells that its peer has closed it. */
static void on_look(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    const Http *http = arg;
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, http->open);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        HttpJob *job = key;
        if (!http_job_is_flush(job) && http_job_looked(job, is_gone(job)) >= HTTP_GONE_LOOKS) http_job_cancel(job);
    }
}

/* FALSE: the queue is full of questions whose readers are there. */
static gboolean put(Http *http, HttpJob *job) {
    /* One of these may wait for hours, while its reader tries again and again. */
    if (http_job_is_flush(job)) withdraw_gone(http, FALSE);
    if (http_jobs_put(http->jobs, job)) return TRUE;
    withdraw_gone(http, TRUE);
    return http_jobs_put(http->jobs, job);
}

/* NULL: malformed. */
static QueryParams *params_of(const struct evhttp_uri *uri, char **id) {
    g_autoptr(QueryParams) params = query_params_new();
    const char *text = evhttp_uri_get_query(uri);
    struct evkeyvalq pairs;
    if (!text || text[0] == '\0') return g_steal_pointer(&params);
    if (evhttp_parse_query_str(text, &pairs) != 0) return NULL;
    for (struct evkeyval *pair = pairs.tqh_first; pair; pair = pair->next.tqe_next) {
        query_params_add(params, pair->key, pair->value);
        if (strcmp(pair->key, "id") == 0 && !*id) *id = g_strdup(pair->value);
    }
    evhttp_clear_headers(&pairs);
    return g_steal_pointer(&params);
}

/* The trace id that 16 or 32 hex digits begin with. */
static gboolean parse_trace(const char *text, guint64 *trace_id) {
    gsize length = text ? strlen(text) : 0;
    SpanId id;
    if (length == 32 && span_id_parse(text, length, &id)) {
        *trace_id = id.trace;
        return TRUE;
    }
    if (length != 16 || strspn(text, "0123456789abcdefABCDEF") != 16) return FALSE;
    *trace_id = g_ascii_strtoull(text, NULL, 16);
    return TRUE;
}

static void ask(Http *http, struct evhttp_request *request, const char *question) {
    gboolean post = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
    gboolean flush = strcmp(question, "flush") == 0;
    if (post != flush) {
        send_error(request, 405, flush ? "flush changes things: use POST" : "questions only: use GET");
        return;
    }
    g_autofree char *id = NULL;
    QueryParams *params = params_of(evhttp_request_get_evhttp_uri(request), &id);
    if (!params) {
        send_error(request, 400, "malformed parameters: name=value, joined by &");
        return;
    }
    JobKind kind = flush ? JOB_FLUSH : strcmp(question, "export") == 0 ? JOB_EXPORT : JOB_QUERY;
    HttpJob *job = http_job_new(kind, question, params, request);
    guint64 trace_id;
    if (strcmp(question, "trace") == 0 && parse_trace(id, &trace_id)) http_job_set_trace(job, trace_id);
    if (!put(http, job)) {
        http_job_free(job);
        counter_add(http->options.counters, COUNTER_HTTP_REFUSED, 1);
        send_error(request, 503, "too many questions are waiting: ask again in a moment");
        return;
    }
    g_hash_table_insert(http->open, job, NULL);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_closed, job);
}

/* A long answer is written in pieces, and the last would wait for the acknowledgement of those before: 40 ms. */
static void set_no_delay(struct evhttp_request *request) {
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    const int on = 1;
    setsockopt(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), IPPROTO_TCP, TCP_NODELAY, &on,
               sizeof on);
}

static void on_request(struct evhttp_request *request, void *arg) {
    Http *http = arg;
    set_no_delay(request);
    counter_add(http->options.counters, COUNTER_HTTP_REQUESTS, 1);
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    if (!path)
        send_error(request, 400, "no path");
    else if (strcmp(path, "/healthz") == 0)
        send_text(request, 200, "ok\n");
    else if (strcmp(path, "/readyz") == 0)
        answer_ready(http, request);
    else if (strcmp(path, "/metrics") == 0)
        answer_metrics(http, request);
    else if (g_str_has_prefix(path, API) && path[strlen(API)] != '\0' && !strchr(path + strlen(API), '/'))
        ask(http, request, path + strlen(API));
    else
        send_error(request, 404, "no such page: see docs/api.md; questions are under " API);
}

/* ---- connections ---- */

/* A new descriptor gets the lowest free number: about as many are in use. */
static gboolean files_short(const Http *http) {
    struct rlimit files;
    int next = dup(http->wake_fd);
    if (next < 0) return TRUE;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
           (rlim_t)next + MIN(HTTP_FILES_LEFT, files.rlim_cur / 4) > files.rlim_cur;
}

static void on_resume(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Http *http = arg;
    struct timeval again = {0, 100000};
    if (files_short(http))
        evtimer_add(http->resume, &again);
    else
        evconnlistener_enable(http->listener);
}

/* Called by evhttp for each connection that it accepts. */
static struct bufferevent *make_connection(struct event_base *base, void *arg) {
    static LogLimit limit;
    Http *http = arg;
    if (files_short(http)) {
        log_limited(&limit, LOG_LEVEL_WARNING, "HTTP connections wait: too few file descriptors are left");
        evconnlistener_disable(http->listener);
        on_resume(-1, 0, http);
    }
    return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
}

/* ---- life ---- */

/* Any thread. */
static void wake(void *arg) {
    Http *http = arg;
    guint64 one = 1;
    (void)!write(http->wake_fd, &one, sizeof one);
}

static void on_wake(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    Http *http = arg;
    guint64 count;
    (void)!read(fd, &count, sizeof count);
    send_answers(http);
    if (atomic_load(&http->stopping)) event_base_loopbreak(http->base);
}

static void *run(void *arg) {
    Http *http = arg;
    pthread_setname_np(pthread_self(), "http");
    event_base_dispatch(http->base);
    return NULL;
}

Http *http_start(const HttpOptions *options) {
    Http *http = g_new0(Http, 1);
    http->options = *options;
    http->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (http->wake_fd < 0) g_error("no eventfd: %s", g_strerror(errno));
    http->base = event_base_new();
    http->open = g_hash_table_new(NULL, NULL);
    http->unsent = http_unsent_new(options->counters);
    http->server = evhttp_new(http->base);
    evhttp_set_max_headers_size(http->server, HTTP_HEADERS_MAX_BYTES);
    evhttp_set_max_body_size(http->server, HTTP_BODY_MAX_BYTES);
    evhttp_set_timeout(http->server, HTTP_TIMEOUT_S);
    evhttp_set_allowed_methods(http->server, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
    evhttp_set_gencb(http->server, on_request, http);
    http->resume = evtimer_new(http->base, on_resume, http);
    evhttp_set_bevcb(http->server, make_connection, http);
    struct evhttp_bound_socket *bound = evhttp_accept_socket_with_handle(http->server, options->listen_fd);
    if (!bound) g_error("evhttp cannot use its socket");
    http->listener = evhttp_bound_socket_get_listener(bound);
    http->wake = event_new(http->base, http->wake_fd, EV_READ | EV_PERSIST, on_wake, http);
    event_add(http->wake, NULL);
    http->look = event_new(http->base, -1, EV_PERSIST, on_look, http);
    event_add(http->look, &(struct timeval){0, HTTP_LOOK_US});
    HttpJobsOptions jobs = {options->query_threads, options->queue, options->question_timeout_ns,
                            options->sources,       wake,           http};
    http->jobs = http_jobs_start(&jobs);
    int err = pthread_create(&http->thread, NULL, run, http);
    if (err != 0) g_error("cannot start a thread: %s", g_strerror(err));
    return http;
}

static void cancel_open(Http *http) {
    GHashTableIter iter;
    void *job;
    g_hash_table_iter_init(&iter, http->open);
    while (g_hash_table_iter_next(&iter, &job, NULL)) http_job_cancel(job);
}

void http_leave_shards(Http *http) { http_jobs_leave_shards(http->jobs); }

void http_stop(Http *http) {
    if (!http) return;
    atomic_store(&http->stopping, TRUE);
    wake(http);
    pthread_join(http->thread, NULL);
    cancel_open(http);
    http_jobs_stop(http->jobs);
    send_answers(http);
    http_jobs_free(http->jobs);
    event_free(http->wake);
    event_free(http->resume);
    event_free(http->look);
    evhttp_free(http->server);
    event_base_free(http->base);
    http_unsent_free(http->unsent);
    g_hash_table_unref(http->open);
    close(http->wake_fd);
    g_free(http);
}
