/* The critical path through waits: docs/call-trees.md, "Through waits".
 *
 * For each scope (waits_work.h) it is found out who works at each moment: of all who do, one of the station with the
 * most work. Then each stretch of waiting gives what of it somebody works in to them. A sum of intervals is computed
 * from sorted ends alone, so it takes no longer where many waits lie over many stretches of work. */
#include <string.h>

#include "analyzer/calltree/waits_work.h"
#include "common/base/clock.h"

/* A packet that is there already is taken in less: to copy and to check it is the reader's own work. */
#define ARRIVAL_NS NS_PER_MS
/* From all senders it comes as slowly when it takes this part of what it takes from the slowest one. */
#define SENDERS_SHARE 4

/* Intervals: their begins and ends, each ascending, with the sums up to each. Sums wrap. */
typedef struct Ends {
    guint n;
    gint64 *at_ns;
    guint64 *sums; /* of those before; n + 1 of them */
} Ends;

typedef struct Cover {
    Ends from, to;
} Cover;

static int by_time(const void *a, const void *b) {
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static void ends_init(Ends *ends, guint n) { *ends = (Ends){n, g_new(gint64, n + 1), g_new(guint64, n + 1)}; }

static void ends_finish(Ends *ends) {
    gboolean ordered = TRUE;
    for (guint i = 1; i < ends->n; i++) ordered = ordered && ends->at_ns[i - 1] <= ends->at_ns[i];
    if (!ordered) qsort(ends->at_ns, ends->n, sizeof *ends->at_ns, by_time);
    ends->sums[0] = 0;
    for (guint i = 0; i < ends->n; i++) ends->sums[i + 1] = ends->sums[i] + (guint64)ends->at_ns[i];
}

static void cover_clear(Cover *cover) {
    g_free(cover->from.at_ns);
    g_free(cover->from.sums);
    g_free(cover->to.at_ns);
    g_free(cover->to.sums);
}

/* How many ends are before the time? */
static guint ends_before(const Ends *ends, gint64 time_ns) {
    guint low = 0, high = ends->n;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (ends->at_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sum of (time - end) over all ends before the time. */
static guint64 passed_since(const Ends *ends, gint64 time_ns) {
    const guint n = ends_before(ends, time_ns);
    return n * (guint64)time_ns - ends->sums[n];
}

/* How much of the intervals lies in [from, to), those that overlap as often as they are there. */
static gint64 cover_within(const Cover *cover, gint64 from_ns, gint64 to_ns) {
    const guint64 begun = passed_since(&cover->from, to_ns) - passed_since(&cover->from, from_ns);
    const guint64 ended = passed_since(&cover->to, to_ns) - passed_since(&cover->to, from_ns);
    return (gint64)(begun - ended);
}

/* How many of the intervals have anything in [from, to)? */
static guint cover_count(const Cover *cover, gint64 from_ns, gint64 to_ns) {
    return ends_before(&cover->from, to_ns) - ends_before(&cover->to, from_ns + 1);
}

/* ---- who works at a moment ---- */

typedef struct Sweep {
    const Measured *measured;
    const Work *work; /* of one scope, by begin */
    guint n;
    guint *heap; /* of those under way: the one that comes first in works_before() is on top */
    guint n_heap;
    GArray *busy; /* Stretch: one at a time, by begin */
} Sweep;

static guint32 pattern_node(const Measured *measured, guint32 node) {
    return measured->node_of != NULL ? measured->node_of[node] : 0;
}

/* Of two who work at the same time, whose time is it? */
static gboolean works_before(const Measured *measured, const Work *a, const Work *b) {
    const gint64 *from_ns = measured->tree->from_ns;
    if (a->weight != b->weight) return a->weight > b->weight;
    if (a->station != b->station) {
        const guint32 x = pattern_node(measured, a->station), y = pattern_node(measured, b->station);
        return x != y ? x < y : a->station < b->station;
    }
    const guint32 i = a->stretch.node, j = b->stretch.node;
    if (from_ns[i] != from_ns[j]) return from_ns[i] > from_ns[j];
    const guint32 x = pattern_node(measured, i), y = pattern_node(measured, j);
    return x != y ? x < y : i < j;
}

static gboolean heap_before(const Sweep *sweep, guint i, guint j) {
    return works_before(sweep->measured, &sweep->work[sweep->heap[i]], &sweep->work[sweep->heap[j]]);
}

static void heap_swap(Sweep *sweep, guint i, guint j) {
    const guint swap = sweep->heap[i];
    sweep->heap[i] = sweep->heap[j];
    sweep->heap[j] = swap;
}

static void heap_push(Sweep *sweep, guint work) {
    guint i = sweep->n_heap++;
    sweep->heap[i] = work;
    for (; i > 0 && heap_before(sweep, i, (i - 1) / 2); i = (i - 1) / 2) heap_swap(sweep, i, (i - 1) / 2);
}

static void heap_pop(Sweep *sweep) {
    sweep->heap[0] = sweep->heap[--sweep->n_heap];
    for (guint i = 0;;) {
        guint least = i;
        for (guint child = 2 * i + 1; child <= 2 * i + 2; child++) {
            if (child < sweep->n_heap && heap_before(sweep, child, least)) least = child;
        }
        if (least == i) return;
        heap_swap(sweep, i, least);
        i = least;
    }
}

/* From one begin or end to the next. What ends makes room before what begins: work follows upon work, and what lay
 * below it would stay in the heap. */
static void find_busy(Sweep *sweep) {
    guint next = 0;
    gint64 at_ns = G_MININT64;
    for (;;) {
        while (sweep->n_heap > 0 && sweep->work[sweep->heap[0]].stretch.to_ns <= at_ns) heap_pop(sweep);
        if (sweep->n_heap == 0 && next == sweep->n) return;
        if (sweep->n_heap == 0) at_ns = sweep->work[next].stretch.from_ns;
        while (next < sweep->n && sweep->work[next].stretch.from_ns <= at_ns) heap_push(sweep, next++);

        const Stretch *first = &sweep->work[sweep->heap[0]].stretch;
        gint64 until_ns = first->to_ns;
        if (next < sweep->n) until_ns = MIN(until_ns, sweep->work[next].stretch.from_ns);
        const Stretch piece = {first->scope, at_ns, until_ns, first->node};
        g_array_append_val(sweep->busy, piece);
        at_ns = until_ns;
    }
}

/* ---- one scope ---- */

static Cover cover_of(const Stretch *stretches, guint n) {
    Cover cover;
    ends_init(&cover.from, n);
    ends_init(&cover.to, n);
    for (guint i = 0; i < n; i++) {
        cover.from.at_ns[i] = stretches[i].from_ns;
        cover.to.at_ns[i] = stretches[i].to_ns;
    }
    ends_finish(&cover.from);
    ends_finish(&cover.to);
    return cover;
}

static void move_time(TreeTimes *times, const Stretch *waits, guint n_waits, const GArray *busy) {
    const Stretch *works = (const Stretch *)(gconstpointer)busy->data;
    if (busy->len == 0) return;
    Cover waiting = cover_of(waits, n_waits), working = cover_of(works, busy->len);
    for (guint i = 0; i < n_waits; i++) {
        times->critical_ns[waits[i].node] -= cover_within(&working, waits[i].from_ns, waits[i].to_ns);
    }
    for (guint i = 0; i < busy->len; i++) {
        times->critical_ns[works[i].node] += cover_within(&waiting, works[i].from_ns, works[i].to_ns);
    }
    cover_clear(&waiting);
    cover_clear(&working);
}

/* ---- what is on its way to a reader ---- */

/* A block that is on its way. */
typedef struct Arrival {
    Stretch stretch; /* node: the call that sent the last of it */
    guint32 station;
    guint first, end; /* of the pieces in which nobody is busy */
} Arrival;

/* A process that has sent blocks to readers of one scope. */
typedef struct Sender {
    guint64 waited_ns;     /* for what was on its way */
    guint blocks, packets; /* that were on their way; that were asked for meanwhile */
} Sender;

typedef struct Arrivals {
    const Measured *measured;
    const TimesWatch *watch;
    GArray *all;    /* Arrival: one at a time, by begin */
    GArray *pieces; /* Stretch: in which nobody is busy */
} Arrivals;

/* A reader takes one block after the other. So what is on its way is waited for until he asks for the next one, and
 * while he is through with all that he asked for before: of several at a time it is not known which he waits for. */
static void find_arrivals(GArray *all, const Block *blocks, guint n) {
    gint64 open_ns = G_MININT64;
    for (guint i = 0, next; i < n; i = next) {
        const Block *sent = NULL;
        guint stations = 0;
        gint64 end_ns = open_ns;
        for (next = i; next < n && blocks[next].stretch.from_ns == blocks[i].stretch.from_ns; next++) {
            if (blocks[next].station == 0) continue;
            sent = &blocks[next];
            stations++;
            end_ns = MAX(end_ns, sent->stretch.to_ns);
        }
        if (stations == 1 && sent->stretch.node != 0) {
            Arrival arrival = {sent->stretch, sent->station, 0, 0};
            arrival.stretch.from_ns = MAX(sent->sent_ns, open_ns);
            if (next < n) arrival.stretch.to_ns = MIN(arrival.stretch.to_ns, blocks[next].stretch.from_ns);
            if (arrival.stretch.from_ns < arrival.stretch.to_ns) g_array_append_val(all, arrival);
        }
        open_ns = end_ns;
    }
}

/* Both lists are in order, and nothing in them overlaps. */
static void find_pieces(const Arrivals *arrivals, const GArray *busy) {
    guint at = 0;
    for (guint i = 0; i < arrivals->all->len; i++) {
        Arrival *arrival = &g_array_index(arrivals->all, Arrival, i);
        Stretch piece = arrival->stretch;
        arrival->first = arrivals->pieces->len;
        while (piece.from_ns < arrival->stretch.to_ns) {
            while (at < busy->len && g_array_index(busy, Stretch, at).to_ns <= piece.from_ns) at++;
            const Stretch *work = at < busy->len ? &g_array_index(busy, Stretch, at) : NULL;
            piece.to_ns = work != NULL ? MIN(work->from_ns, arrival->stretch.to_ns) : arrival->stretch.to_ns;
            if (piece.from_ns < piece.to_ns) g_array_append_val(arrivals->pieces, piece);
            piece.from_ns = work != NULL ? work->to_ns : arrival->stretch.to_ns;
        }
        arrival->end = arrivals->pieces->len;
    }
}

static guint32 host_of(const Arrivals *arrivals, guint32 node) {
    const SpanRec *span = arrivals->measured->tree->span[node];
    return span != NULL ? wait_table_host(arrivals->watch->table, span->tracer) : 0;
}

static gboolean is_from_own_host(const Arrivals *arrivals, const Arrival *arrival) {
    const guint32 reader = host_of(arrivals, arrivals->measured->tree->parent[arrival->station]);
    return reader != 0 && reader == host_of(arrivals, arrival->stretch.node);
}

/* Of other hosts. taking: readers wait for a packet, however short. */
static GHashTable *senders_of(const Arrivals *arrivals, const Cover *waiting, const Cover *taking) {
    GHashTable *senders = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint i = 0; i < arrivals->all->len; i++) {
        const Arrival *arrival = &g_array_index(arrivals->all, Arrival, i);
        const guint packets = cover_count(taking, arrival->stretch.from_ns, arrival->stretch.to_ns);
        if (packets == 0 || is_from_own_host(arrivals, arrival)) continue;
        gpointer tracer = GUINT_TO_POINTER(arrivals->measured->tree->span[arrival->stretch.node]->tracer);
        if (!g_hash_table_contains(senders, tracer)) g_hash_table_insert(senders, tracer, g_new0(Sender, 1));
        Sender *sender = g_hash_table_lookup(senders, tracer);
        sender->blocks++;
        sender->packets += packets;
        for (guint k = arrival->first; k < arrival->end; k++) {
            const Stretch *piece = &g_array_index(arrivals->pieces, Stretch, k);
            sender->waited_ns += (guint64)cover_within(waiting, piece->from_ns, piece->to_ns);
        }
    }
    return senders;
}

/* Does it come slowly from all, two at least, by block or by packet? Then it is the reader's own network. */
static gboolean comes_slowly_from_all(const Arrivals *arrivals, const Cover *waiting, const Cover *taking) {
    g_autoptr(GHashTable) senders = senders_of(arrivals, waiting, taking);
    GHashTableIter at;
    gpointer value;
    guint64 least_block_ns = G_MAXUINT64, most_block_ns = 0, least_packet_ns = G_MAXUINT64, most_packet_ns = 0;
    g_hash_table_iter_init(&at, senders);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        const Sender *sender = value;
        const guint64 block_ns = sender->waited_ns / sender->blocks, packet_ns = sender->waited_ns / sender->packets;
        least_block_ns = MIN(least_block_ns, block_ns);
        most_block_ns = MAX(most_block_ns, block_ns);
        least_packet_ns = MIN(least_packet_ns, packet_ns);
        most_packet_ns = MAX(most_packet_ns, packet_ns);
    }
    return g_hash_table_size(senders) > 1 &&
           (least_block_ns >= most_block_ns / SENDERS_SHARE || least_packet_ns >= most_packet_ns / SENDERS_SHARE);
}

/* The reader, or the DataNode for him, waits for what is on its way when he waits for long, and for no answer. */
static void move_arrivals(TreeTimes *times, const Arrivals *arrivals, const Stretch *waits, guint n_waits) {
    if (arrivals->pieces->len == 0) return;
    g_autofree Stretch *those = g_new(Stretch, n_waits), *takes = g_new(Stretch, n_waits);
    guint n = 0, n_takes = 0;
    for (guint i = 0; i < n_waits; i++) {
        const WaitPart part = times_part(arrivals->watch, arrivals->measured->node_of, waits[i].node);
        if (part & PART_ASKS) continue;
        if (waits[i].to_ns - waits[i].from_ns >= ARRIVAL_NS) those[n++] = waits[i];
        if (part & PART_BLOCKS) takes[n_takes++] = waits[i];
    }
    if (n == 0) return;
    Cover waiting = cover_of(those, n), taking = cover_of(takes, n_takes);
    if (!comes_slowly_from_all(arrivals, &waiting, &taking)) move_time(times, those, n, arrivals->pieces);
    cover_clear(&waiting);
    cover_clear(&taking);
}

/* ---- scopes ---- */

/* Of a list in the order of scopes, of which each element begins with a Stretch: those of one scope. */
typedef struct Slice {
    GArray *all;
    guint first, n;
} Slice;

static const WaitScope *scope_at(GArray *all, guint i) {
    return &((const Stretch *)(gconstpointer)(all->data + i * g_array_get_element_size(all)))->scope;
}

/* Scopes are asked for in order. */
static gboolean next_slice(Slice *slice, const WaitScope *scope) {
    slice->first += slice->n;
    slice->n = 0;
    while (slice->first < slice->all->len && wait_scope_compare(scope_at(slice->all, slice->first), scope) < 0)
        slice->first++;
    while (slice->first + slice->n < slice->all->len &&
           wait_scope_compare(scope_at(slice->all, slice->first + slice->n), scope) == 0)
        slice->n++;
    return slice->n > 0;
}

static void follow_scopes(const Measured *measured, const TimesWatch *watch, const WaitsAndWork *both,
                          TreeTimes *times) {
    const guint n_work = both->work->len;
    g_autofree guint *heap = g_new(guint, n_work + 1);
    g_autoptr(GArray) busy = g_array_sized_new(FALSE, FALSE, sizeof(Stretch), n_work);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Arrival));
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(Stretch));
    const Arrivals arrivals = {measured, watch, all, pieces};
    Slice waits = {both->waits, 0, 0}, work = {both->work, 0, 0}, blocks = {both->blocks, 0, 0};

    while (waits.first + waits.n < both->waits->len) {
        const WaitScope *scope = scope_at(both->waits, waits.first + waits.n);
        next_slice(&waits, scope);
        const gboolean works = next_slice(&work, scope), reads = next_slice(&blocks, scope);
        const Stretch *first = &g_array_index(both->waits, Stretch, waits.first);
        if (!works && !reads) continue;
        const Work *first_work = works ? &g_array_index(both->work, Work, work.first) : NULL;
        Sweep sweep = {measured, first_work, work.n, heap, 0, busy};
        g_array_set_size(busy, 0);
        find_busy(&sweep);
        move_time(times, first, waits.n, busy);
        if (!reads) continue;
        g_array_set_size(all, 0);
        g_array_set_size(pieces, 0);
        find_arrivals(all, &g_array_index(both->blocks, Block, blocks.first), blocks.n);
        find_pieces(&arrivals, busy);
        move_arrivals(times, &arrivals, first, waits.n);
    }
}

