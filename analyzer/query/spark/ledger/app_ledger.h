/* The ledgers of an application's stragglers (diagnosis/ledger), read from the store. */
#pragma once

#include "analyzer/diagnosis/ledger/ledger_run.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"

/* What ledgers are made of. hdfs: NULL: traces are not looked at; otherwise its columns are added already, so that the
 * traces of stragglers and of some of their peers were read. All must outlive the ledgers. */
typedef struct AppLedgerInput {
    Archive *archive;
    const AppTasks *tasks; /* with the columns of samples, if there are any */
    const Stragglers *stragglers;
    const AppHdfs *hdfs;
    LedgerOptions options;
} AppLedgerInput;

typedef struct AppLedger {
    AppLedgerInput input;
    LedgerTimes *times;
    Ledgers *ledgers;
    ForeignLoads foreign;
    LedgerLoad *loads; /* foreign.n of each straggler */
    GArray *causes;    /* LedgerCause, those of one straggler together, by straggler, which explain most first */
    guint32 *first;    /* of each straggler's; n_stragglers + 1 */
    gsize charged;     /* of the allowance */
} AppLedger;

AppLedger *app_ledger_load(const AppLedgerInput *input, GError **error);
void app_ledger_free(AppLedger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppLedger, app_ledger_free)

/* The main cause of a straggler; NULL: none is known. */
const LedgerCause *app_ledger_main(const AppLedger *ledger, guint32 straggler);
/* The feature of the resource that it is left to; -1: of none. */
gint ledger_cause_feature(const AppLedger *ledger, const LedgerCause *cause);
/* "cpu", "hdfs_disk", "data", ...: the resource that it is left to, or the part. */
const char *ledger_cause_name(const AppLedger *ledger, const LedgerCause *cause);
/* The resources (1 << HdfsResource) that a part is about; 0 of one that is not of HDFS. */
guint32 ledger_part_resources(LedgerPart part);
/* The part that is about a resource; LEDGER_PART_COUNT: none is. */
LedgerPart ledger_part_of(HdfsResource resource);

/* The processes of HDFS that a task waited for in the resources of a part, the one that was waited for most first; each
 * with the function and the resource that took most. A new array of HdfsShare. */
GArray *ledger_servers(const TaskHdfs *hdfs, LedgerPart part);
