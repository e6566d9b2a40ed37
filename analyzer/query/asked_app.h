/* Which application, stage and task a question is about. */
#pragma once

#include "analyzer/query/question.h"
#include "common/model/spark_records.h"

/* All applications, SparkApp records in 'into', the one that started last first. */
gboolean apps_load(Archive *archive, SparkRecords *into, GError **error);

/* The key of the application that parameter "app" means: its key, the beginning of only one's, its name (of several of
 * that name the one that started last), or "latest". Free with g_free(). NULL with INPUT (none given, several
 * meant) or NOT_FOUND (with the nearest that there is). */
char *asked_app(const Asked *asked, GError **error);

/* Parameter "stage": "3" or, of one attempt, "3.1". -1 where not given. INPUT. */
gboolean asked_stage(const Asked *asked, gint64 *stage, gint64 *attempt, GError **error);
