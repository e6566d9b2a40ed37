/* Statistics against sums made by hand, and what must hold of merging and of late spans. */
#include <string.h>

#include "analyzer/calltree/stats/stats_code.h"
#include "analyzer/calltree/stats/stats_group.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"

#define FORESTS 3000u

typedef struct Made {
    CallTree *tree;
    TreeTimes *times;
    Pattern *pattern;
    guint32 *node_of;
} Made;

static Made make(Compressor *compressor, GPtrArray *spans, gint64 tolerance_ns) {
    Made made = {.tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, tolerance_ns, NULL)};
    made.node_of = g_new(guint32, made.tree->n_nodes);
    made.pattern = compressor_tree(compressor, made.tree, made.node_of);
    made.times = times_compute(made.tree, made.node_of);
    return made;
}

static void made_clear(Made *made) {
    tree_free(made->tree);
    times_free(made->times);
    pattern_unref(made->pattern);
    g_free(made->node_of);
}

static guint id_hash(gconstpointer id) {
    guint hash;
    memcpy(&hash, id, sizeof hash);
    return hash;
}

static gboolean id_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(PatternId)) == 0; }

/* As the store does: one number for each id. */
static guint32 pattern_number(const Pattern *pattern) {
    static GHashTable *numbers;
    if (numbers == NULL) numbers = g_hash_table_new_full(id_hash, id_equal, g_free, NULL);
    gpointer number = g_hash_table_lookup(numbers, &pattern->id);
    if (number == NULL) {
        number = GUINT_TO_POINTER(1 + g_hash_table_size(numbers));
        g_hash_table_insert(numbers, g_memdup2(&pattern->id, sizeof pattern->id), number);
    }
    return GPOINTER_TO_UINT(number);
}

static StatsTrace stats_trace(const Made *made) {
    return (StatsTrace){made->tree, made->times, made->node_of, pattern_number(made->pattern), NULL, NULL};
}

/* In one go, or functions and pattern each for itself. */
static void add_all(StatsGroup *group, const Made *made, gboolean at_once) {
    const StatsTrace trace = stats_trace(made);
    if (at_once) {
        stats_group_add(group, &trace);
        return;
    }
    stats_group_add_functions(group, made->tree, made->times, NULL);
    stats_group_add_pattern(group, &trace);
}

/* ---- groups as bytes ---- */

static void append_value(void *arg, const StatsKey *key, Bytes value) {
    append_bytes(arg, key, sizeof *key);
    append_bytes(arg, value.data, value.size_bytes);
}

static GByteArray *group_bytes(StatsGroup *group) {
    GByteArray *out = g_byte_array_new();
    stats_group_seal(group, append_value, out);
    return out;
}

static gboolean same_bytes(const GByteArray *a, const GByteArray *b) {
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* ---- by hand ---- */

typedef struct Sums {
    guint64 calls, total, least, greatest, byte_calls, bytes, rates;
    gint64 self, critical, zero, small, millisecond, reversed, outside, orphan;
    Wide squares;
} Sums;

static void sum_of_span(Sums *sums, const Made *made, const World *world, guint32 i) {
    const SpanRec *span = made->tree->span[i];
    guint64 duration = span->duration_ns < 0 ? 0 : (guint64)span->duration_ns;

    sums->least = sums->calls == 0 ? duration : MIN(sums->least, duration);
    sums->greatest = MAX(sums->greatest, duration);
    sums->calls++;
    sums->total += duration;
    sums->squares += (Wide)duration * duration;
    sums->self += made->times->self_ns[i];
    sums->critical += made->times->critical_ns[i];
    sums->millisecond += span->flags & SPAN_MILLISECONDS ? 1 : 0;
    sums->reversed += span->duration_ns < 0;
    sums->outside += (made->tree->flags[i] & NODE_OUTSIDE_PARENT) != 0;
    sums->orphan += (made->tree->flags[i] & NODE_ORPHAN) != 0;

    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key != world_bytes_key(world)) continue;
        g_autofree char *text = g_strndup(annotation.value, annotation.length);
        if (strspn(text, "0123456789") != annotation.length || annotation.length == 0) continue;
        guint64 bytes = MIN(g_ascii_strtoull(text, NULL, 10), DIST_VALUE_MAX);

        sums->byte_calls++;
        sums->bytes += bytes;
        sums->zero += bytes == 0;
        sums->small += bytes < 4096;
        sums->rates += duration > 0;
    }
}

