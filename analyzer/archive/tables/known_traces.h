/* Which traces may be stored: a filter in memory, so that a new one, as nearly all are, is not looked up in every table
 * of the store (3 us a trace). Nothing is ever forgotten; what is removed from the store is looked up in vain.
 *
 * It says nothing before it was told of what had been stored when the archive was opened, and little once there are
 * many more traces than it has room for: then the store is asked, as without it. */
#pragma once

#include <glib.h>

/* With so much it says little from some 20 million traces on. */
#define KNOWN_TRACES_BYTES (16u << 20)

typedef struct KnownTraces KnownTraces;
/* It begins with 256 KiB, and may have up to most_bytes. */
KnownTraces *known_traces_new(gsize most_bytes);
void known_traces_free(KnownTraces *known);

/* The rest is for any thread. */
void known_traces_add(KnownTraces *known, guint64 trace_id);
/* FALSE: no such trace was ever stored. */
gboolean known_traces_may_have(const KnownTraces *known, guint64 trace_id);
/* All traces were added that had been stored before the filter was made. */
void known_traces_complete(KnownTraces *known);
gboolean known_traces_is_complete(const KnownTraces *known);
gsize known_traces_size_bytes(const KnownTraces *known); /* for tests */
