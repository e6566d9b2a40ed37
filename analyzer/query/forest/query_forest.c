/* Compressed call trees of a period by weight.
 *
 * There are two passes over the statistics: the first weighs every pattern, without building anything of its rows; the
 * second sums the nodes of those that are listed. So time and memory depend on how many are listed. Each pass reads the
 * rows of all hosts together, which with a host only tell what is no call, and then the rows of that host, which tell
 * its calls. */
#include <string.h>

#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/retention/removed_counts.h"
#include "analyzer/query/forest/forest.h"
#include "analyzer/query/forest/forest_answers.h"
#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* Of thousands of hosts: after so many rows that name no other, nothing new is expected of the rest. */
#define HOSTS_IN_VAIN_MAX 256u
/* Records looked at to find an example of each pattern shown. */
#define EXAMPLE_SCAN_MAX 50000u

/* A pattern as shown; what became equal when nodes were left out is one. */
typedef struct Shown {
    Pattern *pattern;
    guint members;
    gboolean incomplete;
    gboolean mixed; /* has traces of rare shapes */
    Weight weight;
    guint64 removed; /* of the traces: for their age, or to make room */
    PatternSum *sum;
    gboolean listed; /* within the limit */
    guint64 example;
    gboolean has_example;
} Shown;

/* What became of a stored pattern. */
typedef struct Member {
    Shown *shown;  /* NULL: nothing is left of it */
    NodeMap map;   /* of its rows' nodes to what is shown */
    guint8 *kinds; /* of its rows' nodes: NodeKind */
    guint32 n_kinds;
    gint64 traces; /* of the period */
    gboolean incomplete, mixed;
} Member;

typedef enum { NODE_DROPPED, NODE_PLACEHOLDER, NODE_CALL } NodeKind;

typedef struct Forest {
    Archive *archive;
    const ForestFilter *filter;
    Compressor *compressor;
    GHashTable *members; /* pattern number -> Member */
    guint32 last;        /* the one asked for last, most often the next, too */
    Member *last_member; /* NULL: none yet */
    GHashTable *by_id;   /* PatternId -> Shown */
    GPtrArray *list;     /* Shown, owned */
} Forest;

static void shown_free(gpointer data) {
    Shown *shown = data;
    pattern_sum_free(shown->sum);
    pattern_unref(shown->pattern);
    g_free(shown);
}

static void member_free(gpointer data) {
    Member *member = data;
    g_free(member->map.node);
    g_free(member->kinds);
    g_free(member);
}

static guint pattern_id_hash(gconstpointer id) {
    guint hash;
    memcpy(&hash, id, sizeof hash);
    return hash;
}

static gboolean pattern_id_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(PatternId)) == 0; }

static void forest_init(Forest *forest, Archive *archive, const ForestFilter *filter) {
    forest->archive = archive;
    forest->filter = filter;
    forest->compressor = compressor_new(archive_lookup(archive), QUERY_SHAPES);
    forest->members = g_hash_table_new_full(NULL, NULL, NULL, member_free);
    forest->by_id = g_hash_table_new(pattern_id_hash, pattern_id_equal);
    forest->list = g_ptr_array_new_with_free_func(shown_free);
}