typedef struct Check {
    guint32 seed;
    const Made *made;
    const World *world;
    guint rows, functions, placeholders;
    /* Of all pattern rows, by function: what compression must not change. */
    Sums by_name[WORLD_NAMES], by_name_compressed[WORLD_NAMES];
} Check;

static void check_sums(guint32 seed, const NodeStats *stats, const Sums *sums, gboolean summary) {
    forest_check(seed, stats->duration.count == sums->calls && stats->duration.sum == sums->total);
    Wide squares = (Wide)stats->duration.squares_hi << 64 | stats->duration.squares_lo;
    forest_check(seed, squares == sums->squares);
    forest_check(seed, stats->bytes.count == sums->byte_calls && stats->bytes.sum == sums->bytes);
    forest_check(seed, dist_is_summary(&stats->duration) == summary);
    if (!summary) {
        forest_check(seed, stats->duration.min == sums->least && stats->duration.max == sums->greatest);
        forest_check(seed, stats->rate.count == sums->rates);
    }
    forest_check(seed, stats->self_ns == sums->self && stats->critical_ns == sums->critical);
    forest_check(seed, stats->zero_byte_calls == sums->zero && stats->small_calls == sums->small);
    forest_check(seed, stats->millisecond_calls == sums->millisecond && stats->reversed_calls == sums->reversed);
    forest_check(seed, stats->outside_parent_calls == sums->outside && stats->orphan_calls == sums->orphan);
}

static gboolean in_function_row(const Check *check, const StatsKey *key, const SpanRec *span) {
    Role role;
    guint32 host;
    check->world->lookup.process(check->world->lookup.arg, span->tracer, &role, &host);
    gint64 minute = span->begin_ns < 0 ? 0 : span->begin_ns / G_GINT64_CONSTANT(60000000000);
    gboolean on_host = key->cell == 0 || (host == key->host && key->cell == stats_cell(host));
    return span->name == key->object && role == key->role && on_host && minute == key->bucket;
}

static gboolean in_pattern_row(const Check *check, const StatsKey *key, const SpanRec *span) {
    Role role;
    guint32 host;
    check->world->lookup.process(check->world->lookup.arg, span->tracer, &role, &host);
    return key->cell == 0 || (host == key->host && key->cell == stats_cell(host));
}

/* The trace itself, and placeholders: in rows of all hosts together only. */
static gboolean is_virtual(const Check *check, guint32 node) {
    return node == 0 || check->made->pattern->nodes[node].name == NAME_MISSING;
}

static void check_virtual(Check *check, const StatsKey *key, guint32 node, const NodeStats *stats) {
    const CallTree *tree = check->made->tree;
    forest_check(check->seed, key->cell == 0);
    if (node == 0) {
        forest_check(check->seed, stats->duration.count == 1);
        forest_check(check->seed, stats->duration.sum == (guint64)(tree->end_ns - tree->begin_ns));
        return;
    }
    check->placeholders += stats->duration.count;
}

static void check_row(void *arg, const StatsKey *key, StatsRow *row) {
    Check *check = arg;
    const CallTree *tree = check->made->tree;
    gboolean function = key->kind == STATS_FUNCTION;
    check->rows++;
    check->functions += function;

    for (guint r = 0; r < stats_row_size(row); r++) {
        guint32 node;
        NodeStats *stats = stats_row_at(row, r, &node);
        Sums sums = {0};
        if (!function && is_virtual(check, node)) {
            check_virtual(check, key, node, stats);
            continue;
        }

        for (guint32 i = 1; i < tree->n_nodes; i++) {
            if (tree->span[i] == NULL) continue;
            gboolean counts = function ? in_function_row(check, key, tree->span[i])
                                       : check->made->node_of[i] == node && in_pattern_row(check, key, tree->span[i]);
            if (counts) sum_of_span(&sums, check->made, check->world, i);
        }

        forest_check(check->seed, sums.calls > 0);
        check_sums(check->seed, stats, &sums, !function && key->cell != 0);
        if (function || key->cell != 0) continue;

        guint32 name = check->made->pattern->nodes[node].name;
        for (guint n = 0; n < WORLD_NAMES; n++) {
            if (world_name(check->world, n) != name) continue;
            check->by_name_compressed[n].calls += stats->duration.count;
            check->by_name_compressed[n].total += stats->duration.sum;
            check->by_name_compressed[n].bytes += stats->bytes.sum;
        }
    }
}

