#include <unistd.h>

#include "analyzer/cli/format/progress.h"

/* Starting, telling and stopping in any order, with the drawing thread (to a pipe, not to the test's output) and
 * without. */
static void test_life(void) {
    int ends[2], before = dup(STDERR_FILENO);
    g_assert_cmpint(pipe(ends), ==, 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    for (guint i = 0; i < 20; i++) {
        Style style = style_plain();
        style.progress = i % 2 == 0;
        g_autoptr(Progress) progress = progress_start(&style, "working");
        for (guint k = 0; k < 1000; k++) progress_update(progress, k, 1000, "spans");
        progress_fraction(progress, 0.5);
    }
    dup2(before, STDERR_FILENO);
    close(before);
    char drawn[16];
    g_assert_cmpint(read(ends[0], drawn, sizeof drawn), ==, 0); /* work that is done at once draws nothing */
    close(ends[0]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/progress/life", test_life);
    return g_test_run();
}
