#include "receiver/http/http.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analyzer/query/htraced/htraced.h"
#include "analyzer/query/jaeger/jaeger.h"
#include "analyzer/query/jaeger/zipkin.h"
#include "common/base/thread.h"
#include "common/store/store_damage.h"
#include "receiver/http/http_events.h"
#include "receiver/http/http_shell.h"
#include "receiver/http/login_page.h"
#include "receiver/http/metrics/metrics.h"
#include "receiver/http/page.h"
#include "receiver/http/route.h"
#include "receiver/http/server.h"

#define API "/api/v1/"

struct Http {
    HttpOptions options;
    struct event_base *base;
    HttpNames *names;
    Sessions *sessions;
    HttpServer *server;
    struct event *wake;
    int wake_fd;
    HttpJobs *jobs;
    Masker *masker; /* NULL: nothing is masked */
    HttpPosts *posts;
    HttpShell *shell;
    HttpEvents *events;
    GHashTable *open; /* HttpJob whose exchange is unanswered -> has its first piece been sent? */
    pthread_t thread;
    atomic_bool stopping;
    _Atomic gint64 seen_ns;
};

/* ---- what this thread answers itself ---- */

static void add_damage(void *arg, const StoreDamage *damage) {
    g_autofree char *text = store_damage_text(damage);
    g_string_append_printf(arg, "%s\n", text);
}

static void answer_alive(void *arg, HttpExchange *exchange, const char *rest) {
    (void)arg, (void)rest;
    http_send_text(exchange, 200, "ok\n");
}

static void answer_ready(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const Http *http = arg;
    const StateSources *state = http->options.state;
    g_autofree char *shut = admission_describe(state->admission);
    g_autofree char *why = shut ? g_steal_pointer(&shut) : name_quota_describe(state->quota);
    const gboolean tell = access_suffices(http_exchange_roles(exchange), ACCESS_METRICS);
    g_autoptr(GString) text = g_string_new(why == NULL ? "ready" : tell ? why : "not ready");
    g_string_append_c(text, '\n');
    if (tell) store_damages(archive_store(state->archive), add_damage, text);
    http_send_text(exchange, why ? 503 : 200, text->str);
}

static void answer_metrics(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const Http *http = arg;
    Exposition out = {g_string_new(NULL), http_exchange_request(exchange)->open_metrics};
    metrics_write(http->options.state, &out);
    g_autoptr(GBytes) body = g_string_free_to_bytes(out.text);
    http_send(exchange, 200,
              out.open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                               : "text/plain; version=0.0.4; charset=utf-8",
              body);
}

static void answer_none(HttpExchange *exchange) {
    http_send_error(exchange, 404, "no such page: see docs/api.md; questions are under " API);
}

static void answer_page(void *arg, HttpExchange *exchange, const char *rest) {
    (void)arg;
    g_auto(PageFile) file = {0};
    if (page_find(http_exchange_request(exchange)->path, &file))
        http_send_page_file(exchange, file.type, file.lasting, file.gzipped);
    else if (rest[0] == '\0')
        http_send_error(exchange, 404,
                        "this plumbd was built without its page (PLUMB_UI=OFF); questions are under " API);
    else
        answer_none(exchange);
}

/* ---- spans ---- */

static void send_posted(HttpPost *post) {
    HttpExchange *exchange = post->owner;
    if (post->retry_after_s > 0) http_retry_after(exchange, post->retry_after_s);
    http_exchange_give_body(exchange, g_steal_pointer(&post->body));
    http_send(exchange, post->code, http_post_content_type(post), post->answer);
    http_post_free(post);
}

static void send_all_posted(Http *http) {
    for (HttpPost *post = http_posts_take(http->posts), *next; post; post = next) {
        next = post->next;
        send_posted(post);
    }
}

/* The type without its parameters: "application/json; charset=utf-8". */
static gboolean type_is(const char *type, const char *wanted) {
    const gsize length = strlen(wanted);
    return type && g_ascii_strncasecmp(type, wanted, length) == 0 && strchr("; \t", type[length]) != NULL;
}

