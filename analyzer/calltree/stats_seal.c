/* Folding the logs of a group into the values of its rows.
 *
 * Targets get ranks: those of one pattern's row one behind the other, by node. Hosts are taken in ascending order. Each
 * call of a host adds to its target's sums and puts its numbers where those of its target lie, so what a host has put
 * there is one piece, and in the end everything of a target is. From the sums come the pattern rows of that host, from
 * the pieces its function rows, both appended to the values of the current cell; from whole targets, at the end, the
 * rows of all hosts. Nothing is sorted but ranks, hosts and keys. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/stats_code.h"
#include "analyzer/calltree/stats_log.h"

#define SMALL_BYTES 4096u

/* Numbers of all calls, by rank. */
typedef struct Column {
    guint64 *numbers;
    guint32 *begin; /* of each rank, and one more: the end of the last */
    guint32 *end;   /* so far */
    guint32 *from;  /* where the current host's begin */
} Column;

/* The value of a row in the current cell. */
typedef struct CellValue {
    GByteArray *bytes; /* empty: no host yet */
    guint64 expected;  /* the least host that can follow */
} CellValue;

typedef struct Entry {
    StatsKey key;
    gsize at;
    guint size_bytes;
} Entry;

typedef struct Fold {
    const StatsGroup *group;
    guint32 n;      /* targets */
    guint32 *order; /* target of a rank */
    guint32 *rank;  /* of a target */
    Column columns[DISTS];
    NodeSums *sums;   /* by rank: of the current host */
    NodeSums *totals; /* of all, but for what the columns tell */
    guint64 *touched; /* a bit for each rank that the current host has */
    guint64 *words;   /* a bit for each word of 'touched' that is not 0 */
    guint32 n_words, n_summary;
    guint32 *head;       /* of a function's row: first rank, NOTHING: none; */
    guint32 *next;       /* and of a rank, the next */
    GArray *functions;   /* guint32: function rows that the current host has */
    CellValue *cells[2]; /* by kind, then number of the row */
    GArray *filled[2];   /* guint32: those with a host */
    NodeBuilder *builder;
    GByteArray *row;
    GByteArray *values; /* all of them */
    GArray *entries;    /* Entry */
} Fold;

static const Target *target_at(const Fold *fold, guint32 rank) {
    return &g_array_index(fold->group->target_list, Target, fold->order[rank]);
}

/* ---- laying out ---- */

static int compare_u32(guint32 a, guint32 b) { return a < b ? -1 : a > b; }

static int by_target(gconstpointer left, gconstpointer right, gpointer arg) {
    const Target *targets = arg;
    const Target *a = &targets[*(const guint32 *)left], *b = &targets[*(const guint32 *)right];
    int order = compare_u32(a->pattern, b->pattern);
    return order != 0 ? order : compare_u32(a->node, b->node);
}

static void rank_targets(Fold *fold) {
    fold->order = g_new(guint32, fold->n);
    fold->rank = g_new(guint32, fold->n);
    for (guint32 i = 0; i < fold->n; i++) fold->order[i] = i;
    if (fold->n > 0)
        g_qsort_with_data(fold->order, (gint)fold->n, sizeof(guint32), by_target, fold->group->target_list->data);
    for (guint32 i = 0; i < fold->n; i++) fold->rank[fold->order[i]] = i;
}

static guint32 numbers_of(const Target *target, guint dist) {
    return dist == DIST_DURATION ? target->calls : dist == DIST_BYTES ? target->byte_calls : target->rates;
}

static void lay_out(Fold *fold, guint dist) {
    Column *column = &fold->columns[dist];
    column->begin = g_new(guint32, fold->n + 1);
    column->end = g_new(guint32, fold->n + 1);
    column->from = g_new(guint32, fold->n + 1);
    guint32 at = 0;
    for (guint32 i = 0; i < fold->n; i++) {
        column->begin[i] = column->end[i] = at;
        at += numbers_of(target_at(fold, i), dist);
    }
    column->begin[fold->n] = at;
    column->numbers = g_new(guint64, at + 1);
}

