/* How long a stage's tasks would take on other hosts: their time is split by host and function as it was measured, and
 * each part scaled by how fast the other host is at it (docs/nodes.md, "Predictions"). */
#pragma once

#include "analyzer/query/nodes/cluster.h"
#include "analyzer/query/spark/tasks/run.h"

/* How fast hosts are in each class of work. */
typedef struct HostModel {
    Cluster *cluster;
    NodesReport *report;
    double *constants; /* class * n_nodes + node; NAN: not known */
    GHashTable *nodes; /* host -> node + 1 */
} HostModel;
void host_model_clear(HostModel *model);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostModel, host_model_clear)
/* "since" and "until" are the parameters. */
gboolean host_model_load(const Asked *asked, HostModel *model, GError **error);
/* The node of a host; G_MAXUINT32: it is none. */
guint32 host_model_node(const HostModel *model, guint32 host);
/* NAN: not known. */
double host_model_constant(const HostModel *model, WorkClass class, guint32 node);

typedef struct Prediction {
    guint32 node;
    double ns;       /* of a task */
    double known_ns; /* of its time as it was: how much the model knows of both hosts */
} Prediction;
/* Only what the task and its DataNode do moves with it: the NameNode stays where it is. The stage was read, and has
 * tasks with traces. */
Prediction host_model_predict(const HostModel *model, const RunStage *stage, guint32 node);
