/* Folding the logs of a group into the values of its rows.
 *
 * The log is sorted by host: counted, then moved. Targets get ranks: those of one pattern's row one behind the other,
 * by node. Hosts are taken in ascending order. Each call of a host adds to its target's sums and puts its numbers where
 * those of its target lie, so what a host has put there is one piece, and in the end everything of a target is. From
 * the sums come the pattern rows of that host, from the pieces its function rows, both appended to the values of the
 * current cell; from whole targets, at the end, the rows of all hosts. Nothing is sorted but ranks, hosts and keys. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/stats/buffer.h"
#include "analyzer/calltree/stats/stats.h"
#include "analyzer/calltree/stats/stats_code.h"
#include "analyzer/calltree/stats/stats_group_inside.h"
#include "common/base/region.h"

#define SMALL_BYTES 4096u
/* Of the rank of a target whose calls do not count as others do. Numbers of targets are smaller (CALL_FLAG_BITS). */
#define ODD ((guint32)1 << 31)
/* Most entries have no more words without their hosts, and are copied as if they had so many. */
#define COPIED_WORDS 4u

/* Where the numbers of a rank lie in each column, that is, in an array of the numbers of all calls. */
typedef struct Place {
    guint32 end[DISTS];  /* so far */
    guint32 from[DISTS]; /* where the current host's begin */
    guint32 begin[DISTS];
    guint32 host; /* whose numbers came last, counted from 1 in order of the hosts */
} Place;

/* The value of a row in the current cell. */
typedef struct CellValue {
    Buffer buffer;    /* empty: no host yet */
    guint64 expected; /* the least host that can follow */
} CellValue;

/* The calls of one host, without their hosts. */
typedef struct HostLog {
    guint32 host;
    guint32 n_words;
    guint32 *begin, *end;
} HostLog;

typedef struct Entry {
    StatsKey key;
    Bytes value;
} Entry;

typedef struct Fold {
    const StatsGroup *group;
    Region region;   /* the arrays that follow lie in it */
    HostLog *logs;   /* by number of the host */
    guint32 *sorted; /* the words of all of them */
    guint32 n;       /* targets */
    Target *targets; /* by rank */
    guint32 *rank;   /* of a target's number; with ODD */
    guint64 *columns[DISTS];
    Place *places;    /* by rank, as all that follows */
    NodeSums *sums;   /* of the current host */
    NodeSums *totals; /* of all */
    guint64 *bits;    /* set for each rank that the current host has; */
    guint64 *words;   /* set for each word of 'bits' that is not 0 */
    guint32 n_words;  /* of 'words' */
    guint32 *touched; /* the ranks that the current host has, ascending */
    guint32 n_touched;
    guint32 *head;      /* of a function's row: first rank, NOTHING: none; */
    guint32 *next;      /* and of a rank, the next */
    guint32 *functions; /* function rows with ranks */
    guint32 n_functions;
    CellValue *cells[2]; /* by kind, then number of the row */
    GArray *filled[2];   /* guint32: those with a host */
    NodeBuilder builder;
    Buffer row;                /* of one host */
    Buffer built;              /* what the builder gives, and rows of all hosts */
    Region *values;            /* all of them */
    GArray *entries;           /* Entry */
    const StatsCounts *counts; /* NULL: nobody asks */
} Fold;

/* ---- laying out ---- */

static int compare_u32(guint32 a, guint32 b) { return a < b ? -1 : a > b; }

static int by_target(gconstpointer left, gconstpointer right, gpointer arg) {
    const Target *targets = arg;
    const Target *a = &targets[*(const guint32 *)left], *b = &targets[*(const guint32 *)right];
    int order = compare_u32(a->pattern, b->pattern);
    return order != 0 ? order : compare_u32(a->node, b->node);
}

