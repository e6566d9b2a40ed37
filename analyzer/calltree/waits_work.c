#include "analyzer/calltree/waits_work.h"

#include <stdlib.h>

#include "analyzer/calltree/waits_work_inside.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/fnv.h"
#include "common/base/region.h"

/* An acknowledgement that takes less is on its way: healthy pipelines have many, and clocks differ by as much. */
#define ANSWER_NS NS_PER_MS

/* Most nodes work once, or wait. */
G_STATIC_ASSERT(sizeof(Context) + sizeof(Work) == TIMES_WAITS_BYTES);

/* A packet on its way from one station to the next: how the sender saw it, and how the receiver did. */
typedef struct Send {
    WaitScope scope;
    guint32 station; /* 0: the client */
    guint32 pattern_node, node;
    gint64 from_ns, to_ns;
    gint64 most_ns; /* the greatest end of all up to this one, of this sender */
} Send;

/* All sends of one station, or of the client while the receiver worked. */
typedef struct Sends {
    guint32 station;
    guint first, end;         /* of all */
    guint paired, paired_end; /* that were received one by one, if as many were */
} Sends;

/* Of a packet, or of an acknowledgement. */
typedef struct Receive {
    guint32 station, pattern_node, node;
    gint64 from_ns, to_ns;
    gint64 handled_ns; /* when the station was through with the packet */
} Receive;

/* Of one station, in order. */
typedef struct Receives {
    const Receive *all;
    guint n;
} Receives;

/* Of a station that sends a block all is its work but what comes after the last of its calls: there it waits for its
 * reader. */
static gboolean sends_block(const Collector *c, WaitPart part) {
    return c->rule >= TIMES_READERS && part & PART_STATION && part_chain(part) == CHAIN_READ;
}

static gboolean looks_at_standing(const Collector *c) { return c->rule >= TIMES_STANDING; }
static guint32 pattern_node(const Collector *c, guint32 node) { return c->node_of != NULL ? c->node_of[node] : 0; }
static WaitPart part_at(const Collector *c, guint32 node) { return c->parts[c->node_of ? c->node_of[node] : node]; }

int wait_scope_compare(const WaitScope *a, const WaitScope *b) {
    if (a->chain != b->chain) return a->chain < b->chain ? -1 : 1;
    if (a->anchor != b->anchor) return a->anchor < b->anchor ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Who reads packet by packet reads in roots of one trace, and only the one that opened the block has its station. */
static gboolean reads_in_roots(const Collector *c, const Context *context, guint32 chain) {
    const SpanRec *top = c->tree->span[context->top];
    return c->rule >= TIMES_ROOTS && chain == CHAIN_READ && top != NULL && top->n_parents == 0;
}

static WaitScope scope_in(const Collector *c, const Context *context, guint32 chain) {
    if (chain == CHAIN_RPC) return (WaitScope){0, context->call, chain};
    return (WaitScope){context->stream, reads_in_roots(c, context, chain) ? 0 : context->top, chain};
}

/* Of the text, never 0. */
static guint64 hash_of(const SpanAnnotation *annotation) {
    const guint64 hash = fnv64(FNV64_BASIS, annotation->value, annotation->length);
    return hash != 0 ? hash : 1;
}

static guint64 stream_of(const Collector *c, const SpanRec *span, guint64 above) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (wait_table_is_stream(c->table, annotation.key)) return hash_of(&annotation);
    }
    return above;
}

