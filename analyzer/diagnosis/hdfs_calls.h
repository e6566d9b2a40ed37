/* What HDFS does while one of its traced functions runs by itself, told by the function's name. */
#pragma once

#include "common/model/role.h"

typedef enum {
    CALL_APPLICATION, /* not of HDFS: a task, an operation, the caller's own functions */
    CALL_WORK,        /* computes */
    CALL_WAIT,        /* waits for another process, which is traced itself or not at all */
    CALL_SLEEP, /* of a client: sleeps between questions, until one is answered as it wants, or before another try */
    CALL_RPC,   /* waits for an answer of the NameNode */
    CALL_ASK,   /* waits until a DataNode that it asks for something begins with that */
    CALL_HANDSHAKE, /* shows a DataNode who it is: both take turns, and the other side is not seen */
    CALL_ASYNC,     /* of a client: runs beside the call that caused it, in a thread of its own */
    CALL_DISK,
    CALL_SEND,     /* writes to a socket */
    CALL_MIRROR,   /* the same, to the next DataNode of a pipeline */
    CALL_TRANSFER, /* from disk to socket in one; the span says how long each took */
    CALL_LOCK,     /* waits for a lock of the NameNode */
    CALL_QUEUE,    /* waits in a server's call queue */
} CallClass;

/* Functions of a client that are not listed wait; functions of servers that are not listed work. What neither is of
 * HDFS by its name nor runs in a server belongs to the application. 'name' is normalised (model/naming.h). */
CallClass hdfs_call_class(const char *name, Role role);

/* What a function does for its caller, mostly of clients; some do two of these. */
typedef enum {
    DOES_OPEN = 1,         /* asks the NameNode where the blocks of a file are, to read it */
    DOES_CREATE = 2,       /* asks it to make a file */
    DOES_READ = 4,         /* reads a file, as the application called it */
    DOES_FETCH = 8,        /* takes bytes from a DataNode: the span says how many */
    DOES_FETCH_LOCAL = 16, /* takes them from a file of the own host (short-circuit) */
    DOES_SEND = 32,        /* waits for the pipeline of a block that it writes */
    DOES_TAKE = 64,        /* of a DataNode: its part of such a pipeline, with all below it there */
    DOES_GIVE = 128,       /* of a DataNode: sends a block, and then waits for its reader to have it */
    DOES_VOTE = 256        /* asks one of several; its caller waits for a majority of them */
} CallDoes;
guint16 hdfs_call_does(const char *name); /* 0: none of these */

/* The root that the agent gives each task of Spark, and what its operations' names begin with. */
#define SPARK_TASK_FUNCTION    "SparkTask"
#define SPARK_OPERATION_PREFIX "RDD:"
