/* Advice on all applications of a period, in one table. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/tasks/asked_app.h"

json_t *answer_advise_all(const Asked *asked, GError **error);

/* Adds "advice" to the row of an application: severity, cost, findings; or why it is not judged beside others. */
gboolean add_advice_of(const Asked *asked, const AppEntry *entry, json_t *row, GError **error);
