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
