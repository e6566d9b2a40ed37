#include "receiver/http/posts/posts.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "analyzer/query/nodes/node_answers.h"
#include "analyzer/query/shared/json_compact.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/http/posts/gunzip.h"
#include "receiver/http/posts/mark.h"
#include "receiver/shared/log.h"

/* One sync of the journal for so many. */
#define ROUND_POSTS 16u
/* What the document of one JSON body may take: some thirty times its bytes. */
#define JSON_DOCUMENT_BYTES ((gsize)256 * 1024 * 1024)
/* How long there may be no room in the queues before a sender is told so, and how often is looked. */
#define ROOM_WAIT_NS        NS_PER_SEC
#define ROOM_PAUSE_NS       (2 * NS_PER_MS)
#define INFLATED_KEPT_BYTES (4u * 1024 * 1024)

typedef struct PostList {
    HttpPost *first, **last;
    gsize bytes;
} PostList;

struct HttpPosts {
    HttpPostsOptions options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PostList waiting, done;
    gboolean stopping;
    pthread_t thread;
    /* the thread's */
    Intake *intake;
    ServiceSpans *spans;
    SpanBatch *batch;
    GByteArray *inflated;
    AllowanceBudget json;
};

HttpPost *http_post_new(OtlpForm form, gboolean gzip, GByteArray *body, void *owner) {
    HttpPost *post = g_new0(HttpPost, 1);
    post->form = form;
    post->gzip = gzip;
    post->body = body;
    post->owner = owner;
    return post;
}

void http_post_free(HttpPost *post) {
    if (!post) return;
    if (post->body) g_byte_array_unref(post->body);
    if (post->answer) g_bytes_unref(post->answer);
    quota_account_free(post->account);
    g_free(post->principal);
    g_free(post->address);
    g_clear_error(&post->error);
    g_free(post);
}

const char *http_post_content_type(const HttpPost *post) {
    if (post->kind == POST_MARK || post->kind == POST_HTRACED) return "application/json";
    return post->kind == POST_ZIPKIN ? "text/plain; charset=utf-8" : otlp_content_type(post->form);
}

void http_post_refuse(HttpPost *post, int code, const char *why) {
    g_clear_pointer(&post->answer, g_bytes_unref);
    post->code = code;
    post->retry_after_s = code == 429 ? POSTS_RETRY_BUSY_S : code == 503 ? POSTS_RETRY_SHUT_S : 0;
    if (post->kind == POST_MARK || post->kind == POST_HTRACED)
        post->answer = json_compact_bytes(json_pack("{s:s}", "error", why));
    else if (post->kind == POST_ZIPKIN)
        post->answer = g_bytes_new_take(g_strconcat(why, "\n", NULL), strlen(why) + 1);
    else
        post->answer = otlp_error(post->form, otlp_code_of_http(code), why);
}

/* ---- lists ---- */

static void list_init(PostList *list) { *list = (PostList){NULL, &list->first, 0}; }

static void list_add(PostList *list, HttpPost *post) {
    post->next = NULL;
    *list->last = post;
    list->last = &post->next;
    if (post->body) list->bytes += post->body->len;
}

static HttpPost *list_take(PostList *list) {
    HttpPost *first = list->first;
    if (!first) return NULL;
    list->first = first->next;
    if (!list->first) list->last = &list->first;
    if (first->body) list->bytes -= first->body->len;
    first->next = NULL;
    return first;
}

/* ---- one body ---- */

static gboolean decode_json(HttpPosts *posts, PostKind kind, Bytes body, GError **error) {
    switch (kind) {
    case POST_ZIPKIN: return zipkin_decode(posts->spans, body, posts->batch, error);
    case POST_HTRACED: return write_spans_decode(body, posts->batch, error);
    default: return otlp_decode(posts->spans, OTLP_JSON, body, posts->batch, error);
    }
}

static gboolean decode_form(HttpPosts *posts, HttpPost *post, Bytes body, GError **error) {
    if (post->form == OTLP_PROTOBUF) return otlp_decode(posts->spans, post->form, body, posts->batch, error);
    Allowance allowance = {.budget = &posts->json};
    g_autoptr(GError) failure = NULL;
    allowance_begin(&allowance);
    const gboolean good = decode_json(posts, post->kind, body, &failure);
    const gboolean fits = allowance_check(error);
    allowance_end();
    if (fits && !good) g_propagate_error(error, g_steal_pointer(&failure));
    return fits && good;
}

