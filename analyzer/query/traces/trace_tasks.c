#include "analyzer/query/traces/trace_tasks.h"

#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/hdfs_calls.h"

static json_t *task_json(const char *app, gint64 task, LinkKind kind, double confidence) {
    json_t *object = json_object();
    json_object_set_new(object, "app", json_text(app, strlen(app)));
    json_object_set_new(object, "task", json_integer(task));
    json_object_set_new(object, "link", json_string(link_kind_name(kind)));
    json_object_set_new(object, "confidence", json_real(confidence));
    return object;
}

/* The value of an annotation; free with g_free(). NULL: it has none of that name. */
static char *annotation_of(Archive *archive, const SpanRec *span, const char *name) {
    const guint32 key = dict_find(archive_dict(archive), name, strlen(name));
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (key && span_next_annotation(&cursor, &annotation))
        if (annotation.key == key) return g_strndup(annotation.value, annotation.length);
    return NULL;
}

/* The task that says so itself: the trace's id must be the one that follows from what it says. */
void trace_task_add_own(json_t *tasks, Archive *archive, guint64 trace_id, const SpanRec *root) {
    const guint32 name = dict_find(archive_dict(archive), SPARK_TASK_FUNCTION, strlen(SPARK_TASK_FUNCTION));
    if (name == 0 || root->name != name) return;
    g_autofree char *app = annotation_of(archive, root, "application");
    g_autofree char *task = annotation_of(archive, root, "taskAttemptId");
    gint64 id;
    if (!app || !task || !g_ascii_string_to_signed(task, 10, 0, G_MAXINT64, &id, NULL)) return;
    if (task_trace_id(app, id) == trace_id) json_array_append_new(tasks, task_json(app, id, LINK_SCOPE, 1));
}

gboolean trace_tasks_add_to(json_t *answer, const Asked *asked, guint64 trace_id, json_t *tasks, GError **error) {
    g_autoptr(SparkRecords) links = spark_records_new();
    if (!archive_spark_links_of(asked->archive, trace_id, links, error)) return FALSE;
    const gboolean own = json_array_size(tasks) > 0;
    for (guint i = 0; i < links->of[SPARK_LINK]->len; i++) {
        const SparkLink *link = spark_link(links, i);
        if (own && link->kind == LINK_SCOPE) continue;
        json_array_append_new(tasks, task_json(link->app, link->task, link->kind, link->confidence));
    }
    if (json_array_size(tasks) > 0) json_object_set(answer, "tasks", tasks);
    return TRUE;
}

gboolean trace_tasks_add(json_t *answer, const Asked *asked, const TraceView *view, GError **error) {
    const CallTree *tree = view->tree;
    json_auto_t *tasks = json_array();
    for (guint32 i = 1; i < tree->n_nodes; i = tree->end[i])
        if (tree->span[i]) trace_task_add_own(tasks, asked->archive, view->trace_id, tree->span[i]);
    return trace_tasks_add_to(answer, asked, view->trace_id, tasks, error);
}
