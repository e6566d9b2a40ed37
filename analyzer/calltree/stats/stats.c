/* Rows in memory. Their values, and those of cells, are described in stats_value.c. */
#include "analyzer/calltree/stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/stats/stats_code.h"
#include "analyzer/calltree/stats/stats_row.h"

gint64 stats_bucket_ns(StatsLevel level) {
    static const gint64 lengths[LEVEL_COUNT] = {
        [LEVEL_MINUTE] = G_GINT64_CONSTANT(60000000000),
        [LEVEL_HOUR] = G_GINT64_CONSTANT(3600000000000),
        [LEVEL_DAY] = G_GINT64_CONSTANT(86400000000000),
    };
    return lengths[level];
}

guint32 stats_bucket(StatsLevel level, gint64 time_ns) {
    gint64 bucket = time_ns <= 0 ? 0 : time_ns / stats_bucket_ns(level);
    return (guint32)MIN(bucket, G_MAXUINT32);
}

void node_stats_init(NodeStats *stats) { memset(stats, 0, sizeof *stats); }

void node_stats_clear(NodeStats *stats) {
    for (guint i = 0; i < DISTS; i++) dist_clear(node_dist(stats, i));
    node_stats_init(stats);
}

void node_stats_merge(NodeStats *into, const NodeStats *from) {
    dist_merge(&into->duration, &from->duration);
    dist_merge(&into->bytes, &from->bytes);
    dist_merge(&into->rate, &from->rate);
    const gint64 *more = &from->self_ns;
    for (guint i = 0; i < COUNTERS; i++) node_counters(into)[i] = wrap_add(node_counters(into)[i], more[i]);
}

gsize node_stats_bytes(const NodeStats *stats) {
    return dist_bytes(&stats->duration) + dist_bytes(&stats->bytes) + dist_bytes(&stats->rate);
}

/* ---- rows ---- */

StatsRow *stats_row_new(void) { return g_new0(StatsRow, 1); }

void stats_row_free(StatsRow *row) {
    if (row == NULL) return;
    for (guint i = 0; i < row->n; i++) node_stats_clear(&row->entries[i].stats);
    if (row->entries != &row->single) g_free(row->entries);
    g_free(row->table);
    g_free(row);
}

static void index_rows(StatsRow *row, guint32 size) {
    g_free(row->table);
    row->table = g_new0(guint32, size);
    row->table_size = size;
    for (guint i = 0; i < row->n; i++) {
        guint32 at = row_hash(row->entries[i].node) & (size - 1);
        while (row->table[at] != 0) at = (at + 1) & (size - 1);
        row->table[at] = i + 1;
    }
}

static void grow_entries(StatsRow *row) {
    guint room = row->room == 0 ? 1 : row->room == 1 ? 4 : row->room * 2;
    if (room == 1) {
        row->entries = &row->single;
    } else if (row->entries == &row->single) {
        row->entries = g_new(RowEntry, room);
        row->entries[0] = row->single;
    } else {
        row->entries = g_renew(RowEntry, row->entries, room);
    }
    row->room = room;
}

static RowEntry *add_entry(StatsRow *row, guint32 node) {
    if (row->n == row->room) grow_entries(row);
    RowEntry *entry = &row->entries[row->n++];
    entry->node = node;
    node_stats_init(&entry->stats);
    if (row->n > 1 && row->entries[row->n - 2].node > node) row->unsorted = TRUE;
    if (row->n > ROW_LINEAR && row->n * 2 > row->table_size) {
        index_rows(row, MAX(4 * ROW_LINEAR, row->table_size * 2));
    } else if (row->table != NULL) {
        guint32 at = row_hash(node) & (row->table_size - 1);
        while (row->table[at] != 0) at = (at + 1) & (row->table_size - 1);
        row->table[at] = row->n;
    }
    return entry;
}

NodeStats *stats_row_node(StatsRow *row, guint32 node) {
    RowEntry *entry = row_find(row, node);
    return &(entry != NULL ? entry : add_entry(row, node))->stats;
}

guint stats_row_size(const StatsRow *row) { return row->n; }

gsize stats_row_bytes(const StatsRow *row) {
    gsize bytes = sizeof *row + row->table_size * sizeof *row->table;
    if (row->entries != &row->single) bytes += row->room * sizeof *row->entries;
    for (guint i = 0; i < row->n; i++) bytes += node_stats_bytes(&row->entries[i].stats);
    return bytes;
}

static int by_node(const void *a, const void *b) {
    guint32 x = ((const RowEntry *)a)->node, y = ((const RowEntry *)b)->node;
    return (x > y) - (x < y);
}