/* Counts, sums and bytes per function are the same before and after compression. */
static void check_compression(Check *check) {
    const CallTree *tree = check->made->tree;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        for (guint n = 0; tree->span[i] != NULL && n < WORLD_NAMES; n++) {
            if (world_name(check->world, n) != tree->span[i]->name) continue;
            sum_of_span(&check->by_name[n], check->made, check->world, i);
        }
    }
    for (guint n = 0; n < WORLD_NAMES; n++) {
        const Sums *a = &check->by_name[n], *b = &check->by_name_compressed[n];
        forest_check(check->seed, a->calls == b->calls && a->total == b->total && a->bytes == b->bytes);
    }
}

/* ---- what must hold ---- */

static gboolean same_place(const Made *first, guint32 i, const Made *all, guint32 j) {
    const guint8 neighbours = NODE_ORPHAN | NODE_OUTSIDE_PARENT;
    return first->times->self_ns[i] == all->times->self_ns[j] &&
           first->times->critical_ns[i] == all->times->critical_ns[j] &&
           (first->tree->flags[i] & neighbours) == (all->tree->flags[j] & neighbours);
}

/* How each call stands to the other version. */
static void share(const Made *first, guint8 *of_first, const Made *all, guint8 *of_all) {
    for (guint32 j = 1; j < all->tree->n_nodes; j++) {
        for (guint32 i = 1; i < first->tree->n_nodes; i++) {
            const SpanRec *a = all->tree->span[j], *b = first->tree->span[i];
            if (a == NULL || b == NULL || !span_id_equal(a->id, b->id)) continue;
            of_first[i] = of_all[j] = CALL_IN_BOTH | (same_place(first, i, all, j) ? CALL_SAME_PLACE : 0);
        }
    }
}

/* Spans that came after their trace was counted: what was counted of it is taken back, and all is as if they had come
 * in time. */
static void check_late_spans(guint32 seed, const World *world, Compressor *compressor, const Forest *forest,
                             gint64 tolerance_ns) {
    g_autoptr(GPtrArray) early = g_ptr_array_new();
    for (guint i = 0; i < 1 + seed % forest->spans->len; i++) g_ptr_array_add(early, forest->spans->pdata[i]);
    g_autoptr(StatsGroup) late = stats_group_new(&world->lookup, TRUE);
    g_autoptr(StatsGroup) at_once = stats_group_new(&world->lookup, TRUE);
    Made first = make(compressor, early, tolerance_ns), all = make(compressor, forest->spans, tolerance_ns);
    g_autofree guint8 *of_first = g_new0(guint8, first.tree->n_nodes);
    g_autofree guint8 *of_all = g_new0(guint8, all.tree->n_nodes);
    share(&first, of_first, &all, of_all);
    stats_group_add_functions(late, first.tree, first.times, NULL);
    stats_group_retract_functions(late, first.tree, first.times, of_first);
    stats_group_add_functions(late, all.tree, all.times, of_all);
    stats_group_add_functions(at_once, all.tree, all.times, NULL);
    g_autoptr(GByteArray) a = group_bytes(late);
    g_autoptr(GByteArray) b = group_bytes(at_once);
    forest_check(seed, same_bytes(a, b));
    made_clear(&first);
    made_clear(&all);
}

