/* How many tasks of Spark were stragglers lately, by what made them slow, for those who watch all the time. An
 * application is looked at anew only when something of it was written since. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/diagnosis/tasks.h"
#include "common/base/allowance.h"

/* Of applications that something was written of in the last hour, the newest ones. */
#define STRAGGLER_WATCH_MS   (60 * 60 * 1000)
#define STRAGGLER_WATCH_APPS 20u

typedef struct StragglerCounts {
    guint apps, refused; /* refused: they needed too much memory or time, and are in no other count */
    guint64 tasks;
    guint64 stragglers[TOPIC_COUNT]; /* by the topic of their main cause */
    guint64 unexplained;             /* and those without one */
} StragglerCounts;

typedef struct StragglerWatch StragglerWatch;
StragglerWatch *straggler_watch_new(Archive *archive);
void straggler_watch_free(StragglerWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StragglerWatch, straggler_watch_free)

/* The calling thread has no allowance: each application has one of this budget. FALSE: the store cannot be read; with
 * damage to one application, too. */
gboolean straggler_watch_look(StragglerWatch *watch, AllowanceBudget *budget, gint64 now_ns, StragglerCounts *counts,
                              GError **error);
