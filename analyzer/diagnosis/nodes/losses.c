#include "analyzer/diagnosis/nodes/losses.h"

#include "analyzer/diagnosis/nodes/consequences.h"
#include "common/base/allowance.h"

static const Spell *spell_at(const GArray *spells, guint i) { return &g_array_index(spells, Spell, i); }

/* On the node, or all of them, while the spell lasted. */
static gint64 critical_ns(const NodeGrid *grid, const Spell *spell) {
    const gboolean all = spell->node >= grid->n_nodes;
    const guint32 from = all ? 0 : grid->by_node.start[spell->node],
                  end = all ? grid_size(grid) : grid->by_node.start[spell->node + 1];
    gint64 sum = 0;
    for (guint32 at = from; at < end && allowance_goes_on(); at++) {
        const Observation *observation = grid_at(grid, all ? at : grid->by_node.order[at]);
        if (observation->window >= spell->first && observation->window <= spell->last) sum += observation->critical_ns;
    }
    return sum;
}

static gboolean is_enough(const NodeGrid *grid, const Spell *spell, gint64 waited_ns) {
    return waited_ns >= WAITED_LEAST_NS && (double)waited_ns >= WAITED_LEAST_SHARE * (double)critical_ns(grid, spell);
}

void losses_drop_nodes(const NodeGrid *grid, GArray *spells) {
    g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(Spell));
    for (guint i = 0; i < spells->len && allowance_goes_on(); i++) {
        const Spell *spell = spell_at(spells, i);
        gint64 waited_ns = 0;
        for (guint k = 0; k < spells->len && allowance_goes_on(); k++) {
            const Spell *other = spell_at(spells, k);
            const gboolean overlap = other->first <= spell->last && spell->first <= other->last;
            const gboolean counts = other->node == spell->node || consequences_of_reader(spell, other, grid->n_nodes);
            if (counts && overlap) waited_ns += other->lost_critical_ns;
        }
        if (is_enough(grid, spell, waited_ns)) g_array_append_vals(kept, spell, 1);
    }
    g_array_set_size(spells, 0);
    if (kept->len > 0) g_array_append_vals(spells, kept->data, kept->len);
}

void losses_drop(const NodeGrid *grid, GArray *spells) {
    guint kept = 0;
    for (guint i = 0; i < spells->len && allowance_goes_on(); i++) {
        const Spell *spell = spell_at(spells, i);
        const gboolean enough = spell->part_of != WORK_NONE || is_enough(grid, spell, spell->lost_critical_ns);
        if (enough) g_array_index(spells, Spell, kept++) = *spell;
    }
    g_array_set_size(spells, kept);
}
