/* One figure of functions over time: a row for each function and role, or for each host, and what is usual among the
 * hosts. As a document it is the question "series" (query_series.c), as columns "series/columns". */
#pragma once

#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spans/steps.h"

typedef struct SeriesPoint {
    guint step;
    gint64 value;
    guint64 calls; /* that were counted; of a median: the number of hosts */
} SeriesPoint;

typedef struct Series {
    guint32 function, role, host;
    GArray *points; /* SeriesPoint, by step */
    double ratio;   /* to the peers; 0: there are none */
    gint64 total_ns;
} Series;

/* What is usual among the hosts of a function: the median at each step. */
typedef struct SeriesPeers {
    guint32 function, role;
    GArray *medians; /* SeriesPoint */
} SeriesPeers;

typedef enum { BY_TOTAL, BY_RATIO, BY_HOST } SeriesOrder;

/* What was asked, and what there is of it. */
typedef struct SeriesFound {
    FunctionFilter filter;
    const MeasureField *field;
    const char *field_name;
    guint64 limit;
    SeriesOrder order;
    Steps steps;
    GHashTable *owned;
    GPtrArray *all;   /* Series, in the order asked for */
    GPtrArray *peers; /* SeriesPeers; NULL: not by host */
} SeriesFound;

/* found: all zeroes before; to be cleared after a failure as well. INPUT, NOT_FOUND. */
gboolean series_find(const Asked *asked, SeriesFound *found, GError **error);
void series_clear(SeriesFound *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SeriesFound, series_clear)

/* Of an answer: what stands before the rows, a row without its points, and what stands behind the rows. */
json_t *series_head_json(const SeriesFound *found);
json_t *series_row_json(const Asked *asked, const SeriesFound *found, const Series *series);
void series_add_peers(const Asked *asked, const SeriesFound *found, json_t *answer);
