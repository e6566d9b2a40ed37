#include "analyzer/diagnosis/advise/drelephant_limits.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/advise/facts.h"
#include "common/base/error.h"

#define GIB     (1024.0 * 1024 * 1024)
#define NEVER   "never"
#define EXAMPLE "such as gc=0.1/0.15/" NEVER "/0.3 (low, moderate, severe, critical)"

static const struct {
    const char *name;
    gboolean bytes, falls; /* with units such as g; from a limit down */
    double limits[4];
} lists[ELEPHANT_LISTS] = {
    [LIMITS_RESOURCE_SKEW] = {"resource-skew", FALSE, FALSE, {1.25, 1.5, 1.75, 2}},
    [LIMITS_EXECUTOR_MEMORY] = {"executor-memory", TRUE, FALSE, {10 * GIB, 15 * GIB, 20 * GIB, 25 * GIB}},
    [LIMITS_EXECUTOR_CORES] = {"executor-cores", FALSE, FALSE, {4, 6, 8, 10}},
    [LIMITS_EXECUTOR_OVERHEAD] = {"executor-overhead", TRUE, FALSE, {2 * GIB, 4 * GIB, 6 * GIB, 8 * GIB}},
    /* 10 to the powers of 1/8, 1/4, 1/2, 1 */
    [LIMITS_SPREAD] = {"spread", FALSE, FALSE, {1.3335214321633240, 1.7782794100389228, 3.1622776601683795, 10}},
    [LIMITS_FAILURES] = {"failures", FALSE, FALSE, {0.1, 0.3, NAN, 0.5}},
    [LIMITS_STAGE_MINUTES] = {"stage-minutes", FALSE, FALSE, {15, 30, 45, 60}},
    [LIMITS_GC] = {"gc", FALSE, FALSE, {0.08, 0.1, 0.15, 0.2}},
    [LIMITS_LONG_TASKS] = {"long-tasks", FALSE, FALSE, {2.5, 5, 10, 15}},
    [LIMITS_TASK_SKEW] = {"task-skew", FALSE, FALSE, {2, 4, 8, 16}},
    [LIMITS_SPILL] = {"spill", FALSE, FALSE, {0.01, 0.1, 0.25, 0.5}},
    [LIMITS_FAILED_TASKS] = {"failed-tasks", FALSE, FALSE, {0.05, 0.1, 0.15, 0.2}},
    [LIMITS_MUCH_GC] = {"much-gc", FALSE, FALSE, {0.08, 0.09, 0.1, 0.15}},
    [LIMITS_LITTLE_GC] = {"little-gc", FALSE, TRUE, {0.05, 0.04, 0.03, 0.01}},
    [LIMITS_MEMORY_ASKED] = {"memory-asked", FALSE, FALSE, {1.25, 1.5, 2, 3}},
    [LIMITS_UNIFIED_MEMORY] = {"unified-memory", FALSE, TRUE, {0.7, 0.6, 0.4, 0.2}},
};

void elephant_limits_init(ElephantLimits *limits) {
    for (guint i = 0; i < ELEPHANT_LISTS; i++) memcpy(limits->of[i], lists[i].limits, sizeof limits->of[i]);
}

static guint list_named(const char *name) {
    guint list = 0;
    while (list < ELEPHANT_LISTS && strcmp(lists[list].name, name) != 0) list++;
    return list;
}

/* NAN for "never"; -1: malformed. */
static double limit_parse(guint list, const char *text) {
    char *end;
    if (strcmp(text, NEVER) == 0) return NAN;
    if (lists[list].bytes) return bytes_parse(text, 1);
    const double value = g_ascii_strtod(text, &end);
    return end > text && *end == '\0' && isfinite(value) && value >= 0 ? value : -1;
}

static gboolean in_order(guint list, const double values[4]) {
    double last = lists[list].falls ? INFINITY : 0;
    for (guint i = 0; i < 4; i++) {
        if (isnan(values[i])) continue;
        if (lists[list].falls ? values[i] > last : values[i] < last) return FALSE;
        last = values[i];
    }
    return TRUE;
}

static gboolean fail_unknown(const char *name, GError **error) {
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < ELEPHANT_LISTS; i++) g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", lists[i].name);
    return fail(error, PLUMB_ERROR_INPUT, "limits: there is no list %s; there are %s", name, names->str);
}

/* One list: "gc=0.1/0.15/never/0.3". */
static gboolean list_parse(ElephantLimits *limits, const char *text, GError **error) {
    const char *equals = strchr(text, '=');
    if (equals == NULL) return fail(error, PLUMB_ERROR_INPUT, "limits: %s has no =, " EXAMPLE, text);
    g_autofree char *name = g_strndup(text, (gsize)(equals - text));
    g_auto(GStrv) words = g_strsplit(equals + 1, "/", 5);
    const guint list = list_named(name);
    if (list == ELEPHANT_LISTS) return fail_unknown(name, error);

    double values[4] = {-1, -1, -1, -1};
    for (guint i = 0; i < 4 && g_strv_length(words) == 4; i++) values[i] = limit_parse(list, words[i]);
    for (guint i = 0; i < 4; i++)
        if (values[i] < 0) return fail(error, PLUMB_ERROR_INPUT, "limits: %s is not four limits, " EXAMPLE, text);
    if (!in_order(list, values))
        return fail(error, PLUMB_ERROR_INPUT, "limits: those of %s are to %s from low to critical", name,
                    lists[list].falls ? "fall" : "rise");
    memcpy(limits->of[list], values, sizeof values);
    return TRUE;
}

gboolean elephant_limits_parse(ElephantLimits *limits, const char *text, GError **error) {
    g_auto(GStrv) each = g_strsplit(text, ",", -1);
    ElephantLimits changed = *limits;
    if (each[0] == NULL) return fail(error, PLUMB_ERROR_INPUT, "limits: none is told, " EXAMPLE);
    for (guint i = 0; each[i] != NULL; i++)
        if (!list_parse(&changed, each[i], error)) return FALSE;
    *limits = changed;
    return TRUE;
}
