#include "analyzer/query/spark/predict/host_model.h"

#include <math.h>

#include "common/base/allowance.h"

void host_model_clear(HostModel *model) {
    nodes_report_free(model->report);
    cluster_free(model->cluster);
    g_free(model->constants);
    g_clear_pointer(&model->nodes, g_hash_table_unref);
}

gboolean host_model_load(const Asked *asked, HostModel *model, GError **error) {
    model->cluster = cluster_load(asked, error);
    if (!model->cluster) return FALSE;
    const guint32 n_nodes = model->cluster->grid->n_nodes;
    model->report = nodes_judge(model->cluster->grid, NODES_OURS, model->cluster->since);
    model->constants = g_new(double, MAX((gsize)WORK_CLASSES * n_nodes, 1));
    model->nodes = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint32 node = 0; node < n_nodes; node++)
        g_hash_table_insert(model->nodes, GUINT_TO_POINTER(cluster_host(model->cluster, node)),
                            GUINT_TO_POINTER(node + 1));
    for (guint class = 0; class < WORK_CLASSES; class ++)
        node_constants(model->report, (WorkClass) class, model->constants + (gsize) class * n_nodes);
    return TRUE;
}

guint32 host_model_node(const HostModel *model, guint32 host) {
    const gpointer known = host > 0 ? g_hash_table_lookup(model->nodes, GUINT_TO_POINTER(host)) : NULL;
    return known ? GPOINTER_TO_UINT(known) - 1 : G_MAXUINT32;
}

double host_model_constant(const HostModel *model, WorkClass class, guint32 node) {
    if (class == WORK_NONE || node == G_MAXUINT32) return NAN;
    return model->constants[(gsize) class * model->cluster->grid->n_nodes + node];
}

static void add_part(const HostModel *model, const RunWait *part, WorkClass class, Prediction *prediction) {
    const double here = host_model_constant(model, class, host_model_node(model, part->host));
    const double there = host_model_constant(model, class, prediction->node);
    const gboolean known = !isnan(here) && !isnan(there) && here > 0;
    prediction->ns += (double)part->ns * (known ? there / here : 1);
    if (known) prediction->known_ns += (double)part->ns;
}

Prediction host_model_predict(const HostModel *model, const RunStage *stage, guint32 node) {
    Prediction prediction = {.node = node};
    for (guint i = 0; i < stage->waits->len && allowance_goes_on(); i++) {
        const RunWait *wait = &g_array_index(stage->waits, RunWait, i);
        const char *name = dict_text(archive_dict(model->cluster->archive), wait->function, NULL);
        const gboolean stays = wait->role == ROLE_NAMENODE || wait->role == ROLE_JOURNALNODE;
        add_part(model, wait, stays ? WORK_NONE : work_class(name, wait->role), &prediction);
    }
    for (guint i = 0; i < stage->own->len; i++)
        add_part(model, &g_array_index(stage->own, RunWait, i), WORK_SPARK, &prediction);
    prediction.ns /= stage->tasks_read;
    prediction.known_ns /= stage->tasks_read;
    return prediction;
}