static void fold_init(Fold *fold, const StatsGroup *group) {
    *fold = (Fold){.group = group, .n = group->target_list->len};
    rank_targets(fold);
    for (guint i = 0; i < DISTS; i++) lay_out(fold, i);
    fold->sums = g_new0(NodeSums, fold->n);
    fold->totals = g_new0(NodeSums, fold->n);
    fold->n_words = (fold->n + 63) / 64;
    fold->n_summary = (fold->n_words + 63) / 64;
    fold->touched = g_new0(guint64, fold->n_words);
    fold->words = g_new0(guint64, fold->n_summary + 1);
    fold->head = g_new(guint32, group->functions.n + 1);
    for (guint32 i = 0; i < group->functions.n; i++) fold->head[i] = NOTHING;
    fold->next = g_new(guint32, fold->n);
    fold->functions = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint kind = 0; kind < 2; kind++) {
        fold->cells[kind] = g_new0(CellValue, kind == STATS_FUNCTION ? group->functions.n : group->patterns.n);
        fold->filled[kind] = g_array_new(FALSE, FALSE, sizeof(guint32));
    }
    fold->builder = g_new0(NodeBuilder, 1);
    fold->row = g_byte_array_new();
    fold->values = g_byte_array_new();
    fold->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
}

static void free_cells(CellValue *cells, guint32 n) {
    for (guint32 i = 0; i < n; i++) {
        if (cells[i].bytes != NULL) g_byte_array_unref(cells[i].bytes);
    }
    g_free(cells);
}

static void fold_clear(Fold *fold) {
    g_free(fold->order);
    g_free(fold->rank);
    for (guint i = 0; i < DISTS; i++) {
        g_free(fold->columns[i].numbers);
        g_free(fold->columns[i].begin);
        g_free(fold->columns[i].end);
        g_free(fold->columns[i].from);
    }
    g_free(fold->sums);
    g_free(fold->totals);
    g_free(fold->touched);
    g_free(fold->words);
    g_free(fold->head);
    g_free(fold->next);
    g_array_unref(fold->functions);
    free_cells(fold->cells[STATS_FUNCTION], fold->group->functions.n);
    free_cells(fold->cells[STATS_PATTERN], fold->group->patterns.n);
    for (guint kind = 0; kind < 2; kind++) g_array_unref(fold->filled[kind]);
    g_free(fold->builder);
    g_byte_array_unref(fold->row);
    g_byte_array_unref(fold->values);
    g_array_unref(fold->entries);
}

/* ---- calls ---- */

static void touch(Fold *fold, guint32 rank) {
    guint64 bit = (guint64)1 << (rank % 64);
    if (fold->touched[rank / 64] & bit) return;
    fold->touched[rank / 64] |= bit;
    fold->words[rank / 4096] |= (guint64)1 << (rank / 64 % 64);
    for (guint i = 0; i < DISTS; i++) fold->columns[i].from[rank] = fold->columns[i].end[rank];
}

static inline void put_number(Column *column, guint32 rank, guint64 number) {
    column->numbers[column->end[rank]++] = number;
}

static guint64 rate_of(guint64 bytes, guint64 duration_ns) {
    Wide rate = (Wide)bytes * 1000000000u / duration_ns;
    return (guint64)MIN(rate, (Wide)DIST_VALUE_MAX);
}

static void fold_bytes(Fold *fold, guint32 rank, const Call *call, gint64 sign) {
    NodeSums *sums = &fold->sums[rank];
    guint64 bytes = MIN(call->bytes, DIST_VALUE_MAX);
    sums->byte_calls += sign;
    sums->bytes = wrap_add(sums->bytes, sign * (gint64)bytes);
    if (call->bytes == 0) sums->counters[COUNT_ZERO_BYTES] += sign;
    if (call->bytes < SMALL_BYTES) sums->counters[COUNT_SMALL] += sign;
    if (target_at(fold, rank)->hosts_only) return;
    put_number(&fold->columns[DIST_BYTES], rank, bytes);
    if (call->duration_ns > 0) put_number(&fold->columns[DIST_RATE], rank, rate_of(call->bytes, call->duration_ns));
}

static void fold_flags(NodeSums *sums, guint32 flags, gint64 sign) {
    if (flags & CALL_MILLISECONDS) sums->counters[COUNT_MILLISECONDS] += sign;
    if (flags & CALL_REVERSED) sums->counters[COUNT_REVERSED] += sign;
    if (flags & CALL_OUTSIDE) sums->counters[COUNT_OUTSIDE] += sign;
    if (flags & CALL_ORPHAN) sums->counters[COUNT_ORPHAN] += sign;
}

