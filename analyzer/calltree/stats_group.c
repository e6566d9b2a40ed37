#include "analyzer/calltree/stats_group.h"

#include <string.h>

#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/stats_log.h"

/* What sealing takes beside the logs: 8 bytes for each number, sums for each target twice. */
#define SEAL_VALUE_BYTES  8u
#define SEAL_TARGET_BYTES 320u

StatsGroup *stats_group_new(const Lookup *lookup, gboolean by_host) {
    StatsGroup *group = g_new0(StatsGroup, 1);
    group->lookup = lookup;
    group->by_host = by_host;
    key_table_init(&group->hosts);
    key_table_init(&group->patterns);
    key_table_init(&group->functions);
    key_table_init(&group->targets);
    group->logs = g_array_new(FALSE, FALSE, sizeof(CallLog));
    group->pattern_rows = g_array_new(FALSE, FALSE, sizeof(PatternRow));
    group->target_list = g_array_new(FALSE, FALSE, sizeof(Target));
    group->arena.blocks = g_ptr_array_new_with_free_func(g_free);
    return group;
}

void stats_group_clear(StatsGroup *group) {
    for (guint i = 0; i < group->pattern_rows->len; i++)
        g_free(g_array_index(group->pattern_rows, PatternRow, i).targets);
    key_table_empty(&group->hosts);
    key_table_empty(&group->patterns);
    key_table_empty(&group->functions);
    key_table_empty(&group->targets);
    g_array_set_size(group->logs, 0);
    g_array_set_size(group->pattern_rows, 0);
    g_array_set_size(group->target_list, 0);
    memset(group->tracers, 0, sizeof group->tracers);
    group->virtual = (CallLog){.host = 0};
    group->arena.in_use = group->arena.at = 0;
    group->pattern_bytes = group->values = 0;
}

void stats_group_free(StatsGroup *group) {
    if (group == NULL) return;
    stats_group_clear(group);
    key_table_clear(&group->hosts);
    key_table_clear(&group->patterns);
    key_table_clear(&group->functions);
    key_table_clear(&group->targets);
    g_array_unref(group->logs);
    g_array_unref(group->pattern_rows);
    g_array_unref(group->target_list);
    g_ptr_array_unref(group->arena.blocks);
    g_free(group);
}

gsize stats_group_size_bytes(const StatsGroup *group) {
    gsize tables = key_table_bytes(&group->hosts) + key_table_bytes(&group->patterns) +
                   key_table_bytes(&group->functions) + key_table_bytes(&group->targets);
    gsize lists = group->logs->len * sizeof(CallLog) + group->pattern_rows->len * sizeof(PatternRow) +
                  group->target_list->len * (sizeof(Target) + SEAL_TARGET_BYTES);
    return sizeof *group + tables + lists + group->arena.in_use * (gsize)ARENA_BLOCK_BYTES + group->pattern_bytes +
           group->values * SEAL_VALUE_BYTES;
}

void stats_group_hosts(const StatsGroup *group, void (*visit)(void *arg, guint32 host), void *arg) {
    for (guint i = 0; i < group->logs->len; i++) visit(arg, g_array_index(group->logs, CallLog, i).host);
}

/* ---- what a call belongs to ---- */

/* Host and role of a process, asked once for many calls. */
static const TracerEntry *tracer_entry(StatsGroup *group, guint32 tracer) {
    TracerEntry *entry = &group->tracers[tracer % TRACER_CACHE];
    if (entry->known && entry->tracer == tracer) return entry;
    Role role = ROLE_LOCAL;
    guint32 host = 0;
    group->lookup->process(group->lookup->arg, tracer, &role, &host);
    guint32 log = key_table_number(&group->hosts, (const guint32[4]){host});
    if (log == group->logs->len) {
        CallLog made = {.host = host};
        g_array_append_val(group->logs, made);
    }
    *entry = (TracerEntry){tracer, role, log, TRUE};
    return entry;
}

static guint32 target_number(StatsGroup *group, const Target *target) {
    const guint32 key[4] = {target->pattern, target->node, target->function, (guint32)target->hosts_only};
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

/* Decimal digits and nothing else; what does not fit 64 bits is the greatest that does. */
static gboolean parse_bytes(const SpanAnnotation *annotation, guint64 *bytes) {
    guint64 value = 0;
    if (annotation->length == 0) return FALSE;
    for (guint32 i = 0; i < annotation->length; i++) {
        guint digit = (guint)(guint8)annotation->value[i] - '0';
        if (digit > 9) return FALSE;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) {
            value = G_MAXUINT64 / 10; /* stays too large, whatever follows */
        }
    }
    *bytes = value;
    return TRUE;
}

static gboolean bytes_of(const SpanRec *span, guint32 key, guint64 *bytes) {
    if (key == 0 || span->n_annotations == 0) return FALSE;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key == key) return parse_bytes(&annotation, bytes);
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

