/* Functions, traces and spans as three Parquet files in a folder, which get their names together, when all are whole.
 */
#pragma once

#include <signal.h>

#include "analyzer/cli/options/invocation.h"

typedef struct ParquetCounts {
    guint64 functions, traces, spans;
    guint64 bytes; /* of the three files */
} ParquetCounts;

/* Of the invocation: "parquet", the folder, which is made; "duckdb"; the period and what chooses traces. stop: set by a
 * signal. */
gboolean parquet_export(const Invocation *invocation, const volatile sig_atomic_t *stop, ParquetCounts *counts,
                        GError **error);
