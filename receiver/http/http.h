/* The HTTP port. One thread owns the connections and answers /healthz, /readyz and /metrics itself; questions about
 * the stored traces (/api/v1/) go to query threads (http_jobs.h), and spans (/v1/traces) to a thread of theirs
 * (posts.h), so that probes never wait for a long answer. */
#pragma once

#include "receiver/http/http_jobs.h"
#include "receiver/http/posts/posts.h"
#include "receiver/net/errand.h"
#include "receiver/shell/limits.h"

typedef struct HttpOptions {
    int listen_fd; /* listening; closed by http_stop() */
    guint query_threads;
    guint queue;                /* questions that may wait */
    gint64 question_timeout_ns; /* 0: none */
    gint64 timeout_ns;          /* for a request to become whole, for something of an answer to be taken */
    const char *listen;         /* as configured */
    const char *const *hosts;   /* names that this server is asked by, beside its own */
    HttpBackend backend;
    const StateSources *state; /* of status, metrics and readiness */
    Shares *shares;
    Counters *counters;        /* the HTTP thread's block */
    Counters *accept_counters; /* that of the thread that accepts for it */
    guint strangers;           /* connections that may be in their handshake */
    IntakeOptions intake;      /* of spans that come over HTTP */
    Counters *posts_counters;  /* the block of the thread that takes them */
    NameQuota *quota;
    Security *security;
    Audit *audit;
    Quotas *quotas;
    Errands *errands;
    gboolean open;              /* the port: see port_is_open() */
    gboolean secret;            /* it speaks TLS */
    const ShellSettings *shell; /* used until the end */
    gboolean unguarded;         /* anybody reaches the port, from other hosts too */
} HttpOptions;

typedef struct Http Http;
Http *http_start(const HttpOptions *options);
/* Any thread: since when its thread, and the one that accepts for it, have gone through their loops (monotonic); it is
 * asked to do so again now. */
gint64 http_seen_ns(Http *http);
/* Before shards stop: spans are taken no more. */
void http_stop_taking(Http *http);
/* Before shards stop: see http_jobs_leave_shards(). Probes and questions are still answered. */
void http_leave_shards(Http *http);
/* Ends the threads; answers that are being made are finished first, but not sent. */
void http_stop(Http *http);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Http, http_stop)
