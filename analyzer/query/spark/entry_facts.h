/* What advice on an application of the list is worked out from. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/advise/app_facts.h"
#include "analyzer/query/spark/tasks/asked_app.h"

/* The memory that the facts borrow from. */
typedef struct EntryFacts {
    SparkApp unnamed; /* of an application without a record of its own */
    SparkRecords *texts;
    AppPlans *plans;
    AdviseFacts *facts;
} EntryFacts;

/* entry must outlive it. sim: as FactsSource has it; may be NULL. FALSE with *error; to be cleared in any case. */
gboolean entry_facts_load(EntryFacts *all, const Asked *asked, const AppEntry *entry, SimApp *sim, GError **error);
void entry_facts_clear(EntryFacts *all);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EntryFacts, entry_facts_clear)
