#include "analyzer/calltree/stats/stats_group.h"

#include <string.h>

#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/stats/stats_group_inside.h"

/* What sealing takes beside the log: as much again to sort it by host, half of it for its numbers, and for each target
 * its sums twice. */
#define SEAL_TARGET_BYTES 350u
/* The processes seen last, a power of two: those that run at a time were mostly numbered one after the other. */
#define TRACERS 16384u

/* No dictionary id is as large. */
static const guint32 no_host[4] = {NOTHING, NOTHING};

StatsGroup *stats_group_new(const Lookup *lookup, gboolean by_host) {
    StatsGroup *group = g_new0(StatsGroup, 1);
    group->lookup = lookup;
    group->by_host = by_host;
    key_table_init(&group->hosts);
    key_table_init(&group->patterns);
    key_table_init(&group->functions);
    key_table_init(&group->targets);
    key_table_number(&group->hosts, no_host);
    group->tracers = g_new0(TracerEntry, TRACERS);
    group->pattern_rows = g_array_new(FALSE, FALSE, sizeof(PatternRow));
    group->target_list = g_array_new(FALSE, FALSE, sizeof(Target));
    return group;
}

void stats_group_clear(StatsGroup *group) {
    for (guint i = 0; i < group->pattern_rows->len; i++)
        g_free(g_array_index(group->pattern_rows, PatternRow, i).targets);
    key_table_empty(&group->hosts);
    key_table_number(&group->hosts, no_host);
    key_table_empty(&group->patterns);
    key_table_empty(&group->functions);
    key_table_empty(&group->targets);
    g_array_set_size(group->pattern_rows, 0);
    g_array_set_size(group->target_list, 0);
    memset(group->tracers, 0, TRACERS * sizeof *group->tracers);
    log_empty(&group->log);
    group->pattern_bytes = 0;
}

void stats_group_free(StatsGroup *group) {
    if (group == NULL) return;
    stats_group_clear(group);
    key_table_clear(&group->hosts);
    key_table_clear(&group->patterns);
    key_table_clear(&group->functions);
    key_table_clear(&group->targets);
    g_free(group->tracers);
    g_array_unref(group->pattern_rows);
    g_array_unref(group->target_list);
    g_free(group);
}

gsize stats_group_size_bytes(const StatsGroup *group) {
    gsize tables = key_table_bytes(&group->hosts) + key_table_bytes(&group->patterns) +
                   key_table_bytes(&group->functions) + key_table_bytes(&group->targets);
    gsize log = log_size_bytes(&group->log);
    gsize lists =
        group->pattern_rows->len * sizeof(PatternRow) + group->target_list->len * (sizeof(Target) + SEAL_TARGET_BYTES);
    return sizeof *group + tables + lists + log + log + log / 2 + group->pattern_bytes;
}

void stats_group_hosts(const StatsGroup *group, void (*visit)(void *arg, guint32 host), void *arg) {
    for (guint32 i = 1; i < group->hosts.n; i++) visit(arg, group->hosts.keys[i][0]);
}

/* ---- what a call belongs to ---- */

static TracerEntry ask_tracer(StatsGroup *group, guint32 tracer) {
    Role role = ROLE_LOCAL;
    guint32 host = 0;
    group->lookup->process(group->lookup->arg, tracer, &role, &host);
    return (TracerEntry){tracer, role, key_table_number(&group->hosts, (const guint32[4]){host}) + 1};
}

/* Role and host of a process, asked for once. */
static inline TracerEntry tracer_entry(StatsGroup *group, guint32 tracer) {
    TracerEntry *entry = &group->tracers[tracer % TRACERS];
    if (G_UNLIKELY(entry->host == 0 || entry->tracer != tracer)) *entry = ask_tracer(group, tracer);
    return *entry;
}

