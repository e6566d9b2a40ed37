#include "analyzer/query/spark/straggler_rows.h"

#include "analyzer/query/spark/diagnosis.h"
#include "common/base/clock.h"

json_t *task_row_json(const AppTasks *tasks, const Stragglers *stragglers, guint32 row) {
    const double median_ms = stragglers->stages[tasks->table->stage[row]].median_ms;
    const double duration_ms = task_duration_ms(tasks->table, row);
    const AppTask *task = &tasks->tasks[row];
    const AppStage *stage = app_stage(tasks, tasks->table->stage[row]);
    const char *host = app_host(tasks, row), *executor = g_ptr_array_index(tasks->executors, task->executor);
    json_t *object = json_object();
    json_object_set_new(object, "stage", json_integer(stage->stage));
    json_object_set_new(object, "stage_attempt", json_integer(stage->attempt));
    json_object_set_new(object, "task", json_integer(task->task));
    json_object_set_new(object, "partition", json_integer(task->partition));
    json_object_set_new(object, "attempt", json_integer(task->attempt));
    if (host[0]) json_object_set_new(object, "host", json_string(host));
    if (executor[0]) json_object_set_new(object, "executor", json_string(executor));
    json_object_set_new(object, "status", json_string(task_status_name(task->status)));
    json_object_set_new(object, "locality", json_string(task_locality_name(task->locality)));
    json_object_set_new(object, "begin_time_ns", json_integer(tasks->table->begin_ms[row] * NS_PER_MS));
    json_object_set_new(object, "duration_ns", json_integer((gint64)duration_ms * NS_PER_MS));
    json_object_set_new(object, "scale", json_real(median_ms > 0 ? duration_ms / median_ms : 0));
    json_object_set_new(object, "stage_median_ns", json_integer((gint64)(median_ms * NS_PER_MS)));
    return object;
}

json_t *straggler_json(const AppTasks *tasks, const Stragglers *stragglers, guint32 straggler) {
    return task_row_json(tasks, stragglers, stragglers->list[straggler].task);
}

static json_t *peers_json(const PeerFigures *peers) {
    json_t *object = json_object();
    json_object_set_new(object, "tasks", json_integer(peers->n));
    json_set_number(object, "mean", peers->mean);
    json_set_number(object, "median", peers->median);
    return object;
}

json_t *evidence_json(const TaskTable *table, const Evidence *evidence) {
    const Feature *feature = task_feature(table, evidence->feature);
    json_t *object = json_object();
    json_object_set_new(object, "feature", json_string(feature->name));
    json_object_set_new(object, "kind", json_string(feature_kind_name(feature->kind)));
    json_object_set_new(object, "topic", json_string(feature_topic_name(feature->topic)));
    json_object_set_new(object, "unit", json_string(feature->unit));
    json_object_set_new(object, "verdict", json_string(verdict_name((Verdict)evidence->verdict)));
    json_set_number(object, "measured", evidence->raw);
    json_set_number(object, "value", evidence->value);
    if (feature->kind != FEATURE_DISCRETE && feature->kind != FEATURE_WAIT)
        json_set_number(object, "quantile", evidence->quantile);
    json_object_set_new(object, "other_hosts", peers_json(&evidence->others));
    json_object_set_new(object, "same_host", peers_json(&evidence->same_host));
    json_object_set_new(object, "above_other_hosts", json_boolean(evidence->over_others));
    json_object_set_new(object, "above_same_host", json_boolean(evidence->over_same_host));
    json_set_number(object, "before", evidence->head);
    json_set_number(object, "after", evidence->tail);
    return object;
}
