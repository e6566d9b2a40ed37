#include "analyzer/diagnosis/nodes/spell_run.h"

#define RECENT_MASK ((1u << BAD_OF) - 1)

static guint bits_in(guint32 bits) {
    guint n = 0;
    for (; bits != 0; bits &= bits - 1) n++;
    return n;
}

gboolean spell_run_ends(SpellRun *run, guint32 window, gboolean bad) {
    run->recent = (run->recent << 1 | (bad ? 1 : 0)) & RECENT_MASK;
    run->good = bad ? 0 : run->good + 1;
    if (bad) run->last_bad = window;
    if (!run->ill && bad && bits_in(run->recent) >= BAD_LEAST) {
        run->ill = TRUE;
        run->sure = window;
        run->from = window + 1 - g_bit_storage(run->recent);
    }
    if (!run->ill || run->good < GOOD_LEAST) return FALSE;
    run->ill = FALSE;
    run->recent = 0;
    return TRUE;
}
