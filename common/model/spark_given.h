/* What an application's executors are given, beside the record of each: profiles of resources, which stages may have of
 * their own since Spark 3.1, and exclusions, after which an executor or a host gets no more tasks. */
#pragma once

#include "common/model/spark_values.h"

typedef struct SparkProfile {
    const char *app;
    gint64 profile;                                                    /* 0: what the settings say */
    gint64 memory_bytes, overhead_bytes, off_heap_bytes, python_bytes; /* of an executor; -1: not named */
    gint32 cores;                                                      /* of an executor */
    double task_cpus;                                                  /* cores that a task takes; -1: not named */
    SparkPairs others; /* "executor gpu" -> "1", "task gpu" -> "0.5"; sorted by key */
} SparkProfile;

/* Of an executor, else of a host; in a stage attempt, else in the whole application. */
typedef struct SparkExclusion {
    const char *app;
    const char *executor, *host; /* one of both is NULL */
    gint64 stage;                /* -1: of all */
    gint32 stage_attempt;
    gint64 time_ms, back_ms; /* since when; when it was let in again, -1: not */
    gint64 failures;         /* tasks that had failed on the executor; of a host: executors excluded there */
} SparkExclusion;

/* "executor 3 was excluded after 2 failures"; "host worker2 was excluded from stage 4 after 2 of its executors". Free
 * with g_free(). */
char *spark_exclusion_text(const SparkExclusion *exclusion);