static gboolean decode(HttpPosts *posts, HttpPost *post, GError **error) {
    Bytes body = {post->body->data, post->body->len};
    if (post->gzip) {
        if (!gunzip(body, LIMIT_FRAME_BYTES, posts->inflated, error)) return FALSE;
        body = (Bytes){posts->inflated->data, posts->inflated->len};
    }
    return decode_form(posts, post, body, error);
}

static gboolean is_stopping(HttpPosts *posts) {
    pthread_mutex_lock(&posts->lock);
    const gboolean stopping = posts->stopping;
    pthread_mutex_unlock(&posts->lock);
    return stopping;
}

/* A moment's patience is cheaper than to have the body come again. */
static void wait_for_room(HttpPosts *posts) {
    const struct timespec pause = {.tv_nsec = ROOM_PAUSE_NS};
    const gint64 until_ns = clock_monotonic_ns(clock_system()) + ROOM_WAIT_NS;
    while (intake_pressure(posts->intake) == PRESSURE_QUEUES && clock_monotonic_ns(clock_system()) < until_ns &&
           !is_stopping(posts))
        nanosleep(&pause, NULL);
}

/* Its answer is there already, for when it is taken: records are gone then. */
static void take_mark(HttpPosts *posts, HttpPost *post) {
    g_autoptr(SparkRecords) records = spark_records_new();
    const Bytes body = {post->body->data, post->body->len};
    if (!mark_read(body, clock_wall_ns(clock_system()), records, &post->error)) return;
    wait_for_room(posts);
    intake_set_quota(posts->intake, post->account);
    post->answer = json_compact_bytes(json_pack("{s:o}", "mark", mark_json(spark_mark(records, 0))));
    intake_records(posts->intake, g_steal_pointer(&records), &post->reply);
}

