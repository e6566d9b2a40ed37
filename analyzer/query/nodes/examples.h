/* Stored traces that show what a host was slow with. */
#pragma once

#include "analyzer/query/nodes/cluster.h"

typedef struct Example {
    guint64 trace; /* 0: none is stored any more */
    gint64 begin_ns, duration_ns;
    /* Of FileIoProvider#transferToSocketFully in some traces on that host: how long it waited for the socket, and how
     * long it took to transfer, which is the disk's. Both 0: not recorded. */
    gint64 socket_ns, transfer_ns;
} Example;

/* Of what there is to be one: of calls of a function on a host (0: anywhere) in a minute. */
typedef struct ExampleOf {
    const ClusterJob *job;
    guint32 host;
    gint64 minute_ns;
    gboolean newest; /* not the longest ones, but the newest, and more of them */
} ExampleOf;

/* What the question "traces" answers for it: the longest ones first, or the newest. NULL with *error. */
json_t *example_traces(const Asked *asked, const ExampleOf *of, GError **error);
guint64 example_trace_id(const json_t *row); /* of one of its rows */
/* The longest trace that has such a call. */
gboolean example_find(const Asked *asked, const ExampleOf *of, Example *example, GError **error);
