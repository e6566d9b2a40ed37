/* Logs that stand beside an event log and say more of its tasks: operation logs, executors' logs with the splits that
 * were read. Each is read once, from begin to end; whole batches are handed on, so that sending a log again is all
 * there is to do after a failure. */
#pragma once

#include "common/model/spark_records.h"
#include "spark-bridge/storage/stored_file.h"

typedef enum { SIDE_OPERATIONS, SIDE_EXECUTOR_LOG } SideKind;

typedef struct SideOptions {
    Storage *storage;
    /* What the log does not say itself: NULL where unknown; the application must be known. zone: of clocks without an
     * offset; NULL: UTC. */
    const char *app, *executor, *host, *zone;
    gboolean (*deliver)(void *arg, const SparkRecords *records, GError **error);
    gboolean (*stopped)(void *arg); /* TRUE: return, as if the log ended */
    void (*say)(void *arg, const char *what);
    void *arg;
} SideOptions;

/* Errors: of the file; CONFIG: the zone makes no sense, or the application is not given; of delivery. */
gboolean side_log_read(SideKind kind, const char *path, const SideOptions *options, GError **error);
