/* One JSON value to one span; private to the reader of span_json.h. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"

/* Appends the span that 'value' holds to batch. Errors: INPUT, LIMIT; the batch is then as before. */
gboolean span_json_value(Bytes value, SpanBatch *batch, GError **error);
