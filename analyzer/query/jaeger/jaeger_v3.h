/* Version 3 of Jaeger's query API (paths under /api/v3/): traces are OTLP JSON, searches have summaries. Parameters are
 * camelCase, or snake_case as before. Services have the names that their spans have in OTLP: with '/'. */
#pragma once

#include "analyzer/query/jaeger/jaeger_inside.h"

/* What FindTraces and FindTraceSummaries ask for. INPUT. */
gboolean jaeger_v3_search(const Asked *asked, TraceSearch *search, GError **error);
/* Are the parameters of a trace well-formed? */
gboolean jaeger_v3_check_trace(const Asked *asked, GError **error);
/* The value of a parameter by either of its names; NULL: not given, or empty. */
const char *jaeger_v3_text(const Asked *asked, const char *name, const char *snake);
/* As functions have it; a new string. */
char *jaeger_v3_service(const char *text);

/* One trace of an answer, in JaegerTraces.add. */
void jaeger_v3_add_spans(JaegerTraces *traces, const TraceView *view);
void jaeger_v3_add_summary(JaegerTraces *traces, const TraceView *view);
/* {"result": ...}, {"summaries": ...}: NULL with *error. NOT_FOUND: there are no traces. */
json_t *jaeger_v3_spans_end(JaegerTraces *traces, GError **error);
json_t *jaeger_v3_summaries_end(JaegerTraces *traces, GError **error);
