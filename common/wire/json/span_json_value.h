/* One JSON value to one span, or one record of Spark; private to the reader of span_json.h. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"
#include "common/model/spark_records.h"

/* Appends the span that 'value' holds to batch, or the record to records (NULL: none is taken). Errors: INPUT, LIMIT;
 * both are then as before. */
gboolean span_json_value(Bytes value, SpanBatch *batch, SparkRecords *records, GError **error);
