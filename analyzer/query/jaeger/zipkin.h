/* The query API of Zipkin 2 (paths under /api/v2/), for Zipkin's page and for Grafana's Zipkin data source: services,
 * searches and traces as for Jaeger, in Zipkin's form. docs/ecosystem.md has the paths, and what the form cannot carry.
 *
 * A question is "zipkin/" and the path behind "/api/v2/": "zipkin/trace/463ac35c9f6413ad". Parameters that Zipkin does
 * not know are ignored, as Zipkin does. */
#pragma once

#include "analyzer/query/shared/question.h"

#define ZIPKIN_QUESTIONS "zipkin/"

static inline gboolean zipkin_is(const char *question) { return g_str_has_prefix(question, ZIPKIN_QUESTIONS); }

/* Is it about one trace? The lower half of its id. */
gboolean zipkin_asks_for(const char *question, guint64 *trace_id);

/* A list: a new reference, or NULL with *error as of any question. Where asked->rows is given, spans are its text, all
 * of the answer (JSON_ROWS_ALL), and the document says nothing. */
json_t *zipkin_answer(const Asked *asked, const char *question, GError **error);
