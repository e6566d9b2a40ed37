/* Joining late spans to their traces. */
#pragma once

#include "analyzer/archive/consolidation/join_plan.h"

/* Brings late spans to their traces and the statistics up to date with that (all of them; a no-op when none wait).
 * plumbd calls archive_join_due() every few seconds. One call at a time works. On error what could be done is done,
 * and the rest waits: a damaged trace keeps its own late spans (CORRUPT), archive_hurry() what is left (BUSY). */
gboolean archive_join(Archive *archive, GError **error);

/* archive_join() for the traces with which it is worth while: each time a trace is joined its whole record is read,
 * counted and written anew, so whoever calls it again and again lets what is still coming gather. When few spans wait,
 * or too many, all are joined. */
gboolean archive_join_due(Archive *archive, const JoinWhen *when, GError **error);
