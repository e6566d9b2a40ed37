#include "tests/calltree/reference.h"

#include <string.h>

#include "tests/calltree/reference_waits.h"

/* ---- times: one unit after the other ---- */

static gboolean child_runs_at(const RefNode *node, gint64 time) {
    for (guint i = 0; i < node->children->len; i++) {
        const SpanRec *child = ((RefNode *)node->children->pdata[i])->span;
        if (child->begin_ns <= time && time < ref_end(child)) return TRUE;
    }
    return FALSE;
}

static void self_time(RefNode *node, gint64 unit_ns) {
    for (gint64 time = node->span->begin_ns; time < ref_end(node->span); time += unit_ns) {
        if (!child_runs_at(node, time)) node->self_ns += unit_ns;
    }
}

/* The window of a child inside that of its parent; FALSE: nothing of it is inside. */
static gboolean clip(const RefNode *child, gint64 from, gint64 to, gint64 *begin, gint64 *end) {
    *begin = MAX(child->span->begin_ns, from);
    *end = MIN(ref_end(child->span), to);
    return *begin < *end;
}

/* Of several that were asked, one that answered after its caller had enough answers. */
static gboolean answers_too_late(const RefWaits *waits, const RefNode *child) {
    return ref_is_one_of(waits, child, "IPCLoggerChannel#sendEdits") &&
           ref_end(child->span) > ref_end(child->parent->span);
}

typedef struct Piece {
    gint64 from, to;
} Piece;

/* Of these calls of a node, in the window. aside: dataStreamer, too, which goes on beside its caller. */
static RefNode *last_to_end(const RefWaits *waits, const GPtrArray *calls, gboolean aside, Piece window,
                            gint64 cursor) {
    RefNode *last = NULL;
    gint64 begin, end, last_begin = 0, last_end = 0;
    for (guint i = 0; i < calls->len; i++) {
        RefNode *child = calls->pdata[i];
        if (!clip(child, window.from, window.to, &begin, &end) || end > cursor) continue;
        if (!aside && ref_is_one_of(waits, child, "dataStreamer")) continue;
        if (answers_too_late(waits, child)) continue;
        gboolean better = last == NULL || end > last_end || (end == last_end && begin < last_begin);
        if (last != NULL && end == last_end && begin == last_begin && child->span->begin_ns == last->span->begin_ns)
            better = child->pattern_node < last->pattern_node; /* else the first in the tree */
        if (!better) continue;
        last = child;
        last_begin = begin;
        last_end = end;
    }
    return last;
}

/* ---- waits: who works, moment by moment ---- */

const char *ref_name(const RefNode *node, const World *world) {
    gsize length;
    return node->span != NULL ? world->lookup.text(world->lookup.arg, node->span->name, &length) : "";
}

gboolean ref_is_one_of(const RefWaits *waits, const RefNode *node, const char *names) {
    g_auto(GStrv) list = g_strsplit(names, " ", -1);
    return node->span != NULL && g_strv_contains((const char *const *)list, ref_name(node, waits->world));
}

gboolean ref_runs_at(const RefNode *node, gint64 time) {
    return node->span->begin_ns <= time && time < ref_end(node->span);
}

static const char *const writers = "OpWriteBlockProto dataStreamer PacketReceiver#receiveNextPacket waitForAckedSeqno "
                                   "PacketReceiver#mirrorPacketTo DataStreamer#writeTo PacketResponder#run "
                                   "PipelineAck#readFields";
static const char *const readers = "OpReadBlockProto BlockReaderRemote2#readNextPacket BlockReaderRemote#new";
static const char *const callers = "ClientNamenodeProtocol#addBlock";

static char chain_of_wait(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, writers) ? 'w' : ref_is_one_of(waits, node, readers) ? 'r' : 'c';
}

static gboolean is_applications(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, "waitForAckedSeqno BlockReaderRemote2#readNextPacket BlockReaderRemote#new") ||
           ref_is_one_of(waits, node, callers);
}

static gboolean is_wait(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, writers) || ref_is_one_of(waits, node, readers) ||
           ref_is_one_of(waits, node, callers);
}

static gboolean is_receive(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, "PacketReceiver#receiveNextPacket");
}

const RefNode *ref_station_of(const RefWaits *waits, const RefNode *node) {
    while (node != NULL && !ref_is_one_of(waits, node, "OpWriteBlockProto OpReadBlockProto FSEditLog#logSync"))
        node = node->parent;
    return node;
}

