/* Exported JSON lines of HTrace on their way to OTLP JSON lines: each line is one request (ExportTraceServiceRequest),
 * as the file exporter of OpenTelemetry's collector writes them. Records of Spark are left out. */
#pragma once

#include <jansson.h>

#include "common/base/bytes.h"

typedef struct OtlpLines OtlpLines;
OtlpLines *otlp_lines_new(void);
void otlp_lines_free(OtlpLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OtlpLines, otlp_lines_free)

/* Appends what is complete. The input may be cut anywhere. Returns how many spans were met. */
guint64 otlp_lines_feed(OtlpLines *lines, Bytes piece, GString *out);
/* The spans of an answer to "trace" from *at on: until a line is complete, which is appended (TRUE: there may be more),
 * or all are taken. */
gboolean otlp_lines_add(OtlpLines *lines, const json_t *document, gsize *at, GString *out);
/* How many spans are in no line yet. */
guint64 otlp_lines_gathered(const OtlpLines *lines);
/* What is gathered makes a line, however short; or is forgotten. */
void otlp_lines_flush(OtlpLines *lines, GString *out);
void otlp_lines_clear(OtlpLines *lines);
guint64 otlp_lines_finish(OtlpLines *lines, GString *out);
