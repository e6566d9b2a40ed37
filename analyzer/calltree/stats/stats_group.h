/* Statistics under construction, from many traces.
 *
 * A call costs a few bytes in the log of its host, and nothing else: no row is looked up, no distribution touched. When
 * the group is sealed the logs are folded, host by host, into the values of all rows. */
#pragma once

#include "analyzer/calltree/stats/stats.h"
#include "common/base/region.h"

typedef struct StatsGroup StatsGroup;
/* by_host FALSE: only rows of all hosts together come out. */
StatsGroup *stats_group_new(const Lookup *lookup, gboolean by_host);
void stats_group_free(StatsGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsGroup, stats_group_free)
void stats_group_clear(StatsGroup *group);
gsize stats_group_size_bytes(const StatsGroup *group); /* memory held, and what sealing will take beside it; roughly */

/* How the calls of a trace stand to another version of it, which has fewer or more. What is the same need be neither
 * taken away nor added again. */
typedef enum {
    CALL_IN_BOTH = 1 << 0,    /* the other version has it, */
    CALL_SAME_PLACE = 1 << 1, /* with the same of what its neighbours can change, */
    CALL_SAME_ROW = 1 << 2,   /* in the same node of the same row of a pattern */
} SharedCall;

/* A trace as it is compressed. */
typedef struct StatsTrace {
    const CallTree *tree;
    const TreeTimes *times;
    const guint32 *node_of;
    guint32 pattern;       /* the store's number: whose row counts it */
    const guint32 *row_of; /* node of the pattern -> node of the row; NULL: the same */
    const guint8 *shared;  /* SharedCall of each node of the tree; NULL: there is no other version */
} StatsTrace;

/* Adds a trace of which nothing was counted before ('shared' is not looked at): to the minute rows of its functions and
 * of its pattern. */
void stats_group_add(StatsGroup *group, const StatsTrace *trace);

/* Adds the spans of a tree to the rows of their functions. shared, when not NULL, says for each node how an earlier
 * version of this trace has counted it (SharedCall): then only what its neighbours can change is added (self time,
 * critical-path time, orphan and outside-parent counts), unless it is the same, and the caller retracts the earlier
 * version. */
void stats_group_add_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times, const guint8 *shared);
/* Takes back, of an earlier version of a trace, what its neighbours can change and have changed. */
void stats_group_retract_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times,
                                   const guint8 *shared);
/* The same of its calls that failed alone (guint32: nodes), in rows of their own (STATS_FAILED): they are in those of
 * their functions as well. */
void stats_group_add_failed(StatsGroup *group, const StatsTrace *trace, const GArray *failed);
void stats_group_retract_failed(StatsGroup *group, const StatsTrace *trace, const GArray *failed);
/* Adds a tree to the minute rows of its pattern, but for what is in them from the other version. */
void stats_group_add_pattern(StatsGroup *group, const StatsTrace *trace);
/* Takes an earlier version of a trace back from its pattern's rows by host, by adding it with a minus sign, but for
 * what the other version has there, too. The row of all hosts has extremes and quantiles, and is not touched. */
void stats_group_retract_pattern_hosts(StatsGroup *group, const StatsTrace *trace);

/* Every row, in the order of the stored keys; the values may be used during the call. */
typedef void (*StatsValueVisit)(void *arg, const StatsKey *key, Bytes value);
void stats_group_seal(StatsGroup *group, StatsValueVisit visit, void *arg);
/* How many calls were counted, and their times: beside the rows, for those who count on without reading these. */
typedef struct HostCount {
    guint32 host, function; /* dictionary ids; host 0: none */
    guint32 role;
    gint64 calls;
    gint64 self_ns; /* less than 0 where more was taken back than added */
} HostCount;
/* Bounds of durations, in ns: a call counts in the first step whose bound is not below it, or in the last. */
#define STATS_STEPS 13u
extern const guint64 stats_step_ns[STATS_STEPS - 1];
guint stats_step(guint64 duration_ns);
typedef struct FunctionCount {
    guint32 function, role;
    gint64 calls, total_ns, self_ns;
    guint64 steps[STATS_STEPS]; /* calls by their durations */
} FunctionCount;
/* Lists that a seal appends to: one entry for each row. */
typedef struct StatsCounts {
    GArray *hosts;     /* HostCount; those of one host one behind the other */
    GArray *functions; /* FunctionCount */
} StatsCounts;

/* The same, but the values may be used until 'values' is cleared, which gets them beside what it holds, and the calls
 * are gone meanwhile: stats_group_clear() is to follow, before more are added. */
typedef struct StatsSealed {
    StatsValueVisit visit;
    void *arg;
    Region *values;
    const StatsCounts *counts; /* NULL: not wanted */
} StatsSealed;
void stats_group_seal_lent(StatsGroup *group, const StatsSealed *sealed);
/* As stats_group_seal(), taken apart (stats_value_visit()): for few rows. */
void stats_group_foreach(StatsGroup *group, StatsRowVisit visit, void *arg);
/* The hosts that calls were counted on, in no order. */
void stats_group_hosts(const StatsGroup *group, void (*visit)(void *arg, guint32 host), void *arg);
