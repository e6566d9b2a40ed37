/* What is left for open traces of the memory of all. */
#include "receiver/background/memory.h"

#include <string.h>
#include <sys/mman.h>

#define MIB (G_GUINT64_CONSTANT(1) << 20)

static void test_what_others_leave(void) {
    OtherMemory others = {0};
    MemoryUse use = {.resident_bytes = 100 * MIB};
    g_assert_cmpuint(memory_for_traces(&others, &use, 400 * MIB), ==, 300 * MIB / 8 * 7);

    /* What traces hold is not the others'. While there is room for all of it, what is not in use is room too. */
    use = (MemoryUse){.resident_bytes = 300 * MIB, .held_bytes = 200 * MIB, .used_bytes = 100 * MIB};
    g_assert_cmpuint(memory_for_traces(&others, &use, 400 * MIB), ==, 300 * MIB / 8 * 7);

    /* Where there is not, it counts as it does not go by itself. */
    use = (MemoryUse){.resident_bytes = 420 * MIB, .held_bytes = 320 * MIB, .used_bytes = 256 * MIB};
    g_assert_cmpuint(memory_for_traces(&others, &use, 400 * MIB), ==, 240 * MIB);

    /* But they do not go down further and further because they have gone down. */
    use.used_bytes = 100 * MIB;
    g_assert_cmpuint(memory_for_traces(&others, &use, 400 * MIB), ==, 225 * MIB);

    /* Those that will come are reckoned with. */
    OtherMemory expecting = {.expected_bytes = 200 * MIB};
    use = (MemoryUse){.resident_bytes = 100 * MIB};
    g_assert_cmpuint(memory_for_traces(&expecting, &use, 400 * MIB), ==, 175 * MIB);

    /* A quarter remains. */
    use = (MemoryUse){.resident_bytes = 500 * MIB};
    g_assert_cmpuint(memory_for_traces(&others, &use, 400 * MIB), ==, 100 * MIB);
}

static void test_peaks_are_forgotten_slowly(void) {
    OtherMemory others = {0};
    MemoryUse peak = {.resident_bytes = 200 * MIB}, calm = {.resident_bytes = 100 * MIB};
    memory_for_traces(&others, &peak, 400 * MIB);
    guint64 before = memory_for_traces(&others, &calm, 400 * MIB);
    g_assert_cmpuint(before, <, 180 * MIB);
    for (guint look = 0; look < 240; look++) {
        guint64 now = memory_for_traces(&others, &calm, 400 * MIB);
        g_assert_cmpuint(now, >=, before);
        before = now;
    }
    g_assert_cmpuint(before, ==, 300 * MIB / 8 * 7);
}

static void test_resident(void) {
    const gsize block = 64 * MIB;
    memory_init();
    memory_trim();
    const guint64 before = memory_resident_bytes();
    g_assert_cmpuint(before, >, 0);
    char *memory = mmap(NULL, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(memory != MAP_FAILED);
    memset(memory, 1, block);
    g_assert_cmpuint(memory_resident_bytes(), >=, before + block / 8 * 7);
    munmap(memory, block);
    g_assert_cmpuint(memory_resident_bytes(), <, before + block / 2);
}

static void test_trim_is_asked_for_once(void) {
    g_assert_false(memory_is_trim_asked());
    memory_ask_trim();
    g_assert_true(memory_is_trim_asked());
    memory_trim();
    g_assert_false(memory_is_trim_asked());
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory/others", test_what_others_leave);
    g_test_add_func("/memory/peaks", test_peaks_are_forgotten_slowly);
    g_test_add_func("/memory/resident", test_resident);
    g_test_add_func("/memory/trim", test_trim_is_asked_for_once);
    return g_test_run();
}