static void test_forests(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 2000);
    g_autoptr(StatsGroup) group = stats_group_new(&world.lookup, TRUE);
    const ForestOptions options = {40, FOREST_WILD};
    guint32 base = run_seed();
    gsize empty_bytes = stats_group_size_bytes(group);

    for (guint32 seed = base; seed != base + FORESTS; seed++) {
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        gint64 tolerance_ns = (seed % 3) * 5 * forest->unit_ns;
        Made made = make(compressor, forest->spans, tolerance_ns);
        add_all(group, &made, seed % 2 == 0);
        forest_check(seed, stats_group_size_bytes(group) >= empty_bytes + 100);

        Check check = {.seed = seed, .made = &made, .world = &world};
        stats_group_foreach(group, check_row, &check);
        forest_check(seed, check.placeholders == made.tree->counts.placeholders);
        forest_check(seed, check.functions > 0 && check.rows > check.functions);

        check_compression(&check);
        if (!forest->conflicts) check_late_spans(seed, &world, compressor, forest, tolerance_ns);
        stats_group_clear(group);
        made_clear(&made);
    }
}

/* Values by key. */
typedef GHashTable Values;

static Values *values_new(void) {
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                 (GDestroyNotify)g_byte_array_unref);
}

static void merge_value(void *arg, const StatsKey *key, Bytes value) {
    Values *values = arg;
    GBytes *name = g_bytes_new(key, sizeof *key);
    const GByteArray *before = g_hash_table_lookup(values, name);
    GByteArray *sum = g_byte_array_new();
    const Bytes both[2] = {value, before != NULL ? (Bytes){before->data, before->len} : value};
    g_assert_true(stats_value_merge(both, before != NULL ? 2 : 1, sum));
    g_hash_table_replace(values, name, sum);
}

static void take_value(void *arg, const StatsKey *key, Bytes value) {
    Values *values = arg;
    g_autoptr(GBytes) name = g_bytes_new(key, sizeof *key);
    const GByteArray *is = g_hash_table_lookup(values, name);
    g_assert_nonnull(is);
    g_assert_cmpmem(is->data, is->len, value.data, value.size_bytes);
    g_hash_table_remove(values, name);
}

/* All that is in 'values' is in the group, and nothing else; what is empty is as good as not there. */
static void assert_same_values(Values *values, StatsGroup *group) {
    stats_group_seal(group, take_value, values);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, values);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const GByteArray *left = value;
        g_assert_true(stats_value_empty((Bytes){left->data, left->len}));
    }
}

enum { PARTS = 7 };

typedef struct Parts {
    StatsGroup *groups[PARTS];
    Values *values[PARTS];
} Parts;

static void merge_all(Values *into, Values *from) {
    GHashTableIter iter;
    gpointer name, value;
    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &name, &value)) {
        const GByteArray *bytes = value;
        merge_value(into, g_bytes_get_data(name, NULL), (Bytes){bytes->data, bytes->len});
    }
}

/* The statistics of parts, merged, are those of the whole, to the byte, whatever the parts, their order and grouping.
 */
static void test_merging(gconstpointer n_hosts) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 2000);
    g_autoptr(StatsGroup) whole = stats_group_new(&world.lookup, TRUE);
    Parts parts;
    for (guint p = 0; p < PARTS; p++) parts.groups[p] = stats_group_new(&world.lookup, TRUE);
    const ForestOptions options = {40, FOREST_WILD};
    guint32 base = run_seed();
    g_test_message("seed %u", base);

    for (guint32 seed = base; seed != base + 1500; seed++) {
        if (n_hosts != NULL) world.first_tracer = 4 * (seed * 7919 % GPOINTER_TO_UINT(n_hosts));
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        Made made = make(compressor, forest->spans, 0);
        add_all(whole, &made, TRUE);
        add_all(parts.groups[g_random_int_range(0, PARTS)], &made, seed % 2 == 0);
        made_clear(&made);
    }

    for (guint p = 0; p < PARTS; p++) {
        parts.values[p] = values_new();
        stats_group_seal(parts.groups[p], merge_value, parts.values[p]);
        stats_group_free(parts.groups[p]);
    }

    for (guint left = PARTS; left > 1; left--) {
        guint from = (guint)g_random_int_range(0, (gint32)left);
        guint into = (guint)g_random_int_range(0, (gint32)left - 1);
        if (into >= from) into++;
        merge_all(parts.values[into], parts.values[from]);
        g_hash_table_unref(parts.values[from]);
        parts.values[from] = parts.values[left - 1];
        if (into == left - 1) into = from;
    }

    assert_same_values(parts.values[0], whole);
    g_hash_table_unref(parts.values[0]);
}

