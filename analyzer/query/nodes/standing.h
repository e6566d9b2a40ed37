/* How a host was when somebody waited for it: slower than its own prediction, and since when? */
#pragma once

#include "analyzer/query/nodes/cluster.h"

typedef struct Standing Standing;

/* Of what ran in the period. The statistics are read when first asked about; asked must outlive it. */
Standing *standing_new(const Asked *asked, Period period);
void standing_free(Standing *standing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Standing, standing_free)

/* Adds "spell" to the object when the host was slow in the period, in one of the classes of work (bits of
 * 1 << WorkClass) or in all that it does. */
gboolean standing_add(Standing *standing, guint32 host, guint32 classes, json_t *object, GError **error);
/* A host, classes of work, and a part of the period. */
typedef struct StandingAsk {
    guint32 host, classes;
    Period part;
} StandingAsk;
/* *slow: was it slow in one of these classes for half of the part, or more? */
gboolean standing_slow_in(Standing *standing, const StandingAsk *ask, gboolean *slow, GError **error);
/* Hosts that gave no answer for at least so much of the period: a new list of {"host", "begin_time_ns", "end_time_ns",
 * "waited_ns"}. NULL with *error. */
json_t *standing_silent(Standing *standing, gint64 least_ns, GError **error);
