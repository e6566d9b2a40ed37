/* What a bridge is told, and what it tells of each log that it reads. */
#pragma once

#include "common/model/spark_records.h"
#include "spark-bridge/storage/positions.h"
#include "spark-bridge/storage/stored_file.h"

typedef struct BridgeOptions {
    Storage *storage;
    Positions *positions;
    /* Takes the records for good, or fails; then reading stops with that error. */
    gboolean (*deliver)(void *arg, const SparkRecords *records, GError **error);
    /* Asked now and then; TRUE: hand on what there is and return. */
    gboolean (*stopped)(void *arg);
    /* Something a person should know now: damage, a log that began anew. */
    void (*say)(void *arg, const char *what);
    /* A folder of this machine that something may come to. May be NULL. */
    void (*folder)(void *arg, const char *folder);
    void *arg;
    gboolean follow; /* what the last file of a log lacks may still come */
} BridgeOptions;

/* What became of one log since the bridge was made. */
typedef struct LogOutcome {
    const char *path, *app; /* app NULL: not known */
    guint64 files, packed_bytes, plain_bytes;
    guint64 lines, taken, passed, broken, too_long;
    const GArray *broken_lines; /* of BrokenLine: the first BRIDGE_BROKEN_LINES */
    guint64 cut_line;           /* the last line, which has no end; 0: none */
    gboolean running, ended;
    gboolean unchanged; /* nothing was read: it was read before */
    const char *error;
} LogOutcome;

#define BRIDGE_BROKEN_LINES 20u
typedef struct BrokenLine {
    guint64 file, line;  /* file: number in a rolling log */
    const char *problem; /* static */
} BrokenLine;
