/* A trace as it is counted, and how two versions of it differ: what late spans change. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/part.h"

/* Records say by which rule their critical-path times were counted, so that what an older program counted is taken
 * away, and verified, as it was. */
static inline TimesRule times_rule_of(guint32 trace_flags) {
    if (trace_flags & TRACE_VOTES) return TIMES_VOTES;
    if (trace_flags & TRACE_ROOTS) return TIMES_ROOTS;
    if (trace_flags & TRACE_SENDERS) return TIMES_SENDERS;
    if (trace_flags & TRACE_ARRIVALS) return TIMES_ARRIVALS;
    if (trace_flags & TRACE_ANSWERS) return TIMES_ANSWERS;
    if (trace_flags & TRACE_READERS) return TIMES_READERS;
    if (trace_flags & TRACE_NETWORK) return TIMES_NETWORK;
    if (trace_flags & TRACE_ASKED) return TIMES_ASKED;
    if (trace_flags & TRACE_STANDING) return TIMES_STANDING;
    if (trace_flags & TRACE_BY_TURNS) return TIMES_BY_TURNS;
    return trace_flags & TRACE_THROUGH_WAITS ? TIMES_THROUGH_WAITS : TIMES_BY_PARENT;
}
/* TraceFlags of a record counted so. */
static inline guint32 times_rule_flags(TimesRule rule) {
    static const guint32 flags[TIMES_NOW + 1] = {0,
                                                 TRACE_THROUGH_WAITS,
                                                 TRACE_BY_TURNS,
                                                 TRACE_STANDING,
                                                 TRACE_ASKED,
                                                 TRACE_NETWORK,
                                                 TRACE_READERS,
                                                 TRACE_ANSWERS,
                                                 TRACE_ARRIVALS,
                                                 TRACE_SENDERS,
                                                 TRACE_ROOTS,
                                                 TRACE_VOTES};
    return flags[rule];
}

/* The spans of one record, assembled and measured. */
typedef struct TraceVersion {
    CallTree *tree;
    TreeTimes *times;
    TimesRule rule; /* of its times; by parents, where that makes no difference */
    guint32 *node_of;
    Pattern *pattern;
    guint32 *was;    /* version_grow(): nodes of the other version, 0: not there; NULL: not known */
    guint32 *row_of; /* version_count_in(); NULL: rows have the pattern's nodes */
    guint8 *shared;  /* versions_compare(); NULL: there is no other version */
} TraceVersion;
TraceVersion version_make(Archive *archive, Compressor *compressor, const SpanRec *const *spans, gsize n,
                          TimesRule rule);
/* What version_make() makes of the spans of a record, whose places say who hangs below whom. FALSE: they do not. */
gboolean version_restore(Archive *archive, const PartTree *part, TimesRule rule, TraceVersion *version);
/* What version_make() makes of the spans of 'old' and of these, by the rule of now. FALSE: tree_grow() does not know
 * how. */
gboolean version_grow(Archive *archive, Compressor *compressor, const TraceVersion *old, const GPtrArray *fresh,
                      TraceVersion *version);
void version_clear(TraceVersion *version);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceVersion, version_clear)

/* Under which number it is counted. FALSE: it is a mixed pattern's, which lacks a node (never with 'add'). */
gboolean version_count_in(Archive *archive, TraceVersion *version, guint32 number, gboolean add);
static inline StatsTrace version_stats(const TraceVersion *version, guint32 pattern) {
    return (StatsTrace){version->tree, version->times, version->node_of, pattern, version->row_of, version->shared};
}
/* Finds what 'now', counted under 'number', has in common with 'old', counted under 'old_number', whose spans are those
 * that lie in 'old_spans' and are the very same records. */
void versions_compare(TraceVersion *old, guint32 old_number, TraceVersion *now, guint32 number, Bytes old_spans);
