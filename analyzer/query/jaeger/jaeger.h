/* The query API of Jaeger (paths under /api/), for its page and for Grafana's Jaeger data source: another form of what
 * the questions about spans answer. docs/ecosystem.md has the paths, and what Jaeger's form cannot carry.
 *
 * A question is "jaeger/" and the path behind "/api/": "jaeger/services/checkout/operations". Parameters that Jaeger
 * does not know are ignored, as Jaeger does. */
#pragma once

#include "analyzer/query/shared/question.h"

#define JAEGER_QUESTIONS "jaeger/"

static inline gboolean jaeger_is(const char *question) { return g_str_has_prefix(question, JAEGER_QUESTIONS); }

/* Is it about one trace? The lower half of its id. */
gboolean jaeger_asks_for(const char *question, guint64 *trace_id);

/* A document {"data", "total", "limit", "offset", "errors"}: a new reference, or NULL with *error as of any question.
 */
json_t *jaeger_answer(const Asked *asked, const char *question, GError **error);
/* What is said of a failure, as whoever asks reads it. */
json_t *jaeger_error(const char *question, int code, const char *message);