static void rank_targets(Fold *fold) {
    Target *targets = (Target *)(gpointer)fold->group->target_list->data;
    g_autofree guint32 *order = g_new(guint32, fold->n + 1);
    fold->targets = region_new(&fold->region, Target, fold->n + 1);
    fold->rank = region_new(&fold->region, guint32, fold->n + 1);
    for (guint32 i = 0; i < fold->n; i++) order[i] = i;
    if (fold->n > 0) g_qsort_with_data(order, (gint)fold->n, sizeof *order, by_target, targets);
    for (guint32 i = 0; i < fold->n; i++) {
        fold->targets[i] = targets[order[i]];
        fold->rank[order[i]] = i | (fold->targets[i].how != 0 ? ODD : 0);
    }
}

/* The words that are used of a block of the log. */
static const guint32 *block_of(const CallLog *log, guint i, const guint32 **end) {
    const guint32 *block = log->blocks[i];
    *end = i + 1 == log->n_blocks ? log->at : block + block[0];
    return block + 1;
}

/* How much there is of each host, and of each target: in 'end', for lay_out(). */
static void count_log(Fold *fold) {
    const CallLog *log = &fold->group->log;
    for (guint i = 0; i < log->n_blocks; i++) {
        const guint32 *end, *at = block_of(log, i, &end);
        while (at < end) {
            guint32 word = at[1], n = log_words(word);
            fold->logs[at[0]].n_words += n;
            guint32 *counted = fold->places[fold->rank[word >> CALL_FLAG_BITS] & ~ODD].end;
            counted[DIST_DURATION]++;
            if (word & CALL_BYTES) {
                counted[DIST_BYTES]++;
                counted[DIST_RATE] += at[2] != 0 || (word & CALL_WIDE && at[3] != 0);
            }
            at += 1 + n;
        }
    }
}

static void sort_log(Fold *fold) {
    const CallLog *log = &fold->group->log;
    gsize words = 0;
    for (guint32 i = 0; i < fold->group->hosts.n; i++) words += fold->logs[i].n_words + COPIED_WORDS;
    fold->sorted = region_new(&fold->region, guint32, words + 1);

    words = 0;
    for (guint32 i = 0; i < fold->group->hosts.n; i++) {
        fold->logs[i].host = fold->group->hosts.keys[i][0];
        fold->logs[i].begin = fold->logs[i].end = fold->sorted + words;
        words += fold->logs[i].n_words + COPIED_WORDS;
    }

    for (guint i = 0; i < log->n_blocks; i++) {
        const guint32 *end, *at = block_of(log, i, &end);
        while (at < end) {
            guint32 n = log_words(at[1]);
            guint32 **end_of = &fold->logs[at[0]].end, *to = *end_of;
            memcpy(to, at + 1, COPIED_WORDS * sizeof *to); /* what is too much is written over by the next */
            for (guint32 k = COPIED_WORDS; k < n; k++) to[k] = at[1 + k];
            *end_of = to + n;
            at += 1 + n;
        }
    }
}

static void lay_out(Fold *fold) {
    guint32 at[DISTS] = {0};
    for (guint32 i = 0; i < fold->n; i++) {
        const Target *target = &fold->targets[i];
        gboolean none = (target->how & (TARGET_PLACE | TARGET_HOSTS_ONLY)) != 0;
        for (guint d = 0; d < DISTS; d++) {
            guint32 counted = none ? 0 : fold->places[i].end[d];
            fold->places[i].begin[d] = fold->places[i].end[d] = at[d];
            at[d] += counted;
        }
    }
    for (guint d = 0; d < DISTS; d++) fold->columns[d] = region_new(&fold->region, guint64, at[d] + 1);
}

