/* Joining late spans to their traces. */
#pragma once

#include "analyzer/archive/archive.h"

/* Brings late spans to their traces and the statistics up to date with that (all of them; a no-op when none wait).
 * plumbd calls archive_settle_due() every few seconds. One call at a time works. On error what could be done is done,
 * and the rest waits: a damaged trace keeps its own late spans (CORRUPT), archive_hurry() what is left (BUSY). */
gboolean archive_settle(Archive *archive, GError **error);

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
