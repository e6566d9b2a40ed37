/* What a process is, told from its tracer id: "DataNode/10.0.3.17" or, with the pid that our senders add,
 * "DataNode/10.0.3.17/4242". */
#pragma once

#include <glib.h>

typedef enum {
    ROLE_LOCAL, /* none of the others; also of the virtual nodes of a call tree */
    ROLE_CLIENT,
    ROLE_NAMENODE,
    ROLE_DATANODE,
    ROLE_JOURNALNODE,
    ROLE_COUNT
} Role;

/* "local", "client", ...; static. */
const char *role_name(Role role);
/* FALSE when text names no role. */
gboolean role_parse(const char *text, Role *role);

typedef struct TracerId {
    const char *process; /* "DataNode"; borrowed from the text parsed, with its length */
    gsize process_length;
    const char *host; /* "10.0.3.17"; empty when the id has no '/' */
    gsize host_length;
    gint64 pid; /* -1 when absent */
    Role role;
} TracerId;

/* Never fails: an id of another form is all process name, role local unless it is a name we know. Processes whose name
 * is no server's but that come from Hadoop's client or shell (FSClient, FsShell, ...) are clients; so are processes
 * unknown to us with a host, since only servers have fixed names. */
TracerId tracer_id_parse(const char *text, gsize length);

/* Is it the name of one of HDFS's own processes? */
gboolean process_is_hdfs(const char *process, gsize length);
/* Between a service that is none and its span's name, in a function's name: "checkout: GET /cart". */
#define SERVICE_NAME_END ": "
