#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/dist_heap.h"
#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/process_cache.h"
#include "analyzer/calltree/stats_row.h"

#define SMALL_BYTES 4096u
#define FIRST_TABLE 256u

/* A StatsKey of a minute, packed: it is compared once per span. */
typedef struct GroupKey {
    guint32 bucket;
    guint32 object;
    guint32 host;
    guint16 role;
    guint16 kind;
} GroupKey;

typedef struct GroupSlot {
    GroupKey key;
    StatsRow *row; /* NULL: empty */
} GroupSlot;

struct StatsGroup {
    ProcessCache processes;
    GroupSlot *slots; /* open addressing, at most half full */
    guint32 n_slots;
    guint32 n_rows;
    gsize rows_bytes; /* of rows, with all they hold */
};

StatsGroup *stats_group_new(const Lookup *lookup) {
    StatsGroup *group = g_new0(StatsGroup, 1);
    group->processes.lookup = lookup;
    group->n_slots = FIRST_TABLE;
    group->slots = g_new0(GroupSlot, FIRST_TABLE);
    return group;
}

static void free_rows(StatsGroup *group) {
    for (guint32 i = 0; i < group->n_slots; i++) stats_row_free(group->slots[i].row);
}

void stats_group_free(StatsGroup *group) {
    if (group == NULL) return;
    free_rows(group);
    g_free(group->slots);
    g_free(group);
}

void stats_group_clear(StatsGroup *group) {
    free_rows(group);
    memset(group->slots, 0, group->n_slots * sizeof *group->slots);
    group->n_rows = 0;
    group->rows_bytes = 0;
}

gsize stats_group_size_bytes(const StatsGroup *group) {
    return sizeof *group + group->n_slots * sizeof(GroupSlot) + group->rows_bytes;
}

/* ---- finding rows ---- */

/* Buckets and hosts are few, objects follow each other: multiplying spreads them well enough. */
static inline guint32 hash_key(const GroupKey *key) {
    guint64 h = ((guint64)key->bucket << 32 | key->object) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h = (h ^ ((guint64)key->host << 32 | (guint32)key->role << 16 | key->kind)) *
        G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    return (guint32)(h >> 32);
}

static inline gboolean same_key(const GroupKey *a, const GroupKey *b) { return memcmp(a, b, sizeof *a) == 0; }

static inline GroupSlot *find_slot(GroupSlot *slots, guint32 n_slots, const GroupKey *key) {
    guint32 at = hash_key(key) & (n_slots - 1);
    while (slots[at].row != NULL && !same_key(&slots[at].key, key)) at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static void grow_slots(StatsGroup *group) {
    guint32 n = group->n_slots * 2;
    GroupSlot *slots = g_new0(GroupSlot, n);
    for (guint32 i = 0; i < group->n_slots; i++) {
        if (group->slots[i].row != NULL) *find_slot(slots, n, &group->slots[i].key) = group->slots[i];
    }
    g_free(group->slots);
    group->slots = slots;
    group->n_slots = n;
}

static StatsRow *group_row(StatsGroup *group, const GroupKey *key) {
    GroupSlot *slot = find_slot(group->slots, group->n_slots, key);
    if (slot->row != NULL) return slot->row;
    StatsRow *row = stats_row_new();
    *slot = (GroupSlot){*key, row};
    group->rows_bytes += stats_row_bytes(row);
    if (++group->n_rows * 2 > group->n_slots) grow_slots(group);
    return row;
}

static NodeStats *row_node(StatsGroup *group, StatsRow *row, guint32 node) {
    RowEntry *entry = row_find(row, node);
    if (entry != NULL) return &entry->stats;
    gsize before = stats_row_bytes(row);
    NodeStats *stats = stats_row_node(row, node);
    group->rows_bytes += stats_row_bytes(row) - before;
    return stats;
}

static NodeStats *function_stats(StatsGroup *group, const SpanRec *span) {
    const ProcessEntry *process = process_of(&group->processes, span->tracer);
    guint32 bucket = stats_bucket(LEVEL_MINUTE, span->begin_ns);
    GroupKey key = {bucket, span->name, process->host, process->role, STATS_FUNCTION};
    return row_node(group, group_row(group, &key), 0);
}

/* ---- what a span adds ---- */

static void add_value(StatsGroup *group, Dist *dist, guint64 value) {
    group->rows_bytes += dist_add_growth(dist, value);
}

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

static void add_bytes(StatsGroup *group, NodeStats *stats, guint64 bytes, gint64 duration_ns) {
    add_value(group, &stats->bytes, bytes);
    if (bytes == 0) counter_add(&stats->zero_byte_calls, 1);
    if (bytes < SMALL_BYTES) counter_add(&stats->small_calls, 1);
    if (duration_ns == 0) return;
    unsigned __int128 rate = (unsigned __int128)bytes * 1000000000u / (guint64)duration_ns;
    add_value(group, &stats->rate, (guint64)MIN(rate, DIST_VALUE_MAX));
}

/* What the span alone says. */
static void add_call(StatsGroup *group, NodeStats *stats, const SpanRec *span, guint32 bytes_key) {
    gint64 duration_ns = span_length_ns(span);
    guint64 bytes;
    add_value(group, &stats->duration, (guint64)duration_ns);
    if (bytes_of(span, bytes_key, &bytes)) add_bytes(group, stats, bytes, duration_ns);
    if (span->flags & SPAN_MILLISECONDS) counter_add(&stats->millisecond_calls, 1);
    if (span->duration_ns < 0) counter_add(&stats->reversed_calls, 1);
}

/* What its neighbours in the tree can change; sign -1 takes it back. */
static void add_place(NodeStats *stats, const CallTree *tree, const TreeTimes *times, guint32 node, gint sign) {
    counter_add(&stats->self_ns, sign * times->self_ns[node]);
    counter_add(&stats->critical_ns, sign * times->critical_ns[node]);
    if (tree->flags[node] & NODE_OUTSIDE_PARENT) counter_add(&stats->outside_parent_calls, sign);
    if (tree->flags[node] & NODE_ORPHAN) counter_add(&stats->orphan_calls, sign);
}

static guint32 bytes_key_of(const StatsGroup *group) {
    const Lookup *lookup = group->processes.lookup;
    return lookup->bytes_key(lookup->arg);
}

void stats_group_add_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times, const guint8 *counted) {
    guint32 bytes_key = bytes_key_of(group);
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) continue;
        NodeStats *stats = function_stats(group, tree->span[i]);
        if (counted == NULL || !counted[i]) add_call(group, stats, tree->span[i], bytes_key);
        add_place(stats, tree, times, i, 1);
    }
}

