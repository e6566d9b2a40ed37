/* The columns of tables 16 and 17: one measure (docs/api.md) as cells of a row. */
#pragma once

#include "analyzer/cli/format/field.h"
#include "analyzer/cli/format/table.h"

typedef enum {
    MEASURE_TIMES, /* mean std min max q25 q75 calls total self critical */
    MEASURE_BYTES, /* calls, total, and what is known of bytes and bytes per second */
} MeasureSet;

#define MEASURE_MAX_COLUMNS 20

/* Fills columns[0..n) and returns n. */
guint measure_columns(MeasureSet set, TableColumn *columns);
/* As many cells: "-" for what the measure does not have, empty ones for groups that it does not have. */
void measure_cells(Table *table, const Style *style, MeasureSet set, const json_t *measure);

/* "3 orphans, 2 reversed, 1 outside parent"; a new string, "" when there is nothing to say. */
char *measure_notes(const json_t *measure);

/* The colour of a row's role. */
Colour measure_role_colour(const Style *style, const json_t *row);
