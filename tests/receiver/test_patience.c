#include "receiver/patience.h"

#define MIB (1024u * 1024)

static void test_less_the_fuller_the_journal_is(void) {
    const guint64 limit_bytes = 2048ull * MIB;
    g_assert_cmpuint(patience_parts(0, limit_bytes), ==, PATIENCE_PARTS);
    g_assert_cmpuint(patience_parts(limit_bytes / 4, limit_bytes), ==, PATIENCE_PARTS);
    /* Half way between a quarter and three quarters: half of what can be given up. */
    g_assert_cmpuint(patience_parts(limit_bytes / 2, limit_bytes), ==, 1 + (PATIENCE_PARTS - 1) / 2);
    g_assert_cmpuint(patience_parts(limit_bytes / 4 * 3, limit_bytes), ==, 1);
    g_assert_cmpuint(patience_parts(3 * limit_bytes, limit_bytes), ==, 1);
    guint before = PATIENCE_PARTS;
    for (guint64 bytes = 0; bytes < 2 * limit_bytes; bytes += 16 * MIB) {
        const guint parts = patience_parts(bytes, limit_bytes);
        g_assert_cmpuint(parts, <=, before);
        g_assert_cmpuint(parts, >=, 1);
        before = parts;
    }
}

static void test_no_journal(void) { g_assert_cmpuint(patience_parts(0, 0), ==, PATIENCE_PARTS); }

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/patience/fuller", test_less_the_fuller_the_journal_is);
    g_test_add_func("/patience/none", test_no_journal);
    return g_test_run();
}
