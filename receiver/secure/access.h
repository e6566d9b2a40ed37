/* What one may do who asks or sends: five roles, of which one may have any. A path of the HTTP port names the role that
 * it needs (receiver/http/route.h); calls of the span port need ACCESS_WRITE.
 *
 *   write    send spans and records
 *   read     ask questions, export, see the page; metrics, too
 *   metrics  read /metrics
 *   peer     answer and be answered in parts, among several plumbd
 *   admin    all of the above, and flush */
#pragma once

#include <glib.h>

typedef enum {
    ACCESS_WRITE = 1 << 0,
    ACCESS_READ = 1 << 1,
    ACCESS_METRICS = 1 << 2,
    ACCESS_PEER = 1 << 3,
    ACCESS_ADMIN = 1 << 4,
} AccessRole;

#define ACCESS_ROLES 5u
/* Needed of nobody: probes of what watches plumbd. */
#define ACCESS_ANYBODY 0u
#define ACCESS_ALL     ((1u << ACCESS_ROLES) - 1)

/* Who has not logged in. Others are "cert:NAME", "token:NAME", "krb5:NAME@REALM". */
#define ACCESS_ANONYMOUS "anonymous"

/* Whom the configuration gives each role, in the order of the bits: lists of principals, '*' standing for any text. An
 * empty list gives it to anonymous where the port is open (receiver/secure/port.h), and to nobody elsewhere. Admin,
 * which is all roles, is so given only while no list is set. */
typedef struct AccessRules {
    const char *const *lists[ACCESS_ROLES];
} AccessRules;

/* The roles of a principal: its own, and those that anybody has. open: port_is_open(). */
guint access_rules_roles(const AccessRules *rules, const char *principal, gboolean open);
/* CONFIG: an entry that is no principal. key: "access.write". */
gboolean access_list_check(const char *key, const char *const *list, GError **error);
/* FALSE: there is no such role, and nothing changed. */
gboolean access_role_parse(const char *name, AccessRole *role);
/* roles: of AccessRole, what somebody has. needed: one of them, or ACCESS_ANYBODY. */
gboolean access_suffices(guint roles, guint needed);
