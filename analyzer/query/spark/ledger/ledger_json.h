/* Ledgers and what follows from them as JSON, the same in every answer that has them. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/ledger/app_ledger.h"

/* Where a task's time went, beside what is usual: "parts" with "servers" of HDFS. hdfs: what is known of it; may be
 * NULL. NULL: the task's times were not read (LEDGER_PEERS). */
json_t *ledger_json(const AppLedger *ledger, guint32 row, const TaskHdfs *hdfs);

/* {"feature", "kind": "ledger", "topic", "unit": "ms", "verdict": "cause", "part", "measured", "value", "bound",
 * "load", "usual_load", "load_unit"}: as the evidence of other methods. */
json_t *ledger_cause_json(const AppLedger *ledger, const LedgerCause *cause);

/* "lambda_p", "lambda_w"; where nothing is given ledger_options(). INPUT. */
gboolean asked_ledger(const Asked *asked, LedgerOptions *options, GError **error);
json_t *json_ledger_options(const LedgerOptions *options);
