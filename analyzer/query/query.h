/* The questions that plumbd's HTTP API and `plumb --store` answer, each as one JSON document. docs/api.md names the
 * parameters and fields. Computes, never prints; any number of threads may ask at once. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"
#include "analyzer/query/json_compact.h"
#include "common/model/batch.h"

typedef struct QueryParams QueryParams;
QueryParams *query_params_new(void);
void query_params_free(QueryParams *params);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryParams, query_params_free)
/* A parameter may be given several times. Copies both. */
void query_params_add(QueryParams *params, const char *name, const char *value);
/* The same parameters, in the same order? */
gboolean query_params_equal(const QueryParams *a, const QueryParams *b);

/* Questions: "status", "senders", "functions", "forest", "traces", "trace", "diff", "skew", "verify", "apps", "stages",
 * "tasks". now_ns: what
 * relative times ("15m") count from. A new reference, or NULL with INPUT (unknown question, unknown or malformed
 * parameter; the nearest known name is in the message), NOT_FOUND, CORRUPT, IO. */
json_t *query_run(Archive *archive, const char *question, const QueryParams *params, gint64 now_ns, GError **error);

typedef struct Query {
    Archive *archive;
    const char *question;
    const QueryParams *params;
    gint64 now_ns;
} Query;

/* The same for who wants text: what need not be a document for that, the spans of a trace, goes to *rows (empty before,
 * the caller's to clear, also after a failure), and json_compact_rows() makes one text of both. */
json_t *query_run_rows(const Query *query, JsonRows *rows, GError **error);

/* Every stored span in a period as HTrace JSON lines, in pieces of about 64 KiB; the consumer returns FALSE to stop. */
typedef struct QuerySink {
    gboolean (*write)(void *arg, Bytes piece);
    void *arg;
} QuerySink;
gboolean query_export(Archive *archive, const QueryParams *params, gint64 now_ns, const QuerySink *sink,
                      GError **error);

/* One packed span in the outside form: appended to a batch, names restored to what the sender wrote. */
void query_span_to_batch(Archive *archive, const SpanRec *span, SpanBatch *batch);
