/* Of a straggler's causes, the one to name first: what explains most of the time that it took longer than its stage's
 * median. (docs/spark.md, "The main cause".) */
#pragma once

#include "analyzer/diagnosis/bigroots.h"

/* How much of the straggler's time a cause explains, ms. WAIT and TIME were measured: what is above the peers'.
 * NUMERIC: what its peers would have needed for what it had more than they, at their speed (where they had nothing, at
 * its own). RESOURCE: what the task would have been faster with its peers' load. At most the excess. Locality alone
 * explains nothing. */
double cause_explains_ms(const Evidence *evidence, const TaskTable *table, guint32 task,
                         const BigRootsOptions *options);

/* Index of the main cause among evidence[0..n) of one straggler; -1: none is a cause. What was measured comes before
 * what only goes with the time when it explains at least half of the excess; then amounts of data; then what explains
 * most. An amount that explains less than MAIN_LEAST of the excess is not named: nobody would believe it. */
#define MAIN_LEAST 0.1
gint main_cause(const Evidence *evidence, guint n, const TaskTable *table, const BigRootsOptions *options,
                guint32 task);

/* Does the cause explain at least half of the excess? */
gboolean cause_explains_most(const Evidence *evidence, const TaskTable *table, guint32 task,
                             const BigRootsOptions *options);
