#include "analyzer/archive/tables/layout.h"

#include <string.h>

#include "common/base/clock.h"

#define REPLAYED_BIT 0x80000000u

guint32 trace_second(gint64 begin_ns) {
    if (begin_ns < 0) return 0;
    gint64 second = begin_ns / NS_PER_SEC;
    return second > (gint64)G_MAXUINT32 ? G_MAXUINT32 : (guint32)second;
}

guint32 level_minutes(StatsLevel level) {
    static const guint32 minutes[LEVEL_COUNT] = {1, 60, 60 * 24};
    return minutes[level];
}

guint32 level_children(StatsLevel level) {
    static const guint32 children[LEVEL_COUNT] = {0, 60, 24};
    return children[level];
}

static void put_be(LayoutKey *key, guint64 value, guint size_bytes) {
    for (guint i = size_bytes; i-- > 0;) key->bytes[key->size_bytes++] = (guint8)(value >> (8 * i));
}

LayoutKey trace_key(const TraceKey *key) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, key->second, 4);
    put_be(&out, key->trace_id, 8);
    put_be(&out, key->part, 2);
    return out;
}

LayoutKey ids_key(guint32 minute, guint64 trace_id, guint16 part) {
    return trace_key(&(TraceKey){minute, trace_id, part}); /* it looks alike */
}

gboolean trace_key_parse(Bytes stored, TraceKey *key) {
    if (stored.size_bytes != TRACE_KEY_BYTES) return FALSE;
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    key->second = read_u32be(&r);
    key->trace_id = read_u64be(&r);
    key->part = read_u16be(&r);
    return TRUE;
}

LayoutKey trace_id_key(guint64 trace_id) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, trace_id, 8);
    return out;
}

gboolean trace_id_key_parse(Bytes stored, guint64 *trace_id) {
    if (stored.size_bytes != TRACE_ID_KEY_BYTES) return FALSE;
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    *trace_id = read_u64be(&r);
    return TRUE;
}

LayoutKey pattern_key(guint32 number) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, number, 4);
    return out;
}

LayoutKey mixed_key(guint32 number, guint32 node) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, number, 4);
    put_be(&out, node, 4);
    return out;
}

LayoutKey stats_key(const StatsKey *key) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, key->level, 1);
    put_be(&out, key->kind, 1);
    put_be(&out, key->bucket, 4);
    put_be(&out, key->cell, 2);
    put_be(&out, key->object, 4);
    put_be(&out, key->role, 1);
    return out;
}

gboolean stats_key_parse(Bytes stored, StatsKey *key) {
    if (stored.size_bytes != STATS_KEY_BYTES) return FALSE;
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    key->level = read_u8(&r);
    key->kind = read_u8(&r);
    key->bucket = read_u32be(&r);
    key->cell = read_u16be(&r);
    key->object = read_u32be(&r);
    key->role = read_u8(&r);
    key->host = 0;
    return key->level < LEVEL_COUNT && key->kind < STATS_KINDS && key->role < ROLE_COUNT;
}

static int compare_u32(guint32 a, guint32 b) { return a < b ? -1 : a > b; }

int stats_key_compare(const StatsKey *a, const StatsKey *b) {
    int order = compare_u32(a->level, b->level);
    if (order == 0) order = compare_u32(a->kind, b->kind);
    if (order == 0) order = compare_u32(a->bucket, b->bucket);
    if (order == 0) order = compare_u32(a->cell, b->cell);
    if (order == 0) order = compare_u32(a->object, b->object);
    if (order == 0) order = compare_u32(a->role, b->role);
    if (order == 0) order = compare_u32(a->host, b->host);
    return order;
}

LayoutKey totals_key(guint16 slot) {
    LayoutKey out = {.size_bytes = sizeof TOTALS_PREFIX - 1};
    memcpy(out.bytes, TOTALS_PREFIX, sizeof TOTALS_PREFIX - 1);
    put_be(&out, slot, 2);
    return out;
}