static void fold_init(Fold *fold, StatsGroup *group, Region *values, gboolean last) {
    *fold = (Fold){.group = group, .n = group->target_list->len, .values = values};
    Region *region = &fold->region;

    rank_targets(fold);
    fold->places = region_new(region, Place, fold->n + 1);
    fold->logs = region_new(region, HostLog, group->hosts.n);
    count_log(fold);
    sort_log(fold);
    if (last) log_empty(&group->log);
    lay_out(fold);

    fold->sums = region_new(region, NodeSums, fold->n + 1);
    fold->totals = region_new(region, NodeSums, fold->n + 1);
    fold->n_words = fold->n / 4096 + 1;
    fold->bits = region_new(region, guint64, (gsize)fold->n_words * 64);
    fold->words = region_new(region, guint64, fold->n_words);
    fold->touched = region_new(region, guint32, fold->n + 1);

    fold->head = region_new(region, guint32, group->functions.n + 1);
    for (guint32 i = 0; i < group->functions.n; i++) fold->head[i] = NOTHING;
    fold->next = region_new(region, guint32, fold->n + 1);
    fold->functions = region_new(region, guint32, group->functions.n + 1);
    for (guint kind = 0; kind < 2; kind++) {
        fold->cells[kind] =
            region_new(region, CellValue, kind == STATS_FUNCTION ? group->functions.n : group->patterns.n);
        fold->filled[kind] = g_array_new(FALSE, FALSE, sizeof(guint32));
    }

    node_builder_init(&fold->builder);
    fold->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
}

static void clear_cells(CellValue *cells, guint32 n) {
    for (guint32 i = 0; i < n; i++) buffer_clear(&cells[i].buffer);
}

static void fold_clear(Fold *fold) {
    clear_cells(fold->cells[STATS_FUNCTION], fold->group->functions.n);
    clear_cells(fold->cells[STATS_PATTERN], fold->group->patterns.n);
    for (guint kind = 0; kind < 2; kind++) g_array_unref(fold->filled[kind]);
    node_builder_clear(&fold->builder);
    buffer_clear(&fold->row);
    buffer_clear(&fold->built);
    g_array_unref(fold->entries);
    region_clear(&fold->region);
}

/* ---- calls ---- */

static void touch(Fold *fold, guint32 rank, Place *place, guint32 host) {
    fold->bits[rank / 64] |= (guint64)1 << (rank % 64);
    fold->words[rank / 4096] |= (guint64)1 << (rank / 64 % 64);
    for (guint i = 0; i < DISTS; i++) place->from[i] = place->end[i];
    place->host = host;
}

static inline void put_number(Fold *fold, guint32 rank, guint dist, guint64 number) {
    fold->columns[dist][fold->places[rank].end[dist]++] = number;
}

static guint64 rate_of(guint64 bytes, guint64 duration_ns) {
    Wide rate = (Wide)bytes * 1000000000u / duration_ns;
    return (guint64)MIN(rate, (Wide)DIST_VALUE_MAX);
}

static void fold_bytes(Fold *fold, guint32 rank, const Call *call, gint64 sign) {
    NodeSums *sums = &fold->sums[rank];
    guint64 bytes = MIN(call->bytes, DIST_VALUE_MAX);
    sums->rare = TRUE;
    sums->byte_calls += sign;
    sums->bytes = wrap_add(sums->bytes, sign * (gint64)bytes);
    if (call->bytes == 0) sums->counters[COUNT_ZERO_BYTES] += sign;
    if (call->bytes < SMALL_BYTES) sums->counters[COUNT_SMALL] += sign;
    if (fold->targets[rank].how & TARGET_HOSTS_ONLY) return;
    put_number(fold, rank, DIST_BYTES, bytes);
    if (call->duration_ns > 0) put_number(fold, rank, DIST_RATE, rate_of(call->bytes, call->duration_ns));
}

static void fold_flags(NodeSums *sums, guint32 flags, gint64 sign) {
    sums->rare = TRUE;
    if (flags & CALL_MILLISECONDS) sums->counters[COUNT_MILLISECONDS] += sign;
    if (flags & CALL_REVERSED) sums->counters[COUNT_REVERSED] += sign;
    if (flags & CALL_OUTSIDE) sums->counters[COUNT_OUTSIDE] += sign;
    if (flags & CALL_ORPHAN) sums->counters[COUNT_ORPHAN] += sign;
}