static void sort_entries(StatsRow *row) {
    if (!row->unsorted) return;
    qsort(row->entries, row->n, sizeof *row->entries, by_node);
    row->unsorted = FALSE;
    if (row->table != NULL) index_rows(row, row->table_size);
}

NodeStats *stats_row_at(StatsRow *row, guint i, guint32 *node) {
    sort_entries(row);
    *node = row->entries[i].node;
    return &row->entries[i].stats;
}

void stats_row_merge(StatsRow *into, StatsRow *from) {
    sort_entries(from);
    for (guint i = 0; i < from->n; i++) {
        node_stats_merge(stats_row_node(into, from->entries[i].node), &from->entries[i].stats);
    }
}

static gboolean take_node(NodeStats *from, NodeStats *what) {
    for (guint i = 0; i < DISTS; i++) {
        if (!dist_take(node_dist(from, i), node_dist(what, i))) return FALSE;
    }
    const gint64 *less = node_counters(what);
    for (guint i = 0; i < COUNTERS; i++) node_counters(from)[i] = wrap_sub(node_counters(from)[i], less[i]);
    return TRUE;
}

static void drop_empty_nodes(StatsRow *row) {
    guint kept = 0;
    for (guint i = 0; i < row->n; i++) {
        RowEntry *entry = &row->entries[i];
        if (node_bits(&entry->stats) == 0)
            node_stats_clear(&entry->stats);
        else
            row->entries[kept++] = *entry;
    }
    if (kept == row->n) return;
    row->n = kept;
    if (row->table != NULL) index_rows(row, row->table_size);
}

gboolean stats_row_take(StatsRow *from, StatsRow *what) {
    for (guint i = 0; i < what->n; i++) {
        if (!take_node(stats_row_node(from, what->entries[i].node), &what->entries[i].stats)) return FALSE;
    }
    drop_empty_nodes(from);
    return TRUE;
}

/* ---- as values ---- */

/* Nodes without anything are left out: what was added and taken back again leaves no trace, so the bytes depend on
 * the sums alone. */
void stats_row_encode(StatsRow *row, GByteArray *out) {
    sort_entries(row);
    append_u8(out, FORM_TOTAL);
    guint32 expected = 0;
    for (guint i = 0; i < row->n; i++) {
        NodeStats *stats = &row->entries[i].stats;
        guint bits = node_bits(stats);
        if (bits == 0) continue;
        append_varint(out, row->entries[i].node - expected);
        expected = row->entries[i].node + 1;
        node_put(stats, bits, out);
    }
}

static gboolean merge_nodes(StatsRow *into, ByteReader *reader, gboolean sums) {
    guint64 expected = 0;
    while (reader_left(reader) > 0) {
        guint64 node = get_varint(reader);
        if (reader->failed || expected > G_MAXUINT32 || node > G_MAXUINT32 - expected) return FALSE;
        node += expected;
        NodeStats *stats = stats_row_node(into, (guint32)node);
        NodeSums read = {.calls = 0};
        if (sums && !node_sums_get(&read, reader)) return FALSE;
        if (sums) node_sums_apply(&read, stats);
        if (!sums && !node_get(stats, reader)) return FALSE;
        expected = node + 1;
    }
    return TRUE;
}

gboolean stats_row_merge_encoded(StatsRow *into, Bytes value) {
    ByteReader reader = byte_reader(value.data, value.size_bytes);
    return read_u8(&reader) == FORM_TOTAL && merge_nodes(into, &reader, FALSE);
}

gboolean stats_hosts_merge(const StatsHosts *hosts, StatsRow *into) {
    ByteReader reader = byte_reader(hosts->row.data, hosts->row.size_bytes);
    return merge_nodes(into, &reader, hosts->sums);
}

gboolean stats_value_visit(const StatsKey *key, Bytes value, StatsRowVisit visit, void *arg) {
    if (key->cell == 0) {
        g_autoptr(StatsRow) row = stats_row_new();
        if (!stats_row_merge_encoded(row, value)) return FALSE;
        visit(arg, key, row);
        return TRUE;
    }
    StatsHosts hosts;
    stats_hosts_begin(&hosts, value);
    while (stats_hosts_next(&hosts)) {
        g_autoptr(StatsRow) row = stats_row_new();
        StatsKey of_host = *key;
        of_host.host = hosts.host;
        if (!stats_hosts_merge(&hosts, row)) return FALSE;
        visit(arg, &of_host, row);
    }
    return !hosts.failed;
}
