/* The questions that plumbd's HTTP API and `plumb --store` answer, each as one JSON document. docs/api.md names the
 * parameters and fields. Computes, never prints; any number of threads may ask at once. */
#pragma once

#include <jansson.h>

#include "analyzer/query/shared/question.h"
#include "analyzer/query/traces/query_export.h"

/* question: one of the table in query.c; docs/api.md describes each. now_ns: what relative times ("15m") count
 * from. A new reference, or NULL with INPUT (unknown question, unknown or malformed parameter; the nearest known name
 * is in the message), NOT_FOUND, CORRUPT, IO; LIMIT, BUSY, PEER of the thread's allowance (common/base/allowance.h). */
json_t *query_run(Archive *archive, const char *question, const QueryParams *params, gint64 now_ns, GError **error);

/* Does it read the whole store, so that its time depends on nothing that was asked? */
gboolean query_reads_all(const char *question);

/* Is it answered from records of Spark and of hosts, which are stored a moment after they were acknowledged? */
gboolean query_reads_records(const char *question);

/* Does it take much memory by itself, so that one is answered at a time? */
gboolean query_is_large(const char *question);

typedef struct Query {
    Archive *archive;
    const char *question;
    const QueryParams *params;
    gint64 now_ns;
    GBytes **columns; /* set by questions that are answered in columns, else left alone; NULL: they answer documents */
} Query;

/* The same for a caller that wants text. The spans of a trace are most of an answer: they are written as text at once,
 * to *rows, and json_compact_rows() makes one text of both. *rows is empty before; clearing it is left to the caller,
 * also after a failure. */
json_t *query_run_rows(const Query *query, JsonRows *rows, GError **error);

/* As query_run(), with another rows_max: for tests. */
json_t *question_answer(const char *question, const Asked *asked, GError **error); /* for tests */
const char *question_name(guint i); /* of the table, from 0; NULL: there are no more; for tests */