/* What is taken back, and what is not a call. */
static void fold_odd(Fold *fold, guint32 rank, const Call *call) {
    NodeSums *sums = &fold->sums[rank];
    guint32 how = fold->targets[rank].how;
    gint64 sign = how & TARGET_NEGATIVE ? -1 : 1;
    sums->counters[COUNT_SELF] = wrap_add(sums->counters[COUNT_SELF], sign * call->self_ns);
    sums->counters[COUNT_CRITICAL] = wrap_add(sums->counters[COUNT_CRITICAL], sign * call->critical_ns);
    if (call->flags >= CALL_MILLISECONDS) fold_flags(sums, call->flags, sign);
    if (how & TARGET_PLACE) return;
    guint64 duration_ns = MIN(call->duration_ns, DIST_VALUE_MAX);
    Wide square = (Wide)duration_ns * duration_ns;
    sums->calls += sign;
    sums->total_ns = wrap_add(sums->total_ns, sign * (gint64)duration_ns);
    sums->squares += sign < 0 ? -square : square;
    if (!(how & TARGET_HOSTS_ONLY)) put_number(fold, rank, DIST_DURATION, duration_ns);
    if (call->flags & CALL_BYTES) fold_bytes(fold, rank, call, sign);
}

static inline void fold_call(Fold *fold, const Call *call, guint32 host) {
    guint32 ranked = fold->rank[call->target], rank = ranked & ~ODD;
    NodeSums *sums = &fold->sums[rank];
    Place *place = &fold->places[rank];
    if (place->host != host) touch(fold, rank, place, host);
    if (G_UNLIKELY(ranked & ODD)) {
        fold_odd(fold, rank, call);
        return;
    }
    guint64 duration_ns = MIN(call->duration_ns, DIST_VALUE_MAX);
    sums->squares += (Wide)duration_ns * duration_ns;
    sums->calls++;
    sums->total_ns = wrap_add(sums->total_ns, (gint64)duration_ns);
    sums->counters[COUNT_SELF] = wrap_add(sums->counters[COUNT_SELF], call->self_ns);
    sums->counters[COUNT_CRITICAL] = wrap_add(sums->counters[COUNT_CRITICAL], call->critical_ns);
    fold->columns[DIST_DURATION][place->end[DIST_DURATION]++] = duration_ns;
    if (G_UNLIKELY(call->flags >= CALL_MILLISECONDS)) fold_flags(sums, call->flags, 1);
    if (call->flags & CALL_BYTES) fold_bytes(fold, rank, call, 1);
}

/* Afterwards it is known which ranks the log has. host: its place in the order of the hosts, from 1. */
static void fold_log(Fold *fold, const HostLog *log, guint32 host) {
    for (const guint32 *at = log->begin; at < log->end;) {
        Call call;
        at = log_get(at, &call);
        fold_call(fold, &call, host);
    }
    fold->n_touched = 0;
    for (guint32 i = 0; i < fold->n_words; i++) {
        for (; fold->words[i] != 0; fold->words[i] &= fold->words[i] - 1) {
            guint32 word = i * 64 + (guint32)__builtin_ctzll(fold->words[i]);
            for (guint64 bits = fold->bits[word]; bits != 0; bits &= bits - 1)
                fold->touched[fold->n_touched++] = word * 64 + (guint32)__builtin_ctzll(bits);
            fold->bits[word] = 0;
        }
    }
}

/* Adds the log's sums to those of all, and forgets them. */
static void log_end(Fold *fold) {
    for (guint32 i = 0; i < fold->n_touched; i++) {
        guint32 rank = fold->touched[i];
        if (!(fold->targets[rank].how & TARGET_HOSTS_ONLY)) node_sums_add(&fold->totals[rank], &fold->sums[rank]);
        node_sums_clear(&fold->sums[rank]);
    }
}