LayoutKey removed_traces_key(guint32 generation, guint64 trace_id) {
    LayoutKey out = {.size_bytes = sizeof REMOVED_TRACES_PREFIX - 1};
    memcpy(out.bytes, REMOVED_TRACES_PREFIX, sizeof REMOVED_TRACES_PREFIX - 1);
    put_be(&out, generation, 4);
    put_be(&out, trace_id, 8);
    return out;
}

LayoutKey index_key(const IndexKey *key) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, key->hour, 4);
    put_be(&out, key->bucket, 2);
    put_be(&out, key->stamp, 8);
    return out;
}

gboolean index_key_parse(Bytes stored, IndexKey *key) {
    if (stored.size_bytes != INDEX_KEY_BYTES) return FALSE;
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    key->hour = read_u32be(&r);
    key->bucket = read_u16be(&r);
    key->stamp = read_u64be(&r);
    return TRUE;
}

LayoutKey late_key(const LateKey *key) {
    LayoutKey out = {.size_bytes = 0};
    put_be(&out, key->trace_id, 8);
    put_be(&out, key->number, 8);
    return out;
}

gboolean late_key_parse(Bytes stored, LateKey *key) {
    if (stored.size_bytes != LATE_KEY_BYTES) return FALSE;
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    key->trace_id = read_u64be(&r);
    key->number = read_u64be(&r);
    return TRUE;
}

void late_head_append(const LateHead *head, GByteArray *out) {
    append_u32be(out, head->second);
    append_u32be(out, head->n_spans | (head->replayed ? REPLAYED_BIT : 0));
    append_u32be(out, head->checksum);
}

gboolean late_head_parse(Bytes value, LateHead *head) {
    if (value.size_bytes <= LATE_HEAD_BYTES) return FALSE;
    ByteReader r = byte_reader(value.data, value.size_bytes);
    head->second = read_u32be(&r);
    guint32 n = read_u32be(&r);
    head->replayed = (n & REPLAYED_BIT) != 0;
    head->n_spans = n & ~REPLAYED_BIT;
    head->checksum = read_u32be(&r);
    return TRUE;
}

gboolean trace_index_valid(Bytes value) {
    return value.size_bytes > 0 && value.size_bytes % 4 == 0 && value.size_bytes / 4 <= TRACE_MAX_PARTS;
}

guint32 trace_index_second(Bytes value, guint part) {
    ByteReader r = byte_reader((const guint8 *)value.data + 4 * (gsize)part, 4);
    return read_u32be(&r);
}

void stored_totals_add(StoredTotals *into, const StoredTotals *from) {
    into->traces += from->traces;
    into->spans += from->spans;
    into->incomplete_traces += from->incomplete_traces;
    into->late_waiting += from->late_waiting;
    into->late_next = MAX(into->late_next, from->late_next);
    if (from->any) stored_totals_cover(into, from->first_ns, from->last_ns);
}

void stored_totals_cover(StoredTotals *totals, gint64 begin_ns, gint64 end_ns) {
    totals->first_ns = totals->any ? MIN(totals->first_ns, begin_ns) : begin_ns;
    totals->last_ns = totals->any ? MAX(totals->last_ns, end_ns) : end_ns;
    totals->any = TRUE;
}

void stored_totals_encode(const StoredTotals *totals, GByteArray *out) {
    append_zigzag(out, totals->traces);
    append_zigzag(out, totals->spans);
    append_zigzag(out, totals->incomplete_traces);
    append_zigzag(out, totals->late_waiting);
    append_varint(out, totals->late_next);
    append_u8(out, totals->any ? 1 : 0);
    append_zigzag(out, totals->first_ns);
    append_zigzag(out, totals->last_ns);
}

gboolean stored_totals_decode(Bytes value, StoredTotals *totals) {
    ByteReader r = byte_reader(value.data, value.size_bytes);
    StoredTotals read = {.traces = read_zigzag(&r), .spans = read_zigzag(&r)};
    read.incomplete_traces = read_zigzag(&r);
    read.late_waiting = read_zigzag(&r);
    read.late_next = read_varint(&r);
    read.any = read_u8(&r) != 0;
    read.first_ns = read_zigzag(&r);
    read.last_ns = read_zigzag(&r);
    if (r.failed || reader_left(&r) != 0) return FALSE;
    *totals = read;
    return TRUE;
}
