#include "analyzer/query/nodes/hints.h"

#include <math.h>

#include "analyzer/query/nodes/examples.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "analyzer/query/shared/trace_view.h"

/* How sure a constant is (docs/nodes.md, "When a node is suspected"): S² + this, over the windows. */
#define OF_DEVIATION 1.57
#define OF_ANY       0.09

typedef struct Hint {
    WorkClass class;
    double *constants, *weights; /* of each node; NAN: none */
    const ClassSeries *least;    /* the series of which least is known */
    double least_error;          /* standard error of ln of its constant */
    guint32 least_windows;
} Hint;

/* How many times slower than at most times it is now. */
static double slowdown_now(const NodesReport *report, guint32 node, WorkClass class) {
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (spell->open && spell->node == node && spell->class == class) return MAX(spell->slowdown, 1);
    }
    return 1;
}

/* Shares of the work with which all would end at once. */
static guint weigh(const NodesReport *report, Hint *hint) {
    double sum = 0;
    guint n = 0;
    node_constants(report, hint->class, hint->constants);
    for (guint32 node = 0; node < report->grid->n_nodes; node++) {
        hint->weights[node] = 1 / (hint->constants[node] * slowdown_now(report, node, hint->class));
        if (isnan(hint->weights[node])) continue;
        sum += hint->weights[node];
        n++;
    }
    for (guint32 node = 0; node < report->grid->n_nodes; node++) hint->weights[node] /= sum;
    return n;
}

static void find_least(const NodesReport *report, Hint *hint) {
    for (guint i = 0; i < report->all->series->len; i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        if (series->class != hint->class || series->node >= report->grid->n_nodes) continue;
        const Usual usual = usual_of(report->all, series, report->learned);
        const double deviation = usual.deviation[MEASURE_MEAN];
        const double error = sqrt((OF_DEVIATION * deviation * deviation + OF_ANY) / MAX(usual.windows, 1));
        if (hint->least && error <= hint->least_error) continue;
        hint->least = series;
        hint->least_error = error;
        hint->least_windows = usual.windows;
    }
}

/* ---- the probe: something to read there ---- */

/* The job of the class that ran there last. */
static const Observation *last_there(const NodesReport *report, const ClassSeries *series) {
    const NodeGrid *grid = report->grid;
    const Observation *last = NULL;
    for (guint32 at = grid->by_node.start[series->node]; at < grid->by_node.start[series->node + 1]; at++) {
        const Observation *observation = grid_at(grid, grid->by_node.order[at]);
        if (grid_class(grid, observation->job) == series->class) last = observation;
    }
    return last;
}

/* A path that a span of the trace handled. NULL: none is recorded, or it is not stored any more. */
static json_t *path_in(Archive *archive, guint64 trace, GError **error) {
    g_autoptr(TraceView) view = trace_view_load(archive, trace, error);
    const guint32 key = dict_find(archive_dict(archive), "path", 4);
    for (guint32 i = 1; view && key > 0 && i < view->tree->n_nodes; i++) {
        if (!view->tree->span[i]) continue;
        SpanCursor cursor = span_cursor(view->tree->span[i]);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation))
            if (annotation.key == key) return json_text(annotation.value, annotation.length);
    }
    return NULL;
}

static gboolean add_probe(const Cluster *cluster, const NodesReport *report, const Hint *hint, json_t *object,
                          GError **error) {
    const Observation *last = hint->least ? last_there(report, hint->least) : NULL;
    if (!last) return TRUE;
    const guint32 host = cluster_host(cluster, hint->least->node);
    const ClusterJob *job = cluster_job(cluster, last->job);
    json_t *probe = json_object();
    json_object_set_new(object, "probe", probe);
    json_object_set_new(probe, "host", json_name(cluster->archive, host));
    json_object_set_new(probe, "windows", json_count(hint->least_windows));
    json_object_set_new(probe, "within", json_ratio(exp(2 * hint->least_error)));
    json_object_set_new(probe, "function", json_name(cluster->archive, job->function));

    Example example;
    const ExampleOf of = {job, host, grid_window_ns(report->grid, last->window), FALSE};
    g_autoptr(GError) gone = NULL;
    if (!example_find(cluster->asked, &of, &example, error)) return FALSE;
    if (example.trace == 0) return TRUE;
    json_object_set_new(probe, "trace", json_trace_id(example.trace));
    json_t *path = path_in(cluster->archive, example.trace, &gone);
    if (path) json_object_set_new(probe, "path", path);
    return TRUE;
}

/* ---- JSON ---- */

static gint heaviest_first(gconstpointer a, gconstpointer b, gpointer arg) {
    const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    const double *weights = arg;
    if (weights[x] != weights[y]) return weights[x] > weights[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static json_t *weights_json(const Cluster *cluster, const Hint *hint) {
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 node = 0; node < cluster->grid->n_nodes; node++)
        if (!isnan(hint->weights[node])) g_array_append_val(nodes, node);
    g_array_sort_with_data(nodes, heaviest_first, hint->weights);

    json_t *list = json_array();
    for (guint i = 0; i < nodes->len; i++) {
        const guint32 node = g_array_index(nodes, guint32, i);
        json_t *object = json_object();
        json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, node)));
        json_object_set_new(object, "weight", json_ratio(hint->weights[node]));
        json_array_append_new(list, object);
    }
    return list;
}

json_t *hints_json(const Cluster *cluster, const NodesReport *report, GError **error) {
    const guint32 n_nodes = MAX(cluster->grid->n_nodes, 1);
    g_autofree double *constants = g_new(double, n_nodes), *weights = g_new(double, n_nodes);
    json_auto_t *list = json_array();
    for (guint class = WORK_NONE + 1; class < WORK_CLASSES; class ++) {
        Hint hint = {(WorkClass) class, constants, weights, NULL, 0, 0};
        if (!work_class_has_peers(hint.class) || weigh(report, &hint) < POLISH_PEERS) continue;
        find_least(report, &hint);
        json_t *object = json_object();
        json_array_append_new(list, object);
        json_object_set_new(object, "class", json_string(work_class_name(hint.class)));
        json_object_set_new(object, "weights", weights_json(cluster, &hint));
        if (!add_probe(cluster, report, &hint, object, error)) return NULL;
    }
    return g_steal_pointer(&list);
}
