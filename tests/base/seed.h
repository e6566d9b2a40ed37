/* The seed of tests that draw their input.
 *
 * It is the same in each run, so that a red run is the change's doing. PLUMB_TEST_SEED=N begins at N;
 * PLUMB_TEST_SEED=random draws another each time, to look further than the suite does (CONTRIBUTING.md). */
#pragma once

#include <glib.h>

static inline guint32 run_seed(void) {
    const char *given = g_getenv("PLUMB_TEST_SEED");
    if (given == NULL) return 1;
    return g_str_equal(given, "random") ? g_random_int() : (guint32)g_ascii_strtoull(given, NULL, 10);
}
