#include "analyzer/diagnosis/nodes/links.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

/* Which transfers: with 'others', not those between the two. 0: any host. */
typedef struct LinkEnds {
    guint32 from, to;
    guint32 other; /* neither end; 0: any may be */
} LinkEnds;

/* What such transfers took. */
typedef struct LinkGroup {
    guint32 n;
    double median_ns;
    double most_ns; /* of nine of ten not more */
} LinkGroup;

static gboolean fits(const LinkTransfer *transfer, const LinkEnds *ends) {
    if (ends->from != 0 && transfer->from != ends->from) return FALSE;
    if (ends->to != 0 && transfer->to != ends->to) return FALSE;
    return ends->other == 0 || (transfer->from != ends->other && transfer->to != ends->other);
}

static gint by_value(gconstpointer left, gconstpointer right, gpointer unused) {
    const float a = *(const float *)left, b = *(const float *)right;
    (void)unused;
    return (a > b) - (a < b);
}

static const LinkTransfer *transfer_at(const GArray *transfers, guint i) {
    return &g_array_index(transfers, LinkTransfer, i);
}

static LinkGroup group_between(const GArray *transfers, const LinkEnds *ends) {
    g_autofree float *values = g_new(float, MAX(transfers->len, 1));
    LinkGroup group = {.n = 0};
    for (guint i = 0; i < transfers->len && allowance_goes_on(); i++)
        if (fits(transfer_at(transfers, i), ends)) values[group.n++] = (float)transfer_at(transfers, i)->ns;
    if (group.n == 0) return group;
    allowance_sort(values, group.n, sizeof *values, by_value, NULL);
    group.most_ns = values[(9 * group.n + 9) / 10 - 1];
    group.median_ns = median_of(values, group.n);
    return group;
}

/* Transfers by sender and receiver. */
static int by_ends(const LinkTransfer *a, const LinkTransfer *b) {
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* And by trace; of equals the order says nothing. */
static gint by_ends_and_trace(gconstpointer left, gconstpointer right, gpointer unused) {
    const LinkTransfer *a = left, *b = right;
    const int ends = by_ends(a, b);
    (void)unused;
    return ends != 0 ? ends : (a->trace > b->trace) - (a->trace < b->trace);
}

/* Of so many transfers of one pair. */
static double median_of_run(const LinkTransfer *run, guint n) {
    g_autofree float *values = g_new(float, n);
    for (guint i = 0; i < n; i++) values[i] = (float)run[i].ns;
    return median_of(values, n);
}

/* Without the peers that are as slow as that, where they are few: it is their own network, or another link. */
static LinkGroup group_of_most(const GArray *sorted, const LinkEnds *ends, double slow_ns) {
    g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    guint peers = 0, slow = 0;
    for (guint i = 0, n; i < sorted->len && allowance_goes_on(); i += n) {
        const LinkTransfer *run = transfer_at(sorted, i);
        n = 1;
        while (i + n < sorted->len && by_ends(run, run + n) == 0) n++;
        if (!fits(run, ends)) continue;
        peers++;
        if (n >= LINK_PARTNER_LEAST && median_of_run(run, n) >= slow_ns)
            slow++;
        else
            g_array_append_vals(kept, run, n);
    }
    return group_between(LINK_SLOW_PEERS * slow <= peers ? kept : sorted, ends);
}

/* From how many traces are the pair's transfers? */
static guint traces_of_pair(const GArray *sorted, guint32 from, guint32 to) {
    const LinkTransfer *before = NULL;
    guint n = 0;
    for (guint i = 0; i < sorted->len && allowance_goes_on(); i++) {
        const LinkTransfer *transfer = transfer_at(sorted, i);
        if (transfer->from != from || transfer->to != to) continue;
        if (before == NULL || before->trace != transfer->trace) n++;
        before = transfer;
    }
    return n;
}

/* How many times as long as most of what is not between the two; 0: it is no slow link, or that is not known. */
static double measure(const GArray *sorted, LinkUse use, SlowLink *link) {
    const LinkEnds ends[] = {{link->from, link->to, 0}, {link->from, 0, link->to}, {0, link->to, link->from}};
    const LinkGroup pair = group_between(sorted, &ends[0]);
    const double slow_ns = use == LINK_OF_READS ? pair.median_ns / LINK_TIMES_LEAST : INFINITY;
    const LinkGroup to_others = group_of_most(sorted, &ends[1], slow_ns),
                    from_others = group_of_most(sorted, &ends[2], slow_ns);
    link->calls = pair.n;
    link->ns = pair.median_ns;
    link->others = to_others.n + from_others.n;
    link->to_others_ns = to_others.median_ns;
    link->from_others_ns = from_others.median_ns;
    if (MIN(pair.n, MIN(to_others.n, from_others.n)) < LINK_TRANSFERS_LEAST) return 0;
    if (traces_of_pair(sorted, link->from, link->to) < LINK_TRACES_LEAST) return 0;
    const double times = pair.median_ns / MAX(MAX(to_others.most_ns, from_others.most_ns), LINK_SHORTEST_NS);
    return times >= LINK_TIMES_LEAST ? times : 0;
}

/* Is it the first of a pair of which the host is one end? */
static gboolean begins_pair(const GArray *sorted, guint i, guint32 host) {
    const LinkTransfer *transfer = transfer_at(sorted, i);
    if (i > 0 && by_ends(transfer - 1, transfer) == 0) return FALSE;
    return (transfer->from == host || transfer->to == host) && transfer->from != transfer->to;
}

static GArray *sorted_by_ends(const GArray *transfers) {
    GArray *sorted = g_array_copy((GArray *)transfers);
    allowance_sort(sorted->data, sorted->len, sizeof(LinkTransfer), by_ends_and_trace, NULL);
    return sorted;
}

guint32 slow_link_partner(const GArray *transfers, guint32 host) {
    g_autoptr(GArray) sorted = sorted_by_ends(transfers);
    guint32 partner = 0;
    double most_ns = 0;
    for (guint i = 0; i < sorted->len && allowance_goes_on(); i++) {
        if (!begins_pair(sorted, i, host)) continue;
        const LinkTransfer *transfer = transfer_at(sorted, i);
        const LinkEnds pair = {transfer->from, transfer->to, 0};
        const LinkGroup group = group_between(sorted, &pair);
        if (group.n < LINK_PARTNER_LEAST || group.median_ns <= most_ns) continue;
        most_ns = group.median_ns;
        partner = transfer->from == host ? transfer->to : transfer->from;
    }
    return partner;
}

SlowLink slow_link_find(const GArray *transfers, LinkUse use, guint32 host) {
    g_autoptr(GArray) sorted = sorted_by_ends(transfers);
    SlowLink best = {.from = 0};
    double best_times = 0;
    for (guint i = 0; i < sorted->len && allowance_goes_on(); i++) {
        if (!begins_pair(sorted, i, host)) continue;
        const LinkTransfer *transfer = transfer_at(sorted, i);
        SlowLink link = {.from = transfer->from, .to = transfer->to};
        const double times = measure(sorted, use, &link);
        if (times <= best_times) continue;
        best_times = times;
        best = link;
    }

    SlowLink back = {.from = best.to, .to = best.from};
    best.both_ways = best.from != 0 && measure(sorted, use, &back) > 0;
    return best;
}
