/* The HTTP port. One thread owns the connections and answers /healthz, /readyz and /metrics itself; questions about the
 * stored traces (/api/v1/) go to query threads (http_jobs.h), so that probes never wait for a long answer. */
#pragma once

#include "receiver/report/state.h"

/* Requests have no body to speak of; headers are a browser's. */
#define HTTP_HEADERS_MAX_BYTES (16 * 1024)
#define HTTP_BODY_MAX_BYTES    (64 * 1024)
/* A peer that reads nothing for so long is gone. */
#define HTTP_TIMEOUT_S 60

/* While fewer descriptors than this are left to the process, no connection is accepted: store and journal come first.
 * Those that are not needed end by HTTP_TIMEOUT_S. */
#define HTTP_FILES_LEFT 128u

typedef struct HttpOptions {
    int listen_fd; /* listening; closed by http_stop() */
    guint query_threads;
    guint queue;                /* questions that may wait */
    gint64 question_timeout_ns; /* 0: none */
    StateSources *sources;
    Counters *counters; /* the HTTP thread's block */
} HttpOptions;

typedef struct Http Http;
Http *http_start(const HttpOptions *options);
/* Before shards stop: see http_jobs_leave_shards(). Probes and questions are still answered. */
void http_leave_shards(Http *http);
/* Ends the threads; answers that are being made are finished first, but not sent. */
void http_stop(Http *http);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Http, http_stop)
