/* What became slower: two measures of the same thing, compared. */
#pragma once

#include <jansson.h>

#include "analyzer/query/shared/question.h"

/* A change counts when the means differ by this many standard errors and by this part of the first. */
#define CHANGE_MIN_Z       3.0
#define CHANGE_MIN_PERCENT 5.0

/* One thing on both sides; a side that has no calls is NULL. */
typedef struct ChangeRow {
    guint32 function; /* dictionary id, or NAME_MISSING */
    guint32 role;
    guint32 host;  /* dictionary id; 0: of all hosts together */
    guint32 depth; /* of tree nodes */
    NodeStats *a, *b;
    double mean_change_ns, percent, z;
    gint64 total_change_ns;
    gboolean has_percent; /* a's mean is not 0 */
    gboolean has_z;       /* both sides have at least two calls */
} ChangeRow;

/* Fills in what follows from a and b.
 *
 * z is Welch's: the difference of the means over the root of the sum of their squared standard errors; the resolution
 * of the clock counts as rounding (its square / 12 is added to each variance). */
void change_compute(ChangeRow *row);
json_t *change_json(Archive *archive, const ChangeRow *row, gboolean with_depth);

typedef enum { CHANGE_BY_TOTAL, CHANGE_BY_MEAN, CHANGE_BY_PERCENT, CHANGE_BY_Z } ChangeSort;
/* Greatest first; ties by name and role. */
void change_sort(Archive *archive, GArray *rows, guint sort);