static int by_scope(const void *a, const void *b) {
    const Stretch *x = a, *y = b; /* Work and Block begin with one */
    const int order = wait_scope_compare(&x->scope, &y->scope);
    if (order != 0) return order;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static gboolean has_waits(const Collector *c, const WaitScope *scope) {
    guint low = 0, high = c->waits->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (wait_scope_compare(&g_array_index(c->waits, Stretch, middle).scope, scope) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->waits->len && wait_scope_compare(&g_array_index(c->waits, Stretch, low).scope, scope) == 0;
}

/* Parents come before their children. */
static void find_contexts(Collector *c) {
    const CallTree *tree = c->tree;
    c->contexts[0] = (Context){.stream = 0};
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        Context *context = &c->contexts[i];
        const WaitPart part = part_at(c, i);
        *context = c->contexts[tree->parent[i]];
        if (tree->parent[i] == 0) context->top = i;
        if (tree->span[i] == NULL || part == 0) continue;
        if (part & PART_WAIT) context->stream = stream_of(c, tree->span[i], context->stream);
        if (part & PART_BELOW) context->call = i;
        if (part & PART_STATION) {
            context->station = i;
            context->chain = part_chain(part);
        }
    }
}

static void list_waits(Collector *c, const GArray *gaps) {
    for (guint i = 0; i < gaps->len; i++) {
        const TimesGap *gap = &g_array_index(gaps, TimesGap, i);
        const guint32 chain = part_chain(part_at(c, gap->node));
        const Stretch wait = {scope_in(c, &c->contexts[gap->node], chain), gap->from_ns, gap->to_ns, gap->node};
        g_array_append_val(c->waits, wait);
    }
    g_array_sort(c->waits, by_scope);
}

/* ---- work ---- */

static void add_work_of(Collector *c, guint32 node, WorkKind kind, gint64 from_ns, gint64 to_ns) {
    if (from_ns >= to_ns) return;
    const Context *context = &c->contexts[node];
    const Stretch stretch = {scope_in(c, context, context->chain), from_ns, to_ns, node};
    const Work work = {stretch, context->station, c->other, kind, 0};
    g_array_append_val(c->work, work);
}

static void add_work(Collector *c, guint32 node, gint64 from_ns, gint64 to_ns) {
    add_work_of(c, node, WORK_OWN, from_ns, to_ns);
}

/* What its children do not cover before the last of them; they come in order of begin. Returns the rest's begin. */
static gint64 add_time_between(Collector *c, guint32 node) {
    const CallTree *tree = c->tree;
    gint64 at = tree->from_ns[node];
    const gint64 end_ns = tree->to_ns[node];
    for (guint32 child = node + 1; child < tree->end[node] && at < end_ns; child = tree->end[child]) {
        add_work(c, node, at, MIN(tree->from_ns[child], end_ns));
        at = MAX(at, tree->to_ns[child]);
    }
    return at;
}

static void add_own_time(Collector *c, guint32 node) {
    const gint64 rest_ns = add_time_between(c, node);
    add_work(c, node, rest_ns, c->tree->to_ns[node]);
}

/* Before that rule nobody asked. */
static gint64 handled_ns(const Collector *c, guint32 node) {
    const guint32 packet = c->tree->parent[node];
    if (c->rule < TIMES_ANSWERS) return 0;
    return packet == c->contexts[node].station ? c->tree->to_ns[node] : c->tree->to_ns[packet];
}

static void add_packet(Collector *c, guint32 node, WaitPart part) {
    const Context *context = &c->contexts[node];
    const gint64 from_ns = c->tree->from_ns[node], to_ns = c->tree->to_ns[node];
    if (part & PART_SEND) {
        const Send send = {
            scope_in(c, context, part_chain(part)), context->station, pattern_node(c, node), node, from_ns, to_ns, 0};
        g_array_append_val(c->sends, send);
    }
    const gboolean answer = part & PART_ANSWER && c->rule >= TIMES_ANSWERS;
    if ((part & PART_RECEIVE || answer) && context->station != 0) {
        const Receive receive = {context->station, pattern_node(c, node), node, from_ns, to_ns, handled_ns(c, node)};
        g_array_append_vals(part & PART_RECEIVE ? c->receives : c->answers, &receive, 1);
    }
}

/* Is that call of the same caller the later one? Ids do not decide. */
static gboolean is_later(const Collector *c, guint32 node, guint32 other) {
    const CallTree *tree = c->tree;
    if (tree->from_ns[node] != tree->from_ns[other]) return tree->from_ns[node] > tree->from_ns[other];
    if (tree->to_ns[node] != tree->to_ns[other]) return tree->to_ns[node] > tree->to_ns[other];
    return pattern_node(c, node) < pattern_node(c, other);
}

/* The last of its calls that is no station; 0: it has none. */
static guint32 last_call(const Collector *c, guint32 node) {
    const CallTree *tree = c->tree;
    guint32 last = 0;
    for (guint32 child = node + 1; child < tree->end[node]; child = tree->end[child]) {
        if (part_at(c, child) & PART_STATION) continue;
        if (last == 0 || is_later(c, child, last)) last = child;
    }
    return last;
}

static void add_asked(Collector *c, guint32 node) {
    const gint64 asked_ns = c->tree->from_ns[node];
    const Block block = {{scope_in(c, &c->contexts[node], CHAIN_READ), asked_ns, asked_ns, 0}, 0, 0};
    if (c->rule >= TIMES_ARRIVALS) g_array_append_val(c->blocks, block);
}

/* A station that has sent a block waits for its reader to say that he has it all: until then it is on its way. What put
 * the last of it into the socket is the last of all calls. */
static void add_block(Collector *c, guint32 station, gint64 sent_ns) {
    const CallTree *tree = c->tree;
    const guint32 caller = tree->parent[station];
    const gint64 asked_ns = tree->from_ns[part_at(c, caller) & PART_ASKS ? caller : station];
    guint32 sent = 0;
    if (c->rule < TIMES_ARRIVALS) return;
    for (guint32 call = last_call(c, station); call != 0; call = last_call(c, call)) sent = call;
    const WaitScope scope = scope_in(c, &c->contexts[station], CHAIN_READ);
    const Block block = {{scope, asked_ns, tree->to_ns[station], sent}, sent_ns, station};
    g_array_append_val(c->blocks, block);
}

/* Of the NameNode's edit log, what it waits for itself is not its work: of the JournalNodes not the slowest. */
static gboolean works_by_path(const Collector *c, const Context *context) {
    return c->rule >= TIMES_VOTES && context->station != 0 && context->chain == CHAIN_RPC;
}

static void list_paths(Collector *c) {
    if (!c->paths) return;
    g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(TimesGap));
    const TimesWatch watch = {c->parts, gaps, c->table};
    gsize charged = 0;
    allowance_hold(&charged, c->tree->n_nodes * (TIMES_NODE_BYTES + sizeof(TimesGap)));
    if (!allowance_over()) times_at_stations(c->tree, c->node_of, &watch, CHAIN_RPC);
    for (guint i = 0; i < gaps->len; i++) {
        const TimesGap *gap = &g_array_index(gaps, TimesGap, i);
        const Context *context = &c->contexts[gap->node];
        if (!works_by_path(c, context) || part_at(c, gap->node) & PART_WAIT) continue;
        const WaitScope scope = scope_in(c, context, context->chain);
        if (has_waits(c, &scope)) add_work(c, gap->node, gap->from_ns, gap->to_ns);
    }
    allowance_release(charged);
}

