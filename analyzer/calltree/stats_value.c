/* A value begins with a byte for its form.
 *
 * Row of all hosts together (FORM_TOTAL): for each node with anything in it, ascending: its number, the first as it is,
 * then less the one before and 1 (varint), and its figures as in stats_code.c, with distributions. The row ends with
 * its value.
 *
 * Cell (FORM_HOSTS, FORM_HOST_SUMS): for each host with anything in its row, ascending: its id, the first as it is,
 * then less the one before and 1 (varint), the length of its row (varint), its row: nodes as above, with distributions
 * in FORM_HOSTS and sums alone in FORM_HOST_SUMS.
 *
 * Values are merged as streams. The row of a host that is in one of them only, as most are when there are many hosts,
 * is copied as it is; no row is ever built in memory. */
#include "analyzer/calltree/stats_code.h"

typedef struct Source {
    ByteReader reader;
    guint64 at;       /* the current node, or host; G_MAXUINT64 at the end */
    guint64 expected; /* the least that can follow */
    Bytes row;        /* of the current host */
} Source;

typedef struct Merging {
    ValueForm form;
    NodeBuilder builder;
    Source *rows; /* as many as there are values */
    Buffer row;
} Merging;

static gboolean source_step(Source *source) {
    source->at = G_MAXUINT64;
    if (reader_left(&source->reader) == 0) return TRUE;
    guint64 step = get_varint(&source->reader);
    if (source->reader.failed || source->expected > G_MAXUINT32 || step > G_MAXUINT32 - source->expected) return FALSE;
    source->at = source->expected + step;
    source->expected = source->at + 1;
    return TRUE;
}

/* The least node, or host, and how many sources have it, from which on. */
typedef struct Least {
    guint64 at; /* G_MAXUINT64: all are at their ends */
    gsize n;
    gsize first;
} Least;

static Least least_of(const Source *sources, gsize n) {
    Least least = {.at = G_MAXUINT64};
    for (gsize i = 0; i < n; i++) {
        if (sources[i].at < least.at)
            least = (Least){sources[i].at, 1, i};
        else
            least.n += sources[i].at == least.at;
    }
    return least;
}

/* ---- nodes ---- */

/* A node that only this source has. */
static gboolean copy_sums(Source *source, guint64 step, Buffer *out) {
    const guint8 *begin = source->reader.at;
    if (!node_sums_skip(&source->reader)) return FALSE;
    gsize size_bytes = (gsize)(source->reader.at - begin);
    guint8 *at = put_varint(buffer_reserve(out, VARINT_MAX_BYTES + size_bytes), step);
    memcpy(at, begin, size_bytes);
    buffer_end(out, at + size_bytes);
    return source_step(source);
}

/* Sums one node over the sources that have it. FALSE: malformed. */
static gboolean merge_sums(Source *sources, Least least, NodeSums *sums) {
    for (Source *source = &sources[least.first]; least.n > 0; source++) {
        if (source->at != least.at) continue;
        if (!node_sums_get(sums, &source->reader) || !source_step(source)) return FALSE;
        least.n--;
    }
    return TRUE;
}

static gboolean merge_builder(Source *sources, Least least, NodeBuilder *builder) {
    for (Source *source = &sources[least.first]; least.n > 0; source++) {
        if (source->at != least.at) continue;
        if (!node_builder_get(builder, &source->reader) || !source_step(source)) return FALSE;
        least.n--;
    }
    return TRUE;
}

static gboolean merge_sum_rows(Source *sources, gsize n, Buffer *out) {
    guint64 expected = 0;
    for (Least least; (least = least_of(sources, n)).at != G_MAXUINT64;) {
        guint64 step = least.at - expected;
        if (least.n == 1) {
            if (!copy_sums(&sources[least.first], step, out)) return FALSE;
        } else {
            NodeSums sums = {.calls = 0};
            if (!merge_sums(sources, least, &sums)) return FALSE;
            if (node_sums_empty(&sums)) continue;
            guint8 *at = put_varint(buffer_reserve(out, VARINT_MAX_BYTES + NODE_SUMS_BYTES), step);
            buffer_end(out, node_sums_put(&sums, at));
        }
        expected = least.at + 1;
    }
    return TRUE;
}

static gboolean merge_rows(Merging *merging, Source *sources, gsize n, Buffer *out) {
    guint64 expected = 0;
    for (gsize i = 0; i < n; i++) {
        if (!source_step(&sources[i])) return FALSE;
    }
    if (merging->form == FORM_HOST_SUMS) return merge_sum_rows(sources, n, out);
    for (Least least; (least = least_of(sources, n)).at != G_MAXUINT64;) {
        if (!merge_builder(sources, least, &merging->builder)) return FALSE;
        guint bits = node_builder_bits(&merging->builder);
        if (bits == 0) continue;
        buffer_end(out, put_varint(buffer_reserve(out, VARINT_MAX_BYTES), least.at - expected));
        node_builder_put(&merging->builder, bits, out);
        expected = least.at + 1;
    }
    return TRUE;
}

/* ---- hosts ---- */

static gboolean host_step(Source *source) {
    if (!source_step(source)) return FALSE;
    if (source->at == G_MAXUINT64) return TRUE;
    guint64 size_bytes = get_varint(&source->reader);
    const guint8 *row = source->reader.failed ? NULL : read_bytes(&source->reader, size_bytes);
    source->row = (Bytes){row, size_bytes};
    return row != NULL && size_bytes > 0;
}