static gboolean form_of(const HttpRequest *request, OtlpForm *form) {
    const gboolean json = type_is(request->content_type, "application/json");
    *form = json ? OTLP_JSON : OTLP_PROTOBUF;
    return json || type_is(request->content_type, "application/x-protobuf");
}

/* FALSE: packed in a way that is not known here. */
static gboolean packing_of(const HttpRequest *request, gboolean *gzip) {
    const char *encoding = request->content_encoding;
    *gzip = encoding && g_ascii_strcasecmp(encoding, "gzip") == 0;
    return !encoding || *gzip || g_ascii_strcasecmp(encoding, "identity") == 0;
}

static gint64 now_monotonic_ns(void) { return clock_monotonic_ns(clock_system()); }

/* FALSE: it has its answer. What it brings is paid for when it is taken. */
static gboolean may_post(Http *http, HttpPost *post) {
    const gint64 now_ns = now_monotonic_ns();
    const gint64 spans_ns = quota_wait_ns(post->account, QUOTA_SPANS, now_ns);
    const gint64 bytes_ns = quota_wait_ns(post->account, QUOTA_BYTES, now_ns);
    const QuotaKind kind = bytes_ns > spans_ns ? QUOTA_BYTES : QUOTA_SPANS;
    const gint64 wait_ns = MAX(spans_ns, bytes_ns);
    if (wait_ns == 0) return TRUE;
    g_autofree char *why =
        g_strdup_printf("%s is over %s: send it later", quota_account_name(post->account), quota_keys[kind]);
    http_post_refuse(post, 429, why);
    post->retry_after_s = (guint)(wait_ns / NS_PER_SEC) + 1;
    quota_refused(post->account, kind);
    counter_add(http->options.counters, COUNTER_HTTP_QUOTA, 1);
    return FALSE;
}

/* It is put to those that wait, or has its answer. */
static void put_post(Http *http, HttpExchange *exchange, HttpPost *post, PostKind kind) {
    post->kind = kind;
    post->principal = g_strdup(http_exchange_principal(exchange));
    post->address = g_strdup(http_exchange_peer(exchange));
    post->account =
        quota_account(http->options.quotas, http_exchange_principal(exchange), http_exchange_peer(exchange));
    if (!may_post(http, post)) {
        send_posted(post);
        return;
    }
    post->limit = name_quota_of(http->options.quota, http_exchange_peer(exchange));
    if (!http_posts_put(http->posts, post)) send_posted(post);
}

static void take_post(Http *http, HttpExchange *exchange, PostKind kind) {
    const HttpRequest *request = http_exchange_request(exchange);
    OtlpForm form;
    gboolean gzip;
    if (!form_of(request, &form) || (kind != POST_OTLP && form != OTLP_JSON) || !packing_of(request, &gzip)) {
        http_send_error(exchange, 415,
                        kind != POST_OTLP
                            ? "these spans come as application/json, plain or packed with gzip"
                            : "spans come as application/x-protobuf or application/json, plain or packed with gzip");
        return;
    }

    put_post(http, exchange, http_post_new(form, gzip, http_exchange_take_body(exchange), exchange), kind);
}

static void take_otlp(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    take_post(arg, exchange, POST_OTLP);
}

static void take_zipkin(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    take_post(arg, exchange, POST_ZIPKIN);
}

static void take_htraced(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    take_post(arg, exchange, POST_HTRACED);
}

/* A page of somebody else cannot send JSON without being asked, and is refused by its Origin. */
static void take_mark(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    if (!type_is(http_exchange_request(exchange)->content_type, "application/json"))
        http_send_error(exchange, 415, "send application/json");
    else
        put_post(arg, exchange, http_post_new(OTLP_JSON, FALSE, http_exchange_take_body(exchange), exchange),
                 POST_MARK);
}

/* ---- logins of browsers ---- */

