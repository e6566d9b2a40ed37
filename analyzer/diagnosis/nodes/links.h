/* A link that is slow between two hosts only. Statistics are by host, so such a link shows at its ends alone. Whether
 * it is the link, and not the network of one of them, is told from single transfers: between these two most take much
 * longer than nearly all of the one to others, and of others to the other. A host with a slow network has others that
 * are as slow, though perhaps few: in the middle of a pipeline what comes is hidden by what goes out. */
#pragma once

#include <glib.h>

/* So many transfers are needed of the pair, of its sender to others, and of others to its receiver, and those of the
 * pair from so many traces: of fewer, the worst of all pairs of a host would look like a slow link by chance alone, and
 * what one trace waits for is mostly one thing. */
#define LINK_TRANSFERS_LEAST 8u
#define LINK_TRACES_LEAST    3u
/* Of so many it is seen whose traces may tell more. */
#define LINK_PARTNER_LEAST 3u
/* Its median is so many times as long as nine of ten of both of those. */
#define LINK_TIMES_LEAST 3.0
/* Of readers, one in so many of the other servers may be as slow to the reader, and one in so many of the other readers
 * as slow to reach: most others tell that it is not the end that they share. In pipelines they do not tell. */
#define LINK_SLOW_PEERS 3u
/* What takes less is never slow, ns for each MiB: a gigabyte a second. */
#define LINK_SHORTEST_NS 1e6

typedef struct LinkTransfer {
    guint32 from, to; /* hosts, by any number but 0 */
    guint32 trace;    /* by any number */
    double ns;        /* waited for a MiB of it */
} LinkTransfer;

typedef enum { LINK_OF_WRITES, LINK_OF_READS } LinkUse;

typedef struct SlowLink {
    guint32 from, to;    /* 0: there is none */
    gboolean both_ways;  /* from 'to' to 'from', too */
    guint32 calls;       /* transfers of the pair, of which one took, in the median: */
    double ns;           /* for each MiB */
    guint32 others;      /* transfers of the sender to others, and of others to the receiver; medians: */
    double to_others_ns; /* of the first, for each MiB */
    double from_others_ns;
} SlowLink;

/* The other end of the link at that host by which transfers take longest; 0: there are too few of each. transfers:
 * LinkTransfer, in any order. */
guint32 slow_link_partner(const GArray *transfers, guint32 host);
/* The link at that host with the greatest ratio. */
SlowLink slow_link_find(const GArray *transfers, LinkUse use, guint32 host);
