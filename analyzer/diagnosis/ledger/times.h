/* What was measured of tasks' times: of the stragglers of an application, and of some of their peers, since a median
 * needs no more. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

/* What a task's time is made of. Names are in the answers of plumbd. */
typedef enum LedgerPart {
    LEDGER_DATA,           /* takes no time itself: what more data made the other parts longer by */
    LEDGER_PROCESSOR,      /* its own thread on a processor */
    LEDGER_PROCESSOR_WAIT, /* ready to run, and no processor was free */
    LEDGER_GC,
    LEDGER_SHUFFLE_WAIT,  /* for blocks of the shuffle */
    LEDGER_SHUFFLE_WRITE, /* to a local disk */
    LEDGER_HDFS_DISK,     /* waited for servers of HDFS, by resource: */
    LEDGER_HDFS_NETWORK,
    LEDGER_HDFS_LOCK, /* and call queues */
    LEDGER_HDFS_SERVER,
    LEDGER_HDFS_SLEEP,  /* of its own client, until HDFS has the last block of a file */
    LEDGER_DESERIALIZE, /* of the task */
    LEDGER_SERIALIZE,   /* of its result */
    LEDGER_RESULT,      /* the driver fetches it */
    LEDGER_SCHEDULER,   /* before the executor begins with it, and until the driver knows of its end */
    LEDGER_UNEXPLAINED, /* the rest */
    LEDGER_PART_COUNT
} LedgerPart;

const char *ledger_part_name(LedgerPart part); /* "data", "processor", "processor_wait", ... */

/* What parts speak of: it is judged as a whole. */
typedef enum LedgerAccount {
    ACCOUNT_DATA,
    ACCOUNT_WORK,
    ACCOUNT_GC,
    ACCOUNT_DESERIALIZE,
    ACCOUNT_SERIALIZE,
    ACCOUNT_RESULT,
    ACCOUNT_SCHEDULER,
    ACCOUNT_HDFS, /* all that is waited for HDFS */
    ACCOUNT_CPU,
    ACCOUNT_DISK,
    ACCOUNT_NETWORK,
    ACCOUNT_COUNT,
    ACCOUNT_NONE = ACCOUNT_COUNT /* of what is unexplained */
} LedgerAccount;

LedgerAccount ledger_account(LedgerPart part);
/* Adds the parts of each account up. */
void ledger_accounts(const gint64 parts_ns[LEDGER_PART_COUNT], gint64 accounts_ns[ACCOUNT_COUNT]);

typedef struct TaskTimes {
    gint64 run_ns;                         /* of the executor; -1: unknown, as of a task that still runs */
    gint64 measured_ns[LEDGER_PART_COUNT]; /* -1: not measured. Not of DATA, SCHEDULER, UNEXPLAINED, which follow */
    double bytes, records;                 /* that it read; NAN: unknown */
} TaskTimes;

/* What traces tell of a task, each with what comes before it. */
typedef enum LedgerTraced {
    TRACED_NOTHING,
    TRACED_HDFS,      /* what it waited for HDFS */
    TRACED_PROCESSOR, /* what it waited for a processor, which not every kernel counts */
    N_TRACED
} LedgerTraced;

static inline LedgerTraced task_times_traced(const TaskTimes *times) {
    if (times->measured_ns[LEDGER_HDFS_DISK] < 0) return TRACED_NOTHING;
    return times->measured_ns[LEDGER_PROCESSOR_WAIT] < 0 ? TRACED_HDFS : TRACED_PROCESSOR;
}

/* Splits a task's time. The parts add up to duration_ns, whatever was measured:
 * - the executor's run time, the times to deserialize and serialize and the result's are given as far as there is time;
 *   what is left is the scheduler's. Where the run time is unknown, everything that is left is the run;
 * - in the run comes the processor first, which is exact; then what it waited for. Waits that take more time together
 *   than there is (a collection while a DataNode is waited for) share it in proportion;
 * - what is left of the run is unexplained.
 * traced: what traces tell beyond it is left out. */
void ledger_split(const TaskTimes *times, gint64 duration_ns, LedgerTraced traced, gint64 parts_ns[LEDGER_PART_COUNT]);
/* Those inside the executor's run. */
gboolean ledger_part_of_run(LedgerPart part);

/* ---- of which tasks ---- */

#define LEDGER_PEERS 256u /* of a stage */

typedef struct LedgerTimes LedgerTimes;
/* Rows for each straggler, and in each of their stages for LEDGER_PEERS tasks in even steps; everything unknown. */
LedgerTimes *ledger_times_new(const TaskTable *table, const Stragglers *stragglers);
void ledger_times_free(LedgerTimes *times);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LedgerTimes, ledger_times_free)
/* NULL: not one of these rows. */
TaskTimes *ledger_times_at(const LedgerTimes *times, guint32 row);
gsize ledger_times_bytes(const LedgerTimes *times); /* memory that it holds, nearly */