static gboolean is_edit_log(const RefWaits *waits, const RefNode *node) {
    return ref_is_one_of(waits, node, "FSEditLog#logSync");
}

static char chain_of_station(const RefWaits *waits, const RefNode *station) {
    return is_edit_log(waits, station) ? 'c' : chain_of_wait(waits, station);
}

static char *stream_of(const RefWaits *waits, const RefNode *node) {
    const guint32 key = world_key(waits->world, WORLD_STREAM);
    for (; node != NULL; node = node->parent) {
        if (!is_wait(waits, node)) continue;
        SpanCursor cursor = span_cursor(node->span);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation))
            if (annotation.key == key) return g_strdup_printf("%.*s", (int)annotation.length, annotation.value);
    }
    return g_strdup("none");
}

/* What belongs together has one text. */
static char *scope_of(const RefWaits *waits, const RefNode *node, char chain) {
    const RefNode *top = node;
    if (chain == 'c') {
        while (top != NULL && !ref_is_one_of(waits, top, callers)) top = top->parent;
        return g_strdup_printf("call %p", (const void *)top);
    }
    while (top->parent->parent != NULL) top = top->parent;
    g_autofree char *stream = stream_of(waits, node);
    if (chain == 'r' && top->span != NULL && top->span->n_parents == 0) return g_strdup_printf("r roots %s", stream);
    return g_strdup_printf("%c %p %s", chain, (const void *)top, stream);
}

gboolean ref_same_scope(const RefWaits *waits, const RefNode *a, char chain_a, const RefNode *b, char chain_b) {
    g_autofree char *x = scope_of(waits, a, chain_a), *y = scope_of(waits, b, chain_b);
    return strcmp(x, y) == 0;
}

/* When the station was through with what it received, or itself. */
static gint64 handled_ns(const RefNode *node) {
    return ref_end(node->station != NULL && node->parent != node->station ? node->parent->span : node->span);
}

static gint by_time(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    if (x->span->begin_ns != y->span->begin_ns) return x->span->begin_ns < y->span->begin_ns ? -1 : 1;
    if (ref_end(x->span) != ref_end(y->span)) return ref_end(x->span) < ref_end(y->span) ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node < y->pattern_node ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static gint by_handling(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    const gboolean same = x->span->begin_ns == y->span->begin_ns && ref_end(x->span) == ref_end(y->span);
    if (!same || x->pattern_node != y->pattern_node || handled_ns(x) == handled_ns(y)) return by_time(a, b);
    return handled_ns(x) < handled_ns(y) ? -1 : 1;
}

/* All sends that may have been meant for that station. */
static GPtrArray *sends_to(const RefWaits *waits, const RefNode *station) {
    GPtrArray *sends = g_ptr_array_new();
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (!ref_is_one_of(waits, node, "DataStreamer#writeTo PacketReceiver#mirrorPacketTo")) continue;
        if (ref_station_of(waits, node) != ref_station_of(waits, station->parent)) continue;
        if (ref_same_scope(waits, node, 'w', station, chain_of_station(waits, station))) g_ptr_array_add(sends, node);
    }
    g_ptr_array_sort(sends, by_time);
    return sends;
}

static GPtrArray *sends_during(const GPtrArray *all, const RefNode *station) {
    GPtrArray *sends = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++) {
        const RefNode *send = all->pdata[i];
        if (send->span->begin_ns >= station->span->begin_ns && send->span->begin_ns < ref_end(station->span))
            g_ptr_array_add(sends, (gpointer)send);
    }
    return sends;
}

static GPtrArray *calls_at(const RefWaits *waits, const RefNode *station, const char *name) {
    GPtrArray *calls = g_ptr_array_new();
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (ref_is_one_of(waits, node, name) && ref_station_of(waits, node) == station) g_ptr_array_add(calls, node);
    }
    g_ptr_array_sort(calls, by_handling);
    return calls;
}

static GPtrArray *receives_at(const RefWaits *waits, const RefNode *station) {
    return calls_at(waits, station, "PacketReceiver#receiveNextPacket");
}

