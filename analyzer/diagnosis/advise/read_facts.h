/* How tasks of a stage attempt read HDFS: sums over those of them whose traces were read, which are some of them,
 * evenly. */
#pragma once

#include <glib.h>

typedef struct AdviseReads {
    gint64 stage;
    gint32 attempt;
    guint32 tasks;
    double task_ms; /* of these tasks; of it: */
    double hdfs_ms, namenode_ms, network_ms;
    double bytes, remote_bytes; /* taken from DataNodes; of these from other hosts */
    double files, calls;        /* opened or made; calls of HDFS's client, with these */
} AdviseReads;