static void take_spans(HttpPosts *posts, HttpPost *post) {
    static LogLimit limit;
    Counters *counters = posts->options.counters;
    if (decode(posts, post, &post->error)) {
        if (post->kind != POST_HTRACED) post->cut = service_spans_cut(posts->spans);
        counter_add(counters, COUNTER_TEXTS_CUT, post->cut);
        wait_for_room(posts);
        intake_set_limit(posts->intake, post->limit);
        intake_set_quota(posts->intake, post->account);
        const SpanSource source = {post->principal, post->address, "http"};
        intake_set_source(posts->intake, &source);
        intake_batch(posts->intake, posts->batch, &post->reply);
        return;
    }
    const gboolean over_limit = g_error_matches(post->error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    counter_add(counters, over_limit ? COUNTER_FRAME_LIMIT : COUNTER_FRAME_MALFORMED, 1);
    log_limited(&limit, LOG_LEVEL_WARNING, "spans over HTTP were refused: %s", post->error->message);
}

static void take(HttpPosts *posts, HttpPost *post) {
    Counters *counters = posts->options.counters;
    counter_add(counters, COUNTER_POSTS, 1);
    counter_add(counters, COUNTER_BYTES_RECEIVED, post->body->len);
    quota_charge(post->account, QUOTA_BYTES, post->body->len, clock_monotonic_ns(clock_system()));
    if (post->kind == POST_MARK)
        take_mark(posts, post);
    else
        take_spans(posts, post);
}

/* ---- its answer ---- */

static void answer_taken(HttpPost *post) {
    if (post->kind == POST_MARK) {
        post->code = 200;
        return;
    }

    g_autoptr(GString) message = g_string_new(post->reply.message);
    if (post->cut > 0)
        g_string_append_printf(message, "%s%u texts were cut, or were no UTF-8: see docs/ecosystem.md",
                               message->len > 0 ? "; " : "", post->cut);

    if (post->kind == POST_HTRACED) {
        post->code = 200;
        post->answer = g_bytes_new_static("", 0);
        return;
    }
    if (post->kind == POST_ZIPKIN) {
        post->code = 202;
        post->answer = g_bytes_new(message->str, message->len);
        return;
    }
    post->code = 200;
    post->answer = otlp_response(post->form, (guint32)post->reply.refused, message->str);
}

static void answer_later(HttpPost *post) {
    http_post_refuse(post, post->reply.wait_ms == INTAKE_WAIT_QUEUES_MS ? 429 : 503, post->reply.message);
    post->retry_after_s = MAX(post->retry_after_s, (guint)post->reply.wait_ms / 1000);
}

static void answer(HttpPost *post) {
    if (post->error)
        http_post_refuse(post, g_error_matches(post->error, PLUMB_ERROR, PLUMB_ERROR_LIMIT) ? 413 : 400,
                         post->error->message);
    else if (post->reply.status == REPLY_OK)
        answer_taken(post);
    else if (post->reply.status == REPLY_TRY_LATER)
        answer_later(post);
    else
        http_post_refuse(post, 413, post->reply.message);
}

/* ---- the thread ---- */

/* Up to a round of those that wait; waits for one. Empty: stop. */
static void next_round(HttpPosts *posts, PostList *round) {
    list_init(round);
    pthread_mutex_lock(&posts->lock);
    while (!posts->stopping && !posts->waiting.first) pthread_cond_wait(&posts->changed, &posts->lock);
    for (guint i = 0; i < ROUND_POSTS && !posts->stopping && posts->waiting.first; i++)
        list_add(round, list_take(&posts->waiting));
    pthread_mutex_unlock(&posts->lock);
}

static void give_back(HttpPosts *posts, PostList *round) {
    for (HttpPost *post = round->first; post; post = post->next) answer(post);
    pthread_mutex_lock(&posts->lock);
    while (round->first) list_add(&posts->done, list_take(round));
    pthread_mutex_unlock(&posts->lock);
    posts->options.ready(posts->options.arg);
}

static void *posts_main(void *arg) {
    HttpPosts *posts = arg;
    PostList round;
    for (next_round(posts, &round); round.first; next_round(posts, &round)) {
        for (HttpPost *post = round.first; post; post = post->next) take(posts, post);
        intake_finish(posts->intake);
        batch_clear(posts->batch);
        if (posts->inflated->len > INFLATED_KEPT_BYTES) {
            g_byte_array_unref(posts->inflated);
            posts->inflated = g_byte_array_new();
        }
        give_back(posts, &round);
    }
    return NULL;
}

/* ---- life ---- */

HttpPosts *http_posts_start(const HttpPostsOptions *options) {
    HttpPosts *posts = g_new0(HttpPosts, 1);
    posts->options = *options;
    pthread_mutex_init(&posts->lock, NULL);
    pthread_cond_init(&posts->changed, NULL);
    list_init(&posts->waiting);
    list_init(&posts->done);
    posts->intake = intake_new(&options->intake, options->counters);
    posts->spans = service_spans_new();
    posts->batch = batch_new();
    posts->inflated = g_byte_array_new();
    atomic_store(&posts->json.limit_bytes, JSON_DOCUMENT_BYTES);
    thread_start(&posts->thread, "posts", posts_main, posts);
    return posts;
}

void http_posts_stop(HttpPosts *posts) {
    pthread_mutex_lock(&posts->lock);
    const gboolean stopped = posts->stopping;
    posts->stopping = TRUE;
    pthread_cond_signal(&posts->changed);
    pthread_mutex_unlock(&posts->lock);
    if (stopped) return;
    pthread_join(posts->thread, NULL);
    g_clear_pointer(&posts->intake, intake_free);

    pthread_mutex_lock(&posts->lock);
    while (posts->waiting.first) {
        HttpPost *post = list_take(&posts->waiting);
        http_post_refuse(post, 503, "plumbd is stopping");
        list_add(&posts->done, post);
    }
    pthread_mutex_unlock(&posts->lock);
    posts->options.ready(posts->options.arg);
}

void http_posts_free(HttpPosts *posts) {
    g_assert(!posts->waiting.first && !posts->done.first);
    service_spans_free(posts->spans);
    batch_free(posts->batch);
    g_byte_array_unref(posts->inflated);
    pthread_mutex_destroy(&posts->lock);
    pthread_cond_destroy(&posts->changed);
    g_free(posts);
}

gboolean http_posts_put(HttpPosts *posts, HttpPost *post) {
    pthread_mutex_lock(&posts->lock);
    const gboolean stopping = posts->stopping;
    const gboolean full = posts->waiting.bytes + post->body->len > POSTS_QUEUE_BYTES;
    if (!stopping && !full) {
        list_add(&posts->waiting, post);
        pthread_cond_signal(&posts->changed);
    }
    pthread_mutex_unlock(&posts->lock);
    if (stopping) http_post_refuse(post, 503, "plumbd is stopping");
    if (!stopping && full) http_post_refuse(post, 429, "too much waits to be taken: send it again in a moment");
    return !stopping && !full;
}

HttpPost *http_posts_take(HttpPosts *posts) {
    pthread_mutex_lock(&posts->lock);
    HttpPost *first = posts->done.first;
    list_init(&posts->done);
    pthread_mutex_unlock(&posts->lock);
    return first;
}
