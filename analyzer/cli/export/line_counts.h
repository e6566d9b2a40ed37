/* How many of the lines of an export are spans, how many records of Spark. */
#pragma once

#include "common/base/bytes.h"

typedef struct LineCounts {
    guint64 spans, records;
    gsize matched; /* bytes at the begin of the line that are those of a record's; G_MAXSIZE: it is none */
} LineCounts;

/* Pieces may be cut anywhere. */
void line_counts_add(LineCounts *counts, Bytes piece);
