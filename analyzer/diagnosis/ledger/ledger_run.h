/* What made each straggler slow, by its ledger, and by the foreign loads of its host. */
#pragma once

#include "analyzer/diagnosis/ledger/ledger_causes.h"

/* Foreign loads of the table's resources: of the features of the processor, the disk and the network. */
typedef struct ForeignLoads {
    guint n;
    guint features[LEDGER_LOADS_MAX];
    double *values[LEDGER_LOADS_MAX]; /* foreign_load() */
} ForeignLoads;

typedef struct LedgerInput {
    const TaskTable *table;
    const Stragglers *stragglers;
    Ledgers *ledgers;
    const ForeignLoads *foreign;
    LedgerOptions options;
} LedgerInput;

/* Causes of all stragglers, in their order: a new array of LedgerCause. *loads, a new array, has foreign->n of each
 * straggler. */
GArray *ledger_run(const LedgerInput *input, LedgerLoad **loads);
