/* Figures of a node. A varint of bits says which fields follow; each field is written only when it cannot be told from
 * those before, because one call of a leaf, the most frequent row of all, then takes its duration and little else.
 *
 *   bit 0-2   duration, bytes, rate: a Dist as in dist.c
 *   bit 3     self time is not the sum of the durations: their difference follows
 *   bit 4     critical-path time is neither the self time nor 0: self time less it follows
 *   bit 5     critical-path time is 0, self time is not
 *   bit 6     as many calls are timed in milliseconds as there are, and that is not 0
 *   bit 7-12  calls without bytes, small ones, in milliseconds (not with bit 6), reversed, outside parent, orphans
 *
 * Sums of a node have no distributions; bits 0 to 2 are instead:
 *   bit 0     the number of calls is not 1: it follows
 *   bit 1     the sum of the durations is not 0: it follows
 *   bit 2     the sum of the squares is not the calls times the square of that sum, as it is for one call: it follows,
 *             128 bits
 *   bit 13    calls with bytes, and the sum of their bytes
 *
 * Numbers behind the bits are in their order, signed ones zig-zag coded varints. */
#include "analyzer/calltree/stats/stats_code.h"

#include <string.h>

#define BIT_SELF         3u
#define BIT_CRITICAL     4u
#define BIT_OFF_PATH     5u
#define BIT_MILLISECONDS 6u
#define BIT_FIRST        7u /* of COUNT_ZERO_BYTES and those behind it */
#define BIT_BYTES        13u
#define BITS_MAX         (1u << 14)
#define WIDE_BYTES       19u /* of a varint of 128 bits; in NODE_SUMS_BYTES */

/* A further counter would take the bit of the bytes: then stored bytes need another form. */
G_STATIC_ASSERT(BIT_FIRST + COUNTERS - COUNT_ZERO_BYTES <= BIT_BYTES);

static inline guint64 zigzag(gint64 value) { return (guint64)value << 1 ^ (guint64)(value >> 63); }
static inline gint64 unzigzag(guint64 coded) { return (gint64)(coded >> 1) ^ -(gint64)(coded & 1); }

/* ---- counters, the same in both forms ---- */

static inline guint place_bits(gint64 total_ns, gint64 self_ns, gint64 critical_ns) {
    guint bits = (guint)(self_ns != total_ns) << BIT_SELF;
    if (critical_ns != self_ns) bits |= 1u << (critical_ns == 0 ? BIT_OFF_PATH : BIT_CRITICAL);
    return bits;
}

static guint rare_bits(gint64 calls, const gint64 *counters) {
    guint bits = 0;
    gboolean all_ms = calls != 0 && counters[COUNT_MILLISECONDS] == calls;
    if (all_ms) bits |= 1u << BIT_MILLISECONDS;
    for (guint i = COUNT_ZERO_BYTES; i < COUNTERS; i++) {
        if (i == COUNT_MILLISECONDS && all_ms) continue;
        bits |= (guint)(counters[i] != 0) << (BIT_FIRST + i - COUNT_ZERO_BYTES);
    }
    return bits;
}

static guint counter_bits(gint64 calls, gint64 total_ns, const gint64 *counters) {
    return place_bits(total_ns, counters[COUNT_SELF], counters[COUNT_CRITICAL]) | rare_bits(calls, counters);
}

static guint8 *put_counters(guint8 *at, guint bits, gint64 total_ns, const gint64 *counters) {
    gint64 self_ns = counters[COUNT_SELF];
    if (bits >> BIT_SELF & 1) at = put_varint_wide(at, zigzag(wrap_sub(total_ns, self_ns)));
    if (bits >> BIT_CRITICAL & 1) at = put_varint_wide(at, zigzag(wrap_sub(self_ns, counters[COUNT_CRITICAL])));
    if (bits >> BIT_FIRST == 0) return at;
    for (guint i = COUNT_ZERO_BYTES; i < COUNTERS; i++) {
        if (bits >> (BIT_FIRST + i - COUNT_ZERO_BYTES) & 1) at = put_varint_wide(at, zigzag(counters[i]));
    }
    return at;
}

