/* What an application's executors were given, as answers have it: profiles of resources of its own, exclusions. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"

/* Adds "exclusions", and "profiles" where the program made some; neither where there is none. */
gboolean app_given_add(Archive *archive, const char *app_key, json_t *answer, GError **error);
