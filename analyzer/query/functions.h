/* Rows of functions, read from the statistics of a period: what "functions" lists and "diff" compares. */
#pragma once

#include "analyzer/query/measure.h"
#include "analyzer/query/params.h"

typedef struct FunctionRow {
    guint32 function; /* dictionary id */
    guint32 role;     /* Role */
    guint32 host;     /* dictionary id; 0 unless by_host */
    NodeStats stats;
} FunctionRow;

typedef struct FunctionFilter {
    Period period;
    guint32 roles;    /* bits 1 << Role */
    guint32 function; /* dictionary id; 0: all; G_MAXUINT32: none */
    guint32 host;     /* the same */
    gboolean by_host;
} FunctionFilter;

/* An empty array of FunctionRow that clears its rows. */
GArray *function_rows_new(void);
/* Appends the rows of a period, by (function, role, host) as numbers. */
gboolean function_rows_load(Archive *archive, const FunctionFilter *filter, GArray *rows, GError **error);
