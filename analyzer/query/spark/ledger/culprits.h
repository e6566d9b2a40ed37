/* What an application would gain without a cause: its stages are replayed with what the cause explains taken out of
 * their tasks (diagnosis/replay.h). Orders causes by seconds of the application, not by tasks: what a stage ends later
 * by is the last task's doing. */
#pragma once

#include <jansson.h>

#include "analyzer/query/spark/tasks/app_tasks.h"

/* The main cause of one straggler. */
typedef struct CulpritCause {
    guint32 straggler;
    const char *feature, *host; /* host: whose doing it is; NULL: its own data or work, or nobody is seen */
    FeatureTopic topic;
    double explains_ms;
} CulpritCause;

/* causes: CulpritCause, by straggler, one of each at most. The CULPRITS_MOST that explain most, those first that save
 * most: [{"feature", "topic", "host", "tasks", "explains_ns", "saves_ns"}]. saves_ns is the sum over the stages, which
 * is the application's as far as they ran one after the other. */
#define CULPRITS_MOST 8u
json_t *culprits_json(const TaskTable *table, const Stragglers *stragglers, const GArray *causes);