static inline void count_call(StatsGroup *group, CallLog *log, const Call *call) {
    log_put(log, &group->arena, call);
    Target *target = &g_array_index(group->target_list, Target, call->target);
    if (call->flags & CALL_PLACE || target->hosts_only) return;
    target->calls++;
    group->values++;
    if (!(call->flags & CALL_BYTES)) return;
    target->byte_calls++;
    target->rates += call->duration_ns > 0;
    group->values += 2;
}

static inline CallLog *log_of(StatsGroup *group, const TracerEntry *process) {
    return &g_array_index(group->logs, CallLog, process->log);
}

static void count_virtual(StatsGroup *group, guint32 row, guint32 node, gint64 length_ns) {
    Target target = {.pattern = row, .node = node, .function = NOTHING};
    Call call = {.target = target_number(group, &target), .duration_ns = (guint64)length_ns};
    count_call(group, &group->virtual, &call);
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

static void reach_nodes(StatsGroup *group, guint32 row, const StatsTrace *trace) {
    PatternRow *pattern = &g_array_index(group->pattern_rows, PatternRow, row);
    guint32 n_nodes = 0;
    for (guint32 i = 0; i < trace->tree->n_nodes; i++) n_nodes = MAX(n_nodes, trace->node_of[i] + 1);
    if (n_nodes <= pattern->n_nodes) return;
    pattern->targets = g_renew(guint32, pattern->targets, n_nodes);
    memset(pattern->targets + pattern->n_nodes, 0, (n_nodes - pattern->n_nodes) * sizeof *pattern->targets);
    group->pattern_bytes += (n_nodes - pattern->n_nodes) * sizeof *pattern->targets;
    pattern->n_nodes = n_nodes;
}

/* The target of a call whose node was not met in this minute before, or that began in another. */
static guint32 find_target(StatsGroup *group, guint32 row, const SpanRec *span, const TracerEntry *process,
                           guint32 node) {
    Target target = {.pattern = row, .node = node, .function = function_row(group, span, process->role)};
    return target_number(group, &target);
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
        guint32 node = trace->node_of[i];
        if (span == NULL) {
            count_virtual(group, row, node, placeholder_ns(tree, i));
            continue;
        }
        const TracerEntry *process = tracer_entry(group, span->tracer);
        Call call = call_place(tree, trace->times, i);
        call_own(&call, span, bytes_key);
        gboolean same_minute = span->begin_ns >= begin_ns && span->begin_ns - begin_ns < minute_ns;
        if (same_minute && targets[node] != 0) {
            call.target = targets[node] - 1;
        } else {
            call.target = find_target(group, row, span, process, node);
            if (same_minute) targets[node] = call.target + 1;
        }
        count_call(group, log_of(group, process), &call);
    }
}

static void add_function(StatsGroup *group, const SpanRec *span, Call *call) {
    const TracerEntry *process = tracer_entry(group, span->tracer);
    Target target = {.pattern = NOTHING, .node = NOTHING, .function = function_row(group, span, process->role)};
    call->target = target_number(group, &target);
    count_call(group, log_of(group, process), call);
}

void stats_group_add_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times, const guint8 *counted) {
    guint32 bytes_key = bytes_key_of(group);
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) continue;
        Call call = call_place(tree, times, i);
        if (counted == NULL || !counted[i])
            call_own(&call, tree->span[i], bytes_key);
        else
            call.flags |= CALL_PLACE;
        add_function(group, tree->span[i], &call);
    }
}

void stats_group_retract_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times) {
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) continue;
        Call call = call_place(tree, times, i);
        call.flags |= CALL_PLACE | CALL_NEGATIVE;
        add_function(group, tree->span[i], &call);
    }
}

static void add_pattern_calls(StatsGroup *group, const StatsTrace *trace, Target target, guint32 flags) {
    guint32 bytes_key = bytes_key_of(group);
    for (guint32 i = 1; i < trace->tree->n_nodes; i++) {
        const SpanRec *span = trace->tree->span[i];
        if (span == NULL) continue;
        const TracerEntry *process = tracer_entry(group, span->tracer);
        Call call = call_place(trace->tree, trace->times, i);
        call_own(&call, span, bytes_key);
        call.flags |= flags;
        target.node = trace->node_of[i];
        call.target = target_number(group, &target);
        count_call(group, log_of(group, process), &call);
    }
}

static guint32 row_of_trace(StatsGroup *group, const StatsTrace *trace) {
    return pattern_row(group, stats_bucket(LEVEL_MINUTE, trace->tree->begin_ns), trace->pattern);
}

void stats_group_add_pattern(StatsGroup *group, const StatsTrace *trace) {
    const CallTree *tree = trace->tree;
    guint32 row = row_of_trace(group, trace);
    count_virtual(group, row, 0, interval_ns(tree->begin_ns, tree->end_ns));
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) count_virtual(group, row, trace->node_of[i], placeholder_ns(tree, i));
    }
    add_pattern_calls(group, trace, (Target){.pattern = row, .function = NOTHING}, 0);
}

void stats_group_retract_pattern_hosts(StatsGroup *group, const StatsTrace *trace) {
    Target target = {.pattern = row_of_trace(group, trace), .function = NOTHING, .hosts_only = TRUE};
    add_pattern_calls(group, trace, target, CALL_NEGATIVE);
}