/* The one that sent what that one received; NULL: that is not known. */
static RefNode *send_of(const RefWaits *waits, RefNode *receive) {
    const RefNode *station = ref_station_of(waits, receive);
    g_autoptr(GPtrArray) receives = receives_at(waits, station), all = sends_to(waits, station);
    g_autoptr(GPtrArray) sends =
        ref_station_of(waits, station->parent) == NULL ? sends_during(all, station) : g_ptr_array_ref(all);
    guint which;
    return sends->len == receives->len && g_ptr_array_find(receives, receive, &which) ? sends->pdata[which] : NULL;
}

/* NULL: nobody was seen to send the packet. */
static RefNode *sent_by(const RefWaits *waits, RefNode *receive) {
    RefNode *send = send_of(waits, receive);
    g_autoptr(GPtrArray) all = sends_to(waits, ref_station_of(waits, receive));
    for (guint i = 0; i < all->len && send == NULL; i++)
        if (ref_end(((RefNode *)all->pdata[i])->span) > receive->span->begin_ns) send = all->pdata[i];
    return send;
}

/* ---- stations that stand still ---- */

static gint64 piece_ns(Piece piece) { return piece.to > piece.from ? piece.to - piece.from : 0; }
static gboolean piece_has(Piece piece, gint64 time) { return piece.from <= time && time < piece.to; }

/* It was sent, and is not received yet. */
static Piece lateness_of(const RefWaits *waits, RefNode *receive) {
    const RefNode *send = send_of(waits, receive);
    if (send == NULL) return (Piece){0, 0};
    return (Piece){MAX(receive->span->begin_ns, ref_end(send->span)), ref_end(receive->span)};
}

/* What takes less than a millisecond is on its way. */
static gboolean is_late(Piece piece) { return piece_ns(piece) >= 1000000; }

static gint64 begin_of(const GPtrArray *calls, guint i) { return ((RefNode *)calls->pdata[i])->span->begin_ns; }

static gboolean asks_another(const RefWaits *waits, const RefNode *station) {
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        if (ref_is_one_of(waits, node, "OpWriteBlockProto") && ref_station_of(waits, node->parent) == station)
            return TRUE;
    }
    return FALSE;
}

/* In which the station could acknowledge one packet after the other, and did not; one with nothing in it, where that is
 * not known. NULL: it is not known which acknowledgement is which packet's. */
static GArray *answers_of(const RefWaits *waits, const RefNode *station) {
    g_autoptr(GPtrArray) receives = receives_at(waits, station);
    g_autoptr(GPtrArray) next = calls_at(waits, station, "PipelineAck#readFields");
    g_autoptr(GPtrArray) responders = calls_at(waits, station, "PacketResponder#run");
    if (next->len != receives->len && (next->len != 0 || asks_another(waits, station))) return NULL;
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    for (guint i = 0; i < receives->len; i++) {
        const RefNode *receive = receives->pdata[i];
        gint64 ready = handled_ns(receive), sent = ready;
        if (next->len > 0) ready = MAX(ready, ref_end(((RefNode *)next->pdata[i])->span));
        if (i + 1 < next->len) sent = begin_of(next, i + 1);
        if (i + 1 == receives->len && responders->len == 1) {
            const RefNode *responder = responders->pdata[0];
            sent = ref_end(responder->span);
            ready = MAX(ready, responder->span->begin_ns);
            for (guint k = 0; k < responder->children->len; k++)
                ready = MAX(ready, ref_end(((RefNode *)responder->children->pdata[k])->span));
        }
        const Piece piece = {ready, MAX(ready, sent)};
        g_array_append_val(pieces, piece);
    }
    return pieces;
}

/* Is an acknowledgement of that station late then, which the one before it waits for? Or what it says first, that it
 * waits for packets? */
static gboolean answer_is_late_at(const RefWaits *waits, const RefNode *station, gint64 time) {
    const RefNode *before = ref_station_of(waits, station->parent);
    if (before == NULL) return FALSE;
    g_autoptr(GPtrArray) own = receives_at(waits, station), its = receives_at(waits, before);
    if (own->len > 0 && own->len == its->len) {
        const Piece first = {begin_of(own, 0), begin_of(its, 0)};
        if (is_late(first) && piece_has(first, time)) return TRUE;
    }
    g_autoptr(GPtrArray) reads = calls_at(waits, before, "PipelineAck#readFields");
    g_autoptr(GArray) answers = answers_of(waits, station);
    for (guint i = 0; answers != NULL && answers->len == reads->len && i < reads->len; i++) {
        const gint64 from = MAX(g_array_index(answers, Piece, i).to, begin_of(reads, i));
        const Piece piece = {from, ref_end(((RefNode *)reads->pdata[i])->span)};
        if (is_late(piece) && piece_has(piece, time)) return TRUE;
    }
    return FALSE;
}