static inline void fold_call(Fold *fold, const Call *call) {
    guint32 rank = fold->rank[call->target];
    NodeSums *sums = &fold->sums[rank];
    gint64 sign = call->flags & CALL_NEGATIVE ? -1 : 1;
    touch(fold, rank);
    sums->counters[COUNT_SELF] = wrap_add(sums->counters[COUNT_SELF], sign * call->self_ns);
    sums->counters[COUNT_CRITICAL] = wrap_add(sums->counters[COUNT_CRITICAL], sign * call->critical_ns);
    if (call->flags >= CALL_MILLISECONDS) fold_flags(sums, call->flags, sign);
    if (call->flags & CALL_PLACE) return;
    guint64 duration_ns = MIN(call->duration_ns, DIST_VALUE_MAX);
    sums->calls += sign;
    sums->total_ns = wrap_add(sums->total_ns, sign * (gint64)duration_ns);
    Wide square = (Wide)duration_ns * duration_ns;
    sums->squares += sign < 0 ? -square : square;
    if (!target_at(fold, rank)->hosts_only) put_number(&fold->columns[DIST_DURATION], rank, duration_ns);
    if (call->flags & CALL_BYTES) fold_bytes(fold, rank, call, sign);
}

static void fold_log(Fold *fold, const CallLog *log) {
    for (const LogChunk *chunk = log->first; chunk != NULL; chunk = chunk->next) {
        const guint8 *end = chunk->bytes + chunk->used;
        for (const guint8 *at = chunk->bytes; at < end;) {
            Call call;
            at = log_get(at, &call);
            fold_call(fold, &call);
        }
    }
}

/* ---- rows ---- */

/* The ranks that the current host has, ascending: from *rank on. */
static gboolean next_touched(const Fold *fold, guint32 *rank) {
    guint32 word = *rank / 64;
    if (word >= fold->n_words) return FALSE;
    guint64 bits = fold->touched[word] & (~(guint64)0 << (*rank % 64));
    if (bits == 0) {
        guint32 summary = ++word / 64;
        guint64 words = summary < fold->n_summary ? fold->words[summary] & (~(guint64)0 << (word % 64)) : 0;
        while (words == 0) {
            if (++summary >= fold->n_summary) return FALSE;
            words = fold->words[summary];
        }
        word = summary * 64 + (guint32)__builtin_ctzll(words);
        bits = fold->touched[word];
    }
    *rank = word * 64 + (guint32)__builtin_ctzll(bits);
    return TRUE;
}

/* Appends fold->row as the row of a host. */
static void add_host_row(Fold *fold, StatsKind kind, guint32 number, guint32 host) {
    if (fold->row->len == 0) return;
    CellValue *cell = &fold->cells[kind][number];
    if (cell->bytes == NULL) cell->bytes = g_byte_array_new();
    if (cell->bytes->len == 0) {
        append_u8(cell->bytes, kind == STATS_FUNCTION ? FORM_HOSTS : FORM_HOST_SUMS);
        cell->expected = 0;
        g_array_append_val(fold->filled[kind], number);
    }
    guint8 head[2 * VARINT_MAX_BYTES], *at = put_varint(head, host - cell->expected);
    append_bytes(cell->bytes, head, (gsize)(put_varint(at, fold->row->len) - head));
    append_bytes(cell->bytes, fold->row->data, fold->row->len);
    cell->expected = (guint64)host + 1;
}

static void put_sums(Fold *fold, const NodeSums *sums, guint32 node, guint32 *expected) {
    if (node_sums_empty(sums)) return;
    append_varint(fold->row, node - *expected);
    node_sums_put(sums, fold->row);
    *expected = node + 1;
}

/* The current host's rows of patterns; 'rank' is its first. Returns the first rank of no pattern, or the end. */
static void host_patterns(Fold *fold, guint32 host) {
    guint32 rank = 0, pattern = NOTHING, node = 0, expected = 0;
    NodeSums sums = {.calls = 0};
    g_byte_array_set_size(fold->row, 0);
    for (; next_touched(fold, &rank); rank++) {
        const Target *target = target_at(fold, rank);
        if (target->pattern == pattern && pattern != NOTHING && target->node == node) {
            node_sums_add(&sums, &fold->sums[rank]);
            continue;
        }
        if (pattern != NOTHING) put_sums(fold, &sums, node, &expected);
        if (target->pattern != pattern) {
            if (pattern != NOTHING) add_host_row(fold, STATS_PATTERN, pattern, host);
            g_byte_array_set_size(fold->row, 0);
            expected = 0;
        }
        pattern = target->pattern;
        node = target->node;
        sums = fold->sums[rank];
        if (pattern == NOTHING) return;
    }
    if (pattern == NOTHING) return;
    put_sums(fold, &sums, node, &expected);
    add_host_row(fold, STATS_PATTERN, pattern, host);
}