/* With a token in Authorization: a cookie brings none that lasts for longer than itself. */
static void begin_session(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const Http *http = arg;
    const char *principal = http_exchange_principal(exchange);
    if (principal == NULL || !g_str_has_prefix(principal, "token:") || http_exchange_request(exchange)->by_cookie) {
        http_exchange_audit(exchange, AUDIT_DENIED);
        http_send_error(exchange, 401, "there is no such token, or it has ended");
        return;
    }
    const TokenMark token = http_exchange_token(exchange);
    http_send_session(exchange, sessions_begin(http->sessions, principal, token, clock_monotonic_ns(clock_system())));
}

static void end_session(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const Http *http = arg;
    g_autofree char *id = login_cookie(http_exchange_request(exchange)->cookie);
    if (id != NULL) sessions_end(http->sessions, id);
    if (http_exchange_principal(exchange) == NULL) http_exchange_audit(exchange, AUDIT_NOTHING);
    http_send_session(exchange, NULL);
}

static void answer_login_script(void *arg, HttpExchange *exchange, const char *rest) {
    (void)arg, (void)rest;
    http_send_own(exchange, 200, "text/javascript; charset=utf-8", login_script);
}

/* Whoever opens the page in a browser is asked for a token. */
static void deny(HttpExchange *exchange) {
    const HttpRequest *request = http_exchange_request(exchange);
    if (strcmp(request->path, "/") == 0 && request->method != HTTP_POST && http_exchange_principal(exchange) == NULL)
        http_send_own(exchange, 401, "text/html; charset=utf-8", login_page);
    else
        http_send_denied(exchange);
}

/* ---- what query threads answer ---- */

static void on_gone(void *job) { http_job_cancel(job); }

static void on_drained(void *job) { http_job_drained(job); }

/* It is its caller's again, who answers its exchange. */
static HttpExchange *close_job(Http *http, HttpJob *job) {
    HttpExchange *exchange = http_job_owner(job);
    http_exchange_on_gone(exchange, NULL, NULL);
    g_hash_table_remove(http->open, job);
    http_job_free(job);
    return exchange;
}

static void send_piece(Http *http, HttpJob *job, GBytes *piece) {
    HttpExchange *exchange = http_job_owner(job);
    if (!GPOINTER_TO_INT(g_hash_table_lookup(http->open, job))) {
        http_send_start(exchange, "application/x-ndjson", on_drained, job);
        g_hash_table_replace(http->open, job, GINT_TO_POINTER(TRUE));
    }
    if (piece) http_send_piece(exchange, piece);
}

static void send_answer(Http *http, HttpAnswer *answer) {
    HttpJob *job = answer->job;
    if (answer->stream) send_piece(http, job, answer->body);
    if (!answer->last) return;
    const gboolean started = GPOINTER_TO_INT(g_hash_table_lookup(http->open, job));
    HttpExchange *exchange = close_job(http, job);
    const HttpContent content = {answer->code, answer->type, answer->body, answer->gzipped, answer->tag};
    if (!started)
        http_send_content(exchange, &content);
    else if (answer->code == 200)
        http_send_end(exchange);
    else
        http_cut(exchange); /* so that the reader sees that the export is not whole */
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

/* Questions that wait leave the queue when their readers have: flushes, or all. */
static void withdraw_gone(Http *http, gboolean all) {
    g_autoptr(GPtrArray) gone = g_ptr_array_new();
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, http->open);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        HttpJob *job = key;
        if (!(all || http_job_is_flush(job)) || !http_exchange_is_gone(http_job_owner(job))) continue;
        if (http_jobs_withdraw(http->jobs, job)) g_ptr_array_add(gone, job);
    }
    for (guint i = 0; i < gone->len; i++)
        http_send_error(close_job(http, g_ptr_array_index(gone, i)), 503,
                        "the reader had closed its side of the connection, and others were waiting");
}

