/* Transfers between pairs of hosts, of a bounded sample of stored traces: is it one link that is slow, not a host's
 * network? */
#pragma once

#include "analyzer/diagnosis/nodes/links.h"
#include "analyzer/query/nodes/cluster.h"

/* So many traces of each end are looked at, and so many spans in all. */
#define LINK_TRACES 64u
#define LINK_SPANS  120000u

/* Which transfers: of blocks that are written (from client or DataNode to DataNode), or read (from DataNode to reader),
 * in the time in which the host was slow. */
typedef struct LinkOf {
    guint32 host; /* dictionary id */
    gboolean reads;
    gboolean asks; /* the host is a client there, not a server */
    gint64 since_ns, until_ns;
} LinkOf;

typedef struct LinkFound {
    SlowLink link; /* hosts are dictionary ids; from 0: none */
    guint traces, spans;
} LinkFound;

gboolean link_find(const Asked *asked, const LinkOf *of, LinkFound *found, GError **error);
json_t *link_json(const Asked *asked, const LinkFound *found);
/* Are two of these the same link, in whichever direction? NULL is none. */
gboolean link_is_same(const json_t *a, const json_t *b);