static void build_rank(Fold *fold, guint32 rank, const guint32 *const from[DISTS], const NodeSums *sums) {
    NodeBuilder *builder = fold->builder;
    for (guint i = 0; i < DISTS; i++) {
        const Column *column = &fold->columns[i];
        guint32 begin = from[i][rank];
        if (column->end[rank] > begin)
            dist_builder_add(&builder->dists[i], column->numbers + begin, column->end[rank] - begin);
    }
    for (guint i = 0; i < COUNTERS; i++) builder->counters[i] = wrap_add(builder->counters[i], sums->counters[i]);
}

/* Puts the node that was built into fold->row. */
static void put_built(Fold *fold, guint32 node, guint32 *expected) {
    guint bits = node_builder_bits(fold->builder);
    if (bits == 0) return;
    append_varint(fold->row, node - *expected);
    node_builder_put(fold->builder, bits, fold->row);
    *expected = node + 1;
}

/* Builds a function's row from its chain of ranks, and forgets the chain. */
static void put_function(Fold *fold, guint32 function, const guint32 *const from[DISTS], const NodeSums *sums) {
    guint32 expected = 0;
    for (guint32 rank = fold->head[function]; rank != NOTHING; rank = fold->next[rank])
        build_rank(fold, rank, from, &sums[rank]);
    fold->head[function] = NOTHING;
    put_built(fold, 0, &expected);
}

static void chain_function(Fold *fold, guint32 rank) {
    guint32 function = target_at(fold, rank)->function;
    if (function == NOTHING) return;
    if (fold->head[function] == NOTHING) g_array_append_val(fold->functions, function);
    fold->next[rank] = fold->head[function];
    fold->head[function] = rank;
}

static void host_functions(Fold *fold, guint32 host) {
    const guint32 *const from[DISTS] = {fold->columns[0].from, fold->columns[1].from, fold->columns[2].from};
    g_array_set_size(fold->functions, 0);
    for (guint32 rank = 0; next_touched(fold, &rank); rank++) chain_function(fold, rank);
    for (guint i = 0; i < fold->functions->len; i++) {
        guint32 function = g_array_index(fold->functions, guint32, i);
        g_byte_array_set_size(fold->row, 0);
        put_function(fold, function, from, fold->sums);
        add_host_row(fold, STATS_FUNCTION, function, host);
    }
}

/* Adds the current host's sums to those of all, and forgets what it has. */
static void host_end(Fold *fold) {
    for (guint32 rank = 0; next_touched(fold, &rank); rank++) {
        if (!target_at(fold, rank)->hosts_only) node_sums_add(&fold->totals[rank], &fold->sums[rank]);
        fold->sums[rank] = (NodeSums){.calls = 0};
        fold->touched[rank / 64] &= fold->touched[rank / 64] - 1;
    }
    memset(fold->words, 0, fold->n_summary * sizeof *fold->words);
}

/* ---- values ---- */

static StatsKey row_key(const Fold *fold, StatsKind kind, guint32 number, guint32 cell) {
    const KeyTable *table = kind == STATS_FUNCTION ? &fold->group->functions : &fold->group->patterns;
    const guint32 *key = table->keys[number];
    return (StatsKey){.level = LEVEL_MINUTE,
                      .kind = kind,
                      .bucket = key[0],
                      .object = key[1],
                      .role = kind == STATS_FUNCTION ? key[2] : 0,
                      .cell = cell};
}

static void add_entry(Fold *fold, const StatsKey *key, const GByteArray *value) {
    Entry entry = {*key, fold->values->len, value->len};
    g_byte_array_append(fold->values, value->data, value->len);
    g_array_append_val(fold->entries, entry);
}

static void cell_end(Fold *fold, guint32 cell) {
    for (guint kind = 0; kind < 2; kind++) {
        for (guint i = 0; i < fold->filled[kind]->len; i++) {
            guint32 number = g_array_index(fold->filled[kind], guint32, i);
            StatsKey key = row_key(fold, kind, number, cell);
            add_entry(fold, &key, fold->cells[kind][number].bytes);
            g_byte_array_set_size(fold->cells[kind][number].bytes, 0);
        }
        g_array_set_size(fold->filled[kind], 0);
    }
}