static void subtract_row(void *arg, const StatsKey *key, Bytes value) {
    Values *values = arg;
    g_autoptr(GBytes) name = g_bytes_new(key, sizeof *key);
    const GByteArray *from = g_hash_table_lookup(values, name);
    g_assert_nonnull(from);
    if (key->cell != 0) return;
    g_autoptr(StatsRow) row = stats_row_new();
    g_autoptr(StatsRow) less = stats_row_new();
    g_assert_true(stats_row_merge_encoded(row, (Bytes){from->data, from->len}));
    g_assert_true(stats_row_merge_encoded(less, value));
    g_assert_true(stats_row_take(row, less));
    GByteArray *left = g_byte_array_new();
    stats_row_encode(row, left);
    g_hash_table_replace(values, g_bytes_ref(name), left);
}

/* Two traces less one of them are the other one, to the byte: rows of all hosts by subtraction, rows of patterns by
 * host by adding it with a minus sign, and rows of functions by host are never taken back. */
static void test_subtracting(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 2000);
    const ForestOptions options = {30, FOREST_WILD}; /* two of them have no more than 64 calls: all is exact */
    guint32 base = run_seed();
    g_test_message("seed %u", base);

    for (guint32 seed = base; seed != base + 1000; seed++) {
        g_autoptr(StatsGroup) one = stats_group_new(&world.lookup, TRUE);
        g_autoptr(StatsGroup) other = stats_group_new(&world.lookup, TRUE);
        g_autoptr(StatsGroup) back = stats_group_new(&world.lookup, TRUE);
        g_autoptr(GHashTable) values = values_new();
        for (guint i = 0; i < 2; i++) {
            g_autoptr(Forest) forest = forest_new(&world, seed + i, &options);
            Made made = make(compressor, forest->spans, 0);
            const StatsTrace trace = stats_trace(&made);
            stats_group_add_pattern(i == 0 ? one : other, &trace);
            if (i == 0) stats_group_retract_pattern_hosts(seed % 2 == 0 ? back : other, &trace);
            made_clear(&made);
        }

        stats_group_seal(one, merge_value, values);
        stats_group_seal(other, merge_value, values);
        stats_group_seal(back, merge_value, values);
        stats_group_seal(one, subtract_row, values);
        if (seed % 2 == 0) assert_same_values(values, other);

        g_autoptr(StatsGroup) alone = stats_group_new(&world.lookup, TRUE);
        g_autoptr(Forest) forest = forest_new(&world, seed + 1, &options);
        Made made = make(compressor, forest->spans, 0);
        const StatsTrace trace = stats_trace(&made);
        stats_group_add_pattern(alone, &trace);
        if (seed % 2 == 1) assert_same_values(values, alone);
        made_clear(&made);
    }
}

/* ---- small things ---- */

/* Of a mixed pattern that is full, one node has calls of all functions: each is counted under its own all the same. */
static void test_other_calls(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 2000);
    const ForestOptions options = {40, FOREST_WILD};
    guint32 base = run_seed();

    for (guint32 seed = base; seed != base + 300; seed++) {
        g_autoptr(StatsGroup) at_once = stats_group_new(&world.lookup, TRUE);
        g_autoptr(StatsGroup) apart = stats_group_new(&world.lookup, TRUE);
        g_autoptr(Forest) forest = forest_new(&world, seed, &options);
        Made made = make(compressor, forest->spans, 0);
        g_autofree guint32 *row_of = g_new(guint32, made.pattern->n_nodes);
        for (guint32 i = 0; i < made.pattern->n_nodes; i++) row_of[i] = MIN(i, 2);

        StatsTrace trace = stats_trace(&made);
        trace.row_of = row_of;
        stats_group_add(at_once, &trace);
        stats_group_add_functions(apart, made.tree, made.times, NULL);
        stats_group_add_pattern(apart, &trace);

        g_autoptr(GByteArray) a = group_bytes(at_once), b = group_bytes(apart);
        forest_check(seed, same_bytes(a, b));
        made_clear(&made);
    }
}

