/* Pieces of all sizes, taken and given back in random order: none overlaps another, and memory goes back. */
#include "receiver/traces/arena.h"

#include <string.h>

typedef struct Piece {
    ArenaRef ref;
    guint class;
    guint8 pattern;
} Piece;

static void fill(const Arena *arena, const Piece *piece) {
    memset(arena_at(arena, piece->ref), piece->pattern, (gsize)ARENA_UNIT_BYTES << piece->class);
}

static void check(const Arena *arena, const Piece *piece) {
    const guint8 *at = arena_at(arena, piece->ref);
    for (gsize i = 0; i < (gsize)ARENA_UNIT_BYTES << piece->class; i++) g_assert_cmpuint(at[i], ==, piece->pattern);
    g_assert_cmpuint(arena_class(arena, piece->ref), ==, piece->class);
}

static Piece take(Arena *arena, guint class) {
    Piece piece = {arena_take(arena, class), class, (guint8)g_test_rand_int_range(1, 256)};
    g_assert_cmpuint(piece.ref, !=, 0);
    fill(arena, &piece);
    return piece;
}

static void test_random(void) {
    Arena arena;
    arena_init(&arena);
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    gsize used = 0;

    for (guint step = 0; step < 200000; step++) {
        /* Grows for a while, shrinks for a while. */
        gboolean more = g_test_rand_int_range(0, 100) < (step / 20000 % 2 == 0 ? 65 : 35);
        if (more || pieces->len == 0) {
            Piece piece = take(&arena, (guint)g_test_rand_int_range(0, ARENA_CLASSES));
            g_array_append_val(pieces, piece);
            used += (gsize)ARENA_UNIT_BYTES << piece.class;
        } else {
            guint i = (guint)g_test_rand_int_range(0, (gint32)pieces->len);
            Piece piece = g_array_index(pieces, Piece, i);
            check(&arena, &piece);
            arena_give(&arena, piece.ref);
            used -= (gsize)ARENA_UNIT_BYTES << piece.class;
            g_array_remove_index_fast(pieces, i);
        }

        g_assert_cmpuint(arena_used_bytes(&arena), ==, used);
        g_assert_cmpuint(arena_held_bytes(&arena), >=, used);
    }

    for (guint i = 0; i < pieces->len; i++) check(&arena, &g_array_index(pieces, Piece, i));
    arena_clear(&arena);
}

/* A page that held small pieces serves large ones later; what is empty goes back to the system. */
static void test_memory_goes_back(void) {
    enum { PIECES = 200000 };
    Arena arena;
    arena_init(&arena);
    g_autofree ArenaRef *refs = g_new(ArenaRef, PIECES);
    gsize held = 0;
    for (guint class = 0; class < 3; class ++) {
        const guint n = PIECES >> class;
        for (guint i = 0; i < n; i++) refs[i] = arena_take(&arena, class);
        if (class == 0) held = arena_held_bytes(&arena);
        g_assert_cmpuint(arena_held_bytes(&arena), <=, held + ARENA_BLOCK_BYTES);
        for (guint i = 0; i < n; i++) arena_give(&arena, refs[i]);
        g_assert_cmpuint(arena_used_bytes(&arena), ==, 0);
        g_assert_cmpuint(arena_held_bytes(&arena), <=, 4 * ARENA_BLOCK_BYTES);
    }
    arena_clear(&arena);
}

/* When less is in use than once was, and pieces come and go, what lies behind empties. */
static void test_what_is_behind_empties(void) {
    enum { PIECES = 200000, KEPT = PIECES / 4 };
    Arena arena;
    arena_init(&arena);
    g_autofree ArenaRef *refs = g_new(ArenaRef, PIECES);
    for (guint i = 0; i < PIECES; i++) refs[i] = arena_take(&arena, 1);

    /* One of four stays, everywhere; then the oldest goes whenever one comes. */
    for (guint i = 0; i < PIECES; i++) {
        if (i % 4 == 0)
            refs[i / 4] = refs[i];
        else
            arena_give(&arena, refs[i]);
    }
    for (guint i = 0; i < 2 * KEPT; i++) {
        arena_give(&arena, refs[i % KEPT]);
        refs[i % KEPT] = arena_take(&arena, 1);
    }

    g_assert_cmpuint(arena_held_bytes(&arena), <, arena_used_bytes(&arena) + 5 * ARENA_BLOCK_BYTES);
    for (guint i = 0; i < KEPT; i++) arena_give(&arena, refs[i]);
    g_assert_cmpuint(arena_used_bytes(&arena), ==, 0);
    arena_clear(&arena);
}