static gint by_host(gconstpointer a, gconstpointer b) {
    return compare_u32(((const CallLog *)a)->host, ((const CallLog *)b)->host);
}

static void fold_hosts(Fold *fold) {
    const GArray *logs = fold->group->logs;
    g_autofree CallLog *sorted = g_memdup2(logs->data, logs->len * sizeof(CallLog));
    if (logs->len > 0) qsort(sorted, logs->len, sizeof *sorted, by_host);
    for (guint i = 0; i < logs->len; i++) {
        fold_log(fold, &sorted[i]);
        if (fold->group->by_host) {
            host_patterns(fold, sorted[i].host);
            host_functions(fold, sorted[i].host);
        }
        host_end(fold);
        guint32 cell = stats_cell(sorted[i].host);
        if (i + 1 == logs->len || stats_cell(sorted[i + 1].host) != cell) cell_end(fold, cell);
    }
}

/* ---- all hosts together ---- */

static void total_begin(Fold *fold) {
    g_byte_array_set_size(fold->row, 0);
    append_u8(fold->row, FORM_TOTAL);
}

static void total_end(Fold *fold, StatsKind kind, guint32 number) {
    if (fold->row->len <= 1) return;
    StatsKey key = row_key(fold, kind, number, 0);
    add_entry(fold, &key, fold->row);
}

static void pattern_totals(Fold *fold) {
    const guint32 *const from[DISTS] = {fold->columns[0].begin, fold->columns[1].begin, fold->columns[2].begin};
    for (guint32 rank = 0; rank < fold->n;) {
        guint32 pattern = target_at(fold, rank)->pattern, expected = 0;
        if (pattern == NOTHING) return;
        total_begin(fold);
        while (rank < fold->n && target_at(fold, rank)->pattern == pattern) {
            guint32 node = target_at(fold, rank)->node;
            for (; rank < fold->n && target_at(fold, rank)->pattern == pattern && target_at(fold, rank)->node == node;
                 rank++)
                build_rank(fold, rank, from, &fold->totals[rank]);
            put_built(fold, node, &expected);
        }
        total_end(fold, STATS_PATTERN, pattern);
    }
}

static void function_totals(Fold *fold) {
    const guint32 *const from[DISTS] = {fold->columns[0].begin, fold->columns[1].begin, fold->columns[2].begin};
    g_array_set_size(fold->functions, 0);
    for (guint32 rank = 0; rank < fold->n; rank++) chain_function(fold, rank);
    for (guint32 function = 0; function < fold->group->functions.n; function++) {
        total_begin(fold);
        put_function(fold, function, from, fold->totals);
        total_end(fold, STATS_FUNCTION, function);
    }
}

/* ---- all together ---- */

static gint by_key(gconstpointer left, gconstpointer right) {
    const StatsKey *a = &((const Entry *)left)->key, *b = &((const Entry *)right)->key;
    int order = compare_u32(a->kind, b->kind);
    if (order == 0) order = compare_u32(a->bucket, b->bucket);
    if (order == 0) order = compare_u32(a->cell, b->cell);
    if (order == 0) order = compare_u32(a->object, b->object);
    return order != 0 ? order : compare_u32(a->role, b->role);
}

void stats_group_seal(StatsGroup *group, StatsValueVisit visit, void *arg) {
    Fold fold;
    fold_init(&fold, group);
    fold_hosts(&fold);
    fold_log(&fold, &group->virtual);
    host_end(&fold);
    pattern_totals(&fold);
    function_totals(&fold);
    g_array_sort(fold.entries, by_key);
    for (guint i = 0; i < fold.entries->len; i++) {
        const Entry *entry = &g_array_index(fold.entries, Entry, i);
        visit(arg, &entry->key, (Bytes){fold.values->data + entry->at, entry->size_bytes});
    }
    fold_clear(&fold);
}

typedef struct Taking {
    StatsRowVisit visit;
    void *arg;
} Taking;

static void take_apart(void *arg, const StatsKey *key, Bytes value) {
    Taking *taking = arg;
    if (!stats_value_visit(key, value, taking->visit, taking->arg)) g_assert_not_reached();
}

void stats_group_foreach(StatsGroup *group, StatsRowVisit visit, void *arg) {
    Taking taking = {visit, arg};
    stats_group_seal(group, take_apart, &taking);
}
