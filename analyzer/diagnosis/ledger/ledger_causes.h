/* What made stragglers slow, by their ledgers: `--method ledger`.
 *
 * The cause is what has most of what the task took longer than its stage's median, if that is at least lambda_w of it,
 * and unusual: of what varies as much among tasks that are not slow nobody can say that it made one slow (usual.h).
 * What has at least lambda_w and half as much, and is unusual, is one beside it. Parts that speak of the
 * same thing are one account (times.h), which is judged by their sum: all that is waited for HDFS; waiting for a
 * processor, and what is left to the host's processors; writing a shuffle, and what is left to its disks; fetching one,
 * and what is left to its network.
 *
 * What no part explains is left to a resource of the host when that had a foreign load F (foreign.h) while the task
 * ran: F > lambda_p * peers on other hosts or on the same one (eq. 3.3), and F is more than LEDGER_DEVIATIONS of all
 * tasks' foreign loads above these (instead of a quantile, which nothing common is above): to several in proportion to
 * the part of their load that is beyond the peers'. The processor's own time is left to the processors in the same way,
 * when these had one: programs that share caches slow each other.
 *
 * When a task's data is a cause, and explains its time up to the bound of the line (usual.h), there is no other. */
#pragma once

#include "analyzer/diagnosis/ledger/ledger.h"

#define LEDGER_DEVIATIONS 3.0

typedef struct LedgerOptions {
    double lambda_p, lambda_w;
    gboolean small; /* what is too little to be a cause is kept, too, behind the causes */
} LedgerOptions;
LedgerOptions ledger_options(void); /* 1.6, 0.5, FALSE */

/* A foreign load of a straggler's host while it ran. */
typedef struct LedgerLoad {
    guint feature; /* RESOURCE; of the processor, the disk or the network */
    FeatureTopic topic;
    gboolean above;      /* it is foreign enough */
    double value, usual; /* F; the peers' median that it is above, of both the lower */
} LedgerLoad;
#define LEDGER_LOADS_MAX 3u

typedef struct LedgerCause {
    guint32 straggler; /* index into Stragglers.list */
    LedgerPart part;   /* of its account, that has most of it */
    FeatureTopic topic;
    gint64 explains_ns; /* at most the excess */
    gint64 excess_ns;
    gint load; /* index into the straggler's loads: it is that resource's; -1 */
    gboolean small;
} LedgerCause;

/* Those of one straggler. */
typedef struct LedgerLoads {
    const LedgerLoad *items;
    guint n; /* LEDGER_LOADS_MAX at most */
} LedgerLoads;

/* Pure: the causes of one straggler, which explain most first, appended. */
void ledger_decide(const Ledger *ledger, LedgerLoads loads, const LedgerOptions *options, guint32 straggler,
                   GArray *found);
