/* From where on a rule of Dr. Elephant's table is LOW, MODERATE, SEVERE, CRITICAL: as the tool had it, or as a text
 * says: "gc=0.1/0.2/never/0.4,executor-memory=8g/12g/16g/20g". */
#pragma once

#include <glib.h>

typedef enum {
    LIMITS_RESOURCE_SKEW,
    LIMITS_EXECUTOR_MEMORY,
    LIMITS_EXECUTOR_CORES,
    LIMITS_EXECUTOR_OVERHEAD,
    LIMITS_SPREAD, /* over executors: max / median */
    LIMITS_FAILURES,
    LIMITS_STAGE_MINUTES,
    LIMITS_GC,
    LIMITS_LONG_TASKS, /* minutes */
    LIMITS_TASK_SKEW,
    LIMITS_SPILL,
    LIMITS_FAILED_TASKS,
    LIMITS_MUCH_GC,
    LIMITS_LITTLE_GC, /* from there down */
    LIMITS_MEMORY_ASKED,
    LIMITS_UNIFIED_MEMORY, /* from there down */
    ELEPHANT_LISTS
} ElephantList;

typedef struct ElephantLimits {
    double of[ELEPHANT_LISTS][4]; /* NAN: never */
} ElephantLimits;

void elephant_limits_init(ElephantLimits *limits);
/* Changes the lists that the text names. FALSE with *error: it is malformed, and nothing was changed. */
gboolean elephant_limits_parse(ElephantLimits *limits, const char *text, GError **error);