/* ---- rows of one host ---- */

/* Appends fold->row as the row of a host. */
static void add_host_row(Fold *fold, StatsKind kind, guint32 number, guint32 host) {
    if (fold->row.size == 0) return;
    CellValue *cell = &fold->cells[kind][number];
    guint8 *at = buffer_reserve(&cell->buffer, fold->row.size + 1 + 2 * VARINT_MAX_BYTES);
    if (cell->buffer.size == 0) {
        *at++ = kind == STATS_FUNCTION ? FORM_HOSTS : FORM_HOST_SUMS;
        cell->expected = 0;
        g_array_append_val(fold->filled[kind], number);
    }
    at = put_varint(put_varint(at, host - cell->expected), fold->row.size);
    memcpy(at, fold->row.bytes, fold->row.size);
    buffer_end(&cell->buffer, at + fold->row.size);
    cell->expected = (guint64)host + 1;
}

static inline void put_sums(Fold *fold, const NodeSums *sums, guint32 node, guint32 *expected) {
    if (node_sums_empty(sums)) return;
    guint8 *at = put_varint(buffer_reserve(&fold->row, VARINT_MAX_BYTES + NODE_SUMS_BYTES), node - *expected);
    buffer_end(&fold->row, node_sums_put(sums, at));
    *expected = node + 1;
}

static inline gboolean same_node(const Target *a, const Target *b) {
    return a->pattern == b->pattern && a->node == b->node;
}

/* The row of one pattern, whose first rank is the i-th of the host's. Returns that of the next pattern. */
static guint32 host_pattern(Fold *fold, guint32 i, guint32 host) {
    guint32 pattern = fold->targets[fold->touched[i]].pattern, expected = 0;
    fold->row.size = 0;
    while (i < fold->n_touched && fold->targets[fold->touched[i]].pattern == pattern) {
        const Target *target = &fold->targets[fold->touched[i]];
        const NodeSums *sums = &fold->sums[fold->touched[i]];
        NodeSums several;
        for (i++; i < fold->n_touched && same_node(target, &fold->targets[fold->touched[i]]); i++) {
            if (sums != &several) several = *sums;
            sums = &several;
            node_sums_add(&several, &fold->sums[fold->touched[i]]);
        }
        put_sums(fold, sums, target->node, &expected);
    }
    add_host_row(fold, STATS_PATTERN, pattern, host);
    return i;
}

static void host_patterns(Fold *fold, guint32 host) {
    /* Targets of no pattern come last. */
    for (guint32 i = 0; i < fold->n_touched && fold->targets[fold->touched[i]].pattern != NOTHING;)
        i = host_pattern(fold, i, host);
}

static void chain_function(Fold *fold, guint32 rank) {
    guint32 function = fold->targets[rank].function;
    if (function == NOTHING) return;
    if (fold->head[function] == NOTHING) fold->functions[fold->n_functions++] = function;
    fold->next[rank] = fold->head[function];
    fold->head[function] = rank;
}

static void build_rank(Fold *fold, guint32 rank, const guint32 *from, const NodeSums *sums) {
    NodeBuilder *builder = &fold->builder;
    for (guint i = 0; i < DISTS; i++) {
        guint32 end = fold->places[rank].end[i];
        if (end > from[i]) dist_builder_add(&builder->dists[i], fold->columns[i] + from[i], end - from[i]);
    }
    for (guint i = 0; i < (sums->rare ? COUNTERS : COUNT_ZERO_BYTES); i++)
        builder->counters[i] = wrap_add(builder->counters[i], sums->counters[i]);
}

