#include "analyzer/calltree/waits_work_inside.h"

/* Of what comes into a station, what the station before it has at least to receive when its network is the slow one.
 * And what a process has at least to have more than another, to be to blame for what comes slowly from it. */
#define LINK_SHARE 16

/* A process sends slowly for its standing still when that is more than this part of what it receives, and of half its
 * links: else a moment after each packet would be enough where hardly anything comes slowly. */
#define STILL_SHARE 4

/* Of all its stations, of one scope. */
typedef struct ProcessLoad {
    guint64 weight;
    guint64 received; /* more than the weight: it mostly receives */
    guint64 links;    /* in which packets come to it, or from it, as far as they are not another network's */
    guint64 still;    /* in which it stands still */
} ProcessLoad;

static int by_station(const void *a, const void *b) {
    const Work *x = a, *y = b;
    const int order = wait_scope_compare(&x->stretch.scope, &y->stretch.scope);
    if (order != 0) return order;
    if (x->station != y->station) return x->station < y->station ? -1 : 1;
    return x->stretch.from_ns < y->stretch.from_ns ? -1 : x->stretch.from_ns > y->stretch.from_ns;
}

static gboolean same_station(const Work *a, const Work *b) {
    return a->station == b->station && wait_scope_compare(&a->stretch.scope, &b->stretch.scope) == 0;
}

/* How much of it lies behind what is covered already. */
static guint64 cover(const Stretch *stretch, gint64 *covered_to) {
    const gint64 from = MAX(stretch->from_ns, *covered_to);
    if (stretch->to_ns <= from) return 0;
    *covered_to = stretch->to_ns;
    return (guint64)stretch->to_ns - (guint64)from;
}

/* Of the station of the first, for its scope. Whether a packet was on its way is told by two clocks, so a station that
 * mostly receives counts half. *n: of how many pieces of work. */
static Load load_of(const Work *all, guint left, guint *n) {
    Load load = {.link = FALSE};
    gint64 covered_to = G_MININT64, rest_to = G_MININT64;
    guint i = 0;
    for (; i < left && same_station(&all[i], &all[0]); i++) {
        const Stretch *stretch = &all[i].stretch;
        if (all[i].kind == WORK_ANSWER) continue;
        if (all[i].kind == WORK_RECEIVING)
            load.received += (guint64)stretch->to_ns - (guint64)stretch->from_ns;
        else
            load.rest += cover(stretch, &rest_to);
        load.weight += cover(stretch, &covered_to);
    }
    load.link = load.received > load.weight / 2;
    if (load.link) load.weight /= 2;
    *n = i;
    return load;
}

/* By the rules before TIMES_NETWORK: what comes slowly into a station goes slowly out of it. Of two whose links keep
 * them busy, the second counts as the busier when it is so by more than a quarter. */
static Load load_after(Load load, const Load *before) {
    const gboolean busier = load.weight > before->weight && load.weight - before->weight > before->weight / 4;
    if (load.link && before->link && !busier) load.weight = MIN(load.weight, before->weight);
    return load;
}

/* Two links that keep their stations busy have one station in common: it is its network that is slow. */
static Load load_behind(Load load, const Load *before) {
    load.follows = load.link && before->received > load.received / LINK_SHARE;
    if (load.follows) load.weight = load.rest;
    return load;
}

/* What follows from the network of the station before is that one's load, and its sending. */
static void blame_networks(Collector *c, Work *all, guint n) {
    for (guint i = 0; i < n; i++) {
        const Load *load = &c->contexts[all[i].station].load;
        if (!load->follows) continue;
        Load *before = &station_before(c, all[i].station)->load;
        before->weight = MAX(before->weight, load->received / 2);
        if (all[i].kind != WORK_RECEIVING || all[i].other == 0) continue;
        all[i].stretch.node = all[i].other;
        all[i].station = c->contexts[all[i].other].station;
    }
}

/* Of the station's. */
static ProcessLoad *load_of_process(const Collector *c, guint32 station) {
    gpointer tracer = GUINT_TO_POINTER(c->tree->span[station]->tracer);
    ProcessLoad *load = g_hash_table_lookup(c->loads, tracer);
    if (load == NULL) {
        load = g_new0(ProcessLoad, 1);
        g_hash_table_insert(c->loads, tracer, load);
    }
    return load;
}

