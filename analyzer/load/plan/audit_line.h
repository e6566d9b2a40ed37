/* One line of the NameNode's audit log:
 *
 *   2026-11-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true⇥ugi=anna (auth:SIMPLE)⇥ip=/10.0.0.7⇥cmd=open⇥src=/a
 *
 * ⇥ being a tab; dst, perm and more follow. The time has no zone: it is that of the NameNode, and only differences of
 * it are used. */
#pragma once

#include "common/base/bytes.h"

/* Longer lines are no lines of an audit log: HDFS's longest path has 8,000 characters. */
#define AUDIT_LINE_MOST_BYTES (64u << 10)

typedef enum {
    AUDIT_OPERATION,
    AUDIT_OTHER, /* another logger's line, or empty: a log may hold both */
    AUDIT_BAD    /* of the audit log, but not of its form */
} AuditLineKind;

/* Borrowed from the line. */
typedef struct AuditLine {
    gint64 time_ms; /* since 1970, as if it were UTC */
    gboolean allowed;
    Bytes user;    /* "anna": without how it logged in */
    Bytes command; /* "open", "rename": the first word */
    Bytes source;  /* src: a path, or "null" */
} AuditLine;

/* Without the line feed. *wrong: of a bad line, what it lacks; static. */
AuditLineKind audit_line_parse(const char *line, gsize length, AuditLine *parsed, const char **wrong);
