/* The inside of a StatsGroup: the log of its calls, and what its entries refer to. */
#pragma once

#include "analyzer/calltree/lookup.h"
#include "analyzer/calltree/stats/call_log.h"
#include "analyzer/calltree/stats/key_table.h"
#include "analyzer/calltree/stats/stats_group.h"

#define NOTHING G_MAXUINT32
/* Beside the role in the key of a function's row: it is that of the calls that failed. */
#define ROLE_FAILED ((guint32)1 << 8)

/* Where a call counts: in a node of a pattern's row, in a function's row, or both. */
typedef struct Target {
    guint32 pattern;  /* number of the pattern's row, NOTHING: none */
    guint32 node;     /* of the pattern */
    guint32 function; /* number of the function's row, NOTHING: none */
    guint32 how;      /* TARGET_* */
} Target;

enum {
    TARGET_PLACE = 1 << 0,      /* no calls: only what their neighbours can change */
    TARGET_NEGATIVE = 1 << 1,   /* all with a minus sign */
    TARGET_HOSTS_ONLY = 1 << 2, /* not in rows of all hosts together */
};

/* A pattern's row: its nodes' targets for calls that begin in the minute of their trace. */
typedef struct PatternRow {
    guint32 *targets; /* number + 1, 0: not there yet */
    guint32 n_nodes;
} PatternRow;

/* A tracer's dictionary id, its role, and number of its host and 1; 0: nobody's yet. */
typedef struct TracerEntry {
    guint32 tracer;
    guint32 role;
    guint32 host;
} TracerEntry;

struct StatsGroup {
    const Lookup *lookup;
    gboolean by_host;
    TracerEntry *tracers;
    KeyTable hosts;     /* host; number 0 is that of nodes without one */
    KeyTable patterns;  /* minute, pattern -> number in pattern_rows */
    KeyTable functions; /* minute, function, role (with ROLE_FAILED) */
    KeyTable targets;   /* pattern row, node, function row, how -> number in target_list */
    GArray *pattern_rows;
    GArray *target_list;
    CallLog log;
    gsize pattern_bytes; /* of targets of pattern rows */
};