/* Pieces in which the station stood still; those of one packet after the other. */
static GArray *standstills_of(const RefWaits *waits, const RefNode *station) {
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    g_autoptr(GPtrArray) own = receives_at(waits, station);
    for (guint i = 1; i < own->len; i++) {
        const RefNode *before = ((RefNode *)own->pdata[i - 1])->parent, *now = ((RefNode *)own->pdata[i])->parent;
        if (before == now || before == station || now == station || before->parent != now->parent) continue;
        const Piece piece = {ref_end(before->span), now->span->begin_ns};
        g_array_append_val(pieces, piece);
    }
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *receive = waits->tree->in_order->pdata[i];
        if (!is_receive(waits, receive)) continue;
        const RefNode *receiver = ref_station_of(waits, receive);
        if (receiver == NULL || ref_station_of(waits, receiver->parent) != station) continue;
        const RefNode *send = send_of(waits, receive);
        if (send == NULL) continue;
        const Piece piece = {MAX(ref_end(receive->span), send->span->begin_ns), ref_end(send->span)};
        g_array_append_val(pieces, piece);
    }
    g_autoptr(GArray) answers = answers_of(waits, station);
    for (guint i = 0; answers != NULL && i < answers->len; i++)
        if (is_late(g_array_index(answers, Piece, i)))
            g_array_append_vals(pieces, &g_array_index(answers, Piece, i), 1);
    return pieces;
}

static gboolean stands_still(const RefWaits *waits, const RefNode *station) {
    g_autoptr(GArray) pieces = standstills_of(waits, station);
    g_autoptr(GPtrArray) receives = receives_at(waits, station);
    gint64 still = 0, late = 0;
    for (guint i = 0; i < pieces->len; i++) still += piece_ns(g_array_index(pieces, Piece, i));
    for (guint i = 0; i < receives->len; i++) late += piece_ns(lateness_of(waits, receives->pdata[i]));
    return still > late;
}

static gboolean stands_still_at(const RefWaits *waits, const RefNode *station, gint64 time) {
    g_autoptr(GArray) pieces = standstills_of(waits, station);
    g_autoptr(GPtrArray) receives = receives_at(waits, station);
    for (guint i = 0; i < pieces->len; i++)
        if (piece_has(g_array_index(pieces, Piece, i), time)) return TRUE;
    for (guint i = 0; i < receives->len && station->stands_still; i++)
        if (piece_has(lateness_of(waits, receives->pdata[i]), time)) return TRUE;
    return FALSE;
}

/* It was asked, and has not begun: its caller has done all that began before. */
static Piece asking_of(const RefWaits *waits, const RefNode *station) {
    const RefNode *caller = station->parent;
    if (chain_of_station(waits, station) == 'c' || !is_wait(waits, caller)) return (Piece){0, 0};
    Piece piece = {caller->span->begin_ns, MIN(station->span->begin_ns, ref_end(caller->span))};
    for (guint i = 0; i < caller->children->len; i++) {
        const RefNode *before = caller->children->pdata[i];
        if (before->span->begin_ns < station->span->begin_ns) piece.from = MAX(piece.from, ref_end(before->span));
    }
    return piece;
}

/* It does not wait for its reader yet: some of its calls are still to come. */
static gboolean is_to_send_at(const RefWaits *waits, const RefNode *node, gint64 time) {
    const RefNode *last = node->children->len > 0 ? node->children->pdata[node->children->len - 1] : NULL;
    return last != NULL && last->span->begin_ns > time && ref_is_one_of(waits, node, "OpReadBlockProto");
}

static gboolean works_at(const RefWaits *waits, RefNode *node, gint64 time) {
    if (node->span == NULL || node->station == NULL) return FALSE;
    if (node->station == node && stands_still_at(waits, node, time)) return TRUE;
    if (node->station == node && ref_station_of(waits, node->parent) == NULL && piece_has(asking_of(waits, node), time))
        return TRUE;
    if (!ref_runs_at(node, time)) return FALSE;
    if (is_edit_log(waits, node->station))
        return !is_wait(waits, node) && node->path[(time - waits->from_ns) / waits->unit_ns] == 'x';
    if (is_receive(waits, node)) {
        if (node->station->stands_still && piece_has(lateness_of(waits, node), time)) return FALSE;
        const RefNode *send = sent_by(waits, node);
        return send != NULL && send->span->begin_ns <= time;
    }
    return (!is_wait(waits, node) || is_to_send_at(waits, node, time)) && !child_runs_at(node, time);
}

