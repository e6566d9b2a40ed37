/* How long a trace with its root is waited for while the journal fills up. What is open is in the journal: at 100 MB/s,
 * trace.idle alone would be 3 GB of it, and past journal.limit traces go that are still coming. So those that are most
 * likely complete go sooner, and there are fewer open ones to hold at all. */
#pragma once

#include <glib.h>

/* trace.idle in parts: */
#define PATIENCE_PARTS 16u
/* How many of them are waited: all while a quarter of the limit is used or less, one from three quarters on. */
guint patience_parts(guint64 journal_bytes, guint64 limit_bytes);
