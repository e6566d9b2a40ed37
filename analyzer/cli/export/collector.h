/* Whoever takes spans by OTLP over HTTP: OpenTelemetry's collector, Jaeger, Tempo, another plumbd. Requests are JSON.
 *
 * A request that was not taken is repeated where OTLP says so (429, 502, 503, 504, and when there was no answer), after
 * the time that Retry-After says, else after 1 s, 2 s, ... 32 s. One whose answer is lost may arrive twice, as the
 * protocol has it. Any other answer is a failure. */
#pragma once

#include <glib.h>
#include <signal.h>

typedef struct CollectorOptions {
    const char *url;     /* without a path: /v1/traces */
    const char *headers; /* a file that only its owner can read, "Name: value" in each line; NULL: none */
    const char *ca;      /* certificates that are trusted, instead of the system's; NULL: those */
    gboolean persistent; /* repeats for ever; else for 5 minutes, and not at all when nothing listens at first */
    const volatile sig_atomic_t *stop;
} CollectorOptions;

typedef struct CollectorCounts {
    guint64 requests, repeats;
    guint64 rejected_spans;
    char *said; /* what the last partial success said; NULL: nothing */
} CollectorCounts;

typedef struct Collector Collector;
/* Errors: CONFIG, IO. Does not connect yet. */
Collector *collector_new(const CollectorOptions *options, GError **error);
void collector_free(Collector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Collector, collector_free)

/* One body (ExportTraceServiceRequest). Errors: PEER, also when told to stop. */
gboolean collector_send(Collector *collector, const char *body, gsize size_bytes, GError **error);
/* Did it answer that it does not take this? Trying again would not help. */
gboolean collector_refused(const Collector *collector);
/* FALSE: told to stop. */
gboolean collector_wait(const Collector *collector, gint64 ns);
const CollectorCounts *collector_counts(const Collector *collector);
