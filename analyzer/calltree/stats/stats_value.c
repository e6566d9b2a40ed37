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
#include "analyzer/calltree/stats/stats.h"
#include "analyzer/calltree/stats/stats_code.h"

typedef struct Source {
    ByteReader reader; /* ends where the value does, so that a row's last numbers are read as fast as its first */
    const guint8 *end; /* of the row, or of the value */
    guint64 expected;  /* the least that can follow */
    Bytes row;         /* of the current host */
} Source;

/* Values, or rows, that are merged. */
typedef struct Sources {
    Source *each;
    guint64 *at;    /* the current node, or host, of each; G_MAXUINT64 at its end: close together, for to look for the
                       least of them is a good part of merging */
    guint32 *first; /* numbers of those that have the least */
    gsize n;
} Sources;

typedef struct Merging {
    ValueForm form;
    NodeBuilder builder;
    Sources values, rows; /* as many rows as there are values, at most */
    Buffer row;
} Merging;

/* FALSE: malformed; or what was read before went beyond the row. */
static inline gboolean source_step(Source *source, guint64 *at) {
    *at = G_MAXUINT64;
    if (source->reader.at >= source->end) return source->reader.at == source->end;
    guint64 step = get_varint(&source->reader);
    if (source->reader.failed || source->expected > G_MAXUINT32 || step > G_MAXUINT32 - source->expected) return FALSE;
    *at = source->expected + step;
    source->expected = *at + 1;
    return TRUE;
}

/* The least node, or host, and how many sources have it: those in sources->first. */
typedef struct Least {
    guint64 at; /* G_MAXUINT64: all are at their ends */
    gsize n;
} Least;

/* Without branches: which one is the least, nobody could guess. */
static inline Least least_of(const Sources *sources) {
    const guint64 *at = sources->at;
    guint32 *first = sources->first;
    const gsize n = sources->n;
    guint64 least = G_MAXUINT64;
    gsize n_first = 0;
    for (gsize i = 0; i < n; i++) least = MIN(least, at[i]);
    for (gsize i = 0; i < n; i++) {
        first[n_first] = (guint32)i;
        n_first += at[i] == least;
    }
    return (Least){least, n_first};
}

/* ---- nodes ---- */

/* A node that only this source has. */
static gboolean copy_sums(Source *source, guint64 *source_at, guint64 step, Buffer *out) {
    const guint8 *begin = source->reader.at;
    if (!node_sums_skip(&source->reader)) return FALSE;
    gsize size_bytes = (gsize)(source->reader.at - begin);
    guint8 *at = put_varint(buffer_reserve(out, VARINT_MAX_BYTES + size_bytes), step);
    memcpy(at, begin, size_bytes);
    buffer_end(out, at + size_bytes);
    return source_step(source, source_at);
}

/* Sums one node over the sources that have it. FALSE: malformed. */
static gboolean merge_sums(Sources *sources, gsize n, NodeSums *sums) {
    for (gsize i = 0; i < n; i++) {
        guint32 k = sources->first[i];
        Source *source = &sources->each[k];
        if (!node_sums_get(sums, &source->reader) || !source_step(source, &sources->at[k])) return FALSE;
    }
    return TRUE;
}

static gboolean merge_builder(Sources *sources, gsize n, NodeBuilder *builder) {
    for (gsize i = 0; i < n; i++) {
        guint32 k = sources->first[i];
        Source *source = &sources->each[k];
        if (!node_builder_get(builder, &source->reader) || !source_step(source, &sources->at[k])) return FALSE;
    }
    return TRUE;
}

static gboolean merge_sum_rows(Sources *sources, Buffer *out) {
    guint64 expected = 0;
    NodeSums sums = {.calls = 0};

    for (Least least; (least = least_of(sources)).at != G_MAXUINT64;) {
        guint64 step = least.at - expected;
        if (least.n == 1) {
            guint32 k = sources->first[0];
            if (!copy_sums(&sources->each[k], &sources->at[k], step, out)) return FALSE;
        } else {
            if (!merge_sums(sources, least.n, &sums)) return FALSE;
            if (node_sums_empty(&sums)) {
                node_sums_clear(&sums);
                continue;
            }
            guint8 *at = put_varint(buffer_reserve(out, VARINT_MAX_BYTES + NODE_SUMS_BYTES), step);
            buffer_end(out, node_sums_put(&sums, at));
            node_sums_clear(&sums);
        }
        expected = least.at + 1;
    }

    return TRUE;
}

static gboolean merge_rows(Merging *merging, Sources *sources, Buffer *out) {
    guint64 expected = 0;
    for (gsize i = 0; i < sources->n; i++) {
        if (!source_step(&sources->each[i], &sources->at[i])) return FALSE;
    }
    if (merging->form == FORM_HOST_SUMS) return merge_sum_rows(sources, out);
    for (Least least; (least = least_of(sources)).at != G_MAXUINT64;) {
        if (!merge_builder(sources, least.n, &merging->builder)) return FALSE;
        guint bits = node_builder_bits(&merging->builder);
        if (bits == 0) continue;
        buffer_end(out, put_varint(buffer_reserve(out, VARINT_MAX_BYTES), least.at - expected));
        node_builder_put(&merging->builder, bits, out);
        expected = least.at + 1;
    }
    return TRUE;
}

/* ---- hosts ---- */