static guint32 target_number(StatsGroup *group, const Target *target) {
    const guint32 key[4] = {target->pattern, target->node, target->function, target->how};
    guint32 number = key_table_number(&group->targets, key);
    if (number == group->target_list->len) g_array_append_vals(group->target_list, target, 1);
    return number;
}

static guint32 function_row(StatsGroup *group, const SpanRec *span, guint32 role) {
    return key_table_number(&group->functions,
                            (const guint32[4]){stats_bucket(LEVEL_MINUTE, span->begin_ns), span->name, role});
}

static guint32 pattern_row(StatsGroup *group, guint32 minute, guint32 pattern) {
    guint32 number = key_table_number(&group->patterns, (const guint32[4]){minute, pattern});
    if (number == group->pattern_rows->len) {
        PatternRow made = {NULL, 0};
        g_array_append_val(group->pattern_rows, made);
    }
    return number;
}

/* ---- what a span adds ---- */

static gboolean bytes_of(const SpanRec *span, guint32 key, guint64 *bytes) {
    if (key == 0 || span->n_annotations == 0) return FALSE;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key == key) return span_annotation_number(&annotation, bytes);
    }
    return FALSE;
}

static guint32 bytes_key_of(const StatsGroup *group) { return group->lookup->bytes_key(group->lookup->arg); }

/* What its neighbours in the tree can change. */
static inline Call call_place(const CallTree *tree, const TreeTimes *times, guint32 node) {
    Call call = {.self_ns = times->self_ns[node], .critical_ns = times->critical_ns[node]};
    if (tree->flags[node] & NODE_OUTSIDE_PARENT) call.flags |= CALL_OUTSIDE;
    if (tree->flags[node] & NODE_ORPHAN) call.flags |= CALL_ORPHAN;
    return call;
}

/* What the span alone says. */
static inline void call_own(Call *call, const SpanRec *span, guint32 bytes_key) {
    call->duration_ns = (guint64)span_length_ns(span);
    if (bytes_of(span, bytes_key, &call->bytes)) call->flags |= CALL_BYTES;
    if (span->flags & SPAN_MILLISECONDS) call->flags |= CALL_MILLISECONDS;
    if (span->duration_ns < 0) call->flags |= CALL_REVERSED;
}

static void count_virtual(StatsGroup *group, guint32 row, guint32 node, gint64 length_ns) {
    Target target = {.pattern = row, .node = node, .function = NOTHING};
    Call call = {.target = target_number(group, &target), .duration_ns = (guint64)length_ns};
    log_put(&group->log, 0, &call);
}

/* A missing parent lasted at least from its first child's begin to its last child's end. */
static gint64 placeholder_ns(const CallTree *tree, guint32 node) {
    gint64 begin_ns = G_MAXINT64, end_ns = G_MININT64;
    for (guint32 c = node + 1; c < tree->end[node]; c = tree->end[c]) {
        begin_ns = MIN(begin_ns, tree->span[c]->begin_ns);
        end_ns = MAX(end_ns, span_end_ns(tree->span[c]));
    }
    return interval_ns(begin_ns, end_ns);
}

/* ---- traces ---- */

/* The row's node of a node of the tree. */
static inline guint32 row_node(const StatsTrace *trace, guint32 i) {
    guint32 node = trace->node_of[i];
    return trace->row_of != NULL ? trace->row_of[node] : node;
}

static void reach_nodes(StatsGroup *group, guint32 row, const StatsTrace *trace) {
    PatternRow *pattern = &g_array_index(group->pattern_rows, PatternRow, row);
    guint32 n_nodes = 0;
    for (guint32 i = 0; i < trace->tree->n_nodes; i++) n_nodes = MAX(n_nodes, row_node(trace, i) + 1);
    if (n_nodes <= pattern->n_nodes) return;
    pattern->targets = g_renew(guint32, pattern->targets, n_nodes);
    memset(pattern->targets + pattern->n_nodes, 0, (n_nodes - pattern->n_nodes) * sizeof *pattern->targets);
    group->pattern_bytes += (n_nodes - pattern->n_nodes) * sizeof *pattern->targets;
    pattern->n_nodes = n_nodes;
}

