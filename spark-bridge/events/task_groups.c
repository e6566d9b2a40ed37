#include "spark-bridge/events/task_groups.h"

#include "spark-bridge/storage/line_reader.h"

static void key_set(TaskKey *key, const char *text) {
    key->text = text;
    key->length = strlen(text);
    g_assert(key->length >= sizeof key->front && key->length < LINE_PADDING_BYTES);
    memcpy(&key->front, text, sizeof key->front);
}

void task_groups_init(TaskGroups *groups) {
    static const char *const names[TASK_GROUPS] = {NULL,
                                                   "Shuffle Read Metrics",
                                                   "Shuffle Write Metrics",
                                                   "Input Metrics",
                                                   "Output Metrics",
                                                   "Task Executor Metrics"};
    memset(groups, 0, sizeof *groups);
    for (guint g = 1; g < TASK_GROUPS; g++) key_set(&groups->of[g].name, names[g]);
    for (guint i = 0; i < TASK_METRIC_COUNT; i++) {
        guint g = 0;
        while (g < TASK_GROUPS && g_strcmp0(names[g], task_metrics[i].group) != 0) g++;
        if (g == TASK_GROUPS) continue; /* of a list: simdjson counts it */
        TaskGroup *group = &groups->of[g];
        key_set(&group->keys[group->n], task_metrics[i].spark);
        group->metrics[group->n++] = i;
    }
}