static void forest_clear(Forest *forest) {
    g_clear_pointer(&forest->members, g_hash_table_unref);
    g_clear_pointer(&forest->by_id, g_hash_table_unref);
    g_clear_pointer(&forest->list, g_ptr_array_unref);
    g_clear_pointer(&forest->compressor, compressor_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Forest, forest_clear)

/* ---- statistics ---- */

static Shown *shown_of(Forest *forest, Pattern *pattern) {
    Shown *shown = g_hash_table_lookup(forest->by_id, &pattern->id);
    if (shown) return shown;
    shown = g_new0(Shown, 1);
    shown->pattern = pattern_ref(pattern);
    g_ptr_array_add(forest->list, shown);
    g_hash_table_insert(forest->by_id, &shown->pattern->id, shown);
    return shown;
}

/* What the nodes of a member's rows are, and where they went: rows -> stored, where they differ, -> left, where
 * something was dropped. */
static void member_map(Member *member, const Pattern *stored, const NodeMap *rows, const guint32 *left) {
    guint32 n = rows->node != NULL ? rows->n : stored->n_nodes;
    member->kinds = g_new0(guint8, n);
    member->n_kinds = n;
    if (rows->node != NULL || left != NULL) member->map = (NodeMap){g_new(guint32, n), n};
    for (guint32 i = 0; i < n; i++) {
        guint32 node = node_map_get(rows, i);
        guint32 to = left != NULL ? left[node] : node;
        if (member->map.node != NULL) member->map.node[i] = to;
        if (to != G_MAXUINT32)
            member->kinds[i] = stored->nodes[node].name == NAME_MISSING ? NODE_PLACEHOLDER : NODE_CALL;
    }
}

static Member *member_of(Forest *forest, guint32 number) {
    Member *member = g_hash_table_lookup(forest->members, GUINT_TO_POINTER(number));
    if (member) return member;
    member = g_new0(Member, 1);
    g_hash_table_insert(forest->members, GUINT_TO_POINTER(number), member);
    NodeMap rows;
    g_autoptr(Pattern) stored = archive_pattern_of_rows(forest->archive, number, &rows.node, &rows.n);
    g_autofree guint32 *rows_node = rows.node;
    g_autofree guint32 *dropped = NULL;
    if (!stored || !forest_filter_wants(forest->filter, stored)) return member;
    g_autoptr(Pattern) left = forest_filter_apply(forest->filter, forest->compressor, stored, &dropped);
    if (left->n_nodes < 2) return member;
    member_map(member, stored, &rows, dropped);
    member->shown = shown_of(forest, left);
    member->incomplete = pattern_incomplete(stored);
    member->mixed = pattern_is_mixed(number);
    return member;
}

/* The second pass. */
static void sum_nodes(void *arg, const StatsKey *key, StatsRow *row) {
    Forest *forest = arg;
    Member *member = g_hash_table_lookup(forest->members, GUINT_TO_POINTER(key->object));
    if (!member || !member->shown || !member->shown->sum) return;
    pattern_sum_add(member->shown->sum, &member->map, row, forest->filter->host != 0 && key->host == 0);
    if (key->host != 0) pattern_sum_add_host(member->shown->sum, &member->map, key->host, row);
}

/* The first pass. */
static void weigh(void *arg, const StatsKey *key, const NodeWeight *node) {
    Forest *forest = arg;
    if (forest->last_member == NULL || forest->last != key->object)
        forest->last_member = member_of(forest, key->object);
    forest->last = key->object;
    Member *member = forest->last_member;
    if (!member->shown) return;
    Weight *weight = &member->shown->weight;
    if (node->node == 0 && key->host == 0) {
        member->traces += node->calls;
        weight->traces += (guint64)node->calls;
        weight->total_ns += node->total_ns;
    } else if (key->host == forest->filter->host && node->node < member->n_kinds &&
               member->kinds[node->node] != NODE_DROPPED) {
        if (member->kinds[node->node] == NODE_CALL) weight->spans += (guint64)node->calls;
        weight->critical_ns += node->critical_ns;
    }
}

/* ---- what is shown ---- */

/* Hosts of one member's nodes. */
typedef struct HostNote {
    const Member *member;
    guint32 host;
    guint in_vain; /* rows that told nothing new, one behind the other */
    gboolean told;
} HostNote;

static void note_calls(void *arg, const NodeWeight *node) {
    HostNote *note = arg;
    if (node->calls > 0)
        note->told |=
            pattern_sum_note_host(note->member->shown->sum, node_map_get(&note->member->map, node->node), note->host);
}

static gboolean note_hosts(void *arg, const StatsKey *key, const StatsHosts *hosts) {
    HostNote *note = arg;
    note->host = key->host;
    note->told = FALSE;
    stats_hosts_weigh(hosts, note_calls, note);
    note->in_vain = note->told ? 0 : note->in_vain + 1;
    return note->in_vain < HOSTS_IN_VAIN_MAX && !pattern_sum_hosts_full(note->member->shown->sum);
}

/* Which hosts the nodes of the listed patterns ran on; with a host it is known already. */
static gboolean find_hosts(Forest *forest, const StatsFilter *all, GError **error) {
    StatsFilter filter = *all;
    GHashTableIter iter;
    gpointer number, data;
    if (forest->filter->host != 0) return TRUE;
    filter.by_host = TRUE;
    g_hash_table_iter_init(&iter, forest->members);
    while (g_hash_table_iter_next(&iter, &number, &data)) {
        const Member *member = data;
        if (!allowance_check(error)) return FALSE;
        if (!member->shown || !member->shown->listed || pattern_sum_hosts_full(member->shown->sum)) continue;
        filter.object = GPOINTER_TO_UINT(number);
        HostNote note = {.member = member};
        if (!archive_stats_hosts(forest->archive, &filter, note_hosts, &note, error)) return FALSE;
    }
    return TRUE;
}

static gboolean find_examples(Forest *forest, guint missing, GError **error) {
    const Period *period = &forest->filter->period;
    g_autoptr(ArchiveScan) scan = archive_scan_new(forest->archive, period->since_ns, period->until_ns, TRUE);
    g_autoptr(GError) failure = NULL;
    archive_scan_summaries_only(scan);
    guint64 trace_id;
    TraceSummary summary;
    for (guint n = 0; missing > 0 && n < EXAMPLE_SCAN_MAX; n++) {
        if (!archive_scan_next(scan, &trace_id, &summary, &failure)) break;
        Member *member = g_hash_table_lookup(forest->members, GUINT_TO_POINTER(summary.pattern));
        if (!member || !member->shown || !member->shown->listed || member->shown->has_example) continue;
        member->shown->example = trace_id;
        member->shown->has_example = TRUE;
        missing--;
    }
    if (!failure) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

/* ---- order and answer ---- */

static double weight_value(const Weight *weight, guint sort) {
    switch (sort) {
    case SORT_CALLS: return (double)weight->spans;
    case SORT_TRACES: return (double)weight->traces;
    case SORT_CRITICAL: return (double)weight->critical_ns;
    default: return (double)weight->total_ns;
    }
}

static gint compare_shown(gconstpointer left, gconstpointer right, gpointer arg) {
    const Shown *a = *(const Shown *const *)left, *b = *(const Shown *const *)right;
    guint sort = *(const guint *)arg;
    double x = weight_value(&a->weight, sort), y = weight_value(&b->weight, sort);
    if (x != y) return x > y ? -1 : 1;
    return memcmp(a->pattern->id.bytes, b->pattern->id.bytes, sizeof a->pattern->id.bytes);
}

static guint64 stored_traces(const Shown *shown) {
    return shown->weight.traces - MIN(shown->removed, shown->weight.traces);
}

static json_t *shown_json(const Forest *forest, const Shown *shown) {
    json_t *object = json_object();
    json_object_set_new(object, "pattern", json_pattern_id(shown->pattern->id));
    if (forest_filter_drops(forest->filter)) json_object_set_new(object, "merged", json_integer(shown->members));
    json_object_set_new(object, "traces", json_count(shown->weight.traces));
    if (shown->removed > 0) json_object_set_new(object, "stored_traces", json_count(stored_traces(shown)));
    json_object_set_new(object, "spans", json_count(shown->weight.spans));
    json_object_set_new(object, "incomplete", json_boolean(shown->incomplete));
    if (shown->mixed) json_object_set_new(object, "mixed", json_true());
    json_object_set_new(object, "total_ns", json_integer(shown->weight.total_ns));
    json_object_set_new(object, "critical_ns", json_integer(shown->weight.critical_ns));
    if (shown->has_example) json_object_set_new(object, "first_example", json_trace_id(shown->example));
    json_object_set_new(object, "nodes", pattern_sum_json(shown->sum, forest->archive));
    return object;
}

/* Patterns that late spans have left no trace of are not there and, with a host, those without a call on it. They stay
 * owned by 'list' behind its visible part. */
static guint count_visible(Forest *forest) {
    guint visible = 0;
    for (guint i = 0; i < forest->list->len && allowance_goes_on(); i++) {
        Shown *shown = forest->list->pdata[i];
        if (forest->filter->host != 0 ? shown->weight.spans == 0 : shown->weight.traces == 0) continue;
        forest->list->pdata[i] = forest->list->pdata[visible];
        forest->list->pdata[visible++] = shown;
    }
    return visible;
}

static json_t *weight_json(guint patterns, const Weight *weight) {
    json_t *object = json_object();
    json_object_set_new(object, "patterns", json_count(patterns));
    json_object_set_new(object, "traces", json_count(weight->traces));
    json_object_set_new(object, "spans", json_count(weight->spans));
    json_object_set_new(object, "total_ns", json_integer(weight->total_ns));
    return object;
}

/* Sums the visible patterns from one on: all, or those that are mixed. Returns how many they are. */
static guint sum_weights(const Forest *forest, guint from, guint visible, gboolean mixed, Weight *sum) {
    guint n = 0;
    *sum = (Weight){0};
    for (guint i = from; i < visible && allowance_goes_on(); i++) {
        const Shown *shown = forest->list->pdata[i];
        if (mixed && !shown->mixed) continue;
        sum->traces += shown->weight.traces;
        sum->spans += shown->weight.spans;
        sum->total_ns += (gint64)MIN((guint64)shown->weight.total_ns, (guint64)(G_MAXINT64 - sum->total_ns));
        n++;
    }
    return n;
}

/* Totals first, then what is not listed, and what of them has no pattern of its own. */
static void add_totals(const Forest *forest, guint listed, guint visible, json_t *answer) {
    Weight sum;
    sum_weights(forest, 0, visible, FALSE, &sum);
    json_object_set_new(answer, "traces", json_count(sum.traces));
    json_object_set_new(answer, "spans", json_count(sum.spans));
    json_object_set_new(answer, "patterns_total", json_count(visible));
    guint n = sum_weights(forest, 0, visible, TRUE, &sum);
    if (n > 0) json_object_set_new(answer, "rare", weight_json(n, &sum));
    n = sum_weights(forest, listed, visible, FALSE, &sum);
    if (n > 0) json_object_set_new(answer, "rest", weight_json(n, &sum));
}

/* How many of the visible patterns, heaviest first, are listed: their nodes are the answer's rows. */
static guint count_listed(const Forest *forest, const Asked *asked, guint visible, guint64 limit) {
    guint64 nodes = 0, most = limit ? MIN(limit, (guint64)visible) : visible;
    guint n = 0;
    for (; n < most; n++) {
        const Shown *shown = forest->list->pdata[n];
        nodes += shown->pattern->n_nodes - 1;
        if (nodes > asked->rows_max) break;
    }
    return n;
}

/* How much there is of each: in the rows of all hosts together and, with a host, its own. */
static gboolean weigh_all(Forest *forest, const StatsFilter *all, GError **error) {
    StatsFilter filter = *all;
    if (!archive_stats_weigh(forest->archive, &filter, weigh, forest, error)) return FALSE;
    if (forest->filter->host == 0) return TRUE;
    filter.by_host = TRUE;
    filter.host = forest->filter->host;
    return archive_stats_weigh(forest->archive, &filter, weigh, forest, error);
}

static void note_removed(void *arg, guint32 minute, const RemovedMinute *removed) {
    (void)minute;
    const Forest *forest = arg;
    for (guint i = 0; i < removed->patterns->len && allowance_goes_on(); i++) {
        const RemovedPattern *pattern = &g_array_index(removed->patterns, RemovedPattern, i);
        Member *member = g_hash_table_lookup(forest->members, GUINT_TO_POINTER(pattern->pattern));
        if (member && member->shown) member->shown->removed += pattern->traces;
    }
}

/* Statistics count traces that are not stored any more. */
static gboolean find_removed(Forest *forest, GError **error) {
    const Period *period = &forest->filter->period;
    return archive_removed(forest->archive, &(RemovedPeriod){period->since_ns, period->until_ns, note_removed, forest},
                           error);
}

/* Those that late spans have left no trace of do not count. */
static void count_members(Forest *forest) {
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, forest->members);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, NULL, &data)) {
        const Member *member = data;
        if (!member->shown || member->traces == 0) continue;
        member->shown->members++;
        member->shown->incomplete |= member->incomplete;
        member->shown->mixed |= member->mixed;
    }
}

