#include "receiver/open_traces.h"

#include <stddef.h>
#include <string.h>

#define FIRST_BUFFER_BYTES 512
#define FIRST_SLOTS        1024
/* How many closed traces are remembered for their late spans: 128 KiB. */
#define RECENT_SLOTS 16384

struct OpenTraces {
    OpenLimits limits;
    OpenTrace **slots; /* power of two; linear probing, no tombstones */
    guint n_slots, count;
    guint64 seed; /* so that a sender cannot choose ids that collide */
    guint64 spans;
    gsize bytes;
    gboolean shrinking;                  /* memory bound passed, not yet back at 7/8 */
    TraceLink by_age, complete, waiting; /* heads of circular lists */
    guint64 *recent;                     /* ids, by hash */
};

static void list_init(TraceLink *head) { head->previous = head->next = head; }

static void list_remove(TraceLink *link) {
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

static void list_append(TraceLink *head, TraceLink *link) {
    link->previous = head->previous;
    link->next = head;
    head->previous->next = link;
    head->previous = link;
}

static OpenTrace *of_age(const TraceLink *head, TraceLink *link) {
    return link == head ? NULL : (OpenTrace *)((char *)link - offsetof(OpenTrace, by_age));
}

static OpenTrace *of_activity(const TraceLink *head) {
    return head->next == head ? NULL : (OpenTrace *)((char *)head->next - offsetof(OpenTrace, by_activity));
}

OpenTraces *open_traces_new(const OpenLimits *limits) {
    OpenTraces *traces = g_new0(OpenTraces, 1);
    traces->limits = *limits;
    traces->n_slots = FIRST_SLOTS;
    traces->slots = g_new0(OpenTrace *, traces->n_slots);
    traces->seed = ((guint64)g_random_int() << 32) | g_random_int();
    traces->recent = g_new0(guint64, RECENT_SLOTS);
    list_init(&traces->by_age);
    list_init(&traces->complete);
    list_init(&traces->waiting);
    return traces;
}

static void trace_free(OpenTrace *trace) {
    g_free(trace->spans);
    g_free(trace);
}

void open_traces_free(OpenTraces *traces) {
    if (!traces) return;
    for (guint i = 0; i < traces->n_slots; i++)
        if (traces->slots[i]) trace_free(traces->slots[i]);
    g_free(traces->slots);
    g_free(traces->recent);
    g_free(traces);
}

void open_traces_set_limits(OpenTraces *traces, const OpenLimits *limits) { traces->limits = *limits; }

/* ---- table ---- */

static guint home_slot(const OpenTraces *traces, guint64 id) {
    return (guint)trace_id_hash(id ^ traces->seed) & (traces->n_slots - 1);
}

/* The slot that holds id, or the empty one where it belongs. */
static guint slot_of(const OpenTraces *traces, guint64 id) {
    guint slot = home_slot(traces, id);
    while (traces->slots[slot] && traces->slots[slot]->id != id) slot = (slot + 1) & (traces->n_slots - 1);
    return slot;
}

static void grow(OpenTraces *traces) {
    OpenTrace **old = traces->slots;
    guint n_old = traces->n_slots;
    traces->n_slots *= 2;
    traces->slots = g_new0(OpenTrace *, traces->n_slots);
    for (guint i = 0; i < n_old; i++)
        if (old[i]) traces->slots[slot_of(traces, old[i]->id)] = old[i];
    g_free(old);
}

/* Empties a slot and moves those behind it that would no longer be found. */
static void vacate(OpenTraces *traces, guint slot) {
    guint mask = traces->n_slots - 1;
    traces->slots[slot] = NULL;
    for (guint at = (slot + 1) & mask; traces->slots[at]; at = (at + 1) & mask) {
        guint home = home_slot(traces, traces->slots[at]->id);
        if (((at - home) & mask) < ((at - slot) & mask)) continue;
        traces->slots[slot] = traces->slots[at];
        traces->slots[at] = NULL;
        slot = at;
    }
}

OpenTrace *open_traces_find(OpenTraces *traces, guint64 id) { return traces->slots[slot_of(traces, id)]; }

/* ---- spans in ---- */

/* A parent in another trace will never come to this one. */
static gboolean is_root(const SpanRec *span) {
    const SpanId *parents = span_parents(span);
    for (guint i = 0; i < span->n_parents; i++)
        if (parents[i].trace == span->id.trace) return FALSE;
    return TRUE;
}

SpanRun span_run(const guint8 *records, gsize size_bytes) {
    SpanRun run = {.first = (const SpanRec *)records};
    while (run.size_bytes < size_bytes) {
        const SpanRec *span = (const SpanRec *)(records + run.size_bytes);
        if (span->id.trace != run.first->id.trace) break;
        run.has_root = run.has_root || is_root(span);
        run.size_bytes += span->size_bytes;
        run.n_spans++;
    }
    return run;
}

static gsize trace_cost(const OpenTrace *trace) { return sizeof *trace + 2 * sizeof(void *) + trace->capacity_bytes; }

static guint64 *recent_slot(const OpenTraces *traces, guint64 id) {
    return &traces->recent[(trace_id_hash(id ^ traces->seed) >> 32) % RECENT_SLOTS];
}

static OpenTrace *trace_open(OpenTraces *traces, guint64 id, gint64 now_ns) {
    if ((traces->count + 1) * 4 > traces->n_slots * 3) grow(traces);
    OpenTrace *trace = g_new0(OpenTrace, 1);
    trace->id = id;
    trace->opened_ns = now_ns;
    trace->oldest_segment = G_MAXUINT64;
    trace->has_root = id != 0 && *recent_slot(traces, id) == id;
    traces->slots[slot_of(traces, id)] = trace;
    traces->count++;
    traces->bytes += trace_cost(trace);
    list_append(&traces->by_age, &trace->by_age);
    list_append(trace->has_root ? &traces->complete : &traces->waiting, &trace->by_activity);
    return trace;
}

static void make_room(OpenTraces *traces, OpenTrace *trace, gsize more_bytes) {
    gsize needed = trace->size_bytes + more_bytes;
    if (needed <= trace->capacity_bytes) return;
    /* Doubling while small; by a half when large, since a large trace is a good part of the memory bound. */
    gsize grown =
        trace->capacity_bytes + (trace->capacity_bytes < 65536 ? trace->capacity_bytes : trace->capacity_bytes / 2);
    gsize capacity = MAX(MAX(needed, grown), FIRST_BUFFER_BYTES);
    trace->spans = g_realloc(trace->spans, capacity);
    traces->bytes += capacity - trace->capacity_bytes;
    trace->capacity_bytes = capacity;
}

OpenTrace *open_traces_add(OpenTraces *traces, const SpanRun *run, gint64 now_ns) {
    guint64 id = run->first->id.trace;
    OpenTrace *trace = open_traces_find(traces, id);
    if (!trace) trace = trace_open(traces, id, now_ns);
    make_room(traces, trace, run->size_bytes);
    memcpy(trace->spans + trace->size_bytes, run->first, run->size_bytes);
    trace->size_bytes += run->size_bytes;
    trace->n_spans += run->n_spans;
    traces->spans += run->n_spans;
    trace->has_root = trace->has_root || run->has_root;
    trace->active_ns = now_ns;
    list_remove(&trace->by_activity);
    list_append(trace->has_root ? &traces->complete : &traces->waiting, &trace->by_activity);
    return trace;
}

void open_traces_remove(OpenTraces *traces, OpenTrace *trace) {
    if (trace->has_root) *recent_slot(traces, trace->id) = trace->id;
    list_remove(&trace->by_age);
    list_remove(&trace->by_activity);
    vacate(traces, slot_of(traces, trace->id));
    traces->count--;
    traces->spans -= trace->n_spans;
    traces->bytes -= trace_cost(trace);
    trace_free(trace);
}

/* ---- who has to go ---- */

static OpenTrace *coldest(const OpenTraces *traces) {
    OpenTrace *complete = of_activity(&traces->complete), *waiting = of_activity(&traces->waiting);
    if (!complete || !waiting) return complete ? complete : waiting;
    return complete->active_ns <= waiting->active_ns ? complete : waiting;
}

OpenTrace *open_traces_due(OpenTraces *traces, gint64 now_ns, DueReason *reason) {
    if (traces->bytes > traces->limits.memory_bytes) traces->shrinking = TRUE;
    if (traces->bytes <= traces->limits.memory_bytes / 8 * 7) traces->shrinking = FALSE;
    OpenTrace *cold = traces->shrinking ? coldest(traces) : NULL;
    if (cold) {
        *reason = DUE_MEMORY;
        return cold;
    }
    OpenTrace *idle = of_activity(&traces->complete);
    if (idle && now_ns - idle->active_ns >= traces->limits.idle_ns) {
        *reason = DUE_IDLE;
        return idle;
    }
    OpenTrace *old = open_traces_first(traces);
    if (old && now_ns - old->opened_ns >= traces->limits.max_age_ns) {
        *reason = DUE_AGE;
        return old;
    }
    *reason = DUE_NOT;
    return NULL;
}

gint64 open_traces_next_due_ns(const OpenTraces *traces) {
    const OpenTrace *idle = of_activity(&traces->complete);
    const OpenTrace *old = of_age(&traces->by_age, traces->by_age.next);
    gint64 due_ns = G_MAXINT64;
    if (idle) due_ns = idle->active_ns + traces->limits.idle_ns;
    if (old) due_ns = MIN(due_ns, old->opened_ns + traces->limits.max_age_ns);
    return due_ns;
}

OpenTrace *open_traces_first(OpenTraces *traces) { return of_age(&traces->by_age, traces->by_age.next); }

OpenTrace *open_traces_next(OpenTraces *traces, OpenTrace *trace) {
    return of_age(&traces->by_age, trace->by_age.next);
}

guint open_traces_count(const OpenTraces *traces) { return traces->count; }
guint64 open_traces_spans(const OpenTraces *traces) { return traces->spans; }
gsize open_traces_bytes(const OpenTraces *traces) { return traces->bytes; }
