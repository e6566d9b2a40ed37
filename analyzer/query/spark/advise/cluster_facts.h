/* How many tasks ran at once, and when none did; private to app_facts.c. */
#pragma once

#include "analyzer/diagnosis/advise/facts.h"

/* Sets held_ms and slots (0: no executor's cores are known) from the executors. */
void cluster_facts_executors(AdviseFacts *facts);
/* begins, ends: gint64 ms, of all attempts of tasks; both are sorted by it. Sets most_tasks, quiet_ms, quiet_held_ms
 * and the gap, from the first executor to the facts' end; slots where they are not known. */
void cluster_facts_tasks(AdviseFacts *facts, GArray *begins, GArray *ends);
