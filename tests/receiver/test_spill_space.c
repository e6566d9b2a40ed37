/* The places of a spill file, against a model that counts byte by byte. */
#include "receiver/traces/spill_space.h"

#define UNITS 4096u
#define PARTS 300u

typedef struct Model {
    guint needed[UNITS]; /* bytes */
    gboolean held[UNITS], hole[UNITS];
    guint n_units;
} Model;

static void setup(SpillSpace *space, gconstpointer unused) {
    (void)unused;
    spill_space_init(space);
}

static void teardown(SpillSpace *space, gconstpointer unused) {
    (void)unused;
    spill_space_clear(space);
}

static gboolean is_free(const Model *model, guint unit) { return !model->held[unit] && model->needed[unit] == 0; }

/* The first unit that may be taken, when that is to be a hole or may not be one. */
static guint first_free(const Model *model, gboolean hole) {
    guint unit = 0;
    while (unit < model->n_units && !(is_free(model, unit) && model->hole[unit] == hole)) unit++;
    return unit;
}

static SpillRun take(SpillSpace *space, Model *model, guint most) {
    guint expected = first_free(model, FALSE);
    if (expected == model->n_units) expected = first_free(model, TRUE);
    const SpillRun run = spill_space_take(space, most);
    g_assert_cmpuint(run.unit, ==, expected);
    g_assert_cmpuint(run.n, >=, 1);
    g_assert_cmpuint(run.n, <=, most);
    g_assert_cmpuint(run.unit + run.n, <=, UNITS);
    for (guint unit = run.unit; unit < run.unit + run.n; unit++) {
        g_assert_true(is_free(model, unit));
        model->held[unit] = TRUE;
        model->hole[unit] = FALSE;
    }
    model->n_units = MAX(model->n_units, run.unit + run.n);
    return run;
}

static void change(Model *model, guint64 at, guint32 size_bytes, gboolean needed) {
    for (guint64 byte = at; byte < at + size_bytes; byte++)
        model->needed[byte / SPILL_UNIT_BYTES] += needed ? 1 : G_MAXUINT;
}

static void assert_counts(const SpillSpace *space, const Model *model) {
    guint n_free = 0, n_holes = 0;
    for (guint unit = 0; unit < model->n_units; unit++) {
        n_free += is_free(model, unit);
        n_holes += model->hole[unit];
    }
    g_assert_cmpuint(space->n_units, ==, model->n_units);
    g_assert_cmpuint(spill_space_used(space), ==, model->n_units - n_free);
    g_assert_cmpuint(spill_space_spare(space), ==, n_free - n_holes);
}

static void trim(SpillSpace *space, Model *model, guint least, guint spare) {
    guint end = G_MAXUINT;
    guint32 above = G_MAXUINT32;
    SpillRun run;
    while (spill_space_spare(space) > spare && spill_space_trim(space, least, &end, &run)) {
        g_assert_cmpuint(run.n, >=, least);
        g_assert_cmpuint(run.unit + run.n, <=, above);
        above = run.unit;
        for (guint unit = run.unit; unit < run.unit + run.n; unit++) {
            g_assert_true(is_free(model, unit) && !model->hole[unit]);
            model->hole[unit] = TRUE;
        }
    }
    if (least == 1) g_assert_cmpuint(spill_space_spare(space), <=, spare);
}

typedef struct Part {
    guint64 at;
    guint32 size_bytes; /* 0: there is none */
} Part;

static void test_model(SpillSpace *space, gconstpointer unused) {
    (void)unused;
    static Model model;
    static Part parts[PARTS];

    for (guint step = 0; step < 20000; step++) {
        Part *part = &parts[g_test_rand_int_range(0, step / 5000 % 2 ? PARTS / 10 : PARTS)];
        if (part->size_bytes > 0) {
            spill_space_drop(space, part->at, part->size_bytes);
            change(&model, part->at, part->size_bytes, FALSE);
            part->size_bytes = 0;
        } else {
            const SpillRun run = take(space, &model, (guint)g_test_rand_int_range(1, 65));
            const guint32 from = (guint32)g_test_rand_int_range(0, SPILL_UNIT_BYTES);
            part->at = (guint64)run.unit * SPILL_UNIT_BYTES + from;
            part->size_bytes = (guint32)g_test_rand_int_range(1, (gint)(run.n * SPILL_UNIT_BYTES - from) + 1);
            spill_space_need(space, part->at, part->size_bytes);
            change(&model, part->at, part->size_bytes, TRUE);
            spill_space_release(space, run);
            for (guint unit = run.unit; unit < run.unit + run.n; unit++) model.held[unit] = FALSE;
        }

        if (step % 100 == 0) trim(space, &model, 1u << g_test_rand_int_range(0, 6), step % 400);
        assert_counts(space, &model);
    }

    trim(space, &model, 1, 0);
    assert_counts(space, &model);
}

/* A unit that is held is not free, though nothing of it is needed. */
static void test_held(SpillSpace *space, gconstpointer unused) {
    (void)unused;
    const SpillRun run = spill_space_take(space, 3);
    g_assert_cmpuint(run.n, ==, 3);
    spill_space_need(space, SPILL_UNIT_BYTES, SPILL_UNIT_BYTES);
    spill_space_drop(space, SPILL_UNIT_BYTES, SPILL_UNIT_BYTES);
    g_assert_cmpuint(spill_space_used(space), ==, 3);
    g_assert_cmpuint(spill_space_take(space, 1).unit, ==, 3);
    spill_space_release(space, run);
    g_assert_cmpuint(spill_space_used(space), ==, 1);
    const SpillRun again = spill_space_take(space, 64);
    g_assert_cmpuint(again.unit, ==, 0);
    g_assert_cmpuint(again.n, ==, 3);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add("/spill-space/model", SpillSpace, NULL, setup, test_model, teardown);
    g_test_add("/spill-space/held", SpillSpace, NULL, setup, test_held, teardown);
    return g_test_run();
}