/* Of stations whose scope has waits. */
static void list_work(Collector *c) {
    const CallTree *tree = c->tree;
    WaitScope last = {0, 0, CHAIN_NONE};
    gboolean wanted = FALSE;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) continue;
        const WaitPart part = part_at(c, i);
        const Context *context = &c->contexts[i];
        if (part & (PART_SEND | PART_RECEIVE | PART_ANSWER)) add_packet(c, i, part);
        if (part & PART_ASKS) add_asked(c, i);
        if (part & PART_ANSWERS && context->station != 0) {
            Context *station = &c->contexts[context->station];
            station->responder = station->responders++ == 0 ? i : 0;
        }
        if (part & PART_STATION && part_chain(part) == CHAIN_WRITE) station_before(c, i)->asks = TRUE;
        const gboolean sends = sends_block(c, part);
        if (context->station == 0 || (part & PART_WAIT && !sends)) continue;
        if (works_by_path(c, context)) {
            c->paths = TRUE;
            continue;
        }

        const WaitScope scope = scope_in(c, context, context->chain);
        if (wait_scope_compare(&scope, &last) != 0) {
            wanted = has_waits(c, &scope);
            last = scope;
        }
        if (wanted && sends)
            add_block(c, i, add_time_between(c, i));
        else if (wanted)
            add_own_time(c, i);
    }
}

/* ---- packets on their way ---- */