static void test_buckets(void) {
    static const struct {
        StatsLevel level;
        gint64 time_ns;
        guint32 bucket;
    } cases[] = {
        {LEVEL_MINUTE, 0, 0},
        {LEVEL_MINUTE, -1, 0},
        {LEVEL_MINUTE, G_MININT64, 0},
        {LEVEL_MINUTE, G_GINT64_CONSTANT(59999999999), 0},
        {LEVEL_MINUTE, G_GINT64_CONSTANT(60000000000), 1},
        {LEVEL_HOUR, G_GINT64_CONSTANT(3599999999999), 0},
        {LEVEL_HOUR, G_GINT64_CONSTANT(1605956000000000000), 446098},
        {LEVEL_DAY, G_GINT64_CONSTANT(1605956000000000000), 18587},
        {LEVEL_MINUTE, G_MAXINT64, 153722867},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpuint(stats_bucket(cases[i].level, cases[i].time_ns), ==, cases[i].bucket);
    }

    for (StatsLevel level = 0; level < LEVEL_COUNT; level++) {
        g_assert_cmpuint(stats_bucket(level, 5 * stats_bucket_ns(level)), ==, 5);
    }
}

static char *hex_of(StatsRow *row) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    GString *hex = g_string_new(NULL);
    stats_row_encode(row, bytes);
    for (guint i = 0; i < bytes->len; i++) g_string_append_printf(hex, "%02x", bytes->data[i]);
    return g_string_free(hex, FALSE);
}

/* Stores hold these bytes. */
static void test_golden(void) {
    g_autoptr(StatsRow) row = stats_row_new();
    dist_add(&stats_row_node(row, 5)->duration, 7);
    stats_row_node(row, 5)->self_ns = 7;
    stats_row_node(row, 5)->orphan_calls = -1;
    stats_row_node(row, 9); /* with nothing in it */
    dist_add(&stats_row_node(row, 2)->bytes, 0);
    stats_row_node(row, 2)->zero_byte_calls = 1;
    stats_row_node(row, 2)->small_calls = 1;

    /* A row of all hosts. Node 2: bits 1, 7, 8; a scaled 0; 1; 1. Node 5, two further on: bits 0, 5 (no time on the
     * critical path), 12; 7; -1. */
    g_autofree char *hex = hex_of(row);
    g_assert_cmpstr(hex, ==,
                    "01"
                    "02"
                    "8203"
                    "0300"
                    "02"
                    "02"
                    "02"
                    "a120"
                    "0207"
                    "01");

    dist_add(&stats_row_node(row, 0)->duration, 3000000);
    g_autofree char *with_first = hex_of(row);
    g_assert_cmpstr(with_first, ==,
                    "01"
                    "00"
                    "09" /* bits 0, 3: no self time */
                    "0303"
                    "809bee02" /* 3,000,000 more than it */
                    "01"
                    "8203"
                    "0300"
                    "02"
                    "02"
                    "02"
                    "a120"
                    "0207"
                    "01");
}

static const struct {
    const char *what;
    guint8 bytes[12];
    guint n;
} malformed[] = {
    {"nothing", {0}, 0},
    {"unknown form", {4}, 1},
    {"no bits", {1, 0}, 2},
    {"bits of 0", {1, 0, 0}, 3},
    {"unknown bits", {1, 0, 0x80, 0x80, 1}, 5},
    {"bits of sums", {1, 0, 0x80, 0x40}, 4},
    {"on the critical path and not", {1, 0, 0x30, 2}, 4},
    {"milliseconds twice", {1, 0, 0xc0, 4, 2}, 5},
    {"no distribution", {1, 0, 1}, 3},
    {"empty distribution", {1, 0, 1, 0}, 4},
    {"malformed distribution", {1, 0, 1, 4, 5}, 5},
    {"no counter", {1, 0, 8}, 3},
    {"node too large", {1, 0x80, 0x80, 0x80, 0x80, 0x10, 8, 2}, 8},
    {"next node too large", {1, 5, 8, 2, 0xfa, 0xff, 0xff, 0xff, 0x0f, 8, 2}, 11},
};