/* Of work by station, some of which is counted to another one by now. */
static void add_links(const Collector *c, const Work *all, guint n) {
    guint32 still_at = 0;
    gint64 still_to = G_MININT64;
    for (guint i = 0; i < n; i++) {
        const Stretch *stretch = &all[i].stretch;
        if (all[i].kind == WORK_RECEIVING) {
            const guint32 sender = all[i].other != 0 ? c->contexts[all[i].other].station : all[i].station;
            ProcessLoad *into = load_of_process(c, all[i].station), *out_of = load_of_process(c, sender);
            const guint64 ns = (guint64)stretch->to_ns - (guint64)stretch->from_ns;
            into->links += ns;
            if (out_of != into) out_of->links += ns;
        } else if (all[i].kind == WORK_OWN && stretch->node == all[i].station) {
            if (still_at != stretch->node) still_to = G_MININT64;
            still_at = stretch->node;
            load_of_process(c, still_at)->still += cover(stretch, &still_to);
        }
    }
}

static void add_to_processes(const Collector *c) {
    for (guint i = 0; i < c->weighed->len; i++) {
        const guint32 station = g_array_index(c->weighed, guint32, i);
        ProcessLoad *load = load_of_process(c, station);
        load->weight += c->contexts[station].load.weight;
        load->received += c->contexts[station].load.received;
    }
}

/* Is it perhaps the other station's? A packet that comes slowly to a station that does little else, too. */
static gboolean is_doubtful(const Collector *c, const Work *work) {
    const gboolean comes = work->kind == WORK_RECEIVING && work->other != 0 && c->rule >= TIMES_ANSWERS;
    if (comes) return c->contexts[work->station].load.link;
    return work->kind == WORK_ANSWER || work->kind == WORK_ASKED;
}

/* Which call of the other station's process is to blame for what is in doubt; 0: none. Of a packet it is the sending,
 * or the station, where its process stands still for long. */
static guint32 other_to_blame(const Collector *c, const Work *work) {
    const guint32 station = c->contexts[work->other].station;
    const ProcessLoad *own = load_of_process(c, work->station), *other = load_of_process(c, station);
    if (work->kind != WORK_RECEIVING) return other->weight > own->weight ? work->other : 0;
    if (c->rule < TIMES_SENDERS)
        return other->weight > own->weight && other->received > other->weight ? work->other : 0;

    const guint64 doubtful = c->contexts[work->station].load.received;
    if (other->links + other->still <= own->links + own->still + doubtful / LINK_SHARE) return 0;
    const guint64 slow = MAX(other->received, other->links / 2);
    return other->still > slow / STILL_SHARE ? station : work->other;
}

/* Of two of which one is to blame, the one whose process has more to do, of one scope. */
static void settle_doubts(const Collector *c, Work *all, guint n) {
    guint first = 0;
    while (first < n && !is_doubtful(c, &all[first])) first++;
    if (first == n) return;
    g_hash_table_remove_all(c->loads);
    add_to_processes(c);
    if (c->rule >= TIMES_SENDERS) add_links(c, all, n);
    for (guint i = first; i < n; i++) {
        const guint32 to_blame = is_doubtful(c, &all[i]) ? other_to_blame(c, &all[i]) : 0;
        if (to_blame == 0) continue;
        all[i].station = c->contexts[all[i].other].station;
        all[i].stretch.node = to_blame;
    }
}

/* Of one scope, by station. Stations come before those below them. */
static void weigh_scope(Collector *c, Work *all, guint n_all, guint32 scope) {
    g_array_set_size(c->weighed, 0);
    for (guint i = 0, n; i < n_all; i += n) {
        Context *station = &c->contexts[all[i].station];
        const Context *before = station_before(c, all[i].station);
        station->load = load_of(&all[i], n_all - i, &n);
        station->loaded_in = scope;
        g_array_append_val(c->weighed, all[i].station);
        if (before->loaded_in != scope) continue;
        station->load = c->rule >= TIMES_NETWORK ? load_behind(station->load, &before->load)
                                                 : load_after(station->load, &before->load);
    }
    blame_networks(c, all, n_all);
    settle_doubts(c, all, n_all);
    for (guint i = 0; i < n_all; i++) {
        const Context *station = &c->contexts[all[i].station];
        all[i].weight = station->loaded_in == scope ? station->load.weight : 0;
    }
}

void waits_weigh_stations(Collector *c) {
    g_array_sort(c->work, by_station);
    Work *all = (Work *)(gpointer)c->work->data;
    guint32 scope = 0;
    for (guint i = 0, n; i < c->work->len; i += n) {
        for (n = 1; i + n < c->work->len; n++) {
            if (wait_scope_compare(&all[i].stretch.scope, &all[i + n].stretch.scope) != 0) break;
        }
        weigh_scope(c, &all[i], n, ++scope);
    }
}
