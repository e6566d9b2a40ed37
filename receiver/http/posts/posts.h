/* Bodies with spans or a mark, on their way from the HTTP thread to the journal and the shards, and their answers back.
 * One thread with an intake of its own (receiver/net/intake.h): spans that come over HTTP are journaled, bounded and
 * acknowledged as those of the Thrift port are. What waits is bounded; past that a sender is told to wait. Knows no
 * libevent. */
#pragma once

#include "common/wire/htraced/write_spans.h"
#include "common/wire/otlp/otlp.h"
#include "common/wire/otlp/zipkin.h"
#include "receiver/net/intake.h"

/* Bodies that wait: of all peers together. A body itself is bounded by LIMIT_FRAME_BYTES. */
#define POSTS_QUEUE_BYTES ((gsize)64 * 1024 * 1024)
/* What Retry-After says while there is too much to do, and while something needs an operator. */
#define POSTS_RETRY_BUSY_S 1
#define POSTS_RETRY_SHUT_S 5

/* Of POST_ZIPKIN the form is JSON; it is taken with 202, and errors are plain text. Of POST_HTRACED, too; it is taken
 * with 200 and an empty answer, and errors are {"error": text}. POST_MARK is a mark (mark.h), which is answered with
 * itself. */
typedef enum { POST_OTLP, POST_ZIPKIN, POST_HTRACED, POST_MARK } PostKind;

typedef struct HttpPost {
    struct HttpPost *next;
    void *owner; /* for the HTTP thread */
    PostKind kind;
    OtlpForm form;
    gboolean gzip;
    GByteArray *body;
    const PackLimit *limit; /* what its peer may add to the dictionary */
    char *principal;        /* who sent it; NULL: who has not logged in */
    char *address;          /* and from where */
    QuotaAccount *account;  /* whose quota it counts to: a reference, given back with the post; NULL: nobody's */
    WireReply reply;
    guint32 cut;
    GError *error; /* why it was not decoded */
    /* the answer */
    int code;
    guint retry_after_s; /* 0: none */
    GBytes *answer;
} HttpPost;
/* body is taken over. */
HttpPost *http_post_new(OtlpForm form, gboolean gzip, GByteArray *body, void *owner);
/* Of its answer. */
const char *http_post_content_type(const HttpPost *post);
void http_post_free(HttpPost *post);

typedef struct HttpPosts HttpPosts;
typedef struct HttpPostsOptions {
    IntakeOptions intake;
    Counters *counters;       /* of its thread */
    void (*ready)(void *arg); /* answers are there: called on its thread */
    void *arg;
} HttpPostsOptions;
HttpPosts *http_posts_start(const HttpPostsOptions *options);
/* Ends the thread. What waits, and what comes from then on, is answered with 503. */
void http_posts_stop(HttpPosts *posts);
void http_posts_free(HttpPosts *posts); /* stopped, and all answers taken */
/* It gets this answer, and is not to be put. */
void http_post_refuse(HttpPost *post, int code, const char *why);
/* FALSE: too many wait, or it is stopped; the post is still the caller's, and has its answer. */
gboolean http_posts_put(HttpPosts *posts, HttpPost *post);
/* All that are answered, in order; NULL: none. */
HttpPost *http_posts_take(HttpPosts *posts);
