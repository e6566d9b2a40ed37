/* What the files about Zipkin share. */
#pragma once

#include "analyzer/query/jaeger/jaeger_inside.h"
#include "analyzer/query/jaeger/zipkin.h"

/* Traces as lists of spans. many: a list of such lists; else one. */
void zipkin_traces_begin(JaegerTraces *traces, const Asked *asked, gboolean many);
/* The list; NULL with *error. */
json_t *zipkin_traces_end(JaegerTraces *traces, gboolean many, GError **error);
