/* When senders are told to send less, and when everything again; and how space's levels are entered and left. */
#include "receiver/background/advice.h"
#include "receiver/shared/space.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

static const AdviceInput calm = {.spans_per_s = 10, .budget = 1000, .queued_bytes = 0, .queue_bytes = 1 << 20};

static void test_tightens_and_relaxes(void) {
    Advice advice = {0};
    AdviceInput busy = calm;
    busy.spans_per_s = 1001;
    gint64 now_ns = 100 * SECOND;

    g_assert_cmpstr(advice_next(&advice, &calm, now_ns), ==, "always");
    g_assert_cmpstr(advice_next(&advice, &busy, now_ns += SECOND), ==, "50/s");
    g_assert_cmpstr(advice_next(&advice, &busy, now_ns += SECOND), ==, "50/s"); /* what was told needs time */
    g_assert_cmpstr(advice_next(&advice, &busy, now_ns += SECOND), ==, "20/s");
    for (guint i = 0; i < 100; i++) advice_next(&advice, &busy, now_ns += SECOND);
    g_assert_cmpstr(advice_next(&advice, &busy, now_ns += SECOND), ==, "0.1/s"); /* never nothing at all */

    /* Nearly too much is no reason to go back. */
    AdviceInput nearly = calm;
    nearly.spans_per_s = 900;
    for (guint i = 0; i < 100; i++) advice_next(&advice, &nearly, now_ns += SECOND);
    g_assert_cmpstr(advice_next(&advice, &nearly, now_ns += SECOND), ==, "0.1/s");

    for (guint i = 0; i < 29; i++) g_assert_cmpstr(advice_next(&advice, &calm, now_ns += SECOND), ==, "0.1/s");
    g_assert_cmpstr(advice_next(&advice, &calm, now_ns += SECOND), ==, "0.2/s");
    g_assert_cmpstr(advice_next(&advice, &calm, now_ns += SECOND), ==, "0.2/s");
    for (guint i = 0; i < 400; i++) advice_next(&advice, &calm, now_ns += SECOND);
    g_assert_cmpstr(advice_next(&advice, &calm, now_ns), ==, "always");
}

static void test_every_pressure_counts(void) {
    AdviceInput inputs[4] = {calm, calm, calm, calm};
    inputs[0].spans_per_s = 2000;
    inputs[1].queued_bytes = (1 << 19) + 1;
    inputs[2].try_later = 1;
    inputs[3].space_is_thin = TRUE;

    for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
        Advice advice = {0};
        g_assert_nonnull(advice_pressure(&advice, &inputs[i]));
        g_assert_cmpstr(advice_next(&advice, &inputs[i], SECOND), ==, "50/s");
    }

    /* Waiting that is over is none. */
    Advice advice = {.try_later = 7};
    AdviceInput input = calm;
    input.try_later = 7;
    g_assert_null(advice_pressure(&advice, &input));

    /* Without a budget no rate is too high. */
    input.budget = 0;
    input.spans_per_s = 1e9;
    g_assert_null(advice_pressure(&advice, &input));
}

static void test_space(void) {
    const SpaceThresholds thresholds = {.warn_bytes = 1000, .thin_bytes = 500};
    static const struct {
        guint64 free_bytes;
        SpaceLevel before, level;
    } cases[] = {
        {2000, SPACE_FINE, SPACE_FINE}, {1000, SPACE_FINE, SPACE_FINE}, {999, SPACE_FINE, SPACE_LOW},
        {1099, SPACE_LOW, SPACE_LOW},   {1100, SPACE_LOW, SPACE_FINE},  {499, SPACE_FINE, SPACE_THIN},
        {549, SPACE_THIN, SPACE_THIN},  {550, SPACE_THIN, SPACE_LOW},   {5000, SPACE_THIN, SPACE_FINE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(space_level(&thresholds, cases[i].free_bytes, cases[i].before), ==, cases[i].level);
    const SpaceThresholds off = {0, 0};
    g_assert_cmpint(space_level(&off, 0, SPACE_THIN), ==, SPACE_FINE);
}

#define MIB (G_GUINT64_CONSTANT(1) << 20)

static void test_room_for_the_journal(void) {
    /* 900 MiB beside the reserve and a quarter of it; 225 MiB are more than four segments. */
    const JournalRoom room = {
        .limit_bytes = 16384 * MIB, .segment_bytes = 16 * MIB, .free_bytes = 1400 * MIB, .reserve_bytes = 400 * MIB};
    g_assert_cmpuint(space_for_journal(&room), ==, 225 * MIB);
    g_assert_false(space_is_wanted(&room));

    JournalRoom other = room;
    other.limit_bytes = 100 * MIB;
    g_assert_cmpuint(space_for_journal(&other), ==, 100 * MIB);
    other = room;
    other.free_bytes = G_MAXUINT64; /* cannot be told */
    g_assert_cmpuint(space_for_journal(&other), ==, room.limit_bytes);

    /* What the journal takes itself changes nothing, so it does not go up and down by itself. */
    other = room;
    other.used_bytes = 700 * MIB;
    other.free_bytes -= other.used_bytes;
    g_assert_cmpuint(space_for_journal(&other), ==, 225 * MIB);

    /* At twice the size and with the file of open traces it is still not what thins traces out. */
    g_assert_cmpuint(room.free_bytes - 3 * space_for_journal(&room), >, room.reserve_bytes + room.reserve_bytes / 10);

    /* What others take, counts. */
    other = room;
    for (; other.free_bytes > 0; other.free_bytes -= 100 * MIB) {
        g_assert_cmpuint(space_for_journal(&other), <=, MAX(other.free_bytes / 4, 64 * MIB));
        g_assert_cmpint(space_is_wanted(&other), ==, other.free_bytes < 500 * MIB);
    }
    g_assert_cmpuint(space_for_journal(&other), ==, 64 * MIB);
    other.limit_bytes = MIB;
    g_assert_cmpuint(space_for_journal(&other), ==, MIB);
}

static void test_shared(void) {
    g_assert_true(space_is_shared("/tmp", "/tmp/.."));
    g_assert_false(space_is_shared("/tmp", "/proc"));
    g_assert_false(space_is_shared("/tmp", "/nowhere"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advice/tightens-and-relaxes", test_tightens_and_relaxes);
    g_test_add_func("/advice/every-pressure-counts", test_every_pressure_counts);
    g_test_add_func("/space/levels", test_space);
    g_test_add_func("/space/journal", test_room_for_the_journal);
    g_test_add_func("/space/shared", test_shared);
    return g_test_run();
}
