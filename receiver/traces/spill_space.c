#include "receiver/traces/spill_space.h"

#define WORD_UNITS 64u

void spill_space_init(SpillSpace *space) {
    *space = (SpillSpace){.needed = g_array_new(FALSE, TRUE, sizeof(guint16)),
                          .free = g_array_new(FALSE, TRUE, sizeof(guint64)),
                          .holes = g_array_new(FALSE, TRUE, sizeof(guint64))};
}

void spill_space_clear(SpillSpace *space) {
    g_array_unref(space->needed);
    g_array_unref(space->free);
    g_array_unref(space->holes);
}

static inline guint16 *needed(const SpillSpace *space, guint unit) {
    return &g_array_index(space->needed, guint16, unit);
}

static inline guint64 *word_of(GArray *words, guint word) { return &g_array_index(words, guint64, word); }

static inline guint64 bits(guint from, guint n) {
    return (n < WORD_UNITS ? (G_GUINT64_CONSTANT(1) << n) - 1 : G_MAXUINT64) << from;
}

/* How many of the lowest bits are set. */
static inline guint ones(guint64 word) { return ~word ? (guint)__builtin_ctzll(~word) : WORD_UNITS; }

/* ---- taking ---- */

static SpillRun hold(SpillSpace *space, SpillRun run) {
    for (guint unit = run.unit; unit < run.unit + run.n; unit++) *needed(space, unit) = 1;
    return run;
}

/* The first of the free ones, in words from *from on that have any; *from is set to its word. */
static gboolean take_free(SpillSpace *space, gboolean holes, guint *from, guint most, SpillRun *run) {
    for (guint word = *from; word < space->free->len; word++) {
        const guint64 free = *word_of(space->free, word), hole = *word_of(space->holes, word);
        const guint64 fit = holes ? hole : free & ~hole;
        if (!fit) continue;
        const guint first = (guint)__builtin_ctzll(fit);
        const guint n = MIN(most, ones(fit >> first));
        *from = word;
        *run = (SpillRun){.unit = word * WORD_UNITS + first, .n = n};
        *word_of(space->free, word) &= ~bits(first, n);
        *word_of(space->holes, word) &= ~bits(first, n);
        space->n_free -= n;
        space->n_holes -= holes ? n : 0;
        return TRUE;
    }
    return FALSE;
}

static SpillRun take_new(SpillSpace *space, guint most) {
    const SpillRun run = {.unit = space->n_units, .n = most};
    space->n_units += most;
    g_array_set_size(space->needed, space->n_units);
    g_array_set_size(space->free, (space->n_units + WORD_UNITS - 1) / WORD_UNITS);
    g_array_set_size(space->holes, space->free->len);
    return run;
}

SpillRun spill_space_take(SpillSpace *space, guint most) {
    SpillRun run;
    guint from = 0;
    if (spill_space_spare(space) > 0 && take_free(space, FALSE, &space->lowest, most, &run)) return hold(space, run);
    if (space->n_holes > 0 && take_free(space, TRUE, &from, most, &run)) return hold(space, run);
    return hold(space, take_new(space, most));
}

/* ---- giving back ---- */

static void lose(SpillSpace *space, guint unit, guint bytes) {
    *needed(space, unit) = (guint16)(*needed(space, unit) - bytes);
    if (*needed(space, unit) > 0) return;
    const guint word = unit / WORD_UNITS;
    *word_of(space->free, word) |= bits(unit % WORD_UNITS, 1);
    space->n_free++;
    space->lowest = MIN(space->lowest, word);
}

void spill_space_release(SpillSpace *space, SpillRun run) {
    for (guint unit = run.unit; unit < run.unit + run.n; unit++) lose(space, unit, 1);
}

void spill_space_need(SpillSpace *space, guint64 at, guint32 size_bytes) {
    while (size_bytes > 0) {
        const guint unit = (guint)(at / SPILL_UNIT_BYTES);
        const guint part = MIN(size_bytes, SPILL_UNIT_BYTES - (guint)(at % SPILL_UNIT_BYTES));
        *needed(space, unit) = (guint16)(*needed(space, unit) + part);
        at += part;
        size_bytes -= part;
    }
}

void spill_space_drop(SpillSpace *space, guint64 at, guint32 size_bytes) {
    while (size_bytes > 0) {
        const guint part = MIN(size_bytes, SPILL_UNIT_BYTES - (guint)(at % SPILL_UNIT_BYTES));
        lose(space, (guint)(at / SPILL_UNIT_BYTES), part);
        at += part;
        size_bytes -= part;
    }
}

/* The highest run of the bits set in *word; they are cleared. */
static SpillRun highest(guint64 *word) {
    const guint above = (guint)__builtin_clzll(*word);
    const guint64 ended = ~(*word << above);
    const guint n = ended ? (guint)__builtin_clzll(ended) : WORD_UNITS;
    const guint first = WORD_UNITS - above - n;
    *word &= ~bits(first, n);
    return (SpillRun){.unit = first, .n = n};
}

gboolean spill_space_trim(SpillSpace *space, guint least, guint *end, SpillRun *run) {
    for (guint word = MIN(*end, space->free->len); word > 0; word--) {
        guint64 *holes = word_of(space->holes, word - 1);
        guint64 fit = *word_of(space->free, word - 1) & ~*holes;
        while (fit) {
            const SpillRun found = highest(&fit);
            if (found.n < least) continue;
            *holes |= bits(found.unit, found.n);
            space->n_holes += found.n;
            *end = word;
            *run = (SpillRun){.unit = (word - 1) * WORD_UNITS + found.unit, .n = found.n};
            return TRUE;
        }
    }
    return FALSE;
}

gsize spill_space_memory_bytes(const SpillSpace *space) {
    /* Arrays grow by doubling. */
    return 2 * (space->needed->len * sizeof(guint16) + 2 * space->free->len * sizeof(guint64));
}
