/* The paths of the HTTP port, one table (http.c): each names what it is asked with, which role may ask, and who
 * answers. A path that the table lacks is denied to all but ACCESS_ADMIN, who is told that there is no such path. So a
 * path that somebody forgot to think about is open to nobody. */
#pragma once

#include "receiver/http/server.h"
#include "receiver/secure/access.h"

typedef struct Route {
    const char *path;   /* whole; with one '*', which stands for a name without a '/' */
    guint role;         /* AccessRole, or ACCESS_ANYBODY */
    gboolean post;      /* else it is asked with GET (and HEAD) */
    const char *use;    /* what is said when it is asked otherwise; NULL: any method will do */
    AuditAction action; /* what the audit log calls it */
    /* arg: of whoever has the table. rest: the path from the '*' on, or "". */
    void (*answer)(void *arg, HttpExchange *exchange, const char *rest);
} Route;

/* The first route of the path, in a table that ends with a NULL path; where it has that very path twice, the one that
 * is asked so. NULL: there is none. *rest points into path. */
const Route *route_find(const Route *table, const char *path, HttpMethod method, const char **rest);
/* Is it asked as it is to be? */
gboolean route_takes(const Route *route, HttpMethod method);
