/* Dr. Elephant's heuristics for Spark, as they were described: five groups of rules, a severity each, and a score. What
 * its code did wrong is not done here (docs/advise.md has the list); where the description itself is wrong, the row's
 * note has the right value beside it.
 *
 * A value on a limit has reached it. */
#pragma once

#include "analyzer/diagnosis/advise/drelephant_limits.h"
#include "analyzer/diagnosis/advise/finding.h"

typedef enum {
    GROUP_CONFIGURATION,
    GROUP_EXECUTORS,
    GROUP_STAGES,
    GROUP_JOBS,
    GROUP_GC,
    GROUP_LATER, /* rules of its later versions: told, and not counted in severity and score */
    ELEPHANT_GROUPS
} ElephantGroup;
const char *elephant_group_name(ElephantGroup group); /* "configuration", "executors", ... */

typedef struct ElephantRow {
    ElephantGroup group;
    const char *rule;
    Severity severity;
    gboolean known; /* else the log lacks what it judges */
    char *value;    /* "1.42", "0.31 in stage 7", ... */
    char *note;     /* NULL: none */
} ElephantRow;

typedef struct Elephant {
    GArray *rows; /* ElephantRow */
    ElephantLimits limits;
    Severity severity, groups[ELEPHANT_GROUPS];
    guint64 score, scores[ELEPHANT_GROUPS]; /* severity times tasks; 0 of NONE and LOW */
} Elephant;

Elephant *elephant_judge(const AdviseFacts *facts, const ElephantLimits *limits);
void elephant_free(Elephant *elephant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Elephant, elephant_free)
