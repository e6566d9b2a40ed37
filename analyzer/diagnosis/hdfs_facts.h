/* How much of a task's run was HDFS, and whom it waited for meanwhile. (docs/spark.md, "Time in HDFS".)
 *
 * A task is in HDFS while one of its top calls runs: calls of HDFS's client below nothing but the application's own
 * spans. Each moment of that time is somebody's:
 * - the client's own, where the innermost call of its thread computes, or shakes hands with a DataNode;
 * - otherwise, it waits. Of all servers' calls of the trace that run at that moment and have none of a server below
 *   them, the one that others wait for: a disk or a lock before other work, work before a socket, of equals the one
 *   that took its work up last. Calls that only wait for other traced ones are none of them;
 * - when there is none, the DataNode's that the innermost call has asked and that has not begun with it;
 * - otherwise the network's, between the client and the DataNode that serves it.
 * This does not follow the tree: a DataNode's span lies below the call that opened the block, which has long ended
 * while the block is sent.
 * Of a pipeline that is written to, moments do not tell who is slow: several work at once. There the time goes to those
 * to whom the critical path gives it (docs/call-trees.md, "Through waits"). */
#pragma once

#include "analyzer/calltree/tree.h"
#include "analyzer/diagnosis/hdfs_calls.h"

typedef enum {
    HDFS_CLIENT,  /* the client's own work: copying, checksums, handshakes with DataNodes */
    HDFS_NETWORK, /* nobody is seen to work: packets under way, or a server that is not traced */
    HDFS_SOCKET,  /* a DataNode writes to a socket that does not take it */
    HDFS_DISK,
    HDFS_LOCK,   /* of the NameNode */
    HDFS_QUEUE,  /* of calls, before a server takes one up */
    HDFS_SERVER, /* a server's other work: its processor */
    HDFS_RESOURCE_COUNT
} HdfsResource;
const char *hdfs_resource_name(HdfsResource resource); /* "client", "network", ... */

/* What is known of a node of the tree beside its times; for those of the application, and virtual ones, the class. */
typedef struct FactsNode {
    CallClass class;
    Role role;
    guint32 host;       /* any number that tells hosts apart */
    guint64 block;      /* id of the block that it handles; 0: unknown */
    gint64 socket_ns;   /* CALL_TRANSFER: of its time, what it waited for the socket, and what it took to transfer; */
    gint64 transfer_ns; /* 0 and 0: unknown */
    gint64 bytes;       /* that a client's call fetched, from a DataNode or a file of its host; else 0 */
    gboolean failed;    /* ended by an exception */
    guint16 does;       /* hdfs_call_does() */
} FactsNode;

typedef struct HdfsShare {
    guint32 tracer; /* dictionary id of the process waited for; 0: unknown */
    guint32 name;   /* of the function */
    HdfsResource resource;
    Role role;
    gint64 ns;
    guint32 calls; /* how many calls of it were waited for */
} HdfsShare;

typedef struct HdfsFacts {
    gint64 hdfs_ns; /* in HDFS: the sum of all shares */
    gint64 of[HDFS_RESOURCE_COUNT];
    gint64 sleep_ns; /* of the client's: until the NameNode has heard of a file's last block, or before another try */
    gint64 namenode_ns, datanode_ns; /* waited for these; the network to a known DataNode is the DataNode's */
    guint32 slowest;                 /* tracer of the DataNode that was waited for most; 0: for none */
    gint64 slowest_ns;
    gint64 opening_ns;   /* of the NameNode's time, while it was asked where a file's blocks are */
    gint64 bytes;        /* fetched from DataNodes */
    gint64 remote_bytes; /* of these from another host than the client's */
    gint64 own_bytes;    /* by block readers from the DataNode of the client's host */
    gint64 local_bytes;  /* read by the client itself from files of its host (short-circuit) */
    guint32 top_calls;
    guint32 reads;       /* of these those that read a file */
    guint32 failures;    /* calls of the client that ended by an exception: each is tried again, or ends the task */
    guint32 files;       /* opened and made */
    guint32 opens;       /* of these opened */
    GArray *shares;      /* HdfsShare, the greatest first (after hdfs_facts_finish()) */
    gint64 run_delay_ns; /* of a task of Spark: its thread was ready to run, and no processor free; -1: unknown */
} HdfsFacts;

void hdfs_facts_init(HdfsFacts *facts);
void hdfs_facts_clear(HdfsFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HdfsFacts, hdfs_facts_clear)
/* Adds what lies below 'root' (itself included; 0: the whole trace). nodes: one for each of the tree's; critical_ns: of
 * each, its part of the critical path (NULL: not known). Several trees of one task may be added, when no two of its
 * calls ran at once. */
void hdfs_facts_add(HdfsFacts *facts, const CallTree *tree, const FactsNode *nodes, const gint64 *critical_ns,
                    guint32 root);
/* Adds the critical path of what lies below 'root' instead, each call's part of it by its class: for what no client of
 * HDFS is seen to wait for, and where the parts are to add up to the whole. */
void hdfs_facts_add_path(HdfsFacts *facts, const CallTree *tree, const FactsNode *nodes, const gint64 *critical_ns,
                         guint32 root);
void hdfs_facts_finish(HdfsFacts *facts);
