/* The ledger of a straggler: where its time went, beside what is usual in its stage.
 *
 * Blocked-time analysis (Ousterhout et al., NSDI 2015), carried into HDFS: nothing is correlated. Each part of a task's
 * time is measured, and all of them add up to it (times.h). So does what it took longer than the stage's median: the
 * sum over the parts of what each took longer than one would expect, of which LEDGER_DATA is what more data makes one
 * expect (at most all of it). docs/spark.md has an example. */
#pragma once

#include "analyzer/diagnosis/ledger/usual.h"

typedef struct Ledger {
    guint32 peers;       /* normal tasks that it is compared with; 0: all of the excess is unexplained */
    LedgerTraced traced; /* of it and its peers */
    gint64 duration_ns, usual_ns;
    gint64 time_ns[LEDGER_PART_COUNT]; /* adds up to duration_ns */
    gint64 more_ns[LEDGER_PART_COUNT]; /* than expected; may be below 0. Adds up to duration_ns - usual_ns */
    gint64 varies_ns[ACCOUNT_COUNT];   /* so much more of an account is not unusual (usual.h) */
    gint64 bound_ns;                   /* up to here its data explains its time; 0: unknown */
} Ledger;

static inline gint64 ledger_excess_ns(const Ledger *ledger) { return ledger->duration_ns - ledger->usual_ns; }

typedef struct Ledgers Ledgers;
/* All must outlive it. */
Ledgers *ledgers_new(const TaskTable *table, const Stragglers *stragglers, const LedgerTimes *times);
void ledgers_free(Ledgers *ledgers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ledgers, ledgers_free)

/* FALSE: its times are not known (ledger_times_at()). What traces tell counts where it is known of LEDGER_TRACED_PEERS
 * normal tasks at least; else what the task waited is unexplained, as what its peers did. Of what is not known of the
 * task itself all that is expected is expected of the unexplained part. */
#define LEDGER_TRACED_PEERS 2u
gboolean ledgers_of(Ledgers *ledgers, guint32 row, Ledger *ledger);