/* ---- the parts of a tree's functions ---- */

static guint32 n_parts(const Measured *measured) {
    return measured->pattern != NULL ? measured->pattern->n_nodes : measured->tree->n_nodes;
}

static void find_parts(const Measured *measured, WaitTable *table, WaitPart *parts) {
    const Pattern *pattern = measured->pattern;
    const CallTree *tree = measured->tree;
    for (guint32 i = 0; pattern != NULL && i < pattern->n_nodes; i++)
        parts[i] = wait_table_part(table, pattern->nodes[i].name);
    for (guint32 i = 0; pattern == NULL && i < tree->n_nodes; i++)
        parts[i] = tree->span[i] != NULL ? wait_table_part(table, tree->span[i]->name) : 0;
}

static guint32 parent_of(const Measured *measured, guint32 node) {
    return measured->pattern != NULL ? measured->pattern->nodes[node].parent : measured->tree->parent[node];
}

/* Is there a chain in which an application waits, and a station of it at which anything may work? stations: scratch,
 * for each node the chain of its station as a bit. */
static gboolean parts_meet(const Measured *measured, const WaitPart *parts, guint8 *stations, guint32 n) {
    guint waits = 0, work = 0;
    stations[0] = 0;
    for (guint32 i = 1; i < n; i++) {
        const WaitPart part = parts[i];
        if (part & PART_BLOCKS) waits |= 1u << part_chain(part);
        stations[i] = part & PART_STATION ? (guint8)(1u << part_chain(part)) : stations[parent_of(measured, i)];
        if (!(part & PART_WAIT) || part & PART_RECEIVE) work |= stations[i];
    }
    return (waits & work) != 0;
}

