/* What `plumb why` and `plumb stragglers` say of ledgers: where a task's time went, and what less of it would save.
 * ledger: NULL: nothing is said. */
#pragma once

#include "analyzer/cli/show/show.h"

/* "took 12.3 s longer than its peers: 9.80 s waiting for the disk of DataNode d2, 1.10 s of garbage collection, 1.40 s
 * unexplained": what adds up to the excess. */
void why_ledger(const Style *style, const json_t *ledger, GString *out);
/* All parts, with what each had more than one would expect. */
void why_ledger_table(const Style *style, const json_t *ledger, GString *out);
/* By how much the application would have been shorter without what made its tasks slow. */
void why_what_if(const Style *style, const json_t *list, GString *out);
