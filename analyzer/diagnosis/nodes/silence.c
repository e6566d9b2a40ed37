#include "analyzer/diagnosis/nodes/silence.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

#define MAD_TO_DEVIATION 1.4826
/* What waits vary by is never taken to be less: a second of all clients' time. */
#define USUAL_LEAST_NS 1e9

typedef struct Silence {
    const NodeGrid *grid;
    guint32 n_nodes; /* that are heard at all */
    GArray *gaps;
    GArray *spells;
    guint16 *silent; /* of each window: how many of the spells it belongs to */
} Silence;

/* Nothing is heard of a node from then on: the last of its entries before that, of so many. */
typedef struct Gap {
    const Heard *heard;
    guint32 n, last;
} Gap;

static const Heard *heard_at(const NodeGrid *grid, guint32 i) { return &g_array_index(grid->heard, Heard, i); }

static gint64 waited_in(const NodeGrid *grid, guint32 window) { return grid_waits(grid, window)->waited_ns; }

/* Of the node's calls, what the last window with any has of what it usually has: the share of it that was well. */
static double well_share(const Heard *heard, guint32 last) {
    float values[SILENT_BEFORE];
    gsize n = 0;
    for (guint32 k = 1; k <= SILENT_BEFORE && k <= last; k++) values[n++] = (float)heard[last - k].calls;
    const double usual = median_of(values, n);
    /* Of few calls nothing can be told but that it was heard. */
    return n > 0 && usual >= CLASS_CALLS_LEAST ? CLAMP(heard[last].calls / usual, 0, 1) : 0.5;
}

/* Was it heard regularly until the entry 'last' of its own? */
static gboolean was_heard(const Heard *heard, guint32 last) {
    const guint32 from = heard[last].window + 1 - MIN(heard[last].window + 1, SILENT_BEFORE);
    const guint32 windows = heard[last].window + 1 - from;
    guint32 n = 0;
    for (guint32 i = last + 1; i-- > 0 && heard[i].window >= from;) n++;
    return windows >= LEARN_LEAST && n >= SILENT_HEARD * windows;
}

/* Are at least half of the nodes heard in the windows (last, end), or all but two? Not in each of them: clients that
 * wait for one node ask the others for little. */
static gboolean others_go_on(const Silence *silence, guint32 last, guint32 end) {
    const NodeGrid *grid = silence->grid;
    guint32 heard = 0, node = G_MAXUINT32;
    for (guint32 i = 0; i < grid->heard->len && allowance_goes_on(); i++) {
        const Heard *one = heard_at(grid, i);
        if (one->node == node || one->window <= last || one->window >= end) continue;
        heard++;
        node = one->node;
    }
    return heard > 0 && (2 * heard >= silence->n_nodes || heard + 2 >= silence->n_nodes);
}

/* The end of what is waited for more than before: others are asked from then on. */
static guint32 waits_end(const NodeGrid *grid, guint32 last, guint32 end, double usual_ns) {
    guint32 good = 0;
    for (guint32 window = last + 1; window < end && allowance_goes_on(); window++) {
        const gboolean is_good = (double)waited_in(grid, window) < SILENT_WAITED_TIMES * usual_ns + USUAL_LEAST_NS;
        good = is_good ? good + 1 : 0;
        if (good == GOOD_LEAST) return MAX(window + 1 - GOOD_LEAST, last + 1 + SILENT_LEAST);
    }
    return end;
}

/* For what the node did not do while it stood still it is waited in the calls that it goes on with. */
static gint64 waited_after(const NodeGrid *grid, guint32 node, guint32 window) {
    gint64 sum = 0;
    for (guint32 at = grid->by_node.start[node]; at < grid->by_node.start[node + 1] && allowance_goes_on(); at++) {
        const Observation *observation = grid_at(grid, grid->by_node.order[at]);
        if (observation->window == window && grid_class(grid, observation->job) == WORK_STANDSTILL)
            sum += observation->critical_ns;
    }
    return sum;
}

/* What was waited in a window before 'last', and what that varies by; those in which others were silent say nothing of
 * it. FALSE: not known. */
static gboolean find_usual(const Silence *silence, guint32 last, double *usual_ns, double *deviation_ns) {
    float values[SILENT_BEFORE];
    gsize n = 0;
    for (guint32 window = last; window-- > 0 && n < SILENT_BEFORE && allowance_goes_on();)
        if (silence->silent[window] == 0) values[n++] = (float)waited_in(silence->grid, window);
    if (n == 0) return FALSE;
    *usual_ns = median_of(values, n);
    for (gsize i = 0; i < n; i++) values[i] = (float)fabs(values[i] - *usual_ns);
    *deviation_ns = MAX(MAD_TO_DEVIATION * median_of(values, n), USUAL_LEAST_NS);
    return TRUE;
}