/* Adds them. */
static gboolean get_counters(ByteReader *reader, guint bits, const gint64 calls_and_total[2], gint64 *counters) {
    gint64 self_ns = calls_and_total[1], critical_ns;
    if (bits >> BIT_SELF & 1) self_ns = wrap_sub(self_ns, unzigzag(get_varint(reader)));
    critical_ns = self_ns;
    if (bits >> BIT_CRITICAL & 1) critical_ns = wrap_sub(self_ns, unzigzag(get_varint(reader)));
    if (bits >> BIT_OFF_PATH & 1) critical_ns = 0;
    counters[COUNT_SELF] = wrap_add(counters[COUNT_SELF], self_ns);
    counters[COUNT_CRITICAL] = wrap_add(counters[COUNT_CRITICAL], critical_ns);
    if (bits >> BIT_MILLISECONDS & 1)
        counters[COUNT_MILLISECONDS] = wrap_add(counters[COUNT_MILLISECONDS], calls_and_total[0]);
    for (guint rest = bits >> BIT_FIRST; rest != 0; rest &= rest - 1) {
        gint64 *counter = &counters[COUNT_ZERO_BYTES + (guint)__builtin_ctz(rest)];
        *counter = wrap_add(*counter, unzigzag(get_varint(reader)));
    }
    return !reader->failed;
}

static gboolean bits_valid(guint64 bits) {
    if (bits == 0 || bits >= BITS_MAX) return FALSE;
    if (bits >> BIT_OFF_PATH & 1 && bits >> BIT_CRITICAL & 1) return FALSE;
    return !(bits >> BIT_MILLISECONDS & 1) || !(bits >> (BIT_FIRST + COUNT_MILLISECONDS - COUNT_ZERO_BYTES) & 1);
}

static void append_counters(GByteArray *out, guint bits, gint64 total_ns, const gint64 *counters) {
    guint8 coded[VARINT_MAX_BYTES * COUNTERS];
    append_bytes(out, coded, (gsize)(put_counters(coded, bits, total_ns, counters) - coded));
}

/* ---- with distributions ---- */

guint node_bits(NodeStats *stats) {
    guint bits = counter_bits((gint64)stats->duration.count, (gint64)stats->duration.sum, node_counters(stats));
    for (guint i = 0; i < DISTS; i++) bits |= (guint)(node_dist(stats, i)->count > 0) << i;
    return bits;
}

void node_put(NodeStats *stats, guint bits, GByteArray *out) {
    gint64 total_ns = (gint64)stats->duration.sum;
    append_varint(out, bits);
    for (guint i = 0; i < DISTS; i++) {
        if (bits >> i & 1) dist_encode(node_dist(stats, i), out);
    }
    append_counters(out, bits, total_ns, node_counters(stats));
}

gboolean node_get(NodeStats *stats, ByteReader *reader) {
    guint64 bits = get_varint(reader);
    guint64 told[DISTS][2] = {{0, 0}};
    if (!bits_valid(bits) || bits >> BIT_BYTES & 1) return FALSE;
    for (guint i = 0; i < DISTS; i++) {
        if (!(bits >> i & 1)) continue;
        if (!dist_merge_told(node_dist(stats, i), reader, &told[i][0], &told[i][1]) || told[i][0] == 0) return FALSE;
    }
    const gint64 calls_and_total[2] = {(gint64)told[0][0], (gint64)told[0][1]};
    return get_counters(reader, (guint)bits, calls_and_total, node_counters(stats));
}

gboolean node_counters_get(ByteReader *reader, guint64 bits, const gint64 calls_and_total[2], gint64 *counters) {
    return bits_valid(bits) && !(bits >> BIT_BYTES & 1) && get_counters(reader, (guint)bits, calls_and_total, counters);
}

gboolean node_told(NodeSums *sums, ByteReader *reader) {
    guint64 bits = get_varint(reader), told[DISTS][2] = {{0, 0}};
    if (!bits_valid(bits) || bits >> BIT_BYTES & 1) return FALSE;
    for (guint i = 0; i < DISTS; i++) {
        if (!(bits >> i & 1)) continue;
        if (!dist_told(reader, &told[i][0], &told[i][1]) || told[i][0] == 0) return FALSE;
    }
    *sums = (NodeSums){.calls = (gint64)told[DIST_DURATION][0], .total_ns = (gint64)told[DIST_DURATION][1]};
    const gint64 calls_and_total[2] = {sums->calls, sums->total_ns};
    return get_counters(reader, (guint)bits, calls_and_total, sums->counters);
}

void node_builder_init(NodeBuilder *builder) {
    for (guint i = 0; i < DISTS; i++) dist_builder_init(&builder->dists[i]);
    memset(builder->counters, 0, sizeof builder->counters);
}

void node_builder_clear(NodeBuilder *builder) {
    for (guint i = 0; i < DISTS; i++) dist_builder_clear(&builder->dists[i]);
}

guint node_builder_bits(const NodeBuilder *builder) {
    const SketchHead *duration = &builder->dists[DIST_DURATION].head;
    guint bits = counter_bits((gint64)duration->count, (gint64)duration->sum, builder->counters);
    for (guint i = 0; i < DISTS; i++) bits |= (guint)(builder->dists[i].head.count > 0) << i;
    return bits;
}

