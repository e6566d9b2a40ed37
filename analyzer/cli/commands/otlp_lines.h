/* Exported JSON lines of HTrace on their way to OTLP JSON lines: each line is one request (ExportTraceServiceRequest),
 * as the file exporter of OpenTelemetry's collector writes them. Records of Spark are left out. */
#pragma once

#include "common/base/bytes.h"

typedef struct OtlpLines OtlpLines;
OtlpLines *otlp_lines_new(void);
void otlp_lines_free(OtlpLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OtlpLines, otlp_lines_free)

/* Appends what is complete. The input may be cut anywhere. */
void otlp_lines_feed(OtlpLines *lines, Bytes piece, GString *out);
void otlp_lines_finish(OtlpLines *lines, GString *out);