static int by_sender(const void *a, const void *b) {
    const Send *x = a, *y = b;
    if (x->station != y->station) return x->station < y->station ? -1 : 1;
    const int order = wait_scope_compare(&x->scope, &y->scope);
    if (order != 0) return order;
    if (x->from_ns != y->from_ns) return x->from_ns < y->from_ns ? -1 : 1;
    if (x->to_ns != y->to_ns) return x->to_ns < y->to_ns ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node < y->pattern_node ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int by_receiver(const void *a, const void *b) {
    const Receive *x = a, *y = b;
    if (x->station != y->station) return x->station < y->station ? -1 : 1;
    if (x->from_ns != y->from_ns) return x->from_ns < y->from_ns ? -1 : 1;
    if (x->to_ns != y->to_ns) return x->to_ns < y->to_ns ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node < y->pattern_node ? -1 : 1;
    if (x->handled_ns != y->handled_ns) return x->handled_ns < y->handled_ns ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* The first that comes not before such a one in by_sender(). */
static guint first_send(const Collector *c, const Send *like) {
    guint low = 0, high = c->sends->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (by_sender(&g_array_index(c->sends, Send, middle), like) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* That with which the sender was first seen sending after that moment; NULL: none. */
static const Send *first_sending(const Collector *c, guint first, guint end, gint64 after_ns) {
    guint low = first, high = end;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (g_array_index(c->sends, Send, middle).most_ns <= after_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end ? &g_array_index(c->sends, Send, low) : NULL;
}

static void order_sends(Collector *c) {
    g_array_sort(c->sends, by_sender);
    for (guint i = 0; i < c->sends->len; i++) {
        Send *send = &g_array_index(c->sends, Send, i), *before = send - 1;
        const gboolean same =
            i > 0 && before->station == send->station && wait_scope_compare(&before->scope, &send->scope) == 0;
        send->most_ns = same ? MAX(before->most_ns, send->to_ns) : send->to_ns;
    }
}

/* Who sent to that station. */
static Sends sends_to(const Collector *c, guint32 station) {
    const CallTree *tree = c->tree;
    const Context *context = &c->contexts[station];
    const guint32 sender = c->contexts[tree->parent[station]].station;
    Send like = {scope_in(c, context, context->chain), sender, 0, 0, G_MININT64, G_MININT64, 0};
    Sends sends = {.station = like.station, .first = first_send(c, &like)};
    sends.paired = sends.first;

    if (like.station == 0) { /* the client sends one block after the other */
        like.from_ns = tree->from_ns[station];
        sends.paired = first_send(c, &like);
        like.from_ns = tree->to_ns[station];
    } else {
        like.from_ns = like.to_ns = G_MAXINT64;
    }
    sends.paired_end = first_send(c, &like);
    like.from_ns = like.to_ns = G_MAXINT64;
    sends.end = first_send(c, &like);
    return sends;
}

static void add_still(Collector *c, guint32 station, gint64 from_ns, gint64 to_ns) {
    if (!looks_at_standing(c) || from_ns >= to_ns) return;
    add_work(c, station, from_ns, to_ns);
    c->contexts[station].still_ns += (guint64)to_ns - (guint64)from_ns;
}

/* What has arrived is not being sent any more. */
static void add_packet_of(Collector *c, const Sends *sends, const Receive *receive, const Send *send) {
    const gint64 from_ns = MAX(receive->from_ns, send->from_ns);
    const gint64 sent_ns =
        looks_at_standing(c) ? CLAMP(send->to_ns, from_ns, MAX(from_ns, receive->to_ns)) : receive->to_ns;
    add_work_of(c, receive->node, WORK_RECEIVING, from_ns, sent_ns);
    if (sent_ns < receive->to_ns && from_ns < receive->to_ns) {
        add_work_of(c, receive->node, WORK_LATE, sent_ns, receive->to_ns);
        c->contexts[receive->station].late_ns += (guint64)receive->to_ns - (guint64)sent_ns;
    }
    if (sends->station != 0) add_still(c, sends->station, MAX(receive->to_ns, send->from_ns), send->to_ns);
}

/* A receive works from the moment at which its packet was being sent. Packets keep their order: with as many sent as
 * received the n-th is the n-th. Else it is the first that the sender is seen sending meanwhile. */
static void join_packets(Collector *c, const Receive *receives, guint n) {
    const Sends sends = sends_to(c, receives->station);
    const gboolean paired = sends.paired_end - sends.paired == n;
    for (guint i = 0; i < n; i++) {
        const Receive *receive = &receives[i];
        const Send *send = paired ? &g_array_index(c->sends, Send, sends.paired + i)
                                  : first_sending(c, sends.first, sends.end, receive->from_ns);
        if (send == NULL) continue;
        c->other = sends.station != 0 ? send->node : 0;
        if (paired)
            add_packet_of(c, &sends, receive, send);
        else
            add_work_of(c, receive->node, WORK_RECEIVING, MAX(receive->from_ns, send->from_ns), receive->to_ns);
    }
    c->other = 0;
}

/* Between two packets there is nothing to wait for: whoever handles them waits while he receives. */
static void join_handling(Collector *c, const Receive *receives, guint n) {
    const CallTree *tree = c->tree;
    for (guint i = 1; i < n; i++) {
        const guint32 before = tree->parent[receives[i - 1].node], now = tree->parent[receives[i].node];
        const guint32 station = receives[i].station;
        if (before == now || before == station || now == station || tree->parent[before] != tree->parent[now]) continue;
        add_still(c, station, tree->to_ns[before], tree->from_ns[now]);
    }
}

/* ---- acknowledgements ---- */

/* Of that station, or of the next one that has any. */
static guint first_receive(const GArray *of_all, guint32 station) {
    guint low = 0, high = of_all->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (g_array_index(of_all, Receive, middle).station < station)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of a station, of all. */
static Receives receives_at(const GArray *of_all, guint32 station) {
    const guint first = first_receive(of_all, station), end = first_receive(of_all, station + 1);
    return (Receives){(const Receive *)(gconstpointer)of_all->data + first, end - first};
}

static gint64 end_of_calls(const CallTree *tree, guint32 node) {
    gint64 end_ns = tree->from_ns[node];
    for (guint32 child = node + 1; child < tree->end[node]; child = tree->end[child])
        end_ns = MAX(end_ns, tree->to_ns[child]);
    return end_ns;
}

/* A packet that is handled, and that the next station has acknowledged, is to be acknowledged at once: the thread that
 * does waits for the next one then, or ends; before the last one it makes the block final. Returns when it was, as far
 * as that is known. */
static gint64 add_answer(Collector *c, const Receives *receives, const Receives *own, guint i) {
    const Receive *receive = &receives->all[i];
    const guint32 responder = c->contexts[receive->station].responder;
    gint64 ready_ns = receive->handled_ns, sent_ns = ready_ns;
    if (own->n > 0) ready_ns = MAX(ready_ns, own->all[i].to_ns);
    if (i + 1 < own->n)
        sent_ns = own->all[i + 1].from_ns;
    else if (i + 1 == receives->n && responder != 0) {
        ready_ns = MAX(ready_ns, end_of_calls(c->tree, responder));
        sent_ns = c->tree->to_ns[responder];
    }
    if (sent_ns - ready_ns >= ANSWER_NS) add_still(c, receive->station, ready_ns, sent_ns);
    return MAX(ready_ns, sent_ns);
}

/* What was sent then by that station, and is read by the one before it only later, is late for the reason of one of the
 * two. */
static void add_late_answer(Collector *c, const Receive *station, guint32 before, gint64 from_ns, gint64 to_ns) {
    if (to_ns - from_ns < ANSWER_NS) return;
    c->other = before;
    add_work_of(c, station->station, WORK_ANSWER, from_ns, to_ns);
    c->other = 0;
}

/* Of one station: the n-th acknowledgement is that of the n-th packet. Before the first of them it lets the station
 * before know that it waits for packets; that one waits for them only then. */
static void join_answers(Collector *c, const Receives *receives) {
    const guint32 station = receives->all->station, before = c->contexts[c->tree->parent[station]].station;
    if (c->rule < TIMES_ANSWERS) return;
    const Receives own = receives_at(c->answers, station);
    const Receives back = receives_at(c->answers, before), begun = receives_at(c->receives, before);
    if (before != 0 && begun.n == receives->n)
        add_late_answer(c, receives->all, before, receives->all->from_ns, begun.all->from_ns);
    if (own.n != receives->n && (own.n != 0 || c->contexts[station].asks)) return;
    for (guint i = 0; i < receives->n; i++) {
        const gint64 sent_ns = add_answer(c, receives, &own, i);
        if (before == 0 || back.n != receives->n) continue;
        add_late_answer(c, receives->all, before, MAX(back.all[i].from_ns, sent_ns), back.all[i].to_ns);
    }
}

/* When the caller of a station had done all that began before it. Which of those that begin together comes first is
 * chance (it hangs on their ids), so they count alike: not. Stations are asked for in order. */
static gint64 ready_before(Collector *c, guint32 station) {
    const CallTree *tree = c->tree;
    const guint32 caller = tree->parent[station];
    Context *context = &c->contexts[caller];
    if (context->next == 0) {
        context->next = caller + 1;
        context->ready_ns = tree->from_ns[caller];
    }
    for (; context->next < station; context->next = tree->end[context->next]) {
        if (c->rule >= TIMES_ASKED && tree->from_ns[context->next] == tree->from_ns[station]) break;
        context->ready_ns = MAX(context->ready_ns, tree->to_ns[context->next]);
    }
    return context->ready_ns;
}

/* A station that is asked: from when its caller was ready until it begins. */
static void list_asked(Collector *c) {
    const CallTree *tree = c->tree;
    for (guint32 i = 1; i < tree->n_nodes && looks_at_standing(c); i++) {
        const guint32 caller = tree->parent[i];
        if (tree->span[i] == NULL || tree->span[caller] == NULL) continue;
        const WaitPart part = part_at(c, i);
        const gboolean is_asked = (part & PART_STATION && part_chain(part) == CHAIN_WRITE) || sends_block(c, part);
        if (!is_asked || !(part_at(c, caller) & PART_WAIT)) continue;
        const gint64 ready_ns = ready_before(c, i);
        c->other = c->rule >= TIMES_ANSWERS ? c->contexts[caller].station : 0;
        add_work_of(c, i, c->other != 0 ? WORK_ASKED : WORK_OWN, ready_ns, MIN(tree->from_ns[i], tree->to_ns[caller]));
        c->other = 0;
    }
}

/* Where a station stands still for longer than packets are late, they are late for that reason. */
static void blame_stations(Collector *c) {
    for (guint i = 0; i < c->work->len; i++) {
        Work *work = &g_array_index(c->work, Work, i);
        if (work->kind != WORK_LATE) continue;
        const Context *station = &c->contexts[work->station];
        work->kind = station->still_ns > station->late_ns ? WORK_OWN : WORK_RECEIVING;
        if (work->kind == WORK_OWN) work->stretch.node = work->station;
    }
}

static void list_receives(Collector *c) {
    order_sends(c);
    g_array_sort(c->receives, by_receiver);
    g_array_sort(c->answers, by_receiver);
    const Receive *all = (const Receive *)(gconstpointer)c->receives->data;
    for (guint i = 0; i < c->receives->len;) {
        guint n = 1;
        while (i + n < c->receives->len && all[i + n].station == all[i].station) n++;
        join_packets(c, &all[i], n);
        join_handling(c, &all[i], n);
        join_answers(c, &(Receives){&all[i], n});
        i += n;
    }
    blame_stations(c);
}

/* ---- the whole ---- */

static gsize context_bytes(const Collector *c) { return c->tree->n_nodes * sizeof(Context); }

/* What there is now. */
static void charge(Collector *c) {
    GArray *const arrays[] = {c->waits, c->work, c->blocks, c->sends, c->receives, c->answers};
    gsize bytes = context_bytes(c);
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) bytes += arrays[i]->len * g_array_get_element_size(arrays[i]);
    allowance_hold(&c->charged, bytes);
}

static void collect(Collector *c, const GArray *gaps) {
    c->contexts = large_new(context_bytes(c));
    c->sends = g_array_new(FALSE, FALSE, sizeof(Send));
    c->receives = g_array_new(FALSE, FALSE, sizeof(Receive));
    c->answers = g_array_new(FALSE, FALSE, sizeof(Receive));
    c->weighed = g_array_new(FALSE, FALSE, sizeof(guint32));
    c->loads = g_hash_table_new_full(NULL, NULL, NULL, g_free);

    find_contexts(c);
    list_waits(c, gaps);
    list_work(c);
    list_paths(c);
    list_receives(c);
    list_asked(c);
    charge(c);
    waits_weigh_stations(c);
    g_array_sort(c->work, by_scope);
    g_array_sort(c->blocks, by_scope);

    g_array_unref(c->sends);
    g_array_unref(c->receives);
    g_array_unref(c->answers);
    g_array_unref(c->weighed);
    g_hash_table_unref(c->loads);
    large_free(c->contexts, context_bytes(c));
}

WaitsAndWork waits_and_work(const Measured *measured, const WaitPart *parts, WaitTable *table, const GArray *gaps,
                            TimesRule rule) {
    Collector c = {.tree = measured->tree, .node_of = measured->node_of, .parts = parts, .table = table, .rule = rule};
    c.waits = g_array_sized_new(FALSE, FALSE, sizeof(Stretch), gaps->len);
    c.work = g_array_new(FALSE, FALSE, sizeof(Work));
    c.blocks = g_array_new(FALSE, FALSE, sizeof(Block));
    /* Before it is taken: about so much. */
    allowance_hold(&c.charged, measured->tree->n_nodes * (gsize)TIMES_WAITS_BYTES);
    if (!allowance_over()) collect(&c, gaps);
    /* What collect() has freed by now is what following the waits will take: it stays charged. */
    return (WaitsAndWork){c.waits, c.work, c.blocks, c.charged};
}

void waits_and_work_clear(WaitsAndWork *both) {
    allowance_release(both->charged);
    g_array_unref(both->waits);
    g_array_unref(both->work);
    g_array_unref(both->blocks);
}
