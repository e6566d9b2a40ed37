/* The rows of a minute's calls that failed, found again beside those of all calls: both come in the same order (cell,
 * function, role, host), those that failed first (period_stats.h). */
#pragma once

#include "analyzer/calltree/stats/stats.h"

typedef struct FailedRows {
    GArray *rows;      /* of the minute */
    GByteArray *bytes; /* theirs */
    guint32 minute;
    guint next;    /* those before it were passed */
    gsize charged; /* to the question */
} FailedRows;

void failed_rows_init(FailedRows *failed);
void failed_rows_clear(FailedRows *failed);
/* A row of kind STATS_FAILED. */
void failed_rows_note(FailedRows *failed, const StatsKey *key, const StatsHosts *hosts);
/* That which belongs to a row of kind STATS_FUNCTION. FALSE: none of its calls failed. */
gboolean failed_rows_find(FailedRows *failed, const StatsKey *key, Bytes *row);
