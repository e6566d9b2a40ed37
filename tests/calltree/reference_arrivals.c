/* What is on its way to readers. */
#include "tests/calltree/reference_waits.h"

#include <string.h>

static const char *const asker = "BlockReaderRemote#new";
static const char *const taker = "BlockReaderRemote2#readNextPacket";
/* Who waits until a packet has come: a reader, or the DataNode for him. */
static const char *const takers = "BlockReaderRemote2#readNextPacket OpReadBlockProto";

/* By time, then in the pattern. */
static gboolean is_later_call(const RefNode *a, const RefNode *b) {
    if (a->span->begin_ns != b->span->begin_ns) return a->span->begin_ns > b->span->begin_ns;
    if (ref_end(a->span) != ref_end(b->span)) return ref_end(a->span) > ref_end(b->span);
    return a->pattern_node < b->pattern_node;
}

/* The last call of the last call, and so on, of one station; NULL: it makes none. */
static RefNode *last_sent(const RefWaits *waits, const RefNode *node) {
    RefNode *last = NULL;
    for (guint i = 0; i < node->children->len; i++) {
        RefNode *call = node->children->pdata[i];
        if (ref_station_of(waits, call) == call) continue;
        if (last == NULL || is_later_call(call, last)) last = call;
    }
    RefNode *below = last != NULL ? last_sent(waits, last) : NULL;
    return below != NULL ? below : last;
}

static gboolean sends_blocks(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, "OpReadBlockProto");
}

/* When the reader asked for the block. */
static gint64 asked_ns(const RefWaits *waits, const RefNode *station) {
    return (ref_is_one_of(waits, station->parent, asker) ? station->parent : station)->span->begin_ns;
}

/* Is there another block of the same readers, with which the reader goes on, or is not through with? */
static gboolean reads_another_at(const RefWaits *waits, const RefNode *station, gint64 time) {
    const gint64 asked = asked_ns(waits, station);
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        const gboolean asks = ref_is_one_of(waits, node, asker), sends = sends_blocks(waits, node);
        if ((!asks && !sends) || !ref_same_scope(waits, node, 'r', station, 'r')) continue;
        const gint64 its = asks ? node->span->begin_ns : asked_ns(waits, node);
        if (its > asked && its <= time) return TRUE;
        if (!sends || node == station || its > asked) continue;
        if (its == asked || ref_end(node->span) > time) return TRUE;
    }
    return FALSE;
}

static gboolean arrives_at(const RefWaits *waits, const RefNode *station, gint64 time) {
    if (station->sent == NULL || !ref_runs_at(station, time)) return FALSE;
    for (guint i = 0; i < station->children->len; i++)
        if (ref_end(((RefNode *)station->children->pdata[i])->span) > time) return FALSE;
    return !reads_another_at(waits, station, time);
}

void ref_find_arrivals(const RefWaits *waits, RefNode *node) {
    GString *arrives = g_string_new(NULL);
    if (sends_blocks(waits, node)) node->sent = last_sent(waits, node);
    for (gint64 time = waits->from_ns; time < waits->to_ns; time += waits->unit_ns)
        g_string_append_c(arrives, arrives_at(waits, node, time) ? 'x' : '.');
    node->arrives = g_string_free(arrives, FALSE);
}

RefNode *ref_who_sent(const RefWaits *waits, const RefNode *waiter, gint64 time) {
    const guint moment = (guint)((time - waits->from_ns) / waits->unit_ns);
    for (guint i = 0; i < waits->tree->in_order->len && ref_is_one_of(waits, waiter, takers); i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (node->work_scope == NULL || strcmp(node->work_scope, waiter->wait_scope) != 0) continue;
        if (node->arrives[moment] == 'x') return node;
    }
    return NULL;
}

static guint32 host_of(const RefWaits *waits, const RefNode *node) {
    Role role;
    guint32 host = 0;
    if (node->span != NULL) waits->world->lookup.process(waits->world->lookup.arg, node->span->tracer, &role, &host);
    return host;
}

/* Does it say anything of the network? */
static gboolean tells(const RefWaits *waits, const RefNode *node, const char *scope) {
    return node->work_scope != NULL && strcmp(node->work_scope, scope) == 0 && node->packets > 0 &&
           host_of(waits, node->parent) != host_of(waits, node->sent);
}

/* For how long readers waited for what the process of that station has sent, for each block, or packet. */
static gint64 waited_each_ns(const RefWaits *waits, const RefNode *station, const char *scope, gboolean by_packet) {
    gint64 waited_ns = 0, n = 0;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        if (!tells(waits, node, scope) || node->sent->span->tracer != station->sent->span->tracer) continue;
        waited_ns += node->arrived_ns;
        n += by_packet ? node->packets : 1;
    }
    return waited_ns / n;
}

/* Does it come from two processes at least, and slowly from all? */
static gboolean comes_slowly(const RefWaits *waits, const char *scope, gboolean by_packet) {
    gint64 least_ns = G_MAXINT64, most_ns = 0;
    const RefNode *first = NULL;
    gboolean several = FALSE;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        if (!tells(waits, node, scope)) continue;
        if (first == NULL) first = node;
        several = several || node->sent->span->tracer != first->sent->span->tracer;
        least_ns = MIN(least_ns, waited_each_ns(waits, node, scope, by_packet));
        most_ns = MAX(most_ns, waited_each_ns(waits, node, scope, by_packet));
    }
    return several && least_ns >= most_ns / 4;
}

static gboolean comes_slowly_from_all(const RefWaits *waits, const char *scope) {
    return comes_slowly(waits, scope, FALSE) || comes_slowly(waits, scope, TRUE);
}

void ref_count_packet(const RefWaits *waits, const RefNode *waiter, gint64 from, gint64 to) {
    for (guint i = 0; i < waits->tree->in_order->len && ref_is_one_of(waits, waiter, taker); i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (node->work_scope == NULL || strcmp(node->work_scope, waiter->wait_scope) != 0) continue;
        gboolean any = FALSE;
        for (gint64 time = from; time < to; time += waits->unit_ns)
            any = any || node->arrives[(time - waits->from_ns) / waits->unit_ns] == 'x';
        node->packets += any;
    }
}

void ref_count_arrivals(const RefWaits *waits) {
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (node->given_ns > 0 && comes_slowly_from_all(waits, node->wait_scope)) node->critical_ns += node->given_ns;
        if (node->arrived_ns > 0 && !comes_slowly_from_all(waits, node->work_scope))
            node->sent->critical_ns += node->arrived_ns;
    }
}
