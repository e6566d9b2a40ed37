/* What the plans of an application's queries tell: which files their scans read, and how large the sides of their joins
 * were. */
#pragma once

#include <glib.h>

typedef struct AdviseScan {
    const char *name;      /* "Scan parquet orders" */
    gint64 query, stage;   /* stage -1: not known */
    double files, bytes;   /* read; -1 where it is not told, as below */
    double partitions;     /* of the table, read; -1: it has none */
    double rows, kept;     /* read, and what the filter above it let through */
    gboolean by_partition; /* a filter chose among its partitions */
} AdviseScan;

/* A join of two shuffles. */
typedef struct AdviseJoin {
    const char *name;                /* "SortMergeJoin" */
    gint64 query, stage;             /* stage -1: not known */
    double small_bytes, large_bytes; /* of its sides, as they were shuffled */
    gboolean broadcasts;             /* its kind allows that the smaller side is broadcast */
    gboolean whole;                  /* neither side can be cut: a row of it would come once for each piece */
    const char *threshold; /* below which to broadcast, as the program sets it for the query; NULL: it does not */
} AdviseJoin;
