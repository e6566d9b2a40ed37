/* Rows of hours and days. Groups write minute rows; when an hour is over, its row is summed from theirs in the
 * background, and a day's from its hours'. A coarser bucket is 'rolled' once its rows are whole: only then may they be
 * read, and what comes later for it is added to them as well.
 *
 *   family  key       value
 *   meta    "rolled"  hour u32, day u32: buckets below are rolled */
#pragma once

#include "analyzer/archive/archive.h"

/* Sums the statistics of hours that have been over for some minutes from their minutes', and of days from their hours':
 * all that are not summed yet. plumbd calls it every few seconds. Answers are the same before and after. */
gboolean archive_roll_up(Archive *archive, gint64 now_ns, GError **error);
/* Any thread: archive_roll_up() returns early from now on, archive_join() after some seconds. What they leave waits
 * for the next opening. */
void archive_hurry(Archive *archive);
