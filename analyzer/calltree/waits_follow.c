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

/* The sum of (time - end) over all ends before the time. */
static guint64 passed_since(const Ends *ends, gint64 time_ns) {
    guint low = 0, high = ends->n;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (ends->at_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low * (guint64)time_ns - ends->sums[low];
}

/* How much of the intervals lies in [from, to), those that overlap as often as they are there. */
static gint64 cover_within(const Cover *cover, gint64 from_ns, gint64 to_ns) {
    const guint64 begun = passed_since(&cover->from, to_ns) - passed_since(&cover->from, from_ns);
    const guint64 ended = passed_since(&cover->to, to_ns) - passed_since(&cover->to, from_ns);
    return (gint64)(begun - ended);
}

/* ---- who works at a moment ---- */

typedef struct Sweep {
    const Measured *measured;
    const Work *work; /* of one scope, by begin */
    guint n;
    guint *heap; /* of those under way: the one that comes first in works_before() is on top */
    guint n_heap;
    GArray *busy;     /* Stretch: one at a time, by begin */
    GArray *arriving; /* Stretch: what is on its way while nobody is busy */
} Sweep;

static guint32 pattern_node(const Measured *measured, guint32 node) {
    return measured->node_of != NULL ? measured->node_of[node] : 0;
}

/* Of two who work at the same time, whose time is it? */
static gboolean works_before(const Measured *measured, const Work *a, const Work *b) {
    const gint64 *from_ns = measured->tree->from_ns;
    const gboolean arrives = a->kind == WORK_ARRIVING;
    if (arrives != (b->kind == WORK_ARRIVING)) return !arrives;
    if (arrives && a->stretch.from_ns != b->stretch.from_ns) return a->stretch.from_ns > b->stretch.from_ns;
    if (!arrives && a->weight != b->weight) return a->weight > b->weight;
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

        const Work *first = &sweep->work[sweep->heap[0]];
        gint64 until_ns = first->stretch.to_ns;
        if (next < sweep->n) until_ns = MIN(until_ns, sweep->work[next].stretch.from_ns);
        const Stretch piece = {first->stretch.scope, at_ns, until_ns, first->stretch.node};
        g_array_append_vals(first->kind == WORK_ARRIVING ? sweep->arriving : sweep->busy, &piece, 1);
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

/* A process that has sent blocks to readers of one scope. */
typedef struct Sender {
    guint64 waited_ns; /* for what was on its way */
    guint blocks;
} Sender;

static guint32 tracer_of(const Sweep *sweep, const Stretch *piece) {
    return sweep->measured->tree->span[piece->node]->tracer;
}

/* Of all who have sent a block. */
static GHashTable *senders_of(const Sweep *sweep, const Stretch *waits, guint n_waits) {
    GHashTable *senders = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    Cover waiting = cover_of(waits, n_waits);
    for (guint i = 0; i < sweep->n; i++) {
        if (sweep->work[i].kind != WORK_ARRIVING) continue;
        gpointer tracer = GUINT_TO_POINTER(tracer_of(sweep, &sweep->work[i].stretch));
        if (!g_hash_table_contains(senders, tracer)) g_hash_table_insert(senders, tracer, g_new0(Sender, 1));
        ((Sender *)g_hash_table_lookup(senders, tracer))->blocks++;
    }
    for (guint i = 0; i < sweep->arriving->len; i++) {
        const Stretch *piece = &g_array_index(sweep->arriving, Stretch, i);
        Sender *sender = g_hash_table_lookup(senders, GUINT_TO_POINTER(tracer_of(sweep, piece)));
        sender->waited_ns += (guint64)cover_within(&waiting, piece->from_ns, piece->to_ns);
    }
    cover_clear(&waiting);
    return senders;
}

/* Does it come slowly from all, two at least? Then it is the reader's own network. */
static gboolean comes_slowly_from_all(const Sweep *sweep, const Stretch *waits, guint n_waits) {
    g_autoptr(GHashTable) senders = senders_of(sweep, waits, n_waits);
    guint64 least_ns = G_MAXUINT64, most_ns = 0;
    GHashTableIter at;
    gpointer value;
    g_hash_table_iter_init(&at, senders);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        const Sender *sender = value;
        least_ns = MIN(least_ns, sender->waited_ns / sender->blocks);
        most_ns = MAX(most_ns, sender->waited_ns / sender->blocks);
    }
    return g_hash_table_size(senders) > 1 && least_ns >= most_ns / SENDERS_SHARE;
}

/* The reader waits for what is on its way when he waits for long. */
static void move_arrivals(TreeTimes *times, const Stretch *waits, guint n_waits, const Sweep *sweep) {
    if (sweep->arriving->len == 0) return;
    g_autofree Stretch *those = g_new(Stretch, n_waits);
    guint n = 0;
    for (guint i = 0; i < n_waits; i++) {
        if (waits[i].to_ns - waits[i].from_ns >= ARRIVAL_NS) those[n++] = waits[i];
    }
    if (n > 0 && !comes_slowly_from_all(sweep, those, n)) move_time(times, those, n, sweep->arriving);
}

/* Both lists are in the order of scopes. */
static void follow_scopes(const Measured *measured, const WaitsAndWork *both, TreeTimes *times) {
    const Stretch *waits = (const Stretch *)(gconstpointer)both->waits->data;
    const Work *work = (const Work *)(gconstpointer)both->work->data;
    const guint n_waits = both->waits->len, n_work = both->work->len;
    g_autofree guint *heap = g_new(guint, n_work + 1);
    g_autoptr(GArray) busy = g_array_sized_new(FALSE, FALSE, sizeof(Stretch), n_work);
    g_autoptr(GArray) arriving = g_array_new(FALSE, FALSE, sizeof(Stretch));

    for (guint i = 0, at = 0; i < n_waits && at < n_work;) {
        const WaitScope *scope = &waits[i].scope;
        guint n = 1, n_here = 0;
        while (i + n < n_waits && wait_scope_compare(&waits[i + n].scope, scope) == 0) n++;
        while (at < n_work && wait_scope_compare(&work[at].stretch.scope, scope) < 0) at++;
        while (at + n_here < n_work && wait_scope_compare(&work[at + n_here].stretch.scope, scope) == 0) n_here++;

        if (n_here > 0) {
            Sweep sweep = {measured, work + at, n_here, heap, 0, busy, arriving};
            g_array_set_size(busy, 0);
            g_array_set_size(arriving, 0);
            find_busy(&sweep);
            move_time(times, waits + i, n, busy);
            move_arrivals(times, waits + i, n, &sweep);
        }
        i += n;
        at += n_here;
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
    gboolean turns = FALSE;
    for (guint32 i = 0; i < n; i++) turns = turns || parts[i] & PART_TURNS;
    turns = turns && rule >= TIMES_BY_TURNS;
    const gboolean meet = parts_meet(measured, parts, stations, n);
    const guint keep = (meet ? ~(guint)PART_TURNS : 0) | (turns ? PART_TURNS : 0);
    for (guint32 i = 0; i < n; i++) parts[i] = (WaitPart)(parts[i] & keep);
    return meet || turns;
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
    follow_scopes(measured, &both, times);
    waits_and_work_clear(&both);
    return times;
}