/* StatsPlace, of all hosts together. */
static GArray *listed_places(const Forest *forest) {
    GArray *places = g_array_new(FALSE, FALSE, sizeof(StatsPlace));
    GHashTableIter iter;
    gpointer number, data;
    g_hash_table_iter_init(&iter, forest->members);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &number, &data)) {
        const Member *member = data;
        const StatsPlace place = {.object = GPOINTER_TO_UINT(number)};
        if (member->shown && member->shown->listed) g_array_append_val(places, place);
    }
    g_array_set_size(places, stats_places_tidy((StatsPlace *)(gpointer)places->data, places->len));
    return places;
}

/* The nodes of those that are listed, from the same rows. */
static gboolean sum_listed(Forest *forest, const StatsFilter *all, GError **error) {
    g_autoptr(GArray) places = listed_places(forest);
    StatsFilter filter = *all;
    filter.places = (const StatsPlace *)(gconstpointer)places->data;
    filter.n_places = places->len;
    if (!archive_stats(forest->archive, &filter, sum_nodes, forest, error)) return FALSE;
    if (forest->filter->host == 0) return TRUE;
    filter.by_host = TRUE;
    filter.host = forest->filter->host;
    for (guint i = 0; i < places->len; i++) g_array_index(places, StatsPlace, i).cell = stats_cell(filter.host);
    return archive_stats(forest->archive, &filter, sum_nodes, forest, error);
}