static guint moments(const RefWaits *waits) { return (guint)((waits->to_ns - waits->from_ns) / waits->unit_ns); }

/* One character for each moment, 'x': it works. */
static char *work_of(const RefWaits *waits, RefNode *node) {
    GString *work = g_string_new(NULL);
    for (gint64 time = waits->from_ns; time < waits->to_ns; time += waits->unit_ns)
        g_string_append_c(work, works_at(waits, node, time) ? 'x' : '.');
    return g_string_free(work, FALSE);
}

/* Of a station below another one, for what either of the two is to blame. */
static void find_doubts(const RefWaits *waits, RefNode *node) {
    const gboolean any = node->station == node && node->span != NULL && ref_station_of(waits, node->parent) != NULL;
    GString *late = g_string_new(NULL), *asked = g_string_new(NULL);
    for (gint64 time = waits->from_ns; time < waits->to_ns; time += waits->unit_ns) {
        g_string_append_c(late, any && answer_is_late_at(waits, node, time) ? 'x' : '.');
        g_string_append_c(asked, any && piece_has(asking_of(waits, node), time) ? 'x' : '.');
    }
    node->late_answers = g_string_free(late, FALSE);
    node->asked = g_string_free(asked, FALSE);
}

static gboolean is_loaded_at(const RefNode *node, guint moment) {
    return node->work[moment] == 'x' || node->asked[moment] == 'x';
}
static gboolean is_loaded(const RefNode *node) { return strchr(node->work, 'x') || strchr(node->asked, 'x'); }

static gboolean works_with(const RefNode *node, const RefNode *worker) {
    return node->station == worker->station && strcmp(node->work_scope, worker->work_scope) == 0;
}

/* For how long does anything work there for the same? Or: anything that does not receive. */
static gint64 time_of(const RefWaits *waits, const RefNode *worker, gboolean without_receiving) {
    gint64 time = 0;
    for (guint moment = 0; moment < moments(waits); moment++) {
        gboolean any = FALSE;
        for (guint i = 0; i < waits->tree->in_order->len && !any; i++) {
            const RefNode *node = waits->tree->in_order->pdata[i];
            const gboolean other = without_receiving && is_receive(waits, node);
            any = is_loaded_at(node, moment) && !other && works_with(node, worker);
        }
        time += any ? waits->unit_ns : 0;
    }
    return time;
}

static gint64 worked_at(const RefWaits *waits, const RefNode *node) {
    gint64 worked = 0;
    for (const char *moment = node->work; *moment != 0; moment++) worked += *moment == 'x' ? waits->unit_ns : 0;
    return worked;
}

static gint64 received_at(const RefWaits *waits, const RefNode *worker) {
    gint64 received = 0;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        if (is_receive(waits, node) && works_with(node, worker)) received += worked_at(waits, node);
    }
    return received;
}

static gboolean is_link(const RefWaits *waits, const RefNode *worker) {
    return received_at(waits, worker) > time_of(waits, worker, FALSE) / 2;
}

static const RefNode *any_worker(const RefWaits *waits, const RefNode *station, const char *scope) {
    for (guint i = 0; station != NULL && i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        const gboolean works = node->station == station && is_loaded(node);
        if (works && strcmp(node->work_scope, scope) == 0) return node;
    }
    return NULL;
}

/* Does it receive slowly since the station before it has a slow network? */
static gboolean follows(const RefWaits *waits, const RefNode *worker) {
    const RefNode *before = any_worker(waits, ref_station_of(waits, worker->station->parent), worker->work_scope);
    return before != NULL && is_link(waits, worker) && received_at(waits, before) > received_at(waits, worker) / 16;
}

/* Of the worker's station, with what those behind it receive slowly since its network is slow. */
static gint64 weight_in_chain(const RefWaits *waits, const RefNode *worker) {
    gint64 weight = time_of(waits, worker, follows(waits, worker));
    if (!follows(waits, worker) && is_link(waits, worker)) weight /= 2;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *next = waits->tree->in_order->pdata[i];
        if (next->station != next || ref_station_of(waits, next->parent) != worker->station) continue;
        next = any_worker(waits, next, worker->work_scope);
        if (next != NULL && follows(waits, next)) weight = MAX(weight, received_at(waits, next) / 2);
    }
    return weight;
}