/* Leaves in the parts what the rule knows of. FALSE: nothing is special. */
static gboolean keep_parts(const Measured *measured, TimesRule rule, WaitPart *parts, guint8 *stations, guint32 n) {
    const guint alone = (rule >= TIMES_BY_TURNS ? PART_TURNS : 0) | (rule >= TIMES_VOTES ? PART_VOTES : 0);
    guint there = 0;
    for (guint32 i = 0; i < n; i++) there |= parts[i];
    const gboolean meet = parts_meet(measured, parts, stations, n);
    const guint keep = (meet ? ~(guint)(PART_TURNS | PART_VOTES) : 0) | alone;
    for (guint32 i = 0; i < n; i++) parts[i] = (WaitPart)(parts[i] & keep);
    return meet || (there & alone) != 0;
}

TreeTimes *times_by_rule(const Measured *measured, WaitTable *table, TimesRule rule, gboolean *differs) {
    enum { ON_STACK = 1024 };
    WaitPart few[ON_STACK];
    guint8 few_stations[ON_STACK];
    const guint32 n = n_parts(measured);
    *differs = FALSE;
    if (rule == TIMES_BY_PARENT) return times_compute(measured->tree, measured->node_of);

    g_autofree WaitPart *many = n > ON_STACK ? g_new(WaitPart, n) : NULL;
    WaitPart *parts = many != NULL ? many : few;
    g_autofree guint8 *many_stations = n > ON_STACK ? g_new(guint8, n) : NULL;
    find_parts(measured, table, parts);
    *differs = keep_parts(measured, rule, parts, many_stations != NULL ? many_stations : few_stations, n);
    if (!*differs) return times_compute(measured->tree, measured->node_of);

    g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(TimesGap));
    const TimesWatch watch = {parts, gaps, table};
    TreeTimes *times = times_with_gaps(measured->tree, measured->node_of, &watch);
    if (gaps->len == 0) return times;
    WaitsAndWork both = waits_and_work(measured, parts, table, gaps, rule);
    follow_scopes(measured, &watch, &both, times);
    waits_and_work_clear(&both);
    return times;
}
