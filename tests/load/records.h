/* Results of loads for tests, record by record. */
#pragma once

#include "analyzer/load/results/result.h"

typedef struct MadeOperation {
    LoadKind kind;
    guint error;
    guint64 number;
    gint64 due_ns, begin_ns, end_ns, bytes;
    guint64 trace;
    gboolean unfinished;
} MadeOperation;

/* A head: warm-up of 1 s, 10 s after it, 5 operations in the warm-up; more: further lines. */
GByteArray *result_begin(const char *more);
void result_operation(GByteArray *result, const MadeOperation *operation);
void result_text(GByteArray *result, guint number, const char *text);
void result_end(GByteArray *result, LoadRunEnd end, gint64 end_ns, guint64 handed_on);