/* FALSE: the queue is full of questions whose readers are there. */
static gboolean put(Http *http, HttpJob *job) {
    /* One of these may wait for hours, while its reader tries again and again. */
    if (http_job_is_flush(job)) withdraw_gone(http, FALSE);
    if (http_jobs_put(http->jobs, job)) return TRUE;
    withdraw_gone(http, TRUE);
    if (http_jobs_put(http->jobs, job)) return TRUE;
    HttpJob *other = http_jobs_give_way(http->jobs, job);
    if (!other) return FALSE;
    counter_add(http->options.counters, COUNTER_HTTP_REFUSED, 1);
    http_send_error(close_job(http, other), 503,
                    "too many of your questions are waiting, and others want to ask, too: ask again in a moment");
    return http_jobs_put(http->jobs, job);
}

typedef struct Parameters {
    QueryParams *params;
    Masker *masker;
    char *id; /* of the trace that is asked for; NULL: none */
} Parameters;

static void add_param(void *arg, const char *name, const char *value) {
    Parameters *parameters = arg;
    g_autofree char *masked = masked_param(parameters->masker, name, value);
    query_params_add(parameters->params, name, masked);
    const gboolean trace = strcmp(name, "id") == 0 || strcmp(name, "trace") == 0;
    if (trace && !parameters->id) parameters->id = g_strdup(value);
}

/* 16 hex digits are a trace. 32 are a span, whose first half is its trace, or a trace of OpenTelemetry, which is the
 * second half here. */
static void add_asked_trace(HttpJob *job, const char *text) {
    const gsize length = text ? strlen(text) : 0;
    SpanId id;
    if (length == 32 && span_id_parse(text, length, &id)) {
        http_job_add_trace(job, id.trace);
        http_job_add_trace(job, id.span);
    }
    if (length == 16 && strspn(text, "0123456789abcdefABCDEF") == 16)
        http_job_add_trace(job, g_ascii_strtoull(text, NULL, 16));
}

static void put_question(Http *http, HttpExchange *exchange, JobKind kind, const char *question,
                         Parameters *parameters) {
    HttpJob *job = http_job_new(kind, question, g_steal_pointer(&parameters->params), exchange);
    guint64 trace_id;
    http_job_set_peer(job, http_exchange_principal(exchange), http_exchange_peer(exchange));
    if (http_exchange_request(exchange)->gzip) http_job_set_gzip(job);
    static const char *const of_traces[] = {"trace", "trace/columns", "trace/find", "trace/notes", "span", "why", NULL};
    if (g_strv_contains(of_traces, question))
        add_asked_trace(job, parameters->id);
    else if (jaeger_asks_for(question, &trace_id) || zipkin_asks_for(question, &trace_id) ||
             htraced_asks_for(question, &trace_id))
        http_job_add_trace(job, trace_id);
    if (!put(http, job)) {
        http_job_free(job);
        counter_add(http->options.counters, COUNTER_HTTP_REFUSED, 1);
        http_send_error(exchange, 503, "too many questions are waiting: ask again in a moment");
        return;
    }
    g_hash_table_insert(http->open, job, NULL);
    http_exchange_on_gone(exchange, on_gone, job);
}

static void ask(Http *http, HttpExchange *exchange, JobKind kind, const char *question) {
    const char *why;
    Parameters parameters = {query_params_new(), http->masker, NULL};
    if (http_query_parse(http_exchange_request(exchange)->query, add_param, &parameters, &why)) {
        put_question(http, exchange, kind, question, &parameters);
    } else {
        g_autofree char *message = g_strdup_printf("malformed parameters: %s", why);
        http_send_error(exchange, 400, message);
    }
    query_params_free(parameters.params);
    g_free(parameters.id);
}

static void ask_question(void *arg, HttpExchange *exchange, const char *rest) { ask(arg, exchange, JOB_QUERY, rest); }

/* "trace/columns" and the like: the question is two words. */
static void ask_two_words(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    ask(arg, exchange, JOB_QUERY, http_exchange_request(exchange)->path + strlen(API));
}

static void ask_marks(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    ask(arg, exchange, JOB_QUERY, "marks");
}