/* Appends the node that was built to fold->built. */
static void put_built(Fold *fold, guint32 node, guint32 *expected) {
    guint bits = node_builder_bits(&fold->builder);
    if (bits == 0) return;
    buffer_end(&fold->built, put_varint(buffer_reserve(&fold->built, VARINT_MAX_BYTES), node - *expected));
    node_builder_put(&fold->builder, bits, &fold->built);
    *expected = node + 1;
}

/* The numbers of the current host, where they lie: their order there does not matter. FALSE: they are not few. */
static gboolean take_piece(Fold *fold, guint32 rank, FewNumbers few[DISTS]) {
    const Place *place = &fold->places[rank];
    for (guint i = 0; i < DISTS; i++) {
        few[i] = (FewNumbers){fold->columns[i] + place->from[i], place->end[i] - place->from[i]};
        if (few[i].n > DIST_EXACT_MAX) return FALSE;
    }
    return TRUE;
}

/* Appends them. */
static gboolean copy_piece(const Fold *fold, guint32 rank, FewNumbers few[DISTS]) {
    const Place *place = &fold->places[rank];
    for (guint i = 0; i < (fold->sums[rank].rare ? DISTS : 1u); i++) {
        guint32 n = place->end[i] - place->from[i];
        if (few[i].n + n > DIST_EXACT_MAX) return FALSE;
        const guint64 *from = fold->columns[i] + place->from[i];
        for (guint32 k = 0; k < n; k++) few[i].numbers[few[i].n++] = from[k];
    }
    return TRUE;
}

/* Few calls, as most hosts of many have of most functions: FALSE when they are not few. */
static gboolean put_few(Fold *fold, guint32 function) {
    guint64 numbers[DISTS][DIST_EXACT_MAX];
    FewNumbers few[DISTS];
    NodeSums several;
    guint32 rank = fold->head[function];
    const NodeSums *sums = &fold->sums[rank];

    if (fold->next[rank] == NOTHING) {
        if (!take_piece(fold, rank, few)) return FALSE;
    } else {
        for (guint i = 0; i < DISTS; i++) few[i] = (FewNumbers){numbers[i], 0};
        several = *sums;
        for (;;) {
            if (!copy_piece(fold, rank, few)) return FALSE;
            if ((rank = fold->next[rank]) == NOTHING) break;
            node_sums_add(&several, &fold->sums[rank]);
        }
        sums = &several;
    }

    guint8 *at = buffer_reserve(&fold->row, VARINT_MAX_BYTES + NODE_FEW_BYTES);
    *at = 0; /* the node's number */
    const guint8 *end = node_few_put(few, sums, at + 1);
    fold->row.size = end == at + 1 ? 0 : (gsize)(end - at);
    return TRUE;
}

static void host_function(Fold *fold, guint32 function) {
    fold->row.size = 0;
    if (put_few(fold, function)) return;
    guint32 expected = 0;
    fold->built.size = 0;
    for (guint32 rank = fold->head[function]; rank != NOTHING; rank = fold->next[rank])
        build_rank(fold, rank, fold->places[rank].from, &fold->sums[rank]);
    put_built(fold, 0, &expected);
    buffer_add(&fold->row, fold->built.bytes, fold->built.size);
}

/* What failed is in the function's own row, too, and counts there. */
static gboolean is_counted(const Fold *fold, guint32 function) {
    return fold->counts != NULL && (fold->group->functions.keys[function][2] & ROLE_FAILED) == 0;
}

/* Of the function whose ranks are chained. */
static void count_on_host(const Fold *fold, guint32 function, guint32 host) {
    const guint32 *key = fold->group->functions.keys[function];
    HostCount count = {.host = host, .function = key[1], .role = key[2]};
    for (guint32 rank = fold->head[function]; rank != NOTHING; rank = fold->next[rank]) {
        count.calls += fold->sums[rank].calls;
        count.self_ns = wrap_add(count.self_ns, fold->sums[rank].counters[COUNT_SELF]);
    }
    g_array_append_val(fold->counts->hosts, count);
}

