#include "analyzer/query/nodes/standing.h"

#include "analyzer/query/nodes/spell_rows.h"
#include "common/base/clock.h"

/* A host is suspected when it was slow for some minutes: so many after the period are looked at, too. */
#define AFTER_NS ((gint64)BAD_OF * NS_PER_MINUTE)

struct Standing {
    QueryParams *params;
    Asked asked; /* with the period as its parameters */
    gint64 since_ns, until_ns;
    Cluster *cluster; /* NULL: not read yet */
    NodesReport *report;
};

static void add_time(QueryParams *params, const char *name, gint64 ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, ns);
    query_params_add(params, name, text);
}

Standing *standing_new(const Asked *asked, Period period) {
    Standing *standing = g_new0(Standing, 1);
    standing->params = query_params_new();
    add_time(standing->params, "since", period.since_ns);
    add_time(standing->params, "until", period.until_ns + AFTER_NS);
    standing->since_ns = period.since_ns;
    standing->until_ns = period.until_ns;
    standing->asked = *asked;
    standing->asked.params = standing->params;
    return standing;
}

void standing_free(Standing *standing) {
    if (!standing) return;
    nodes_report_free(standing->report);
    cluster_free(standing->cluster);
    query_params_free(standing->params);
    g_free(standing);
}

static gboolean load(Standing *standing, GError **error) {
    if (standing->cluster) return TRUE;
    standing->cluster = cluster_load(&standing->asked, error);
    if (!standing->cluster) return FALSE;
    standing->report = nodes_judge(standing->cluster->grid, NODES_OURS, standing->cluster->since);
    return TRUE;
}

static gint64 end_of(const Standing *standing, const Spell *spell) {
    const NodeGrid *grid = standing->cluster->grid;
    return spell->open ? standing->until_ns : grid_window_ns(grid, spell->last) + grid->window_ns;
}

static gboolean fits(const Standing *standing, const Spell *spell, guint32 host, guint32 classes) {
    const Cluster *cluster = standing->cluster;
    if (spell->node >= cluster->grid->n_nodes || cluster_host(cluster, spell->node) != host) return FALSE;
    return spell_suspects(spell) && (classes & 1u << spell->class) && spell_fits(cluster, spell) &&
           spell->begin_ns < standing->until_ns;
}

static json_t *spell_short(const Standing *standing, const Spell *spell) {
    const NodeGrid *grid = standing->cluster->grid;
    json_t *object = json_object();
    json_object_set_new(object, "class", json_string(work_class_name(spell->class)));
    json_object_set_new(object, "slowdown", json_ratio(spell->slowdown));
    json_object_set_new(object, "begin_time_ns", json_integer(spell->begin_ns));
    if (!spell->open)
        json_object_set_new(object, "end_time_ns", json_integer(grid_window_ns(grid, spell->last) + grid->window_ns));
    return object;
}

gboolean standing_add(Standing *standing, guint32 host, guint32 classes, json_t *object, GError **error) {
    if (host == 0) return TRUE;
    if (!load(standing, error)) return FALSE;
    for (guint i = 0; i < standing->report->spells->len; i++) { /* those that cost most first */
        const Spell *spell = &g_array_index(standing->report->spells, Spell, i);
        if (!fits(standing, spell, host, classes | 1u << WORK_PROCESSOR)) continue;
        json_t *found = spell_short(standing, spell);
        json_object_set_new(object, "spell", found);
        return spell_add_link(standing->cluster, standing->report, spell, found, error);
    }
    return TRUE;
}

static gint by_begin(gconstpointer a, gconstpointer b) {
    const gint64 first = ((const Period *)a)->since_ns, second = ((const Period *)b)->since_ns;
    return (first > second) - (first < second);
}

/* Of all together: spells of two classes may be at the same time. */
static gint64 covered_ns(GArray *parts) {
    gint64 sum_ns = 0, until_ns = G_MININT64;
    g_array_sort(parts, by_begin);
    for (guint i = 0; i < parts->len; i++) {
        const Period *next = &g_array_index(parts, Period, i);
        sum_ns += MAX(next->until_ns - MAX(next->since_ns, until_ns), 0);
        until_ns = MAX(until_ns, next->until_ns);
    }
    return sum_ns;
}

gboolean standing_slow_in(Standing *standing, const StandingAsk *ask, gboolean *slow, GError **error) {
    const Period part = ask->part;
    *slow = FALSE;
    if (ask->host == 0) return TRUE;
    if (!load(standing, error)) return FALSE;
    g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(Period));
    for (guint i = 0; i < standing->report->spells->len; i++) {
        const Spell *spell = &g_array_index(standing->report->spells, Spell, i);
        if (!fits(standing, spell, ask->host, ask->classes)) continue;
        const Period both = {MAX(spell->begin_ns, part.since_ns), MIN(end_of(standing, spell), part.until_ns)};
        g_array_append_val(parts, both);
    }
    *slow = parts->len > 0 && covered_ns(parts) >= (part.until_ns - part.since_ns) / 2;
    return TRUE;
}

/* How much of the period a host gave no answer. */
static gint64 silent_ns(const Standing *standing, const Spell *spell) {
    if (spell->class != WORK_SILENT || spell->node >= standing->cluster->grid->n_nodes) return 0;
    return MIN(end_of(standing, spell), standing->until_ns) - MAX(spell->begin_ns, standing->since_ns);
}

json_t *standing_silent(Standing *standing, gint64 least_ns, GError **error) {
    if (!load(standing, error)) return NULL;
    const Cluster *cluster = standing->cluster;
    json_t *list = json_array();
    for (guint i = 0; i < standing->report->spells->len; i++) {
        const Spell *spell = &g_array_index(standing->report->spells, Spell, i);
        if (silent_ns(standing, spell) < MAX(least_ns, 1)) continue;
        json_t *object = spell_short(standing, spell);
        json_object_del(object, "class");
        json_object_del(object, "slowdown");
        json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, spell->node)));
        json_object_set_new(object, "waited_ns", json_integer(spell->lost_critical_ns));
        json_array_append_new(list, object);
    }
    return list;
}
