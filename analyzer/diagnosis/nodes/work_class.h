/* Which resource of its host a function of HDFS needs when it runs by itself, told by the function's name. Only
 * functions that tell something about the health of the host they run on have a class: those that wait for another
 * process have none, but for a client's ends of its connections. */
#pragma once

#include "common/model/role.h"

typedef enum {
    WORK_NONE,
    WORK_DISK_READ,
    WORK_DISK_WRITE,
    WORK_TRANSFER, /* from disk to socket in one call: statistics cannot tell which of both it waited for */
    WORK_NETWORK,  /* a server's ends of connections */
    /* Headers, into a socket's buffer: no link is slow enough to show in them. With the last one a block is on its way
     * to its reader, whose waits are the call's critical time then (docs/call-trees.md, "Through waits"). A class of
     * its own: most calls have none of that. */
    WORK_SENDING,
    /* The same of transfers: their critical time beyond their own, when they are through. No function has the class; of
     * one of WORK_TRANSFER both are looked at. */
    WORK_DELIVERY,
    WORK_PROCESSOR, /* a server's other work */
    /* A server that does nothing while others wait for it. Its time is the critical one of its operations. */
    WORK_STANDSTILL,
    /* A server that is asked and does not answer: no function has the class (silence.h). */
    WORK_SILENT,
    WORK_QUEUE,    /* waits in a server's call queue */
    WORK_LOCK,     /* waits for a lock of the NameNode */
    WORK_EDIT_LOG, /* the NameNode's journal, on its disk or on JournalNodes */
    WORK_JOURNAL,  /* a JournalNode's part of it: its disk */
    WORK_CLIENT,   /* a client's own work */
    WORK_CLIENT_NETWORK,
    WORK_SPARK, /* tasks and their operations, without the calls of HDFS below them */
    WORK_CLASSES
} WorkClass;

/* 'name' is normalised (model/naming.h). */
WorkClass work_class(const char *name, Role role);
/* Is it its critical time that tells of the host, not its own? */
gboolean work_is_waited(const char *name, Role role);
/* Is it all of its time that tells of the host, with what it calls? */
gboolean work_is_whole(const char *name, Role role);
/* A part of a call of its class that is such a one: only what was waited for in it counts besides. */
gboolean work_is_beside(const char *name, Role role);
/* Does its critical time say that a DataNode was waited for, of which nothing is heard? */
gboolean work_waits_for_datanode(const char *name, Role role);
const char *work_class_name(WorkClass class); /* "disk-read", ... */
/* What is short on the host, for people: "disk", "network", "processor", "NameNode lock", ... */
const char *work_class_layer(WorkClass class);
/* Can the others tell what is usual? Of JournalNodes a majority is slow before anybody waits for one. */
static inline gboolean work_class_has_peers(WorkClass class) { return class != WORK_JOURNAL; }
/* A client's time at its ends of connections grows with any slow server: it says nothing while one is slow. */
static inline gboolean work_class_is_clients(WorkClass class) {
    return class == WORK_CLIENT || class == WORK_CLIENT_NETWORK || class == WORK_SPARK;
}