void node_builder_put(NodeBuilder *builder, guint bits, Buffer *out) {
    gint64 total_ns = (gint64)builder->dists[DIST_DURATION].head.sum;
    gsize room = VARINT_MAX_BYTES * (1 + COUNTERS);
    for (guint i = 0; i < DISTS; i++) room += dist_builder_room(&builder->dists[i]);
    guint8 *at = put_varint(buffer_reserve(out, room), bits);
    for (guint i = 0; i < DISTS; i++) {
        if (bits >> i & 1) at = dist_builder_put(&builder->dists[i], at);
    }
    buffer_end(out, put_counters(at, bits, total_ns, builder->counters));
    memset(builder->counters, 0, sizeof builder->counters);
}

gboolean node_builder_get(NodeBuilder *builder, ByteReader *reader) {
    guint64 bits = get_varint(reader);
    guint64 told[DISTS][2] = {{0, 0}};
    if (!bits_valid(bits) || bits >> BIT_BYTES & 1) return FALSE;
    for (guint i = 0; i < DISTS; i++) {
        if (!(bits >> i & 1)) continue;
        if (!dist_builder_add_encoded(&builder->dists[i], reader, &told[i][0], &told[i][1]) || told[i][0] == 0)
            return FALSE;
    }
    const gint64 calls_and_total[2] = {(gint64)told[0][0], (gint64)told[0][1]};
    return get_counters(reader, (guint)bits, calls_and_total, builder->counters);
}

guint8 *node_few_put(const FewNumbers few[DISTS], const NodeSums *sums, guint8 *at) {
    gint64 total_ns = 0;
    for (guint i = 0; i < few[DIST_DURATION].n; i++) total_ns += (gint64)few[DIST_DURATION].numbers[i];
    guint bits = place_bits(total_ns, sums->counters[COUNT_SELF], sums->counters[COUNT_CRITICAL]);
    if (sums->rare) bits |= rare_bits((gint64)few[DIST_DURATION].n, sums->counters);
    for (guint i = 0; i < DISTS; i++) bits |= (guint)(few[i].n > 0) << i;
    if (bits == 0) return at;
    at = put_varint(at, bits);
    for (guint i = 0; i < DISTS; i++) {
        if (few[i].n == 0) continue;
        dist_sort_values(few[i].numbers, few[i].n);
        at = dist_put_exact(at, few[i].numbers, few[i].n);
    }
    return put_counters(at, bits, total_ns, sums->counters);
}

/* ---- sums ---- */

void node_sums_add(NodeSums *into, const NodeSums *from) {
    into->calls = wrap_add(into->calls, from->calls);
    into->total_ns = wrap_add(into->total_ns, from->total_ns);
    into->squares += from->squares;
    into->counters[COUNT_SELF] = wrap_add(into->counters[COUNT_SELF], from->counters[COUNT_SELF]);
    into->counters[COUNT_CRITICAL] = wrap_add(into->counters[COUNT_CRITICAL], from->counters[COUNT_CRITICAL]);
    if (!from->rare) return;
    into->rare = TRUE;
    into->byte_calls = wrap_add(into->byte_calls, from->byte_calls);
    into->bytes = wrap_add(into->bytes, from->bytes);
    for (guint i = COUNT_ZERO_BYTES; i < COUNTERS; i++)
        into->counters[i] = wrap_add(into->counters[i], from->counters[i]);
}

gboolean node_sums_empty(const NodeSums *sums) {
    if (sums->calls != 0) return FALSE;
    gint64 any = sums->total_ns | sums->byte_calls | sums->bytes;
    for (guint i = 0; i < COUNTERS; i++) any |= sums->counters[i];
    return any == 0 && sums->squares == 0;
}

/* What the squares of one call, or of one that is taken back, add up to. */
static Wide expected_squares(gint64 calls, gint64 total_ns) {
    guint64 length_ns = total_ns < 0 ? 0 - (guint64)total_ns : (guint64)total_ns;
    Wide square = (Wide)length_ns * length_ns;
    return calls == 1 ? square : calls == -1 ? -square : 0;
}

static guint8 *put_wide(guint8 *at, Wide value) {
    Wide coded = value << 1 ^ (value >> 127 ? ~(Wide)0 : 0);
    for (; coded >> 64 != 0; coded >>= 7) *at++ = (guint8)((guint8)coded | 0x80);
    return put_varint_wide(at, (guint64)coded);
}

