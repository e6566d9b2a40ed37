/* One line of the audit log: an event as a JSON object, all in ASCII. What peers say in it (paths, names, questions) is
 * escaped, and cut where the line would be longer than AUDIT_LINE_BYTES: no text can make a second line, command a
 * terminal, or fill the disk by one request. */
#pragma once

#include <glib.h>

#define AUDIT_LINE_BYTES 1800u

/* Which events are told: each level those of the ones before, too. In the order of the choices of audit.log. */
typedef enum { AUDIT_LEVEL_NONE, AUDIT_LEVEL_CHANGES, AUDIT_LEVEL_READS } AuditLevel;

/* A route of the HTTP port names the one that its requests are. */
typedef enum {
    AUDIT_NOTHING, /* probes, metrics, files of the page, spans */
    AUDIT_START,
    AUDIT_STOP,
    AUDIT_RELOAD,
    AUDIT_LOGIN,
    AUDIT_LOGIN_REFUSED,
    AUDIT_LOGOUT,
    AUDIT_DENIED,       /* who asks lacks the role */
    AUDIT_FOREIGN_NAME, /* spans under the name of a server that is another principal's */
    AUDIT_FLUSH,
    AUDIT_EXPORT,
    AUDIT_QUESTION,
    AUDIT_ANALYSIS, /* of the page's shell: begun, or stopped */
    AUDIT_MARK,
    AUDIT_LEFT_OUT, /* lines that are not there */
} AuditAction;

typedef struct AuditEvent {
    AuditAction action;
    const char *port;          /* "thrift" or "http"; NULL: neither */
    const char *principal;     /* NULL: who has not logged in */
    const char *address;       /* NULL: it came by no connection */
    const char *route, *query; /* NULL: none */
    const char *outcome;       /* "ok", or why not */
    int status;                /* of HTTP; 0: none */
    guint64 bytes;             /* of the answer */
    gint64 duration_ns;        /* 0: none */
    guint64 lines;             /* of AUDIT_LEFT_OUT: how many */
} AuditEvent;

AuditLevel audit_level_of(AuditAction action);
/* Writes the line, a line feed at its end and no zero byte behind it; its length. */
gsize audit_line(const AuditEvent *event, gint64 wall_ns, char line[AUDIT_LINE_BYTES]);
