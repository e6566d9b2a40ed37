#include "analyzer/query/nodes/failing_rows.h"

#include "analyzer/archive/index/failed_calls.h"
#include "analyzer/diagnosis/nodes/failing.h"
#include "analyzer/query/nodes/examples.h"
#include "analyzer/query/shared/trace_view.h"

/* Spans that are read to find the examples of an answer: of larger traces there is none. */
#define EXAMPLE_SPANS 500000

/* ---- an example ---- */

/* A call of a function on a host that failed. */
typedef struct FailedExample {
    const Asked *asked;
    guint32 function, host;
    FailureKeys keys;
} FailedExample;

/* What it says of its failure. */
static json_t *failure_of(const FailedExample *example, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(example->asked->archive);
    Role role;
    guint32 host;
    if (span->name != example->function) return NULL;
    lookup->process(lookup->arg, span->tracer, &role, &host);
    if (host != example->host) return NULL;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation))
        if (is_failure(&example->keys, &annotation)) return json_text(annotation.value, annotation.length);
    return NULL;
}

/* Adds "example" when the trace has one. */
static gboolean add_trace(const FailedExample *example, guint64 trace_id, json_t *object, GError **error) {
    gboolean gone;
    g_autoptr(TraceView) view = trace_view_load_found(example->asked->archive, trace_id, &gone, error);
    if (!view) return gone;
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL;) {
        json_t *failure = failure_of(example, span);
        if (!failure) continue;
        json_t *trace = json_object();
        json_object_set_new(trace, "trace", json_trace_id(trace_id));
        json_object_set_new(trace, "begin_time_ns", json_integer(span->begin_ns));
        json_object_set_new(trace, "duration_ns", json_integer(MAX(span->duration_ns, 0)));
        json_object_set_new(trace, "failure", failure);
        json_object_set_new(object, "example", trace);
        break;
    }
    return TRUE;
}

/* spans_left: those that may still be read. */
static gboolean add_example(const Cluster *cluster, const Failing *failing, json_int_t *spans_left, json_t *object,
                            GError **error) {
    const ClusterJob job = cluster_job_of(failing->what);
    FailedExample example = {cluster->asked, job.function, cluster_host(cluster, failing->node), {{0}, 0}};
    failure_keys_init(&example.keys);
    failure_keys_look(&example.keys, archive_dict(cluster->archive));

    const ExampleOf of = {&job, example.host, grid_window_ns(cluster->grid, failing->worst), TRUE};
    json_auto_t *found = example_traces(cluster->asked, &of, error);
    if (!found) return FALSE;
    gsize i;
    json_t *row;
    json_array_foreach(json_object_get(found, "traces"), i, row) {
        const json_int_t spans = json_integer_value(json_object_get(row, "spans"));
        if (json_object_get(object, "example")) break;
        if (spans > *spans_left) continue;
        *spans_left -= spans;
        if (!add_trace(&example, example_trace_id(row), object, error)) return FALSE;
    }
    return TRUE;
}

/* ---- rows ---- */

static json_t *row_json(const Cluster *cluster, const Failing *failing) {
    const ClusterJob job = cluster_job_of(failing->what);
    const NodeGrid *grid = cluster->grid;
    const double calls = (double)failing->calls;
    json_t *object = json_object();
    json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, failing->node)));
    json_object_set_new(object, "class", json_string(work_class_name(failing->class)));
    json_object_set_new(object, "layer", json_string(work_class_layer(failing->class)));
    json_object_set_new(object, "function", json_name(cluster->archive, job.function));
    json_object_set_new(object, "role", json_string(role_name(job.role)));
    json_object_set_new(object, "state", json_string(failing->open ? "failing" : "recovered"));
    json_object_set_new(object, "calls", json_count(failing->calls));
    json_object_set_new(object, "failed", json_count(failing->failed));
    json_object_set_new(object, "failed_share", json_ratio((double)failing->failed / calls));
    json_object_set_new(object, "peers_share", json_ratio(failing->peers / calls));
    json_object_set_new(object, "begin_time_ns", json_integer(grid_window_ns(grid, failing->first)));
    if (!failing->open)
        json_object_set_new(object, "end_time_ns", json_integer(grid_window_ns(grid, failing->last) + grid->window_ns));
    return object;
}

json_t *failing_json(const Cluster *cluster, guint32 node, guint most, GError **error) {
    g_autoptr(GArray) found = failing_find(cluster->grid, cluster->since);
    json_auto_t *list = json_array();
    json_int_t spans_left = EXAMPLE_SPANS;
    for (guint i = 0; i < found->len && json_array_size(list) < most; i++) {
        const Failing *failing = &g_array_index(found, Failing, i);
        if (node != G_MAXUINT32 && failing->node != node) continue;
        json_t *object = row_json(cluster, failing);
        json_array_append_new(list, object);
        if (!add_example(cluster, failing, &spans_left, object, error)) return NULL;
    }
    return g_steal_pointer(&list);
}
