/* Statistics of a period, summed over its buckets: coarse levels where they fit, fine ones at the edges. */
#pragma once

#include "analyzer/archive/archive.h"

/* Where rows of statistics lie, the same in each bucket. A caller that knows which rows it wants reads only those. */
typedef struct StatsPlace {
    guint32 cell;   /* 0: the row of all hosts together; else stats_cell() of the hosts */
    guint32 object; /* function or pattern */
    guint32 role;   /* of a function; 0 for patterns */
} StatsPlace;
/* Puts them in order, each once; returns how many are left. */
guint stats_places_tidy(StatsPlace *places, guint n);

/* Visits rows of all hosts together by (object, role), or rows of one host by (object, role, host), with neither level
 * nor bucket nor cell in the key; the row may be used during the call only. Periods are widened
 * (archive_stats_period()). */
typedef struct StatsFilter {
    StatsKind kind;
    gint64 since_ns, until_ns;
    guint32 object; /* 0: all */
    gboolean by_host;
    guint32 host; /* by_host: only this one; 0: each */
    gint role;    /* -1: all; not asked of patterns */
    /* NULL: all. Else rows are read only when it says so, by object, role and host (0: of all together). */
    gboolean (*wanted)(void *arg, const StatsKey *key);
    void *wanted_arg;
    const StatsPlace *places; /* NULL: all. Else only these are read; tidy, of what the fields above are about; lent */
    guint n_places;
} StatsFilter;
gboolean archive_stats(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg, GError **error);
/* The same of functions, by (block of hosts, object, role, host), however many rows there are: few at a time are in
 * memory. */
gboolean archive_stats_slices(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg,
                              GError **error);
/* The same without building rows: pieces that add up, some of them negative, in no useful order. */
typedef void (*StatsWeightVisit)(void *arg, const StatsKey *key, const NodeWeight *weight);
gboolean archive_stats_weigh(Archive *archive, const StatsFilter *filter, StatsWeightVisit visit, void *arg,
                             GError **error);
/* The rows by host (key->host) as they are stored for each bucket, in no useful order, until visit returns FALSE. */
typedef gboolean (*StatsHostVisit)(void *arg, const StatsKey *key, const StatsHosts *hosts);
gboolean archive_stats_hosts(Archive *archive, const StatsFilter *filter, StatsHostVisit visit, void *arg,
                             GError **error);
/* The same of functions in some minutes, minute by minute (key->bucket) in the order of the list; in each, those
 * of calls that failed (STATS_FAILED) come first. Minutes whose rows have expired have none. */
typedef struct StatsMinutes {
    const guint32 *list;
    guint n;
} StatsMinutes;
gboolean archive_stats_minutes(Archive *archive, const StatsMinutes *minutes, StatsHostVisit visit, void *arg,
                               GError **error);

/* What a question about [*since_ns, *until_ns) is answered for: whole minutes, or whole hours or days where the rows of
 * finer buckets were removed for their age. */
void archive_stats_period(const Archive *archive, gint64 *since_ns, gint64 *until_ns);