static gint64 weight_of(const RefWaits *waits, const RefNode *station, const char *scope) {
    const RefNode *worker = any_worker(waits, station, scope);
    return worker != NULL ? weight_in_chain(waits, worker) : 0;
}

/* Of all stations of the station's process, for the same. */
static gint64 load_of_process(const RefWaits *waits, const RefNode *station, const char *scope) {
    gint64 load = 0;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        const RefNode *node = waits->tree->in_order->pdata[i];
        if (node->station == NULL || node->station->span->tracer != station->span->tracer) continue;
        if (any_worker(waits, node->station, scope) == node) load += weight_in_chain(waits, node);
    }
    return load;
}

/* Of a process, for the same: for how long packets come to it or from it, but for those that another network makes
 * slow; for how long all of them come to it; and for how long it stands still. */
typedef struct Links {
    gint64 links, received, still;
} Links;

static Links links_of_process(const RefWaits *waits, const RefNode *station, const char *scope) {
    Links sum = {0, 0, 0};
    const guint32 tracer = station->span->tracer;
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (node->work_scope == NULL || strcmp(node->work_scope, scope) != 0) continue;
        if (node->station == node && node->span->tracer == tracer) sum.still += worked_at(waits, node);
        if (!is_receive(waits, node)) continue;
        const RefNode *send = sent_by(waits, node), *from = send != NULL ? send->station : NULL;
        const gboolean out = from != NULL && from->span->tracer == tracer;
        const gboolean in = node->station->span->tracer == tracer;
        if (in) sum.received += worked_at(waits, node);
        if (out || (in && !(from != NULL && follows(waits, node)))) sum.links += worked_at(waits, node);
    }
    return sum;
}

/* Whose time it is when it works: of a packet that comes slowly, perhaps his who sends it. */
static RefNode *credited(const RefWaits *waits, RefNode *worker) {
    RefNode *send = is_receive(waits, worker) ? sent_by(waits, worker) : NULL;
    if (send == NULL || send->station == NULL || !is_link(waits, worker)) return worker;
    if (follows(waits, worker)) return send;
    const Links own = links_of_process(waits, worker->station, worker->work_scope),
                other = links_of_process(waits, send->station, worker->work_scope);
    const gint64 more = other.links + other.still - own.links - own.still;
    if (more <= received_at(waits, worker) / 16) return worker;
    return other.still > MAX(other.received, other.links / 2) / 4 ? (RefNode *)send->station : send;
}

typedef struct Worker {
    RefNode *node; /* to whom it is counted */
    gint64 weight;
} Worker;

/* Whose time is it, of two who work? */
static gboolean is_better(const Worker *one, const Worker *other) {
    const RefNode *a = one->node, *b = other->node, *x = a->station, *y = b->station;
    if (x != y) {
        if (one->weight != other->weight) return one->weight > other->weight;
        return x->pattern_node != y->pattern_node ? x->pattern_node < y->pattern_node : x->place < y->place;
    }
    if (a->span->begin_ns != b->span->begin_ns) return a->span->begin_ns > b->span->begin_ns;
    return a->pattern_node != b->pattern_node ? a->pattern_node < b->pattern_node : a->place < b->place;
}

static void look_at(Worker *best, RefNode *node, gint64 weight) {
    const Worker worker = {node, weight};
    if (best->node == NULL || is_better(&worker, best)) *best = worker;
}

/* NULL: nobody. */
static RefNode *who_works(const RefWaits *waits, const RefNode *waiter, gint64 time) {
    const guint moment = (guint)((time - waits->from_ns) / waits->unit_ns);
    Worker best = {NULL, 0};
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (node->work_scope == NULL || strcmp(node->work_scope, waiter->wait_scope) != 0) continue;
        if (node->work[moment] == 'x') look_at(&best, node->credited, node->weight);
        if (node->late_answers[moment] == 'x' || node->asked[moment] == 'x')
            look_at(&best, node->blamed, node->blamed_weight);
    }
    return best.node;
}

