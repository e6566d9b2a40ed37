#include "common/model/id_place.h"

/* The first numbers of splitmix64 seeded with 0, as published with its reference implementation (S. Vigna). */
static void test_known_sequence(void) {
    static const guint64 ids[] = {G_GUINT64_CONSTANT(0xe220a8397b1dcdaf), G_GUINT64_CONSTANT(0x6e789e6aa1b965f4),
                                  G_GUINT64_CONSTANT(0x06c45d188009454f), G_GUINT64_CONSTANT(0xf88bb8a8724c81ec),
                                  G_GUINT64_CONSTANT(0x1b39896a51a8749b)};
    for (guint64 i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_assert_cmphex(id_at_place(i + 1), ==, ids[i]);
        g_assert_cmpuint(id_place(ids[i]), ==, i + 1);
    }
}

static void test_every_id_has_a_place(void) {
    const guint64 odd = G_GUINT64_CONSTANT(0xd1342543de82ef95);
    for (guint64 i = 0, id = 0; i < 100000; i++, id = id * odd + 1) {
        g_assert_cmphex(id_at_place(id_place(id)), ==, id);
        g_assert_cmphex(id_place(id_at_place(id)), ==, id);
    }
    g_assert_cmphex(id_at_place(id_place(G_MAXUINT64)), ==, G_MAXUINT64);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/id-place/known-sequence", test_known_sequence);
    g_test_add_func("/id-place/every-id-has-a-place", test_every_id_has_a_place);
    return g_test_run();
}
