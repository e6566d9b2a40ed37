/* Questions on their way from the HTTP thread to the query threads and back. A job belongs to one side at a time; what
 * both touch while an export streams is under its lock. Knows no libevent.
 *
 * Peers take turns: the next job is one of the peer that has fewest under way, and no peer has all threads, so that
 * another one is answered at once. Exports, which last as long as their readers take, have half of the threads of a
 * peer, and never all of them. Flushes are one for all that wait, one at a time, and HTTP_FLUSHES_AT_ONCE before they
 * come no faster than one each HTTP_FLUSH_PAUSE_NS: each makes files, whatever little there is to store. Of questions
 * that take much memory by themselves (query_is_large()) one is answered at a time. */
#pragma once

#include <jansson.h>

#include "analyzer/query/query.h"
#include "receiver/state/state.h"

#define HTTP_FLUSHES_AT_ONCE 16u
#define HTTP_FLUSH_PAUSE_NS  (G_GINT64_CONSTANT(500) * 1000000)

/* Of an export, at most this much waits to be sent. */
#define HTTP_STREAM_BYTES (1024u * 1024)

#define HTTP_PACKED_FROM_BYTES 4096u

typedef enum { JOB_QUERY, JOB_EXPORT, JOB_FLUSH } JobKind;

typedef struct HttpJob HttpJob;
/* params is taken over; owner is for the HTTP thread (its request). */
HttpJob *http_job_new(JobKind kind, const char *question, QueryParams *params, void *owner);
/* Who asks: who has logged in, from wherever; NULL: the address (receiver/shared/shares.h). "" until then. */
void http_job_set_peer(HttpJob *job, const char *principal, const char *address);
/* The reader unpacks gzip: a document of more than HTTP_PACKED_FROM_BYTES comes so. */
void http_job_set_gzip(HttpJob *job);
/* A trace whose open spans are to be stored before the question is answered; HTTP_JOB_TRACES at most. */
#define HTTP_JOB_TRACES 2
void http_job_add_trace(HttpJob *job, guint64 trace_id);
void *http_job_owner(const HttpJob *job);
gboolean http_job_is_flush(const HttpJob *job);
/* On the HTTP thread: the peer is gone; what was streamed has been sent. */
void http_job_cancel(HttpJob *job);
void http_job_drained(HttpJob *job);
void http_job_free(HttpJob *job);

typedef struct HttpAnswer {
    struct HttpAnswer *next;
    HttpJob *job;
    gboolean last;    /* the job is the HTTP thread's again */
    int code;         /* HTTP status; of the first piece of an export: 200 */
    const char *type; /* of a whole answer */
    GBytes *body;     /* NULL: none */
    gboolean stream;  /* a piece of an export */
    gboolean gzipped;
    guint64 tag; /* of a document: the same for the same text; 0: none */
} HttpAnswer;
void http_answer_free(HttpAnswer *answer);

/* What questions and flushes are asked of. */
typedef struct HttpBackend {
    Archive *archive;
    Shard *const *shards;
    guint n_shards;
    Recorder *recorder;
    Admission *admission;
    const RecoveryView *recovery;
    AllowanceBudget *questions; /* memory of those that are being answered */
} HttpBackend;

typedef struct HttpJobs HttpJobs;
typedef struct HttpJobsOptions {
    guint n_threads;
    guint per_peer; /* threads that one peer may have */
    guint queue;
    gint64 question_timeout_ns; /* 0: none */
    HttpBackend backend;
    const StateSources *state; /* for the questions that are about plumbd itself */
    void (*ready)(void *arg);  /* answers are there: called on query threads */
    void *arg;
} HttpJobsOptions;
HttpJobs *http_jobs_start(const HttpJobsOptions *options);
/* From its return on no query thread asks a shard for anything: flushes are answered with 503, questions from the
 * store; those about records that are not in it yet with 503. */
void http_jobs_leave_shards(HttpJobs *jobs);
/* Ends the threads; unanswered jobs are answered with 503. Call http_jobs_take() once more, then http_jobs_free(). */
void http_jobs_stop(HttpJobs *jobs);
void http_jobs_free(HttpJobs *jobs);
/* FALSE: the queue is full, the job stays the caller's. All flushes that wait are one, with one place in the queue:
 * what is stored when it is begun is what each of them asked for. */
gboolean http_jobs_put(HttpJobs *jobs, HttpJob *job);
/* When the queue is full: the newest job of the peer that has most in it, if that is more than the peer of 'job' would
 * have; it is the caller's again. Else NULL. */
HttpJob *http_jobs_give_way(HttpJobs *jobs, const HttpJob *job);
/* TRUE: it was waiting, and is the caller's again. FALSE: it was begun, and its answer comes. */
gboolean http_jobs_withdraw(HttpJobs *jobs, HttpJob *job);
/* All answers so far, in order; NULL: none. */
HttpAnswer *http_jobs_take(HttpJobs *jobs);
