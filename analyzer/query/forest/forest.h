/* Patterns of a period, summed, with nodes left out on request. */
#pragma once

#include "analyzer/query/forest/pattern_sum.h"
#include "analyzer/query/shared/params.h"
#include "analyzer/query/shared/question.h"

/* Shapes a query's compressor keeps; past it, it starts anew. */
#define QUERY_SHAPES 65536u

/* What of each pattern is wanted. */
typedef struct ForestFilter {
    Period period;
    guint32 roles;    /* bits 1 << Role: only nodes of these; ALL_ROLES keeps placeholders, too */
    guint32 function; /* only patterns that have it; 0: all; G_MAXUINT32: none */
    guint32 host;     /* only calls on it; 0: all; G_MAXUINT32: none */
    guint32 pattern;  /* only this one; 0: all */
    GArray *exclude;  /* guint32, names of nodes to leave out */
} ForestFilter;

gboolean forest_filter_parse(const Asked *asked, ForestFilter *filter, GError **error);
void forest_filter_clear(ForestFilter *filter);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ForestFilter, forest_filter_clear)

/* Does the filter drop nodes? */
gboolean forest_filter_drops(const ForestFilter *filter);
/* Is this pattern wanted at all? */
gboolean forest_filter_wants(const ForestFilter *filter, const Pattern *pattern);
/* A new reference to what is left of a pattern; *map (NULL: nothing was dropped) is freed by the caller. */
Pattern *forest_filter_apply(const ForestFilter *filter, Compressor *compressor, const Pattern *pattern, guint32 **map);

/* How much there is of a pattern. */
typedef struct Weight {
    guint64 traces, spans;
    gint64 total_ns, critical_ns;
} Weight;

typedef enum { SORT_TOTAL, SORT_CALLS, SORT_TRACES, SORT_CRITICAL } ForestSort;

typedef struct ForestOrder {
    guint sort;    /* ForestSort */
    guint64 limit; /* 0: all */
} ForestOrder;

/* "forest" with level=tree (forest_trees.c), each trace for itself: fills in "traces", "spans" and "patterns". */
gboolean forest_trees(const Asked *asked, const ForestFilter *filter, const ForestOrder *order, json_t *answer,
                      GError **error);
