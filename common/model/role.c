#define _GNU_SOURCE /* memrchr */
#include "common/model/role.h"

#include <string.h>

static const char *const names[ROLE_COUNT] = {
    [ROLE_LOCAL] = "local",       [ROLE_CLIENT] = "client",           [ROLE_NAMENODE] = "namenode",
    [ROLE_DATANODE] = "datanode", [ROLE_JOURNALNODE] = "journalnode",
};

const char *role_name(Role role) {
    g_return_val_if_fail((guint)role < ROLE_COUNT, names[ROLE_LOCAL]);
    return names[role];
}

gboolean role_parse(const char *text, Role *role) {
    for (guint i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            *role = (Role)i;
            return TRUE;
        }
    }
    return FALSE;
}

/* The names that Hadoop's own processes give their tracers. Compared without case: senders of Zipkin's format send
 * them in lower case. */
static const struct {
    const char *process;
    Role role;
} processes[] = {
    {"NameNode", ROLE_NAMENODE},       {"SecondaryNameNode", ROLE_NAMENODE},
    {"DataNode", ROLE_DATANODE},       {"SecureDataNodeStarter", ROLE_DATANODE},
    {"JournalNode", ROLE_JOURNALNODE}, {"FSClient", ROLE_CLIENT},
    {"DFSClient", ROLE_CLIENT},        {"FsShell", ROLE_CLIENT},
};

static Role role_of_process(const char *process, gsize length, Role otherwise) {
    for (guint i = 0; i < G_N_ELEMENTS(processes); i++) {
        if (strlen(processes[i].process) == length && g_ascii_strncasecmp(processes[i].process, process, length) == 0)
            return processes[i].role;
    }
    return otherwise;
}

gboolean process_is_hdfs(const char *process, gsize length) {
    return role_of_process(process, length, ROLE_COUNT) != ROLE_COUNT;
}

/* -1 when text is no process number. */
static gint64 parse_pid(const char *text, gsize length) {
    if (length == 0 || length > 10) return -1; /* kernels stop at 2^22; Windows at 2^32 */
    gint64 pid = 0;
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isdigit(text[i])) return -1;
        pid = pid * 10 + (text[i] - '0');
    }
    return pid;
}

TracerId tracer_id_parse(const char *text, gsize length) {
    TracerId id = {text, length, text + length, 0, -1, ROLE_LOCAL};
    const char *slash = length > 0 ? memchr(text, '/', length) : NULL;
    if (slash != NULL && slash > text && slash + 1 < text + length) {
        id.process_length = (gsize)(slash - text);
        id.host = slash + 1;
        id.host_length = length - id.process_length - 1;
        const char *last = memrchr(id.host, '/', id.host_length);
        if (last != NULL && last > id.host) {
            id.pid = parse_pid(last + 1, (gsize)(text + length - last) - 1);
            if (id.pid >= 0) id.host_length = (gsize)(last - id.host);
        }
    }
    id.role = role_of_process(id.process, id.process_length, id.host_length > 0 ? ROLE_CLIENT : ROLE_LOCAL);
    return id;
}