/* What was waited before, and meanwhile. */
static gboolean measure(const Silence *silence, guint32 last, guint32 end, Spell *spell) {
    const NodeGrid *grid = silence->grid;
    double usual, deviation;
    if (!find_usual(silence, last, &usual, &deviation)) return FALSE;
    const guint32 until = waits_end(grid, last, end, usual);
    spell->open = spell->open && until == end;
    spell->last = until - 1;
    spell->bad_windows = until - last - 1;

    double sum = 0;
    for (guint32 window = last; window < until && allowance_goes_on(); window++) {
        sum += (double)waited_in(grid, window);
        spell->calls += grid_waits(grid, window)->calls;
    }
    if (!spell->open && until == end) sum += (double)waited_after(grid, spell->node, end);
    const double windows = until - last, lost = sum - usual * windows;
    spell->self_ns = spell->critical_ns = (gint64)sum;
    spell->lost_ns = spell->lost_critical_ns = (gint64)lost;
    spell->slowdown = sum / (MAX(usual, USUAL_LEAST_NS) * windows);
    spell->z = lost / windows / deviation;
    return lost >= (double)SILENT_WAITED_NS && spell->slowdown >= SILENT_WAITED_TIMES && spell->z >= Z_LEAST;
}

static guint32 gap_begin(const Gap *gap) { return gap->heard[gap->last].window; }

static guint32 gap_end(const Silence *silence, const Gap *gap) {
    return gap->last + 1 < gap->n ? gap->heard[gap->last + 1].window : silence->grid->n_windows;
}

static void judge_gap(const Silence *silence, const Gap *gap) {
    const NodeGrid *grid = silence->grid;
    const guint32 window = gap_begin(gap), end = gap_end(silence, gap);
    Spell spell = {.class = WORK_SILENT, .node = gap->heard[gap->last].node, .first = window, .last = end - 1};
    spell.open = gap->last + 1 == gap->n;
    if (!measure(silence, window, end, &spell) || !others_go_on(silence, window, end)) return;

    spell.sure = window + SILENT_LEAST;
    spell.begin_ns =
        grid_window_ns(grid, window) + (gint64)(well_share(gap->heard, gap->last) * (double)grid->window_ns);
    g_array_append_val(silence->spells, spell);
    for (guint32 i = spell.first; i <= spell.last && allowance_goes_on(); i++) silence->silent[i]++;
}

/* For whom of several it was waited nobody knows: each of them has an equal part of that. */
static void share_out(const Silence *silence, Spell *spell) {
    double all = 0, part = 0;
    for (guint32 window = spell->first; window <= spell->last && allowance_goes_on(); window++) {
        all += (double)waited_in(silence->grid, window);
        part += (double)waited_in(silence->grid, window) / MAX(silence->silent[window], 1);
    }
    if (all <= 0 || part >= all) return;
    spell->self_ns = spell->critical_ns = (gint64)((double)spell->critical_ns * part / all);
    spell->lost_ns = spell->lost_critical_ns = (gint64)((double)spell->lost_critical_ns * part / all);
}

/* By begin, then by node. */
static gint by_begin(gconstpointer left, gconstpointer right, gpointer unused) {
    const Gap *a = left, *b = right;
    (void)unused;
    if (gap_begin(a) != gap_begin(b)) return gap_begin(a) < gap_begin(b) ? -1 : 1;
    return (a->heard->node > b->heard->node) - (a->heard->node < b->heard->node);
}

/* Of one node, by its entries. */
static void list_gaps(const Silence *silence, const Heard *heard, guint32 n) {
    for (guint32 i = 0; i < n && allowance_goes_on(); i++) {
        const Gap gap = {heard, n, i};
        if (gap_end(silence, &gap) - gap_begin(&gap) - 1 < SILENT_LEAST || !was_heard(heard, i)) continue;
        g_array_append_val(silence->gaps, gap);
    }
}

void silence_find(const NodeGrid *grid, GArray *spells) {
    const guint32 n = grid->heard->len;
    const guint before = spells->len;
    g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
    g_autofree guint16 *silent = g_new0(guint16, MAX(grid->n_windows, 1));
    Silence silence = {.grid = grid, .gaps = gaps, .spells = spells, .silent = silent};
    for (guint32 i = 0; i < n && allowance_goes_on(); i++)
        silence.n_nodes += i == 0 || heard_at(grid, i)->node != heard_at(grid, i - 1)->node;

    for (guint32 from = 0, end; from < n && allowance_goes_on(); from = end) {
        for (end = from + 1; end < n && allowance_goes_on() && heard_at(grid, end)->node == heard_at(grid, from)->node;)
            end++;
        list_gaps(&silence, heard_at(grid, from), end - from);
    }
    allowance_sort(gaps->data, gaps->len, sizeof(Gap), by_begin, NULL);
    for (guint i = 0; i < gaps->len && allowance_goes_on(); i++) judge_gap(&silence, &g_array_index(gaps, Gap, i));
    for (guint i = before; i < spells->len && allowance_goes_on(); i++)
        share_out(&silence, &g_array_index(spells, Spell, i));
}