static Wide get_wide(ByteReader *reader) {
    Wide coded = 0;
    /* That of few calls, which is nearly every one, ends within eight bytes. */
    if (reader_left(reader) >= VARINT_MAX_BYTES && varint_is_short(reader->at)) {
        coded = get_varint(reader);
        return coded >> 1 ^ (coded & 1 ? ~(Wide)0 : 0);
    }
    for (guint i = 0; i < WIDE_BYTES; i++) {
        guint8 byte = read_u8(reader);
        coded |= (Wide)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) return coded >> 1 ^ (coded & 1 ? ~(Wide)0 : 0);
    }
    reader->failed = TRUE;
    return 0;
}

guint8 *node_sums_put(const NodeSums *sums, guint8 *at) {
    guint bits = place_bits(sums->total_ns, sums->counters[COUNT_SELF], sums->counters[COUNT_CRITICAL]);
    if (sums->rare) {
        bits |= rare_bits(sums->calls, sums->counters);
        bits |= (guint)((sums->byte_calls | sums->bytes) != 0) << BIT_BYTES;
    }
    bits |= (guint)(sums->calls != 1) | (guint)(sums->total_ns != 0) << 1;
    bits |= (guint)(sums->squares != expected_squares(sums->calls, sums->total_ns)) << 2;

    /* One call that took no time: all bits are 0, which says "nothing" everywhere else. */
    if (bits == 0) bits = 1;

    at = put_varint(at, bits);
    if (bits & 1) at = put_varint_wide(at, zigzag(sums->calls));
    if (bits & 2) at = put_varint_wide(at, zigzag(sums->total_ns));
    if (bits & 4) at = put_wide(at, sums->squares);
    at = put_counters(at, bits & ~(1u << BIT_BYTES), sums->total_ns, sums->counters);

    if (bits >> BIT_BYTES & 1) {
        at = put_varint_wide(at, zigzag(sums->byte_calls));
        at = put_varint_wide(at, zigzag(sums->bytes));
    }
    return at;
}

gboolean node_sums_get(NodeSums *sums, ByteReader *reader) {
    guint64 bits = get_varint(reader);
    if (!bits_valid(bits)) return FALSE;
    gint64 calls = 1, total_ns = 0;
    if (bits & 1) calls = unzigzag(get_varint(reader));
    if (bits & 2) total_ns = unzigzag(get_varint(reader));
    sums->calls = wrap_add(sums->calls, calls);
    sums->total_ns = wrap_add(sums->total_ns, total_ns);
    sums->squares += bits & 4 ? get_wide(reader) : expected_squares(calls, total_ns);
    const gint64 calls_and_total[2] = {calls, total_ns};
    if (!get_counters(reader, (guint)bits & ~(1u << BIT_BYTES), calls_and_total, sums->counters)) return FALSE;
    if (bits >> BIT_MILLISECONDS == 0) return TRUE;
    sums->rare = TRUE;
    if (bits >> BIT_BYTES & 1) {
        sums->byte_calls = wrap_add(sums->byte_calls, unzigzag(get_varint(reader)));
        sums->bytes = wrap_add(sums->bytes, unzigzag(get_varint(reader)));
    }
    return !reader->failed;
}

gboolean node_sums_skip(ByteReader *reader) {
    guint64 bits = get_varint(reader);
    if (!bits_valid(bits)) return FALSE;
    const guint64 no_number = 1u << BIT_OFF_PATH | 1u << BIT_MILLISECONDS;
    guint64 behind = bits >> BIT_SELF << BIT_SELF & ~no_number;
    for (guint64 i = (bits & 1) + (bits >> 1 & 1); i > 0; i--) skip_varint(reader);
    if (bits & 4) get_wide(reader);
    for (; behind != 0; behind &= behind - 1) skip_varint(reader);
    if (bits >> BIT_BYTES & 1) skip_varint(reader); /* two numbers */
    return !reader->failed;
}

/* Together with all that was taken back, sums are those of stored calls: none is negative. */
static Dist summary(gint64 count, gint64 sum, Wide squares) {
    if (count <= 0) return (Dist){.count = 0};
    return (Dist){.count = (guint64)count,
                  .sum = (guint64)MAX(sum, 0),
                  .squares_hi = (guint64)(squares >> 64),
                  .squares_lo = (guint64)squares};
}

void node_sums_apply(const NodeSums *sums, NodeStats *stats) {
    Dist duration = summary(sums->calls, sums->total_ns, sums->squares);
    Dist bytes = summary(sums->byte_calls, sums->bytes, 0);
    dist_merge(&stats->duration, &duration);
    dist_merge(&stats->bytes, &bytes);
    for (guint i = 0; i < COUNTERS; i++) node_counters(stats)[i] = wrap_add(node_counters(stats)[i], sums->counters[i]);
}
