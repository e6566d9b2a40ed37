/* The rows of a document as CSV (RFC 4180): a header line, lines that end in CR LF, numbers as the document has them,
 * whose names say the unit ("total_ns"). */
#pragma once

#include "analyzer/cli/format/field.h"

/* rows: which lists of the document may be meant, the first that it has: "rows|stages". "patterns.nodes" are the nodes
 * of all patterns, each behind what its pattern says itself ("patterns.traces"). Objects become columns of their own
 * ("bytes.calls"); lists, and objects whose names are data (annotations), JSON. FALSE: it has no such list. */
gboolean show_csv(const json_t *document, const char *rows, GString *out);
