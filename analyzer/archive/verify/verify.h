/* Does the archive say what its spans say? Everything that was computed once, from spans that have long been stored,
 * is computed again from the stored spans and compared: statistics to the byte, the search index, the accounts, records
 * of Spark. Where traces were removed only numbers can be compared. Reads only. */
#pragma once

#include "analyzer/archive/archive.h"

/* Recomputes every stored statistic from the stored spans and compares. */
typedef struct VerifyHooks {
    void (*report)(void *arg, const char *what);                     /* each difference; may be NULL */
    void (*progress)(void *arg, guint64 done_traces, guint64 total); /* may be NULL */
    void *arg;
} VerifyHooks;
typedef struct VerifyResult {
    guint64 traces, spans, rows, differences;
    guint64 unchecked; /* rows that count traces that were removed since: only their number is compared */
    guint64 waiting;   /* late spans, beside 'spans' */
    guint64 cut;       /* records that have lost ids, annotations or notes by choice */
} VerifyResult;
/* TRUE when it ran through, with differences or without. */
gboolean archive_verify(Archive *archive, const VerifyHooks *hooks, VerifyResult *result, GError **error);

/* The same for the records of Spark.
 * Reads every record: is each in its place, whole, counted? Differences are reported; *checked is how many records. */
gboolean archive_spark_verify(Archive *archive, const VerifyHooks *hooks, guint64 *checked, guint64 *differences,
                              GError **error);
