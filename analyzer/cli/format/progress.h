/* A progress line on standard error, for work that takes longer than half a second: drawn over and over, gone at the
 * end. Draws nothing unless standard error is a terminal. A thread of its own draws, so that waiting for an answer
 * shows too; all functions are for the thread that made it. */
#pragma once

#include "analyzer/cli/format/style.h"

typedef struct Progress Progress;

/* label: what is being done, "importing spans.json". */
Progress *progress_start(const Style *style, const char *label);
/* done of total (0: unknown) things; unit: "spans", static. */
void progress_update(Progress *progress, guint64 done, guint64 total, const char *unit);
/* How far through, when it is told by something else than the count (0 to 1; below 0: unknown). */
void progress_fraction(Progress *progress, double fraction);
/* Takes the line away. */
void progress_stop(Progress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_stop)