static void own_time(const RefWaits *waits, RefNode *node, gint64 from, gint64 to) {
    if (!waits->meet || node->wait_scope == NULL) {
        node->critical_ns += to - from;
        return;
    }
    ref_count_packet(waits, node, from, to);
    for (gint64 time = from; time < to; time += waits->unit_ns) {
        RefNode *worker = who_works(waits, node, time);
        RefNode *sender = worker == NULL && to - from >= 1000000 ? ref_who_sent(waits, node, time) : NULL;
        if (worker != NULL) {
            worker->worked_ns += waits->unit_ns;
        } else if (sender != NULL) {
            sender->arrived_ns += waits->unit_ns;
            node->given_ns += waits->unit_ns;
        } else {
            node->critical_ns += waits->unit_ns;
        }
    }
}

static void note_own(const RefWaits *waits, RefNode *node, gint64 from, gint64 to) {
    for (gint64 time = from; time < to; time += waits->unit_ns)
        node->path[(time - waits->from_ns) / waits->unit_ns] = 'x';
}

/* As critical_path(), but for what has a path of its own. */
static void note_path(const RefWaits *waits, RefNode *node, gint64 from, gint64 to) {
    gint64 cursor = to, begin, end;
    RefNode *child;
    while ((child = last_to_end(waits, node->children, FALSE, (Piece){from, to}, cursor)) != NULL) {
        clip(child, from, to, &begin, &end);
        note_own(waits, node, end, cursor);
        if (!is_edit_log(waits, child)) note_path(waits, child, begin, end);
        cursor = begin;
    }
    note_own(waits, node, from, cursor);
}

/* Of the NameNode's edit log. */
static void find_paths(const RefWaits *waits) {
    for (guint i = 0; i < waits->tree->in_order->len; i++)
        ((RefNode *)waits->tree->in_order->pdata[i])->path = g_strnfill(moments(waits), '.');
    for (guint i = 0; i < waits->tree->in_order->len; i++) {
        RefNode *node = waits->tree->in_order->pdata[i];
        if (is_edit_log(waits, node)) note_path(waits, node, node->span->begin_ns, ref_end(node->span));
    }
}

static void find_workers(RefWaits *waits) {
    const GPtrArray *nodes = waits->tree->in_order;
    for (guint i = 0; i < nodes->len; i++) {
        RefNode *node = nodes->pdata[i];
        node->place = i;
        node->station = ref_station_of(waits, node);
    }
    for (guint i = 0; i < nodes->len; i++) {
        RefNode *node = nodes->pdata[i];
        if (node->station == node) node->stands_still = stands_still(waits, node);
    }
    find_paths(waits);
    for (guint i = 0; i < nodes->len; i++) {
        RefNode *node = nodes->pdata[i];
        node->work = work_of(waits, node);
        find_doubts(waits, node);
        ref_find_arrivals(waits, node);
        if (node->station != NULL) node->work_scope = scope_of(waits, node, chain_of_station(waits, node->station));
        if (is_wait(waits, node)) node->wait_scope = scope_of(waits, node, chain_of_wait(waits, node));
    }
    for (guint i = 0; i < nodes->len; i++) {
        RefNode *node = nodes->pdata[i];
        const gboolean may_work = node->station != NULL && (!is_wait(waits, node) || is_receive(waits, node));
        for (guint k = 0; k < nodes->len && may_work; k++) {
            const RefNode *wait = nodes->pdata[k];
            const char chain = chain_of_station(waits, node->station);
            if (is_applications(waits, wait) && chain_of_wait(waits, wait) == chain) waits->meet = TRUE;
        }
        if (strchr(node->work, 'x') != NULL) {
            node->credited = credited(waits, node);
            node->weight = weight_of(waits, node->credited->station, node->work_scope);
        }
        if (strchr(node->late_answers, 'x') == NULL && strchr(node->asked, 'x') == NULL) continue;
        const RefNode *before = ref_station_of(waits, node->parent);
        const gint64 own = load_of_process(waits, node, node->work_scope);
        const gint64 other = load_of_process(waits, before, node->work_scope);
        node->blamed = other > own ? (RefNode *)before : node;
        node->blamed_weight = weight_of(waits, node->blamed, node->work_scope);
    }
}

/* ---- operations that take turns ---- */

static const char *const operations_name = "RDD:HadoopRDD";

static gboolean takes_turns(const RefWaits *waits, const RefNode *node) {
    const RefNode *caller = node->parent;
    return ref_is_one_of(waits, node, operations_name) && caller->span != NULL &&
           !ref_is_one_of(waits, caller, operations_name) && !(waits->meet && is_wait(waits, caller));
}

