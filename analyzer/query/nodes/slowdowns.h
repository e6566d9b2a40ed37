/* The hosts that are suspected now, for those who watch all the time. */
#pragma once

#include "analyzer/archive/archive.h"

/* host: as spans name it; class: of work. */
typedef void (*SlowdownVisit)(void *arg, const char *host, const char *class, double slowdown);
/* Of the last hour that is stored, the dearest first. Takes of the thread's allowance; those of allowance_check(). */
gboolean slowdowns_find(Archive *archive, gint64 now_ns, SlowdownVisit visit, void *arg, GError **error);