static void host_functions(Fold *fold, guint32 host) {
    fold->n_functions = 0;
    for (guint32 i = 0; i < fold->n_touched; i++) chain_function(fold, fold->touched[i]);
    for (guint32 i = 0; i < fold->n_functions; i++) {
        guint32 function = fold->functions[i];
        host_function(fold, function);
        if (is_counted(fold, function)) count_on_host(fold, function, host);
        fold->head[function] = NOTHING;
        add_host_row(fold, STATS_FUNCTION, function, host);
    }
}

/* ---- values ---- */

static StatsKey row_key(const Fold *fold, StatsKind kind, guint32 number, guint32 cell) {
    const KeyTable *table = kind == STATS_FUNCTION ? &fold->group->functions : &fold->group->patterns;
    const guint32 *key = table->keys[number];
    const guint32 role = kind == STATS_FUNCTION ? key[2] : 0;
    return (StatsKey){.level = LEVEL_MINUTE,
                      .kind = role & ROLE_FAILED ? STATS_FAILED : kind,
                      .bucket = key[0],
                      .object = key[1],
                      .role = role & ~ROLE_FAILED,
                      .cell = cell};
}

static void add_entry(Fold *fold, const StatsKey *key, const guint8 *bytes, gsize size) {
    Entry entry = {*key, {memcpy(region_take(fold->values, size), bytes, size), size}};
    g_array_append_val(fold->entries, entry);
}

static void cell_end(Fold *fold, guint32 cell) {
    for (guint kind = 0; kind < 2; kind++) {
        for (guint i = 0; i < fold->filled[kind]->len; i++) {
            guint32 number = g_array_index(fold->filled[kind], guint32, i);
            StatsKey key = row_key(fold, kind, number, cell);
            Buffer *value = &fold->cells[kind][number].buffer;
            add_entry(fold, &key, value->bytes, value->size);
            value->size = 0;
        }
        g_array_set_size(fold->filled[kind], 0);
    }
}

static int by_host(const void *a, const void *b) {
    return compare_u32(((const HostLog *)a)->host, ((const HostLog *)b)->host);
}

static void fold_hosts(Fold *fold) {
    guint32 n = fold->group->hosts.n;
    qsort(fold->logs, n, sizeof *fold->logs, by_host);
    for (guint32 i = 0; i < n; i++) {
        const HostLog *log = &fold->logs[i];
        fold_log(fold, log, i + 1);
        if (fold->group->by_host && log->host != NOTHING) {
            host_patterns(fold, log->host);
            host_functions(fold, log->host);
        }
        log_end(fold);
        guint32 cell = stats_cell(log->host);
        if (i + 1 == n || stats_cell(log[1].host) != cell) cell_end(fold, cell);
    }
}

/* ---- all hosts together ---- */

static void total_begin(Fold *fold) {
    fold->built.size = 0;
    *buffer_reserve(&fold->built, 1) = FORM_TOTAL;
    fold->built.size = 1;
}

static void total_end(Fold *fold, StatsKind kind, guint32 number) {
    if (fold->built.size <= 1) return;
    StatsKey key = row_key(fold, kind, number, 0);
    add_entry(fold, &key, fold->built.bytes, fold->built.size);
}

static void pattern_totals(Fold *fold) {
    for (guint32 rank = 0; rank < fold->n && fold->targets[rank].pattern != NOTHING;) {
        guint32 pattern = fold->targets[rank].pattern, expected = 0;
        total_begin(fold);
        while (rank < fold->n && fold->targets[rank].pattern == pattern) {
            const Target *first = &fold->targets[rank];
            for (; rank < fold->n && same_node(&fold->targets[rank], first); rank++)
                build_rank(fold, rank, fold->places[rank].begin, &fold->totals[rank]);
            put_built(fold, first->node, &expected);
        }
        total_end(fold, STATS_PATTERN, pattern);
    }
}