static const struct {
    const char *what;
    guint8 bytes[12];
    guint n;
} malformed_cells[] = {
    {"no form", {0}, 0},
    {"form of a row", {1}, 1},
    {"no length", {2, 5}, 2},
    {"no row", {2, 5, 0}, 3},
    {"row cut", {3, 5, 3, 0, 0}, 5},
    {"host too large", {3, 0x80, 0x80, 0x80, 0x80, 0x10, 2, 0, 1}, 9},
    {"row with a distribution cut", {2, 5, 2, 0, 1}, 5},
    {"sums without bits", {3, 5, 2, 0, 0}, 5},
    {"sums cut", {3, 5, 2, 0, 1}, 5},
};

static void test_malformed(void) {
    for (guint i = 0; i < G_N_ELEMENTS(malformed); i++) {
        g_autoptr(StatsRow) row = stats_row_new();
        stats_row_node(row, 3)->self_ns = 4;
        if (stats_row_merge_encoded(row, (Bytes){malformed[i].bytes, malformed[i].n})) {
            g_error("accepted: %s", malformed[i].what);
        }
    }

    for (guint i = 0; i < G_N_ELEMENTS(malformed_cells); i++) {
        StatsHosts hosts;
        g_autoptr(StatsRow) row = stats_row_new();
        gboolean good = TRUE;
        stats_hosts_begin(&hosts, (Bytes){malformed_cells[i].bytes, malformed_cells[i].n});
        while (good && stats_hosts_next(&hosts)) good = stats_hosts_merge(&hosts, row);
        if (good && !hosts.failed) g_error("accepted: %s", malformed_cells[i].what);

        /* Beside a row of the same host with another node, so that the malformed one is not summed but copied. */
        static const guint8 other[] = {3, 5, 3, 9, 1, 2};
        const Bytes both[2] = {{malformed_cells[i].bytes, malformed_cells[i].n}, {other, sizeof other}};
        g_autoptr(GByteArray) out = g_byte_array_new();
        if (stats_value_merge(both, 2, out)) g_error("merged: %s", malformed_cells[i].what);
    }
}

/* Many nodes: found again, and visited in order. */
static void test_wide_row(void) {
    g_autoptr(StatsRow) row = stats_row_new();
    for (guint round = 0; round < 2; round++) {
        for (guint32 i = 0; i < 5000; i++) stats_row_node(row, i * 7919 % 5003)->self_ns += 1;
    }
    g_assert_cmpuint(stats_row_size(row), ==, 5000);
    guint32 before = 0;
    for (guint i = 0; i < 5000; i++) {
        guint32 node;
        g_assert_cmpint(stats_row_at(row, i, &node)->self_ns, ==, 2);
        g_assert_true(i == 0 || node > before);
        before = node;
    }
    g_assert_cmpint(stats_row_node(row, before)->self_ns, ==, 2);
}

/* ---- cells ---- */

static guint8 *put_span(GByteArray *out, const World *world, guint32 tracer, guint64 id, gint64 duration_ns) {
    const SpanRec head = {.id = {7, id},
                          .begin_ns = G_GINT64_CONSTANT(1605956000000000000),
                          .duration_ns = duration_ns,
                          .name = world_name(world, 1),
                          .tracer = world_tracer(world, tracer)};
    SpanBuilder builder = span_builder_begin(out, &head);
    span_builder_end(&builder);
    return out->data;
}

typedef struct Walk {
    guint32 before;
    guint hosts, cells;
    guint64 calls, total_ns;
    StatsKind kind;
} Walk;

static void walk_value(void *arg, const StatsKey *key, Bytes value) {
    Walk *walk = arg;
    if (key->kind != walk->kind || key->cell == 0) return;
    walk->cells++;

    StatsHosts hosts;
    stats_hosts_begin(&hosts, value);
    while (stats_hosts_next(&hosts)) {
        g_assert_cmpuint(stats_cell(hosts.host), ==, key->cell);
        g_assert_cmpuint(hosts.host, >, walk->before);
        walk->before = hosts.host;
        walk->hosts++;

        g_autoptr(StatsRow) row = stats_row_new();
        guint32 node;
        g_assert_true(stats_hosts_merge(&hosts, row));
        const NodeStats *stats = stats_row_at(row, 0, &node);
        g_assert_cmpuint(stats->duration.count, ==, walk->hosts % 3 + 1);
        g_assert_cmpuint(stats->duration.sum, ==, (guint64)walk->hosts * (walk->hosts % 3 + 1));
        walk->calls += stats->duration.count;
        walk->total_ns += stats->duration.sum;
    }

    g_assert_false(hosts.failed);
}

