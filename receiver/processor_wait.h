/* How long threads waited for a processor: what tells that all processors are busy, in a container, too. */
#pragma once

#include <glib.h>

/* Of this process's threads whose names begin with one of the prefixes (NULL: the end), in all, ns. 0 where the system
 * does not tell (Linux without CONFIG_SCHED_INFO). Reads two small files for each thread: not for each span. */
gint64 processor_waited_ns(const char *const *prefixes);
