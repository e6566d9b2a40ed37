/* When late spans are joined to their traces. */
#pragma once

#include "analyzer/archive/archive.h"

/* archive_settle() for the traces with which it is worth while: each time a trace is joined its whole record is read,
 * counted and written anew, so whoever calls it again and again lets what is still coming gather. When few spans wait,
 * or too many, all are joined. */
typedef struct SettleWhen {
    gint64 quiet_ns;    /* nothing came late for the trace for so long, */
    gint64 most_ns;     /* or the first of what waits came so long ago */
    guint64 few_spans;  /* as many spans wait, of all traces, or fewer */
    guint64 most_spans; /* more wait */
} SettleWhen;
gboolean archive_settle_due(Archive *archive, const SettleWhen *when, GError **error);
