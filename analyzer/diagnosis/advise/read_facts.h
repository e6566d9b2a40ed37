/* How tasks of a stage attempt read HDFS: sums over those of them whose traces were read, which are some of them,
 * evenly. */
#pragma once

#include <glib.h>

typedef struct AdviseReads {
    gint64 stage;
    gint32 attempt;
    guint32 tasks;
    double task_ms; /* of these tasks; of it: */
    double hdfs_ms, network_ms;
    double opening_ms;              /* waited for the NameNode, to open files for reading */
    double bytes;                   /* taken from DataNodes */
    double remote_bytes, own_bytes; /* of these from other hosts; by block readers from the own host's */
    double local_bytes;             /* read from files of the own host, beside its DataNode */
    double opens, calls;            /* files opened for reading; calls that read */
} AdviseReads;
