/* The requests that a question about a load is about: stored traces, told by their roots. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"

typedef struct Request {
    guint64 trace_id;
    gint64 begin_ns;
} Request;

typedef struct RequestFilter {
    Period period;
    const char *root; /* a function's name, or with a '*' at its end all that begin so */
    guint64 most;     /* of more traces as many, evenly; 0: all */
} RequestFilter;

/* Traces that may have such a root, by begin. *found: how many there are. A new array of Request; NULL with *error. */
GArray *requests_find(const Asked *asked, const RequestFilter *filter, guint64 *found, GError **error);

/* The first node of the tree from that one on (a child of the trace, or the end) that is such a root; 0: none is. */
guint32 request_root(Archive *archive, const TraceView *view, const char *root, guint32 from);
