/* Bins for how values are spread: 0, 1, 2, 3, then four to a power of two. A sketch's buckets, 64 to a power of two,
 * lie within one each. */
#pragma once

#include "analyzer/query/shared/question.h"

#define BINS (4u + 4u * 51u)

typedef struct BinCounts {
    guint64 counts[BINS];
    guint64 total;
} BinCounts;

typedef struct Bins {
    guint first, last; /* of all columns; first > last: none is used */
} Bins;

guint bin_of(guint64 value);
Bins bins_used(const BinCounts *columns, guint n);
/* One more than there are bins. */
json_t *json_bin_edges(Bins bins);
/* {"begin_time_ns", "calls" (or what 'what' says), "at": [number of the bin], "counts"} */
json_t *json_column(const BinCounts *column, Bins bins, gint64 begin_ns, const char *what);
