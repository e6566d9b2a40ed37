/* The body of htraced's POST /writeSpans: {"NumSpans":n,"DefaultTrid":text} and then n spans in HTrace's JSON
 * (json/span_json.h), with any white space between them or none. Clients before HTrace 4.1 send the spans alone. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"

/* Into batch (cleared first). Errors: INPUT, LIMIT; the batch is then of no use. A span without id gets the invalid id
 * (0,0): it alone is to be refused. */
gboolean write_spans_decode(Bytes body, SpanBatch *batch, GError **error);