/* The target of a call whose node was not met in this minute before, or that began in another. */
static guint32 find_target(StatsGroup *group, guint32 row, const SpanRec *span, TracerEntry process, guint32 node) {
    Target target = {.pattern = row, .node = node, .function = function_row(group, span, process.role)};
    return target_number(group, &target);
}

/* A node of a pattern is of one function; the node of a mixed pattern that has all calls without room is of any. */
static inline gboolean is_of_function(const StatsGroup *group, guint32 target, const SpanRec *span, guint32 role) {
    const guint32 function = g_array_index(group->target_list, Target, target).function;
    const guint32 *key = group->functions.keys[function];
    return key[1] == span->name && key[2] == role;
}

void stats_group_add(StatsGroup *group, const StatsTrace *trace) {
    const CallTree *tree = trace->tree;
    guint32 bytes_key = bytes_key_of(group), minute = stats_bucket(LEVEL_MINUTE, tree->begin_ns);
    guint32 row = pattern_row(group, minute, trace->pattern);
    reach_nodes(group, row, trace);
    guint32 *targets = g_array_index(group->pattern_rows, PatternRow, row).targets;

    const gint64 minute_ns = stats_bucket_ns(LEVEL_MINUTE), begin_ns = (gint64)minute * minute_ns;
    count_virtual(group, row, 0, interval_ns(tree->begin_ns, tree->end_ns));

    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (i + SPANS_AHEAD < tree->n_nodes) span_expect(tree->span[i + SPANS_AHEAD]);
        guint32 node = row_node(trace, i);
        if (span == NULL) {
            count_virtual(group, row, node, placeholder_ns(tree, i));
            continue;
        }
        TracerEntry process = tracer_entry(group, span->tracer);
        Call call = call_place(tree, trace->times, i);
        call_own(&call, span, bytes_key);
        gboolean same_minute = span->begin_ns >= begin_ns && span->begin_ns - begin_ns < minute_ns;
        if (same_minute && targets[node] != 0 &&
            (trace->row_of == NULL || is_of_function(group, targets[node] - 1, span, process.role))) {
            call.target = targets[node] - 1;
        } else {
            call.target = find_target(group, row, span, process, node);
            if (same_minute) targets[node] = call.target + 1;
        }
        log_put(&group->log, process.host - 1, &call);
    }
}

/* Calls of a trace on their way to rows of functions. */
typedef struct Calls {
    const CallTree *tree;
    const TreeTimes *times;
    const guint8 *shared;
    guint32 bytes_key;
    guint32 role_bits; /* beside the roles */
} Calls;

static void add_function(StatsGroup *group, const Calls *calls, guint32 node, Call *call, guint32 how) {
    const SpanRec *span = calls->tree->span[node];
    TracerEntry process = tracer_entry(group, span->tracer);
    Target target = {
        .pattern = NOTHING,
        .node = NOTHING,
        .function = function_row(group, span, process.role | calls->role_bits),
        .how = how,
    };
    call->target = target_number(group, &target);
    log_put(&group->log, process.host - 1, call);
}

static inline guint8 shared_of(const guint8 *shared, guint32 node) { return shared != NULL ? shared[node] : 0; }

static void add_call(StatsGroup *group, const Calls *calls, guint32 node) {
    const guint8 how = shared_of(calls->shared, node);
    if (calls->tree->span[node] == NULL || (how & CALL_SAME_PLACE)) return;
    Call call = call_place(calls->tree, calls->times, node);
    if (how == 0) call_own(&call, calls->tree->span[node], calls->bytes_key);
    add_function(group, calls, node, &call, how != 0 ? TARGET_PLACE : 0);
}

