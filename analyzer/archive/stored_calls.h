/* What writers tell of the calls that they have stored, so that somebody can count on without reading the store. */
#pragma once

#include "analyzer/archive/archive.h"

/* A call of a trace that may stand for others of its function. The first call of each trace is one; so are more calls
 * of some traces, and of long ones. */
typedef struct ExampleCall {
    guint64 trace_id;
    guint64 duration_ns;
    gint64 begin_ns;
    guint32 function, role;
} ExampleCall;

typedef struct ErrorCall {
    guint32 function, role, host;
} ErrorCall;

struct StoredCalls {
    const Lookup *lookup;
    StatsCounts counts; /* calls that late spans added included */
    GArray *errors;     /* ErrorCall: calls that say that they failed */
    GArray *examples;   /* ExampleCall */
};