static void add_calls(const RefWaits *waits, GPtrArray *calls, const RefNode *node, gboolean of_operation) {
    for (guint i = 0; i < node->children->len; i++) {
        RefNode *child = node->children->pdata[i];
        if (!of_operation && takes_turns(waits, child))
            add_calls(waits, calls, child, TRUE);
        else
            g_ptr_array_add(calls, child);
    }
}

static gint by_begin(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    if (x->span->begin_ns != y->span->begin_ns) return x->span->begin_ns < y->span->begin_ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* With those of its operations. */
static GPtrArray *calls_of(const RefWaits *waits, const RefNode *node) {
    GPtrArray *calls = g_ptr_array_new();
    add_calls(waits, calls, node, FALSE);
    g_ptr_array_sort(calls, by_begin);
    return calls;
}

static guint64 computed_ns(const RefWaits *waits, const RefNode *operation) {
    const guint64 covered = (guint64)(ref_end(operation->span) - operation->span->begin_ns - operation->self_ns);
    SpanCursor cursor = span_cursor(operation->span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key != world_key(waits->world, WORLD_COMPUTED)) continue;
        g_autofree char *text = g_strndup(annotation.value, annotation.length);
        if (text[0] == 0 || strspn(text, "0123456789") != annotation.length) break;
        const guint64 ran = g_ascii_strtoull(text, NULL, 10);
        return ran > covered ? ran - covered : 0;
    }
    return (guint64)operation->self_ns;
}

static gint last_begun_first(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    if (x->span->begin_ns != y->span->begin_ns) return x->span->begin_ns > y->span->begin_ns ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node < y->pattern_node ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Of what is the caller's own, operations take what they computed. */
static void share_with_operations(const RefWaits *waits, RefNode *node) {
    g_autoptr(GPtrArray) operations = g_ptr_array_new();
    for (guint i = 0; i < node->children->len; i++)
        if (takes_turns(waits, node->children->pdata[i])) g_ptr_array_add(operations, node->children->pdata[i]);
    g_ptr_array_sort(operations, last_begun_first);
    for (guint i = 0; i < operations->len; i++) {
        RefNode *operation = operations->pdata[i];
        const guint64 computed = computed_ns(waits, operation);
        operation->critical_ns = computed < (guint64)node->critical_ns ? (gint64)computed : node->critical_ns;
        node->critical_ns -= operation->critical_ns;
    }
}

/* ---- the critical path ---- */

static void critical_path(const RefWaits *waits, RefNode *node, gint64 from, gint64 to) {
    g_autoptr(GPtrArray) calls = calls_of(waits, node);
    gint64 cursor = to, begin, end;
    RefNode *child;
    while ((child = last_to_end(waits, calls, !waits->meet, (Piece){from, to}, cursor)) != NULL) {
        clip(child, from, to, &begin, &end);
        own_time(waits, node, end, cursor);
        critical_path(waits, child, begin, end);
        cursor = begin;
    }
    own_time(waits, node, from, cursor);
    share_with_operations(waits, node);
}

void ref_times(RefTree *tree, const World *world, gint64 unit_ns) {
    RefWaits waits = {tree, world, unit_ns, G_MAXINT64, G_MININT64, FALSE};
    for (guint i = 0; i < tree->in_order->len; i++) {
        const RefNode *node = tree->in_order->pdata[i];
        if (node->span == NULL) continue;
        waits.from_ns = MIN(waits.from_ns, node->span->begin_ns);
        waits.to_ns = MAX(waits.to_ns, ref_end(node->span));
    }
    find_workers(&waits);
    for (guint i = 0; i < tree->in_order->len; i++) {
        RefNode *node = tree->in_order->pdata[i];
        if (node->span == NULL) continue;
        self_time(node, unit_ns);
    }
    for (guint i = 0; i < tree->in_order->len; i++) {
        RefNode *node = tree->in_order->pdata[i];
        if (node->span == NULL || node->parent->span != NULL) continue;
        critical_path(&waits, node, node->span->begin_ns, ref_end(node->span));
    }
    /* Only now: operations share what their caller spent itself, not what others waited for it. */
    for (guint i = 0; i < tree->in_order->len; i++) {
        RefNode *node = tree->in_order->pdata[i];
        node->critical_ns += node->worked_ns;
    }
    ref_count_arrivals(&waits);
}
