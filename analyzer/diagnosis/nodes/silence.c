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
    GArray *spells;
} Silence;

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

/* Are at least half of the nodes heard in the windows (last, end)? Not in each of them: clients that wait for one node
 * ask the others for little. */
static gboolean others_go_on(const Silence *silence, guint32 last, guint32 end) {
    const NodeGrid *grid = silence->grid;
    guint32 heard = 0, node = G_MAXUINT32;
    for (guint32 i = 0; i < grid->heard->len && allowance_goes_on(); i++) {
        const Heard *one = heard_at(grid, i);
        if (one->node == node || one->window <= last || one->window >= end) continue;
        heard++;
        node = one->node;
    }
    return heard > 0 && 2 * heard >= silence->n_nodes;
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

/* What was waited before, and meanwhile. */
static gboolean measure(const NodeGrid *grid, guint32 last, guint32 end, Spell *spell) {
    float values[SILENT_BEFORE];
    gsize n = 0;
    for (guint32 k = 1; k <= SILENT_BEFORE && k <= last; k++) values[n++] = (float)waited_in(grid, last - k);
    if (n == 0) return FALSE;
    const double usual = median_of(values, n);
    for (gsize i = 0; i < n; i++) values[i] = (float)fabs(values[i] - usual);
    const double deviation = MAX(MAD_TO_DEVIATION * median_of(values, n), USUAL_LEAST_NS);

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

/* After the entry 'last' of the node's: until the next one, or the end. */
static void find_gap(const Silence *silence, const Heard *heard, guint32 n, guint32 last) {
    const NodeGrid *grid = silence->grid;
    const guint32 window = heard[last].window, end = last + 1 < n ? heard[last + 1].window : grid->n_windows;
    Spell spell = {.class = WORK_SILENT, .node = heard[last].node, .first = window, .last = end - 1};
    spell.open = last + 1 == n;
    if (end - window - 1 < SILENT_LEAST || !was_heard(heard, last)) return;
    if (!measure(grid, window, end, &spell) || !others_go_on(silence, window, end)) return;

    spell.sure = window + SILENT_LEAST;
    spell.begin_ns = grid_window_ns(grid, window) + (gint64)(well_share(heard, last) * (double)grid->window_ns);
    g_array_append_val(silence->spells, spell);
}

void silence_find(const NodeGrid *grid, GArray *spells) {
    const guint32 n = grid->heard->len;
    Silence silence = {.grid = grid, .spells = spells};
    for (guint32 i = 0; i < n && allowance_goes_on(); i++)
        silence.n_nodes += i == 0 || heard_at(grid, i)->node != heard_at(grid, i - 1)->node;

    for (guint32 from = 0, end; from < n && allowance_goes_on(); from = end) {
        for (end = from + 1; end < n && allowance_goes_on() && heard_at(grid, end)->node == heard_at(grid, from)->node;)
            end++;
        for (guint32 i = 0; i < end - from && allowance_goes_on(); i++)
            find_gap(&silence, heard_at(grid, from), end - from, i);
    }
}
