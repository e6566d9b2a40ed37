/* The requests that a question about a load is about: stored traces, told by their roots. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"

typedef struct Request {
    guint64 trace_id;
    gint64 begin_ns;
} Request;

/* Traces of a period that may have a root of that name, or with a '*' at the name's end one that begins so; by begin. Of
 * more than 'most' (0: all) as many, evenly. *found: how many there are. A new array of Request; NULL with *error. */
GArray *requests_find(const Asked *asked, Period period, const char *root, guint64 most, guint64 *found,
                      GError **error);

/* The first node of the tree that is such a root; 0: none is. */
guint32 request_root(Archive *archive, const TraceView *view, const char *root);