static gboolean forest_patterns(Forest *forest, const Asked *asked, ForestOrder *order, json_t *answer,
                                GError **error) {
    const ForestFilter *filter = forest->filter;
    StatsFilter stored = {.kind = STATS_PATTERN,
                          .since_ns = filter->period.since_ns,
                          .until_ns = filter->period.until_ns,
                          .object = filter->pattern,
                          .role = -1};
    gboolean none = filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32;
    if (!none && !(weigh_all(forest, &stored, error) && find_removed(forest, error))) return FALSE;
    count_members(forest);
    guint visible = count_visible(forest);
    if (visible == 0 && !known_host(asked, error)) return FALSE;
    allowance_sort(forest->list->pdata, visible, sizeof(gpointer), compare_shown, &order->sort);

    guint n = count_listed(forest, asked, visible, order->limit);
    for (guint i = 0; i < n && allowance_goes_on(); i++) {
        Shown *shown = forest->list->pdata[i];
        shown->listed = TRUE;
        shown->sum = pattern_sum_new(shown->pattern);
    }
    if (n > 0 && !sum_listed(forest, &stored, error)) return FALSE;
    if (!find_hosts(forest, &stored, error) || !find_examples(forest, n, error)) return FALSE;
    add_totals(forest, n, visible, answer);
    if (n < visible) json_object_set_new(answer, "more", json_true());
    json_t *list = json_array();
    json_object_set_new(answer, "patterns", list);
    for (guint i = 0; i < n && allowance_check(error); i++)
        json_array_append_new(list, shown_json(forest, forest->list->pdata[i]));
    return allowance_check(error);
}

json_t *answer_forest(const Asked *asked, GError **error) {
    static const char *const levels[] = {"forest", "tree", NULL};
    static const char *const sorts[] = {"total_ns", "calls", "traces", "critical_ns", NULL};
    g_auto(ForestFilter) filter = {0};
    ForestOrder order = {SORT_TOTAL, 20};
    guint level = 0;

    if (!forest_filter_parse(asked, &filter, error) || !params_choice(asked->params, "level", levels, &level, error) ||
        !params_choice(asked->params, "sort", sorts, &order.sort, error) ||
        !params_count(asked->params, "limit", &order.limit, error))
        return NULL;

    json_auto_t *answer = json_object();
    json_add_period(answer, asked->archive, filter.period, level == 0);
    json_object_set_new(answer, "level", json_string(levels[level]));

    if (level == 1) {
        if (!forest_trees(asked, &filter, &order, answer, error)) return NULL;
    } else {
        g_auto(Forest) forest = {0};
        forest_init(&forest, asked->archive, &filter);
        if (!forest_patterns(&forest, asked, &order, answer, error)) return NULL;
    }

    return g_steal_pointer(&answer);
}
