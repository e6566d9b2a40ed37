/* Which attempts of which stages of an application there are: those of its event log; without one, those that its
 * operations name. */
#pragma once

#include "analyzer/query/spark/tasks/stage_ops.h"

/* StageChoices in order, of one stage or (-1) of all. They borrow the texts of app. NULL with *error. */
GArray *stage_choices_load(Archive *archive, const SparkApp *app, gint64 stage, GError **error);
