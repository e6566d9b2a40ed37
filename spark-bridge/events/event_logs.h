/* Which event logs a path names: a log itself, plain or packed; a rolling one, eventlog_v2_APP/ with
 * events_N_APP[.codec]; a folder of Spark 1.0 to 1.2 with EVENT_LOG_N; or a whole history folder of any of these. */
#pragma once

#include "spark-bridge/storage/stored_file.h"

typedef struct EventLogFile {
    char *path;
    guint64 number;   /* of a rolling log, from 1; else 0 */
    gboolean compact; /* stands for all files up to its number, whose finished jobs it leaves out */
    guint64 id, size_bytes;
} EventLogFile;

typedef struct EventLog {
    char *path;    /* what it is known by: without ".inprogress", so that it stays the same when the application ends */
    char *name;    /* the application's key, if the log names none: its file's name without the endings */
    GArray *files; /* of EventLogFile, in the order of reading; may be empty */
    gboolean running; /* says its name: the application has not ended, or died */
    gint64 changed_ms;
} EventLog;

void event_log_free(EventLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventLog, event_log_free)

typedef struct EventLogsQuery {
    Storage *storage;
    /* Told of what lies in the path and cannot be looked at. May be NULL. */
    void (*told)(void *arg, const char *path, const GError *error);
    void *arg;
} EventLogsQuery;

/* Appends the logs that 'path' names to 'logs' (of EventLog *), those that changed first first. What is no log is left
 * out: names that begin with a dot or an underscore, folders of other kinds. */
gboolean event_logs_find(const EventLogsQuery *query, const char *path, GPtrArray *logs, GError **error);
