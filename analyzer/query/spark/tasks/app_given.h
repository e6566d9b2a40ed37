/* What an application's executors were given, as answers have it: profiles of resources of its own, exclusions. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"
#include "common/model/spark_records.h"

/* Loads the application's exclusions, and adds those that an older bridge told with the executors, which 'records' may
 * have and otherwise gets. */
gboolean app_given_exclusions(Archive *archive, const char *app_key, SparkRecords *records, GError **error);
/* Adds "exclusions", and "profiles" where the program made some; neither where there is none. */
gboolean app_given_add(Archive *archive, const char *app_key, json_t *answer, GError **error);
