/* Rows of functions, read from the statistics of a period: what "functions" lists and "diff" compares. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/query/shared/measure.h"
#include "analyzer/query/shared/params.h"
#include "analyzer/query/shared/question.h"

typedef struct FunctionRow {
    guint32 function; /* dictionary id */
    guint32 role;     /* Role */
    guint32 host;     /* dictionary id; 0 unless by_host */
    gint64 since_ns;  /* of a row for each minute: when it begins; else 0 */
    gsize charged_bytes;
    NodeStats stats;
} FunctionRow;

typedef struct FunctionFilter {
    Period period;
    guint32 roles;    /* bits 1 << Role */
    guint32 function; /* dictionary id; 0: all; G_MAXUINT32: none */
    guint32 host;     /* the same */
    gboolean by_host;
    const struct FunctionTop *top; /* NULL: all rows; else only those that it chose */
} FunctionFilter;

/* The rows that come first, chosen by their weights alone: of hundreds of thousands by host only these are built. */
typedef struct FunctionTop FunctionTop;
typedef struct FunctionRank {
    const MeasureField *field;
    guint64 n;
} FunctionRank;
/* Those with the n greatest values of a field, and all that are as great as the last of them. *top NULL: the field
 * takes more than weights to tell, or there are too many rows to choose from. */
gboolean function_top_choose(Archive *archive, const FunctionFilter *filter, FunctionRank rank, FunctionTop **top,
                             GError **error);
void function_top_free(FunctionTop *top);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FunctionTop, function_top_free)
guint function_top_all(const FunctionTop *top); /* how many there are, chosen or not */
gboolean function_top_has(const FunctionTop *top, const StatsKey *key);
/* Has only what is chosen read; the filter must not outlive the top. */
void function_top_places(const FunctionTop *top, StatsFilter *filter);
/* What of the stored statistics a filter is about. */
StatsFilter function_stats_filter(const FunctionFilter *filter);

/* What a stored row of a function has: one node. The row is not empty. */
NodeStats *function_row_stats(StatsRow *row);

/* An empty array of FunctionRow that clears its rows. */
GArray *function_rows_new(void);
/* Appends the rows of a period, by (function, role, host) as numbers. */
gboolean function_rows_load(Archive *archive, const FunctionFilter *filter, GArray *rows, GError **error);

/* NOT_FOUND, with the nearest one, when "host" names one of which no call is stored. Of what an answer is empty for: it
 * says whether it is empty by mistake. */
gboolean known_host(const Asked *asked, GError **error);