const guint64 stats_step_ns[STATS_STEPS - 1] = {
    100000u,    500000u,    1000000u,    5000000u,    10000000u,    50000000u,
    100000000u, 500000000u, 1000000000u, 5000000000u, 10000000000u, 60000000000u,
};

/* For each number of bits of a duration, the first bound that can be meant: between two powers of two lies one at
 * most. */
typedef struct StepGuide {
    guint8 first[65];
} StepGuide;

static StepGuide step_guide(void) {
    StepGuide guide;
    for (guint bits = 0; bits <= 64; bits++) {
        const guint64 least = bits == 0 ? 0 : (guint64)1 << (bits - 1);
        guint8 step = 0;
        while (step < STATS_STEPS - 1 && stats_step_ns[step] < least) step++;
        guide.first[bits] = step;
    }
    return guide;
}

guint stats_step(guint64 duration_ns) {
    guint step = 0;
    while (step < STATS_STEPS - 1 && duration_ns > stats_step_ns[step]) step++;
    return step;
}

static inline guint step_of(const StepGuide *guide, guint64 ns) {
    const guint first = guide->first[ns == 0 ? 0 : 64 - (guint)__builtin_clzll(ns)];
    return first < STATS_STEPS - 1 && ns > stats_step_ns[first] ? first + 1 : first;
}

/* Of the function whose ranks are chained. */
static void count_function(const Fold *fold, const StepGuide *guide, guint32 function) {
    const guint32 *key = fold->group->functions.keys[function];
    FunctionCount count = {.function = key[1], .role = key[2]};
    for (guint32 rank = fold->head[function]; rank != NOTHING; rank = fold->next[rank]) {
        const NodeSums *sums = &fold->totals[rank];
        const Place *place = &fold->places[rank];
        count.calls += sums->calls;
        count.total_ns = wrap_add(count.total_ns, sums->total_ns);
        count.self_ns = wrap_add(count.self_ns, sums->counters[COUNT_SELF]);
        for (guint32 i = place->begin[DIST_DURATION]; i < place->end[DIST_DURATION]; i++)
            count.steps[step_of(guide, fold->columns[DIST_DURATION][i])]++;
    }
    g_array_append_val(fold->counts->functions, count);
}

static void function_totals(Fold *fold) {
    const StepGuide guide = step_guide();
    fold->n_functions = 0;
    for (guint32 rank = 0; rank < fold->n; rank++) chain_function(fold, rank);
    for (guint32 function = 0; function < fold->group->functions.n; function++) {
        guint32 expected = 0;
        total_begin(fold);
        for (guint32 rank = fold->head[function]; rank != NOTHING; rank = fold->next[rank])
            build_rank(fold, rank, fold->places[rank].begin, &fold->totals[rank]);
        put_built(fold, 0, &expected);
        total_end(fold, STATS_FUNCTION, function);
        if (is_counted(fold, function)) count_function(fold, &guide, function);
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

/* last: the calls need not stay. */
static void seal(StatsGroup *group, gboolean last, const StatsSealed *sealed) {
    Fold fold;
    fold_init(&fold, group, sealed->values, last);
    fold.counts = sealed->counts;
    fold_hosts(&fold);
    pattern_totals(&fold);
    function_totals(&fold);
    g_array_sort(fold.entries, by_key);
    for (guint i = 0; i < fold.entries->len; i++) {
        const Entry *entry = &g_array_index(fold.entries, Entry, i);
        sealed->visit(sealed->arg, &entry->key, entry->value);
    }
    fold_clear(&fold);
}

void stats_group_seal_lent(StatsGroup *group, const StatsSealed *sealed) { seal(group, TRUE, sealed); }

void stats_group_seal(StatsGroup *group, StatsValueVisit visit, void *arg) {
    g_auto(Region) values = {NULL};
    seal(group, FALSE, &(StatsSealed){visit, arg, &values, NULL});
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
