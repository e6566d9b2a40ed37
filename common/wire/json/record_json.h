/* Records of Spark as JSON lines, among the lines of spans that `plumb export` writes and `plumb import` reads: one
 * object, whose first key is "spark" with the record's kind ("task"), then what is known of its fields by their names
 * (model/spark_fields.h). Enums are numbers, as in stores. Whole numbers that other readers of JSON would lose digits
 * of (beyond 2^53: times in ns, trace ids) are decimal strings; the reader takes both. Keys that it does not know are
 * left out, and so is a value of an enum that is newer than it. */
#pragma once

#include <jansson.h>

#include "common/model/spark_records.h"

#define RECORD_JSON_KEY "spark"

/* Appends one object and a line feed. */
void record_json_write(SparkKind kind, const void *record, GString *out);

/* Does the object say that it is a record? */
gboolean record_json_is(const json_t *object);
/* Appends the record. INPUT, LIMIT: nothing was appended. */
gboolean record_json_read(const json_t *object, SparkRecords *records, GError **error);
