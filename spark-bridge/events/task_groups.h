/* What is read of a task's metrics, by the objects of its line that hold them. C and C++. */
#pragma once

#include <string.h>

#include "common/model/task_metrics.h"

G_BEGIN_DECLS

#define TASK_GROUPS         6u
#define TASK_GROUP_EXECUTOR (TASK_GROUPS - 1)

/* A key to compare with: its first bytes tell nearly all others apart. */
typedef struct TaskKey {
    guint64 front;
    const char *text;
    gsize length;
} TaskKey;

typedef struct TaskGroup {
    TaskKey name; /* of the object; of all but the first, which is Task Metrics itself */
    TaskKey keys[TASK_METRIC_COUNT];
    guint metrics[TASK_METRIC_COUNT]; /* TaskMetric of each key */
    guint n;
} TaskGroup;

typedef struct TaskGroups {
    TaskGroup of[TASK_GROUPS]; /* the last lies beside Task Metrics, those between within it */
} TaskGroups;

void task_groups_init(TaskGroups *groups);

/* 'text' begins behind the key's quote; as much as the padding of a line can be read there. */
static inline gboolean task_key_is(const TaskKey *key, guint64 front, const char *text) {
    return front == key->front && text[key->length] == '"' && memcmp(text, key->text, key->length) == 0;
}

/* Which of the group's keys it is; -1: none. They mostly come in the order of the table: 'next' is where the search
 * begins. */
static inline gint task_group_find(const TaskGroup *group, const char *text, guint *next) {
    guint64 front;
    memcpy(&front, text, sizeof front);
    guint at = *next;
    for (guint i = 0; i < group->n; i++, at++) {
        if (at == group->n) at = 0;
        if (!task_key_is(&group->keys[at], front, text)) continue;
        *next = at + 1;
        return (gint)at;
    }
    return -1;
}

/* The group within Task Metrics that is called so; 0: none. */
static inline guint task_groups_within(const TaskGroups *groups, const char *text) {
    guint64 front;
    memcpy(&front, text, sizeof front);
    for (guint g = 1; g < TASK_GROUP_EXECUTOR; g++)
        if (task_key_is(&groups->of[g].name, front, text)) return g;
    return 0;
}

G_END_DECLS