/* Pieces that lie loose move to the front with what is in them, and the pages that they leave go back. */
static void test_loose_pieces_move(void) {
    enum { PIECES = 100000 };
    static Piece pieces[PIECES];
    Arena arena;
    arena_init(&arena);
    for (guint i = 0; i < PIECES; i++) pieces[i] = take(&arena, i % ARENA_CLASSES);
    g_assert_false(arena_lies_loose(&arena, pieces[0].ref)); /* its page is full */

    guint n = 0;
    for (guint i = 0; i < PIECES; i++) {
        if (g_test_rand_int_range(0, 5) == 0)
            pieces[n++] = pieces[i];
        else
            arena_give(&arena, pieces[i].ref);
    }

    const gsize used = arena_used_bytes(&arena);
    g_assert_cmpuint(arena_held_bytes(&arena), >, 3 * used / 2);
    for (guint i = 0; i < n; i++) {
        if (arena_lies_loose(&arena, pieces[i].ref)) pieces[i].ref = arena_move(&arena, pieces[i].ref);
        g_assert_cmpuint(arena_used_bytes(&arena), ==, used);
    }
    g_assert_cmpuint(arena_held_bytes(&arena), <, used + used / 3 + 4 * ARENA_BLOCK_BYTES);

    for (guint i = 0; i < n; i++) {
        check(&arena, &pieces[i]);
        arena_give(&arena, pieces[i].ref);
    }
    g_assert_cmpuint(arena_used_bytes(&arena), ==, 0);
    arena_clear(&arena);
}

/* What lies between pieces that stay goes back, page by page, and can be had again. */
static void test_pages_go_back(void) {
    enum { PAIRS = 4000 };
    static ArenaRef small[PAIRS], large[PAIRS];
    Arena arena;
    arena_init(&arena);

    for (guint round = 0; round < 3; round++) {
        for (guint i = 0; i < PAIRS; i++) {
            if (round == 0) *(guint *)arena_at(&arena, small[i] = arena_take(&arena, 0)) = i;
            memset(arena_at(&arena, large[i] = arena_take(&arena, ARENA_CLASSES - 1)), (int)round + 1, 8192);
        }

        const gsize full = arena_held_bytes(&arena);
        g_assert_cmpuint(full, >=, (gsize)PAIRS * 8192);
        for (guint i = 0; i < PAIRS; i++) {
            const guint8 *bytes = arena_at(&arena, large[i]);
            g_assert_cmpuint(bytes[100], ==, round + 1);
            g_assert_cmpuint(bytes[8191], ==, round + 1);
            if (i % 8 > 0) arena_give(&arena, large[i]); /* no block is empty then */
        }

        g_assert_cmpuint(arena_held_bytes(&arena), <, arena_used_bytes(&arena) * 5 / 2 + 3 * ARENA_BLOCK_BYTES);
        for (guint i = 0; i < PAIRS; i += 8) arena_give(&arena, large[i]);
        g_assert_cmpuint(arena_held_bytes(&arena), <, arena_used_bytes(&arena) + 4 * ARENA_BLOCK_BYTES);
    }

    for (guint i = 0; i < PAIRS; i++) g_assert_cmpuint(*(guint *)arena_at(&arena, small[i]), ==, i);
    arena_clear(&arena);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/arena/random", test_random);
    g_test_add_func("/arena/goes-back", test_memory_goes_back);
    g_test_add_func("/arena/what-is-behind-empties", test_what_is_behind_empties);
    g_test_add_func("/arena/loose-pieces-move", test_loose_pieces_move);
    g_test_add_func("/arena/pages-go-back", test_pages_go_back);
    return g_test_run();
}
