/* What is known of hosts: how loaded they were, and what was done to them; as of spark.h. */
#pragma once

#include "common/model/spark_values.h"

/* Load of a host over the interval that ends at time_ns. One source may fill only a part of it; parts of the same host,
 * time and source become one record. */
typedef struct HostSample {
    const char *host, *source; /* source: "mpstat", "iostat", "sar", "sadf", ... */
    gint64 time_ns, interval_ns;
    gint64 zone_offset_s;                     /* east of UTC, as applied to the source's clock */
    double user, system, iowait, steal, idle; /* shares of 1, all processors together */
    SparkDisks disks;
    SparkNets nets;
} HostSample;

/* Something that was done, on one host or on all: a fault that was made, a deployment. A record with the same host,
 * begin and kind replaces it, so that what still lasts may get its end later. */
typedef struct HostMark {
    const char *host;        /* MARK_ALL_HOSTS: all */
    gint64 begin_ns, end_ns; /* end -1: a moment */
    const char *kind;        /* "fault", "deployment", ... */
    const char *text;
} HostMark;
#define MARK_ALL_HOSTS "*"

/* Is that further ahead than what is to come may be told? It would stay for years past what it says. */
static inline gboolean mark_is_ahead(gint64 time_ns, gint64 now_ns) {
    return time_ns > now_ns && time_ns - now_ns > G_GINT64_CONSTANT(24) * 3600 * 1000000000;
}