void stats_group_retract_functions(StatsGroup *group, const CallTree *tree, const TreeTimes *times) {
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] != NULL) add_place(function_stats(group, tree->span[i]), tree, times, i, -1);
    }
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

void stats_group_add_pattern(StatsGroup *group, const CallTree *tree, const TreeTimes *times, guint32 pattern,
                             const guint32 *node_of) {
    guint32 bytes_key = bytes_key_of(group);
    GroupKey key = {stats_bucket(LEVEL_MINUTE, tree->begin_ns), pattern, 0, 0, STATS_PATTERN};
    StatsRow *virtual = group_row(group, &key), *row = virtual;
    add_value(group, &row_node(group, virtual, 0)->duration, (guint64)interval_ns(tree->begin_ns, tree->end_ns));
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) {
            NodeStats *stats = row_node(group, virtual, node_of[i]);
            add_value(group, &stats->duration, (guint64)placeholder_ns(tree, i));
            continue;
        }
        guint32 host = process_of(&group->processes, span->tracer)->host;
        if (host != key.host) {
            key.host = host;
            row = group_row(group, &key);
        }
        NodeStats *stats = row_node(group, row, node_of[i]);
        add_call(group, stats, span, bytes_key);
        add_place(stats, tree, times, i, 1);
    }
}

/* ---- all rows ---- */

static int by_key(const void *a, const void *b) {
    const GroupKey *x = &(*(GroupSlot *const *)a)->key, *y = &(*(GroupSlot *const *)b)->key;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->bucket != y->bucket) return x->bucket < y->bucket ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    if (x->role != y->role) return x->role < y->role ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

void stats_group_foreach(StatsGroup *group, StatsGroupVisit visit, void *arg) {
    g_autofree GroupSlot **ordered = g_new(GroupSlot *, group->n_rows);
    guint32 n = 0;
    for (guint32 i = 0; i < group->n_slots; i++) {
        if (group->slots[i].row != NULL) ordered[n++] = &group->slots[i];
    }
    if (n > 0) qsort(ordered, n, sizeof *ordered, by_key);
    for (guint32 i = 0; i < n; i++) {
        const GroupKey *key = &ordered[i]->key;
        const StatsKey full = {LEVEL_MINUTE, (StatsKind)key->kind, key->bucket, key->object, key->role, key->host};
        visit(arg, &full, ordered[i]->row);
    }
}