static void retract_call(StatsGroup *group, const Calls *calls, guint32 node) {
    if (calls->tree->span[node] == NULL || (shared_of(calls->shared, node) & CALL_SAME_PLACE)) return;
    Call call = call_place(calls->tree, calls->times, node);
    add_function(group, calls, node, &call, TARGET_PLACE | TARGET_NEGATIVE);
}

void stats_group_add_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times, const guint8 *shared) {
    const Calls calls = {tree, times, shared, bytes_key_of(group), 0};
    for (guint32 i = 1; i < tree->n_nodes; i++) add_call(group, &calls, i);
}

void stats_group_retract_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times,
                                   const guint8 *shared) {
    const Calls calls = {tree, times, shared, 0, 0};
    for (guint32 i = 1; i < tree->n_nodes; i++) retract_call(group, &calls, i);
}

void stats_group_add_failed(StatsGroup *group, const StatsTrace *trace, const GArray *failed) {
    const Calls calls = {trace->tree, trace->times, trace->shared, bytes_key_of(group), ROLE_FAILED};
    for (guint i = 0; i < failed->len; i++) add_call(group, &calls, g_array_index(failed, guint32, i));
}

void stats_group_retract_failed(StatsGroup *group, const StatsTrace *trace, const GArray *failed) {
    const Calls calls = {trace->tree, trace->times, trace->shared, 0, ROLE_FAILED};
    for (guint i = 0; i < failed->len; i++) retract_call(group, &calls, g_array_index(failed, guint32, i));
}

/* Targets that differ in their node alone, by that: a trace has many calls of few nodes. */
#define NODE_TARGETS 256u
typedef struct NodeTarget {
    guint32 node_1; /* number + 1; 0: free */
    guint32 target;
} NodeTarget;

static inline guint32 node_target(StatsGroup *group, NodeTarget *known, Target *target, guint32 node) {
    NodeTarget *at = &known[node % NODE_TARGETS];
    if (at->node_1 != node + 1) {
        target->node = node;
        *at = (NodeTarget){node + 1, target_number(group, target)};
    }
    return at->target;
}

static void add_pattern_calls(StatsGroup *group, const StatsTrace *trace, Target target) {
    NodeTarget known[NODE_TARGETS] = {{0, 0}};
    guint32 bytes_key = bytes_key_of(group);
    for (guint32 i = 1; i < trace->tree->n_nodes; i++) {
        const SpanRec *span = trace->tree->span[i];
        if (span == NULL || (shared_of(trace->shared, i) & CALL_SAME_ROW)) continue;
        TracerEntry process = tracer_entry(group, span->tracer);
        Call call = call_place(trace->tree, trace->times, i);
        call_own(&call, span, bytes_key);
        call.target = node_target(group, known, &target, row_node(trace, i));
        log_put(&group->log, process.host - 1, &call);
    }
}

static guint32 row_of_trace(StatsGroup *group, const StatsTrace *trace) {
    return pattern_row(group, stats_bucket(LEVEL_MINUTE, trace->tree->begin_ns), trace->pattern);
}

void stats_group_add_pattern(StatsGroup *group, const StatsTrace *trace) {
    const CallTree *tree = trace->tree;
    guint32 row = row_of_trace(group, trace);
    if (!(shared_of(trace->shared, 0) & CALL_SAME_ROW))
        count_virtual(group, row, 0, interval_ns(tree->begin_ns, tree->end_ns));
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) count_virtual(group, row, row_node(trace, i), placeholder_ns(tree, i));
    }
    add_pattern_calls(group, trace, (Target){.pattern = row, .function = NOTHING});
}

void stats_group_retract_pattern_hosts(StatsGroup *group, const StatsTrace *trace) {
    Target target = {
        .pattern = row_of_trace(group, trace),
        .function = NOTHING,
        .how = TARGET_NEGATIVE | TARGET_HOSTS_ONLY,
    };
    add_pattern_calls(group, trace, target);
}