static void ask_export(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    ask(arg, exchange, JOB_EXPORT, "export");
}

static void ask_flush(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    ask(arg, exchange, JOB_FLUSH, "flush");
}

/* As Jaeger's query service is asked: the question is the path. */
static void ask_jaeger(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const char *path = http_exchange_request(exchange)->path;
    g_autofree char *question = g_strconcat(JAEGER_QUESTIONS, path + strlen("/api/"), NULL);
    ask(arg, exchange, JOB_QUERY, question);
}

/* As Zipkin's server is. */
static void ask_zipkin(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const char *path = http_exchange_request(exchange)->path;
    g_autofree char *question = g_strconcat(ZIPKIN_QUESTIONS, path + strlen("/api/v2/"), NULL);
    ask(arg, exchange, JOB_QUERY, question);
}

/* As htraced is. */
static void ask_htraced(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    g_autofree char *question = g_strconcat(HTRACED_QUESTIONS, http_exchange_request(exchange)->path + 1, NULL);
    ask(arg, exchange, JOB_QUERY, question);
}

/* ---- analyses that run here ---- */

static char *child_of(void *arg, int fd, char name[PEER_NAME_BYTES]) {
    const Http *http = arg;
    return http_shell_child_of(http->shell, fd, name);
}

static void list_analyses(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    http_shell_analyses(((Http *)arg)->shell, exchange);
}

static void list_runs(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    http_shell_runs(((Http *)arg)->shell, exchange);
}

static void stream_output(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    http_shell_output(((Http *)arg)->shell, exchange);
}

static void stream_events(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    http_events_stream(((Http *)arg)->events, exchange);
}

static void begin_run(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    const Http *http = arg;
    http_shell_begin(http->shell, exchange, http->masker);
}

static void stop_run(void *arg, HttpExchange *exchange, const char *rest) {
    (void)rest;
    http_shell_stop(((Http *)arg)->shell, exchange);
}

/* ---- what there is, and who may ask for it ---- */

#define FLUSH_USE    "flush changes things: use POST"
#define QUESTION_USE "questions only: use GET"
#define SHELL_USE    "this has plumbd do something: use POST"
#define LOGIN_USE    "a login changes things: use POST"
#define PAGE_USE     "a page is read: use GET"
#define MARKS_USE    "marks are read with GET, and made with POST"
#define SPANS_USE    "spans are sent: use POST; questions are under " API

