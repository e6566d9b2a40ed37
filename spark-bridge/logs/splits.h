/* Splits that tasks read, from logs of executors.
 *
 *     HadoopRDD, NewHadoopRDD: Input split: <path>:<start>+<length>                 up to Spark 3.5
 *     HadoopRDD, NewHadoopRDD: Task (TID n) input split: <path>:<start>+<length>    Spark 4
 *     FileScanRDD: Reading File path: <path>, range: <start>-<end>, ...
 *
 * with whatever the site's pattern puts before the message. The time is taken from the line's begin (2026-11-21
 * 20:46:04,123; 26/11/21 20:46:04; with T, point, zone or milliseconds since the epoch as well) or from "ts" where
 * lines are JSON. A pattern with the thread's name gives the task ("... (TID 7)"); else, where a line does not say it,
 * the task is the one that runs, if the log has exactly one running ("Running task ... (TID 7)", "Finished task ...
 * (TID 7)"). Several paths of a combined split are several records. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_records.h"

/* Longest line that is looked at: a combined split may name a thousand paths. */
#define SPLIT_MOST_LINE_BYTES ((gsize)1024 * 1024)
/* Tasks that run at once in an executor; more are not told apart. */
#define SPLIT_MOST_RUNNING 4096u

typedef struct SplitCounts {
    guint64 lines;                                     /* that say of a split */
    guint64 splits;                                    /* handed out */
    guint64 unreadable;                                /* of the lines, passed over: no path and range */
    guint64 untimed;                                   /* of the splits, without a time */
    guint64 unassigned;                                /* of the splits, without a task */
    guint64 first_unreadable_line, first_untimed_line; /* 0: there was none */
} SplitCounts;

/* What the lines do not say; texts and zone are borrowed until the log is freed. zone: of times without one; NULL:
 * UTC. */
typedef struct SplitSite {
    const char *app, *executor, *host;
    GTimeZone *zone;
} SplitSite;

typedef struct SplitLog SplitLog;

SplitLog *split_log_new(const SplitSite *site);
void split_log_free(SplitLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SplitLog, split_log_free)

/* Any line of the log, without its line feed; number: from 1. Splits that it tells of are appended to records. */
void split_log_line(SplitLog *log, Bytes line, guint64 number, SparkRecords *records);
const SplitCounts *split_log_counts(const SplitLog *log);
