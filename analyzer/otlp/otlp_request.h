/* Traces as OTLP JSON (ExportTraceServiceRequest, which is TracesData, too), for whatever takes OpenTelemetry's spans:
 * the way back from what docs/ecosystem.md says becomes of these. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Of rows as "spans" of the question "trace" has them: a new reference. */
json_t *otlp_request(const json_t *spans);
/* Did it fail, by its annotations? Of OpenTelemetry's own; our agent says of a call which exception it ended with.
 * "": it has none. */
gboolean otlp_failed(const char *status_code, const char *exception);
