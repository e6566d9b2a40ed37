/* What a stored row of a function on one host tells of its calls, read in one pass without building a row: for
 * questions that read millions of rows. */
#pragma once

#include "analyzer/calltree/stats/stats.h"

typedef struct CallFigures {
    guint64 calls, total_ns;
    double squares_ns2;
    double q95_ns; /* as dist_quantile() tells it */
    gint64 self_ns, critical_ns;
    guint64 byte_calls, bytes;
} CallFigures;

/* Of the current host. FALSE: malformed, or a row of a pattern. */
gboolean stats_hosts_figures(const StatsHosts *hosts, CallFigures *figures);
/* The same without some of its calls: 'failed' are the bytes of the row of those (STATS_FAILED). Rows are built for it.
 * FALSE, too, when these are not among its calls. */
gboolean stats_hosts_figures_without(const StatsHosts *hosts, Bytes failed, CallFigures *figures);