static gboolean host_step(Source *source, guint64 *at) {
    if (!source_step(source, at)) return FALSE;
    if (*at == G_MAXUINT64) return TRUE;
    guint64 size_bytes = get_varint(&source->reader);
    const guint8 *row = source->reader.failed ? NULL : read_bytes(&source->reader, size_bytes);
    source->row = (Bytes){row, size_bytes};
    return row != NULL && size_bytes > 0;
}

/* The row of the least host: *row is that of the only source that has it, or the sum. */
static gboolean merge_host(Merging *merging, gsize n, Bytes *row) {
    Sources *values = &merging->values;
    merging->rows.n = n;
    for (gsize i = 0; i < n; i++) {
        guint32 k = values->first[i];
        Source *source = &values->each[k];
        *row = source->row;
        const guint8 *begin = row->data;
        merging->rows.each[i] = (Source){.reader = source->reader, .end = begin + row->size_bytes};
        merging->rows.each[i].reader.at = begin;
        if (!host_step(source, &values->at[k])) return FALSE;
    }
    if (n == 1) return TRUE;
    merging->row.size = 0;
    if (!merge_rows(merging, &merging->rows, &merging->row)) return FALSE;
    *row = (Bytes){merging->row.bytes, merging->row.size};
    return TRUE;
}

static gboolean merge_hosts(Merging *merging, Buffer *out) {
    Sources *values = &merging->values;
    guint64 expected = 0;
    for (gsize i = 0; i < values->n; i++) {
        if (!host_step(&values->each[i], &values->at[i])) return FALSE;
    }
    for (Least host; (host = least_of(values)).at != G_MAXUINT64;) {
        Bytes row;
        if (!merge_host(merging, host.n, &row)) return FALSE;
        if (row.size_bytes == 0) continue;
        guint8 *at = put_varint(buffer_reserve(out, 2 * VARINT_MAX_BYTES + row.size_bytes), host.at - expected);
        at = put_varint(at, row.size_bytes);
        memcpy(at, row.data, row.size_bytes);
        buffer_end(out, at + row.size_bytes);
        expected = host.at + 1;
    }
    return TRUE;
}

static gboolean values_begin(Sources *sources, const Bytes *values, ValueForm *form) {
    for (gsize i = 0; i < sources->n; i++) {
        ByteReader reader = byte_reader(values[i].data, values[i].size_bytes);
        sources->each[i] = (Source){.reader = reader, .end = reader.end};
        guint8 is = read_u8(&sources->each[i].reader);
        if (is < FORM_TOTAL || is > FORM_HOST_SUMS || (i > 0 && is != *form)) return FALSE;
        *form = is;
    }
    return sources->n > 0;
}

static gboolean merge_values(Merging *merging, const Bytes *values, GByteArray *out) {
    Buffer merged = {NULL, 0, 0};
    if (!values_begin(&merging->values, values, &merging->form)) return FALSE;
    node_builder_init(&merging->builder);
    *buffer_reserve(&merged, values[0].size_bytes + 1) = (guint8)merging->form;
    merged.size = 1;
    gboolean ok =
        merging->form == FORM_TOTAL ? merge_rows(merging, &merging->values, &merged) : merge_hosts(merging, &merged);
    if (ok) append_bytes(out, merged.bytes, merged.size);
    node_builder_clear(&merging->builder);
    buffer_clear(&merging->row);
    buffer_clear(&merged);
    return ok;
}

gboolean stats_value_merge(const Bytes *values, gsize n, GByteArray *out) {
    g_autofree Source *each = g_new(Source, 2 * n);
    g_autofree guint64 *at = g_new(guint64, 2 * n);
    g_autofree guint32 *first = g_new(guint32, 2 * n);
    Merging merging = {.values = {each, at, first, n}, .rows = {each + n, at + n, first + n, n}};
    return merge_values(&merging, values, out);
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
    Source source = {.reader = hosts->reader, .end = hosts->reader.end, .expected = hosts->expected};
    guint64 at;
    hosts->failed = !host_step(&source, &at);
    if (hosts->failed || at == G_MAXUINT64) return FALSE;
    hosts->reader = source.reader;
    hosts->expected = source.expected;
    hosts->host = (guint32)at;
    hosts->row = source.row;
    return TRUE;
}

/* ---- weights ---- */

static gboolean weigh_nodes(Source row, gboolean sums_only, NodeWeightVisit visit, void *arg) {
    for (;;) {
        NodeSums sums = {.calls = 0};
        guint64 at;
        if (!source_step(&row, &at)) return FALSE;
        if (at == G_MAXUINT64) return TRUE;
        if (!(sums_only ? node_sums_get(&sums, &row.reader) : node_told(&sums, &row.reader))) return FALSE;
        const NodeWeight weight = {(guint32)at, sums.calls, sums.total_ns, sums.counters[COUNT_SELF],
                                   sums.counters[COUNT_CRITICAL]};
        visit(arg, &weight);
    }
}

gboolean stats_value_weigh(Bytes value, NodeWeightVisit visit, void *arg) {
    ByteReader reader = byte_reader(value.data, value.size_bytes);
    Source row = {.reader = reader, .end = reader.end};
    return read_u8(&row.reader) == FORM_TOTAL && weigh_nodes(row, FALSE, visit, arg);
}

gboolean stats_hosts_weigh(const StatsHosts *hosts, NodeWeightVisit visit, void *arg) {
    const ByteReader reader = byte_reader(hosts->row.data, hosts->row.size_bytes);
    const Source row = {.reader = reader, .end = reader.end};
    return weigh_nodes(row, hosts->sums, visit, arg);
}