/* The row of one host: *row is that of the only source that has it, or the sum. */
static gboolean merge_host(Merging *merging, Source *sources, Least host, Bytes *row) {
    gsize n_rows = 0;
    for (Source *source = &sources[host.first]; n_rows < host.n; source++) {
        if (source->at != host.at) continue;
        *row = source->row;
        merging->rows[n_rows++] = (Source){.reader = byte_reader(row->data, row->size_bytes)};
        if (!host_step(source)) return FALSE;
    }
    if (n_rows == 1) return TRUE;
    merging->row.size = 0;
    if (!merge_rows(merging, merging->rows, n_rows, &merging->row)) return FALSE;
    *row = (Bytes){merging->row.bytes, merging->row.size};
    return TRUE;
}

static gboolean merge_hosts(Merging *merging, Source *sources, gsize n, Buffer *out) {
    guint64 expected = 0;
    for (gsize i = 0; i < n; i++) {
        if (!host_step(&sources[i])) return FALSE;
    }
    for (Least host; (host = least_of(sources, n)).at != G_MAXUINT64;) {
        Bytes row;
        if (!merge_host(merging, sources, host, &row)) return FALSE;
        if (row.size_bytes == 0) continue;
        guint8 *at = put_varint(buffer_reserve(out, 2 * VARINT_MAX_BYTES + row.size_bytes), host.at - expected);
        at = put_varint(at, row.size_bytes);
        memcpy(at, row.data, row.size_bytes);
        buffer_end(out, at + row.size_bytes);
        expected = host.at + 1;
    }
    return TRUE;
}

static gboolean sources_begin(Source *sources, const Bytes *values, gsize n, ValueForm *form) {
    for (gsize i = 0; i < n; i++) {
        sources[i] = (Source){.reader = byte_reader(values[i].data, values[i].size_bytes)};
        guint8 is = read_u8(&sources[i].reader);
        if (is < FORM_TOTAL || is > FORM_HOST_SUMS || (i > 0 && is != *form)) return FALSE;
        *form = is;
    }
    return n > 0;
}

gboolean stats_value_merge(const Bytes *values, gsize n, GByteArray *out) {
    g_autofree Source *sources = g_new(Source, 2 * n);
    Merging merging = {.rows = sources + n};
    Buffer merged = {NULL, 0, 0};
    if (!sources_begin(sources, values, n, &merging.form)) return FALSE;
    node_builder_init(&merging.builder);
    *buffer_reserve(&merged, values[0].size_bytes + 1) = (guint8)merging.form;
    merged.size = 1;
    gboolean ok = merging.form == FORM_TOTAL ? merge_rows(&merging, sources, n, &merged)
                                             : merge_hosts(&merging, sources, n, &merged);
    if (ok) append_bytes(out, merged.bytes, merged.size);
    node_builder_clear(&merging.builder);
    buffer_clear(&merging.row);
    buffer_clear(&merged);
    return ok;
}

gboolean stats_value_empty(Bytes value) { return value.size_bytes <= 1; }

/* ---- reading cells ---- */

void stats_hosts_begin(StatsHosts *hosts, Bytes value) {
    *hosts = (StatsHosts){.reader = byte_reader(value.data, value.size_bytes)};
    guint8 form = read_u8(&hosts->reader);
    hosts->sums = form == FORM_HOST_SUMS;
    hosts->failed = form != FORM_HOSTS && form != FORM_HOST_SUMS;
}

gboolean stats_hosts_next(StatsHosts *hosts) {
    if (hosts->failed) return FALSE;
    Source source = {.reader = hosts->reader, .expected = hosts->expected};
    hosts->failed = !host_step(&source);
    if (hosts->failed || source.at == G_MAXUINT64) return FALSE;
    hosts->reader = source.reader;
    hosts->expected = source.expected;
    hosts->host = (guint32)source.at;
    hosts->row = source.row;
    return TRUE;
}

/* ---- weights ---- */

static gboolean weigh_nodes(Source row, gboolean sums_only, NodeWeightVisit visit, void *arg) {
    for (;;) {
        NodeSums sums = {.calls = 0};
        if (!source_step(&row)) return FALSE;
        if (row.at == G_MAXUINT64) return TRUE;
        if (!(sums_only ? node_sums_get(&sums, &row.reader) : node_told(&sums, &row.reader))) return FALSE;
        const NodeWeight weight = {(guint32)row.at, sums.calls, sums.total_ns, sums.counters[COUNT_SELF],
                                   sums.counters[COUNT_CRITICAL]};
        visit(arg, &weight);
    }
}

gboolean stats_value_weigh(Bytes value, NodeWeightVisit visit, void *arg) {
    Source row = {.reader = byte_reader(value.data, value.size_bytes)};
    return read_u8(&row.reader) == FORM_TOTAL && weigh_nodes(row, FALSE, visit, arg);
}

gboolean stats_hosts_weigh(const StatsHosts *hosts, NodeWeightVisit visit, void *arg) {
    const Source row = {.reader = byte_reader(hosts->row.data, hosts->row.size_bytes)};
    return weigh_nodes(row, hosts->sums, visit, arg);
}
