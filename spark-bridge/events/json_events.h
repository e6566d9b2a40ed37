/* One event of a log, parsed by simdjson; private to events.c. C++ behind a plain C header. */
#pragma once

#include <glib.h>

/* What is included here is C too, for the file in C++. */
G_BEGIN_DECLS

#include "common/base/bytes.h"
#include "common/model/spark_records.h"
#include "spark-bridge/events/task_groups.h"

typedef enum {
    EVENT_OTHER,
    EVENT_LOG_START,
    EVENT_APP_START,
    EVENT_APP_END,
    EVENT_ENVIRONMENT,
    EVENT_PROFILE,  /* of resources */
    EVENT_EXCLUDED, /* an executor, or a host */
    EVENT_INCLUDED, /* again */
    EVENT_EXECUTOR_PEAKS,
    EVENT_EXECUTOR_ADDED,
    EVENT_EXECUTOR_REMOVED,
    EVENT_BLOCK_MANAGER_ADDED,
    EVENT_JOB_START,
    EVENT_JOB_END,
    EVENT_STAGE_SUBMITTED,
    EVENT_STAGE_COMPLETED,
    EVENT_TASK_START,
    EVENT_TASK_END,
    EVENT_QUERY_START, /* of Spark SQL */
    EVENT_QUERY_END,
    EVENT_QUERY_PLAN,    /* adaptive execution changed it */
    EVENT_QUERY_METRICS, /* of a subquery's changed plan */
    EVENT_QUERY_VALUES,  /* that the driver counted */
    EVENT_KINDS
} EventKind;

/* What one event said: one record of 'kind', in the union, without its application's key. */
typedef struct EventRecord {
    SparkRecords *texts; /* in: takes texts and lists */
    EventKind event;
    SparkKind kind; /* SPARK_KIND_COUNT: none */
    union {
        SparkApp app;
        SparkExecutor executor;
        SparkJob job;
        SparkStage stage;
        SparkTask task;
        SparkQuery query;
        SparkProfile profile;
        SparkExclusion exclusion;
    } as;
    gint64 newest_ms; /* newest time it names; -1: none */
} EventRecord;

typedef struct JsonEvents JsonEvents;

/* The groups are the caller's, and last as long. */
JsonEvents *json_events_new(const TaskGroups *groups);
void json_events_free(JsonEvents *json);

/* By the name between the quotes. */
EventKind event_kind(const char *name, gsize length);
/* Parses a line of that kind; OTHER: the kind is found in it. FALSE: it is broken, *problem (static) says how. */
gboolean json_events_parse(JsonEvents *json, EventKind kind, Bytes line, EventRecord *record, const char **problem);

G_END_DECLS
