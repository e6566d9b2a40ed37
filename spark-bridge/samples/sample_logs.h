/* Logs of host samples (samples.h) by path: read to their present end, handed on in batches, and gone on with where
 * they have grown. No position is kept beyond the program's run: a log that is read again changes nothing. */
#pragma once

#include "spark-bridge/samples/samples.h"
#include "spark-bridge/storage/stored_file.h"

typedef struct SampleLogsOptions {
    SampleOptions samples;
    Storage *storage;
    /* As of BridgeOptions. */
    gboolean (*deliver)(void *arg, const SparkRecords *records, GError **error);
    gboolean (*stopped)(void *arg);
    void *arg;
    gboolean follow; /* the last sample of a log may still get more rows: it waits for the next one's begin */
} SampleLogsOptions;

typedef struct SampleLogs SampleLogs;
/* CONFIG: the zone or date makes no sense. */
SampleLogs *sample_logs_new(const SampleLogsOptions *options, GError **error);
void sample_logs_free(SampleLogs *logs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SampleLogs, sample_logs_free)

/* Is it a file that begins like one? Remembers those that it said yes of. */
gboolean sample_logs_is(SampleLogs *logs, const char *path);
/* IO, PEER, NOT_FOUND, and what deliver fails with. */
gboolean sample_logs_read(SampleLogs *logs, const char *path, GError **error);

typedef struct SampleLogOutcome {
    const char *path;
    SampleCounts counts;
} SampleLogOutcome;
/* Of every log, in the order in which they were first read. */
void sample_logs_outcomes(const SampleLogs *logs, void (*each)(void *arg, const SampleLogOutcome *outcome), void *arg);
/* "worker1.json: 3,600 samples, its clock is UTC+08:00 (...)", with what was wrong. A new string. */
char *sample_log_text(const SampleLogOutcome *outcome);
