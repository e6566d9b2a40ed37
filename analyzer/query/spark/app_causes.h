/* The stragglers of an application, the evidence on them, and the main cause of each. */
#pragma once

#include "analyzer/diagnosis/executor_start.h"
#include "analyzer/diagnosis/ledger/ledger_causes.h"
#include "analyzer/diagnosis/main_cause.h"
#include "analyzer/query/spark/suspects.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"

typedef struct StragglerCause {
    guint32 straggler;         /* index into the list */
    gint evidence;             /* of the main cause, index into AppCauses.evidence; -1: none was found */
    double explains_ms;        /* of the excess */
    gboolean start;            /* the start of its executor's JVM is the main cause; then there is no evidence */
    const LedgerCause *ledger; /* the main cause by its ledger, where that was asked for; then there is no evidence */
    gboolean in_hdfs;          /* it is HDFS, and this is whom the task waited for: */
    Suspect suspect;
    const TaskHdfs *hdfs; /* NULL: no trace is linked to the task */
} StragglerCause;

typedef struct AppCauses {
    AppTasks *tasks;
    Stragglers *stragglers;
    AppHdfs *hdfs;
    ExecutorStarts *starts;
    BigRootsOptions options;
    GArray *evidence; /* Evidence, what belongs to one straggler together */
    guint32 *first;   /* of each straggler's; n_stragglers + 1 */
    GArray *causes;   /* StragglerCause, one for each straggler, the first HDFS_STRAGGLERS_MAX at most */
} AppCauses;

/* app: its key. NOT_FOUND. */
AppCauses *app_causes_load(const Asked *asked, const char *app, const BigRootsOptions *options, GError **error);
void app_causes_free(AppCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppCauses, app_causes_free)

static inline gboolean cause_known(const StragglerCause *cause) {
    return cause->evidence >= 0 || cause->start || cause->ledger;
}
static inline guint32 cause_row(const AppCauses *causes, const StragglerCause *cause) {
    return causes->stragglers->list[cause->straggler].task;
}
