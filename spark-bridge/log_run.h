/* One event log while a bridge reads it; private to bridge.c and log_run.c. */
#pragma once

#include "spark-bridge/events/event_logs.h"
#include "spark-bridge/events/events.h"
#include "spark-bridge/log_outcome.h"
#include "spark-bridge/storage/line_reader.h"

typedef struct LogRun {
    const BridgeOptions *options;
    char *path;
    Events *events; /* with 'reader': NULL while the log is not open */
    LineReader *reader;
    LogPosition at;  /* what is true once everything handed on so far is taken; at.app owned */
    GArray *broken;  /* of BrokenLine */
    LogOutcome told; /* counts */
    ReadPosition opened_at;
    guint64 packed_before, plain_before; /* of files before the one that is open */
    gboolean at_end;                     /* of what the file has at present */
    char *app, *error;
} LogRun;

LogRun *log_run_new(const BridgeOptions *options, const char *path);
void log_run_free(LogRun *run);

/* Was everything of the log read, and nothing came since? */
gboolean log_run_is_done(const LogRun *run, const EventLog *log);
/* Opens the file of the log that is to be read next, where it is to be read; FALSE without an error: there is none. */
gboolean log_run_open(LogRun *run, const EventLog *log, SparkRecords *into, GError **error);
/* At the end of a file: opens the next one. FALSE without an error: that was the last. */
gboolean log_run_next_file(LogRun *run, const EventLog *log, GError **error);
/* Takes one line into the batch; counts it. */
LineState log_run_line(LogRun *run, GError **error);
/* At the end of the last file. */
void log_run_end(LogRun *run, const EventLog *log);
/* Brings 'at' up to now. FALSE: it must stay as it was, since records wait for the application's name. */
gboolean log_run_note(LogRun *run);
void log_run_close(LogRun *run);
/* Notes what went wrong; says it, unless it was said before. */
void log_run_trouble(LogRun *run, const GError *error);
