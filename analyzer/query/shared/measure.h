/* A measure: statistics of calls as the JSON fields that docs/api.md names, and as numbers to sort by. */
#pragma once

#include <jansson.h>

#include "analyzer/calltree/stats/stats.h"

/* Adds the fields of a measure to a row. All numbers are integers, rounded. */
void measure_add(json_t *row, NodeStats *stats);

/* One field, by its name in JSON ("total_ns", "bytes.mean_bytes"); NULL when there is none of that name. */
typedef struct MeasureField MeasureField;
const MeasureField *measure_field(const char *name);
double measure_value(const MeasureField *field, NodeStats *stats);
/* What a weight adds to it; FALSE: it takes more than weights to tell. */
gboolean measure_of_weight(const MeasureField *field, const NodeWeight *weight, gint64 *value);

/* 1, or a millisecond when every time was counted in milliseconds. */
gint64 measure_resolution_ns(const NodeStats *stats);
