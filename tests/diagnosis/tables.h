/* Small tables of tasks, written down as rows. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

typedef struct Row {
    guint32 stage, host;
    gint64 begin_ms, duration_ms;
    double value; /* of the first feature */
} Row;

/* One feature, "feature"; every row counts and is judged. */
TaskTable *table_of(FeatureKind kind, const Row *rows, guint32 n);
/* A further column, of NANs; its number. */
guint table_add_feature(TaskTable *table, const char *name, FeatureKind kind, FeatureTopic topic);
