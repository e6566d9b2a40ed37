#include "analyzer/diagnosis/advise/advise.h"

#include <string.h>

#include "analyzer/diagnosis/advise/rules.h"
#include "analyzer/diagnosis/advise/well.h"

static void (*const rules[])(const AdviseFacts *, Advice *) = {
    rule_nodes,
    rule_spill,
    rule_few_partitions,
    rule_many_partitions,
    rule_small_input,
    rule_skew,
    rule_gc,
    rule_memory,
    rule_cache,
    rule_idle,
    rule_driver,
    rule_locality,
    rule_allocation,
    rule_serializer,
    rule_failures,
    rule_broadcast,
    rule_small_files,
    rule_partition_filter,
    rule_hdfs,
};

/* Something of no known cost is told where it is certain. */
static gboolean worth_telling(const Finding *finding) {
    if (finding->fails || finding->node) return TRUE;
    if (finding->cost_ms <= 0) return finding->certainty != FINDING_POSSIBLE;
    return finding->share >= ADVISE_LEAST_SHARE && finding->cost_ms >= ADVISE_LEAST_MS;
}

/* Many small findings of one rule may be one large one: a hundred stages of a loop, each with little. The costliest
 * then stands for all of its rule, when none is worth telling alone. */
static void join_small(const Advice *advice, const char *rule) {
    Finding *most = NULL;
    double cost_ms = 0, saves_ms = 0, share = 0;
    guint n = 0;
    for (guint f = 0; f < advice->findings->len; f++) {
        Finding *finding = g_ptr_array_index(advice->findings, f);
        if (strcmp(finding->rule, rule) != 0 || finding->cost_ms <= 0) continue;
        if (worth_telling(finding)) return;
        if (most == NULL || finding->cost_ms > most->cost_ms) most = finding;
        cost_ms += finding->cost_ms;
        saves_ms += finding->saves_ms;
        share += finding->share;
        n++;
    }
    if (n < 2 || share < ADVISE_LEAST_SHARE || cost_ms < ADVISE_LEAST_MS) return;
    finding_evidence(most, "so it is in %u stages, of which this one costs most; the cost is of all of them", n);
    most->cost_ms = cost_ms;
    most->saves_ms = saves_ms;
    most->share = MIN(share, 1);
}

static void join_all_small(const Advice *advice) {
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint f = 0; f < advice->findings->len; f++) {
        const Finding *finding = g_ptr_array_index(advice->findings, f);
        if (g_hash_table_add(seen, (gpointer)finding->rule)) join_small(advice, finding->rule);
    }
}

static gint by_cost(gconstpointer a, gconstpointer b) {
    const Finding *x = *(Finding *const *)a, *y = *(Finding *const *)b;
    if (x->cost_ms != y->cost_ms) return x->cost_ms > y->cost_ms ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

static Change *change_at(const Finding *finding, guint i) { return &g_array_index(finding->changes, Change, i); }

static void mark_conflicts(const Advice *advice) {
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal); /* key -> value */
    for (guint f = 0; f < advice->findings->len; f++) {
        const Finding *finding = g_ptr_array_index(advice->findings, f);
        for (guint i = 0; i < finding->changes->len; i++) {
            Change *change = change_at(finding, i);
            const char *known = g_hash_table_lookup(set, change->key);
            if (known == NULL) g_hash_table_insert(set, (gpointer)change->key, change->to);
            change->conflict = known != NULL && strcmp(known, change->to) != 0;
        }
    }
}

Advice *advise(const AdviseFacts *facts, gboolean all) {
    Advice *advice = advice_new();
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) rules[i](facts, advice);
    if (all) advise_well(facts, advice);
    if (!all) join_all_small(advice);
    for (guint i = advice->findings->len; i > 0 && !all; i--)
        if (!worth_telling(g_ptr_array_index(advice->findings, i - 1)))
            g_ptr_array_remove_index(advice->findings, i - 1);
    g_ptr_array_sort(advice->findings, by_cost);
    mark_conflicts(advice);
    return advice;
}

GPtrArray *advice_changes(const Advice *advice) {
    GPtrArray *changes = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint f = 0; f < advice->findings->len; f++) {
        const Finding *finding = g_ptr_array_index(advice->findings, f);
        for (guint i = 0; i < finding->changes->len; i++) {
            Change *change = change_at(finding, i);
            if (!change->conflict && !change->program && g_hash_table_add(seen, (gpointer)change->key))
                g_ptr_array_add(changes, change);
        }
    }
    return changes;
}

Severity advice_severity(const Advice *advice) {
    Severity worst = SEVERITY_NONE;
    for (guint f = 0; f < advice->findings->len; f++) {
        const Finding *finding = g_ptr_array_index(advice->findings, f);
        if (!finding->node) worst = MAX(worst, finding_severity(finding));
    }
    return worst;
}
