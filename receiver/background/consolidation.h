/* What becomes of spans after they are stored: late ones are joined to their traces, statistics are summed up by hours
 * and days, tasks of Spark are linked to their traces, hosts are judged. A thread of its own, since a pass may take
 * long and others must not wait for it. */
#pragma once

#include "analyzer/archive/archive.h"
#include "common/base/allowance.h"
#include "receiver/journal/journal.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/slow_hosts.h"
#include "receiver/shared/space.h"
#include "receiver/shared/straggling.h"

typedef struct ConsolidationOptions {
    Archive *archive;
    Journal *journal;
    Admission *admission;
    const SpaceView *space;
    SlowHosts *slow_hosts;      /* kept up to date */
    Straggling *straggling;     /* the same */
    AllowanceBudget *questions; /* what judging the hosts takes counts there */
    gint64 ids_for_ns;          /* how long ids lie beside records that are kept without */
} ConsolidationOptions;

typedef struct Consolidation Consolidation;
/* Works as soon as the receiver is ready. */
Consolidation *consolidation_start(const ConsolidationOptions *options);
/* Waits for the pass under way: a batch of late spans, at most. */
void consolidation_stop(Consolidation *consolidation);
/* Late spans are joined to their traces when few wait; more wait for the next start. */
gboolean consolidation_join_few(Archive *archive, GError **error);