/* 3,000 hosts, their rows spread over the cells in ascending order, and all of them together in cell 0. */
static void test_cells(void) {
    enum { HOSTS = 3000 };
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    guint64 n = 0;

    for (guint32 host = HOSTS; host >= 1; host--) {
        for (guint call = 0; call <= host % 3; call++) put_span(bytes, &world, 4 * host, ++n, host);
    }

    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
    g_autoptr(StatsGroup) group = stats_group_new(&world.lookup, TRUE);
    Made made = make(compressor, spans, 0);
    add_all(group, &made, TRUE);

    for (StatsKind kind = STATS_FUNCTION; kind <= STATS_PATTERN; kind++) {
        Walk walk = {.kind = kind};
        stats_group_seal(group, walk_value, &walk);
        g_assert_cmpuint(walk.hosts, ==, HOSTS);
        g_assert_cmpuint(walk.calls, ==, n);
        g_assert_cmpuint(walk.cells, ==, stats_cell(world_host(4 * HOSTS)) - stats_cell(world_host(4)) + 1);
    }

    g_assert_cmpuint(stats_cell(0), ==, 1);
    g_assert_cmpuint(stats_cell(G_MAXUINT32), ==, STATS_CELLS_MAX);
    made_clear(&made);
}

static void print_value(void *arg, const StatsKey *key, Bytes value) {
    if (key->cell == 0) return;
    g_string_append_printf(arg, "%s%u:%u ", ((GString *)arg)->len > 0 ? " " : "", key->kind, key->cell);
    for (gsize i = 0; i < value.size_bytes; i++) g_string_append_printf(arg, "%02x", ((const guint8 *)value.data)[i]);
}

/* Stores hold these bytes, too. */
static void test_golden_cells(void) {
    World world;
    world_init(&world, 0);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    put_span(bytes, &world, 0, 1, 300); /* on host 500 */
    put_span(bytes, &world, 8, 2, 7);   /* on host 502 */
    put_span(bytes, &world, 8, 3, 9);
    put_span(bytes, &world, 64, 4, 0); /* on host 516, in the next cell */

    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
    g_autoptr(StatsGroup) group = stats_group_new(&world.lookup, TRUE);
    g_autoptr(GString) text = g_string_new(NULL);
    Made made = make(compressor, spans, 0);
    add_all(group, &made, TRUE);
    stats_group_seal(group, print_value, text);

    /* Hosts 500 and, one further on than the next, 502: length, node 0, bit 0 for durations; 300; 7 and 2 more. Host
     * 516: a scaled 0. Then the pattern's node 1: bits 1 (300); 0, 1, 2 (2 calls, 16, squares 130); 0 (1 call). */
    g_assert_cmpstr(text->str, ==,
                    "0:1 02f403050001"
                    "02ac02"
                    "01050001"
                    "040702"
                    " 0:2 0284040400010300"
                    " 1:1 03f403040102d804"
                    "01060107"
                    "04208402"
                    " 1:2 03840403010102");

    made_clear(&made);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_random_set_seed(run_seed());
    g_test_add_func("/calltree/stats/forests", test_forests);
    g_test_add_data_func("/calltree/stats/merging/few hosts", GUINT_TO_POINTER(0), test_merging);
    g_test_add_data_func("/calltree/stats/merging/3000 hosts", GUINT_TO_POINTER(3000), test_merging);
    g_test_add_func("/calltree/stats/subtracting", test_subtracting);
    g_test_add_func("/calltree/stats/other calls", test_other_calls);
    g_test_add_func("/calltree/stats/buckets", test_buckets);
    g_test_add_func("/calltree/stats/golden", test_golden);
    g_test_add_func("/calltree/stats/golden-cells", test_golden_cells);
    g_test_add_func("/calltree/stats/cells", test_cells);
    g_test_add_func("/calltree/stats/malformed", test_malformed);
    g_test_add_func("/calltree/stats/wide row", test_wide_row);
    return g_test_run();
}