/* The first that fits. docs/security.md has the same table for people. */
static const Route routes[] = {
    {"/healthz", ACCESS_ANYBODY, FALSE, NULL, AUDIT_NOTHING, answer_alive},
    {"/readyz", ACCESS_ANYBODY, FALSE, NULL, AUDIT_NOTHING, answer_ready},
    {"/metrics", ACCESS_METRICS, FALSE, NULL, AUDIT_NOTHING, answer_metrics},
    {"/v1/traces", ACCESS_WRITE, TRUE, SPANS_USE, AUDIT_NOTHING, take_otlp},
    {"/api/v2/spans", ACCESS_WRITE, TRUE, SPANS_USE, AUDIT_NOTHING, take_zipkin},
    {"/writeSpans", ACCESS_WRITE, TRUE, SPANS_USE, AUDIT_NOTHING, take_htraced},
    {API "flush", ACCESS_ADMIN, TRUE, FLUSH_USE, AUDIT_FLUSH, ask_flush},
    {API "export", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_EXPORT, ask_export},
    {API "shell/analyses", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, list_analyses},
    {API "shell/runs", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, list_runs},
    {API "shell/output", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, stream_output},
    {API "shell/run", ACCESS_READ, TRUE, SHELL_USE, AUDIT_ANALYSIS, begin_run},
    {API "shell/stop", ACCESS_READ, TRUE, SHELL_USE, AUDIT_ANALYSIS, stop_run},
    {API "trace/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_two_words},
    {API "tasks/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_two_words},
    {API "series/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_two_words},
    {API "events", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, stream_events},
    {API "marks", ACCESS_WRITE, TRUE, MARKS_USE, AUDIT_MARK, take_mark},
    {API "marks", ACCESS_READ, FALSE, MARKS_USE, AUDIT_QUESTION, ask_marks},
    {API "*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_question}, /* any of analyzer/query/query.c */
    {"/api/services", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/services/*/operations", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/operations", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/traces", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/traces/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/dependencies", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v3/services", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v3/operations", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v3/traces", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v3/traces/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v3/trace-summaries", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_jaeger},
    {"/api/v2/spans", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/services", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/remoteServices", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/traces", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/trace/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/traceMany", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/dependencies", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/autocompleteKeys", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/api/v2/autocompleteValues", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_zipkin},
    {"/server/version", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_htraced},
    {"/server/info", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_htraced},
    {"/span/*", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_htraced},
    {"/span/*/children", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_htraced},
    {"/query", ACCESS_READ, FALSE, QUESTION_USE, AUDIT_QUESTION, ask_htraced},
    {"/login", ACCESS_ANYBODY, TRUE, LOGIN_USE, AUDIT_LOGIN, begin_session},
    {"/logout", ACCESS_ANYBODY, TRUE, LOGIN_USE, AUDIT_LOGOUT, end_session},
    {"/login.js", ACCESS_ANYBODY, FALSE, PAGE_USE, AUDIT_NOTHING, answer_login_script},
    {"/", ACCESS_READ, FALSE, PAGE_USE, AUDIT_NOTHING, answer_page},
    {"/assets/*", ACCESS_READ, FALSE, PAGE_USE, AUDIT_NOTHING, answer_page},
    {0},
};

/* FALSE: it was answered. */
static gboolean may_ask_more(const Http *http, HttpExchange *exchange) {
    const gint64 now_ns = now_monotonic_ns();
    QuotaAccount *account =
        quota_account(http->options.quotas, http_exchange_principal(exchange), http_exchange_peer(exchange));
    const gint64 wait_ns = quota_wait_ns(account, QUOTA_QUESTIONS, now_ns);
    if (wait_ns == 0) {
        quota_charge(account, QUOTA_QUESTIONS, 1, now_ns);
    } else {
        const guint wait_s = (guint)(wait_ns / NS_PER_SEC) + 1;
        g_autofree char *why = g_strdup_printf("%s has asked as often as quota.questions lets it: ask again in %u s",
                                               quota_account_name(account), wait_s);
        quota_refused(account, QUOTA_QUESTIONS);
        counter_add(http->options.counters, COUNTER_HTTP_QUOTA, 1);
        http_retry_after(exchange, wait_s);
        http_send_error(exchange, 429, why);
    }
    quota_account_free(account);
    return wait_ns == 0;
}

static gboolean is_question(const Route *route) {
    const AuditAction action = route->action;
    return action == AUDIT_QUESTION || action == AUDIT_EXPORT || action == AUDIT_FLUSH || action == AUDIT_ANALYSIS;
}

/* NULL: there is none, which is admin's to know. */
static const Route *route_of(const HttpExchange *exchange, const char **rest, gboolean *allowed) {
    const HttpRequest *request = http_exchange_request(exchange);
    const Route *route = route_find(routes, request->path, request->method, rest);
    *allowed = access_suffices(http_exchange_roles(exchange), route != NULL ? route->role : ACCESS_ADMIN);
    return route;
}

static gboolean may_bring(void *arg, const HttpExchange *exchange) {
    (void)arg;
    const char *rest;
    gboolean allowed;
    (void)route_of(exchange, &rest, &allowed);
    return allowed;
}

/* What anybody may do has a line in the audit log once it is done: else strangers would fill it. */
static gboolean is_told(const Route *route, const HttpRequest *request) {
    return route->role != ACCESS_ANYBODY || route_takes(route, request->method);
}

static void on_request(void *arg, HttpExchange *exchange) {
    const HttpRequest *request = http_exchange_request(exchange);
    const char *rest;
    gboolean allowed;
    const Route *route = route_of(exchange, &rest, &allowed);
    if (route != NULL && is_told(route, request)) http_exchange_audit(exchange, route->action);
    if (!allowed)
        deny(exchange);
    else if (route == NULL)
        answer_none(exchange);
    else if (!route_takes(route, request->method))
        http_send_error(exchange, 405, route->use);
    else if (!is_question(route) || may_ask_more(arg, exchange))
        route->answer(arg, exchange, rest);
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
    atomic_store(&http->seen_ns, clock_monotonic_ns(clock_system()));
    send_answers(http);
    send_all_posted(http);
    if (atomic_load(&http->stopping)) event_base_loopbreak(http->base);
}

static void *http_main(void *arg) {
    Http *http = arg;
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
    http->sessions = sessions_new();
    if (options->intake.mask != NULL) http->masker = masker_new(options->intake.mask);
    http->names = http_names_new(options->listen, options->hosts);

    http->shell = http_shell_new(http->base, options->shell, options->unguarded);

    http->events = http_events_new(http->base, options->state, http->shell);

    const HttpServerOptions server = {
        .listen_fd = options->listen_fd,
        .base = http->base,
        .shares = options->shares,
        .names = http->names,
        .questions = options->backend.questions,
        .counters = options->counters,
        .accept_counters = options->accept_counters,
        .strangers = options->strangers,
        .timeout_ns = options->timeout_ns,
        .security = options->security,
        .errands = options->errands,
        .audit = options->audit,
        .masker = http->masker,
        .open = options->open,
        .secret = options->secret,
        .sessions = http->sessions,
        .ask = on_request,
        .may_bring = may_bring,
        .arg = http,
        .children_fd = http_shell_socket(http->shell),
        .child_of = child_of,
    };
    http->server = http_server_new(&server);
    http->wake = event_new(http->base, http->wake_fd, EV_READ | EV_PERSIST, on_wake, http);
    event_add(http->wake, NULL);

    const HttpJobsOptions jobs = {
        .n_threads = options->query_threads + 1, /* one more than a peer may have */
        .per_peer = options->query_threads,
        .queue = options->queue,
        .question_timeout_ns = options->question_timeout_ns,
        .backend = options->backend,
        .state = options->state,
        .ready = wake,
        .arg = http,
    };
    http->jobs = http_jobs_start(&jobs);
    const HttpPostsOptions posts = {options->intake, options->posts_counters, wake, http};
    http->posts = http_posts_start(&posts);

    thread_start(&http->thread, "http", http_main, http);
    return http;
}

static void cancel_open(Http *http) {
    GHashTableIter iter;
    void *job;
    g_hash_table_iter_init(&iter, http->open);
    while (g_hash_table_iter_next(&iter, &job, NULL)) http_job_cancel(job);
}

gint64 http_seen_ns(Http *http) {
    wake(http);
    return MIN(atomic_load(&http->seen_ns), http_server_seen_ns(http->server));
}

void http_stop_taking(Http *http) { http_posts_stop(http->posts); }

void http_leave_shards(Http *http) { http_jobs_leave_shards(http->jobs); }

void http_stop(Http *http) {
    if (!http) return;
    atomic_store(&http->stopping, TRUE);
    wake(http);
    pthread_join(http->thread, NULL);

    http_events_end(http->events);
    http_shell_end(http->shell);
    http_posts_stop(http->posts);
    send_all_posted(http);
    http_posts_free(http->posts);
    cancel_open(http);
    http_jobs_stop(http->jobs);
    send_answers(http);

    http_jobs_free(http->jobs);
    http_server_free(http->server);
    http_events_free(http->events);
    http_shell_free(http->shell);
    event_free(http->wake);
    event_base_free(http->base);
    masker_free(http->masker);
    http_names_free(http->names);
    sessions_free(http->sessions);
    g_hash_table_unref(http->open);
    close(http->wake_fd);
    g_free(http);
}
