#include <string.h>

#include "analyzer/query/jaeger/jaeger_inside.h"

static const char *const services[ROLE_COUNT] = {
    [ROLE_LOCAL] = "local",       [ROLE_CLIENT] = "HDFS client",      [ROLE_NAMENODE] = "NameNode",
    [ROLE_DATANODE] = "DataNode", [ROLE_JOURNALNODE] = "JournalNode",
};

static BatchString text_of(const char *text) { return (BatchString){text, (guint32)strlen(text)}; }

JaegerName jaeger_name(const char *function, gsize length, Role role) {
    const gsize end_bytes = strlen(SERVICE_NAME_END);
    const gboolean of_service = role == ROLE_CLIENT || role == ROLE_LOCAL;
    const char *end = of_service ? g_strstr_len(function, (gssize)length, SERVICE_NAME_END) : NULL;
    if (end == NULL || end == function)
        return (JaegerName){text_of(services[role]), (BatchString){function, (guint32)length}};
    const char *operation = end + end_bytes;
    return (JaegerName){{function, (guint32)(end - function)},
                        {operation, (guint32)(length - (gsize)(operation - function))}};
}

gboolean jaeger_role(const char *service, Role *role) {
    for (guint i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(services[i], service) != 0) continue;
        *role = (Role)i;
        return TRUE;
    }
    return FALSE;
}
