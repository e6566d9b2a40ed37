#include "receiver/open_traces.h"

#include <string.h>

#define FIRST_SLOT_BITS 10u
/* How many closed traces are remembered for their late spans: 128 KiB. */
#define RECENT_SLOTS 16384
/* A trace is its own first piece; others begin with the reference of the next. */
#define TRACE_CLASS      1u
#define PIECE_HEAD_BYTES ((guint)sizeof(ArenaRef))
#define TICK_SHIFT       20

typedef struct Slot {
    guint32 tag; /* the upper half of the id's hash; its highest bits say where the slot should be */
    ArenaRef trace;
} Slot;

typedef struct Ends {
    ArenaRef first, last;
} Ends;

struct OpenTraces {
    OpenLimits limits;
    OpenTick idle, max_age;
    Arena arena;
    Slot *slots; /* 2^slot_bits; linear probing, no tombstones */
    guint slot_bits, count;
    guint64 seed; /* so that a sender cannot choose ids that collide */
    guint64 spans;
    gboolean shrinking; /* memory bound passed, not yet back at 7/8 */
    Ends by_age;
    Ends by_activity[2]; /* traces that wait for their root, and those that have it */
    guint64 *recent;     /* ids, by hash */
    GByteArray *bodies;  /* of open_traces_unpack() */
};

/* What open_traces_unpack() keeps for the next trace. */
#define BODIES_KEPT_BYTES (1024u * 1024)

static inline OpenTrace *trace_at(const OpenTraces *traces, ArenaRef ref) {
    return ref ? arena_at(&traces->arena, ref) : NULL;
}

/* ---- time ---- */

static OpenTick tick_of(gint64 now_ns) { return (OpenTick)(now_ns >> TICK_SHIFT); }

/* Rounded up, so that nothing closes early. */
static OpenTick ticks(gint64 ns) {
    return (OpenTick)MIN((ns + (1 << TICK_SHIFT) - 1) >> TICK_SHIFT, (gint64)G_MAXINT32);
}

static gint64 ns_after(OpenTick from, OpenTick to) { return (gint64)(gint32)(to - from) * (1 << TICK_SHIFT); }

gint64 open_trace_opened_ns(const OpenTrace *trace, gint64 now_ns) {
    return now_ns - ns_after(trace->opened, tick_of(now_ns));
}

/* ---- lists ---- */

static void age_append(OpenTraces *traces, OpenTrace *trace, ArenaRef ref) {
    Ends *ends = &traces->by_age;
    trace->older = ends->last;
    trace->younger = 0;
    if (ends->last)
        trace_at(traces, ends->last)->younger = ref;
    else
        ends->first = ref;
    ends->last = ref;
}

static void age_remove(OpenTraces *traces, const OpenTrace *trace) {
    Ends *ends = &traces->by_age;
    if (trace->older)
        trace_at(traces, trace->older)->younger = trace->younger;
    else
        ends->first = trace->younger;
    if (trace->younger)
        trace_at(traces, trace->younger)->older = trace->older;
    else
        ends->last = trace->older;
}

static void activity_append(OpenTraces *traces, OpenTrace *trace, ArenaRef ref) {
    Ends *ends = &traces->by_activity[trace->has_root];
    trace->colder = ends->last;
    trace->warmer = 0;
    if (ends->last)
        trace_at(traces, ends->last)->warmer = ref;
    else
        ends->first = ref;
    ends->last = ref;
    trace->moved = trace->active;
}

static void activity_remove(OpenTraces *traces, const OpenTrace *trace) {
    Ends *ends = &traces->by_activity[trace->has_root];
    if (trace->colder)
        trace_at(traces, trace->colder)->warmer = trace->warmer;
    else
        ends->first = trace->warmer;
    if (trace->warmer)
        trace_at(traces, trace->warmer)->colder = trace->colder;
    else
        ends->last = trace->colder;
}

/* How far behind a trace may be in its list. */
static OpenTick move_gap(const OpenTraces *traces, const OpenTrace *trace) {
    const OpenTrace *coldest = trace_at(traces, traces->by_activity[trace->has_root].first);
    return MIN(traces->idle / 16, (trace->active - coldest->moved) / 8);
}

/* ---- life ---- */

static void set_limits(OpenTraces *traces, const OpenLimits *limits) {
    traces->limits = *limits;
    traces->idle = ticks(limits->idle_ns);
    traces->max_age = ticks(limits->max_age_ns);
}

OpenTraces *open_traces_new(const OpenLimits *limits) {
    OpenTraces *traces = g_new0(OpenTraces, 1);
    set_limits(traces, limits);
    arena_init(&traces->arena);
    traces->slot_bits = FIRST_SLOT_BITS;
    traces->slots = g_new0(Slot, (gsize)1 << traces->slot_bits);
    traces->seed = ((guint64)g_random_int() << 32) | g_random_int();
    traces->recent = g_new0(guint64, RECENT_SLOTS);
    traces->bodies = g_byte_array_new();
    return traces;
}

void open_traces_free(OpenTraces *traces) {
    if (!traces) return;
    arena_clear(&traces->arena);
    g_free(traces->slots);
    g_free(traces->recent);
    g_byte_array_unref(traces->bodies);
    g_free(traces);
}

void open_traces_set_limits(OpenTraces *traces, const OpenLimits *limits) { set_limits(traces, limits); }

void open_traces_set_memory(OpenTraces *traces, gsize memory_bytes) { traces->limits.memory_bytes = memory_bytes; }

/* ---- table ---- */

static inline guint64 hash_of(const OpenTraces *traces, guint64 id) { return trace_id_hash(id ^ traces->seed); }
static inline guint32 tag_of(guint64 hash) { return (guint32)(hash >> 32); }
static inline guint home_slot(const OpenTraces *traces, guint32 tag) { return tag >> (32 - traces->slot_bits); }
static inline guint slot_mask(const OpenTraces *traces) { return (1u << traces->slot_bits) - 1; }

/* The slot that holds id, or the empty one where it belongs. */
static guint slot_of(const OpenTraces *traces, guint64 id) {
    const guint32 tag = tag_of(hash_of(traces, id));
    guint slot = home_slot(traces, tag);
    for (; traces->slots[slot].trace; slot = (slot + 1) & slot_mask(traces))
        if (traces->slots[slot].tag == tag && trace_at(traces, traces->slots[slot].trace)->id == id) break;
    return slot;
}

static void grow(OpenTraces *traces) {
    Slot *old = traces->slots;
    const gsize n_old = (gsize)1 << traces->slot_bits;
    traces->slot_bits++;
    traces->slots = g_new0(Slot, 2 * n_old);
    for (gsize i = 0; i < n_old; i++) {
        if (!old[i].trace) continue;
        guint slot = home_slot(traces, old[i].tag);
        while (traces->slots[slot].trace) slot = (slot + 1) & slot_mask(traces);
        traces->slots[slot] = old[i];
    }
    g_free(old);
}

/* Empties a slot and moves those behind it that would no longer be found. */
static void vacate(OpenTraces *traces, guint slot) {
    const guint mask = slot_mask(traces);
    traces->slots[slot].trace = 0;
    for (guint at = (slot + 1) & mask; traces->slots[at].trace; at = (at + 1) & mask) {
        guint home = home_slot(traces, traces->slots[at].tag);
        if (((at - home) & mask) < ((at - slot) & mask)) continue;
        traces->slots[slot] = traces->slots[at];
        traces->slots[at].trace = 0;
        slot = at;
    }
}

OpenTrace *open_traces_find(OpenTraces *traces, guint64 id) {
    return trace_at(traces, traces->slots[slot_of(traces, id)].trace);
}

/* ---- bytes of a trace ---- */

static inline guint piece_bytes(const OpenTraces *traces, ArenaRef ref) {
    return ARENA_UNIT_BYTES << arena_class(&traces->arena, ref);
}

/* As much as fits, but no less than half of what is there: a trace has few pieces, and little room unused. */
static void add_piece(OpenTraces *traces, OpenTrace *trace, gsize more_bytes) {
    const gsize wanted = MAX(more_bytes + PIECE_HEAD_BYTES, trace->size_bytes / 2);
    guint class = 0;
    while (class + 1 < ARENA_CLASSES && (ARENA_UNIT_BYTES << (class + 1)) <= wanted) class ++;
    const ArenaRef ref = arena_take(&traces->arena, class);
    memset(arena_at(&traces->arena, ref), 0, PIECE_HEAD_BYTES);
    if (trace->last)
        memcpy(arena_at(&traces->arena, trace->last), &ref, sizeof ref);
    else
        trace->first = ref;
    trace->last = ref;
    trace->room = (guint16)((ARENA_UNIT_BYTES << class) - PIECE_HEAD_BYTES);
}

/* Where the next byte goes. */
static inline guint8 *tail_of(const OpenTraces *traces, const OpenTrace *trace) {
    if (!trace->last) return (guint8 *)trace->head + sizeof trace->head - trace->room;
    return (guint8 *)arena_at(&traces->arena, trace->last) + piece_bytes(traces, trace->last) - trace->room;
}

static void append(OpenTraces *traces, OpenTrace *trace, const guint8 *bytes, gsize size_bytes) {
    while (size_bytes > 0) {
        if (trace->room == 0) add_piece(traces, trace, size_bytes);
        const gsize part = MIN(size_bytes, trace->room);
        memcpy(tail_of(traces, trace), bytes, part);
        trace->room = (guint16)(trace->room - part);
        trace->size_bytes += (guint32)part;
        bytes += part;
        size_bytes -= part;
    }
}

static guint8 *copy_pieces(const OpenTraces *traces, const OpenTrace *trace, guint8 *out) {
    gsize left = trace->size_bytes;
    gsize part = MIN(left, sizeof trace->head);
    memcpy(out, trace->head, part);
    out += part;
    left -= part;
    for (ArenaRef ref = trace->first; left > 0; left -= part, out += part) {
        const guint8 *piece = arena_at(&traces->arena, ref);
        part = MIN(left, piece_bytes(traces, ref) - PIECE_HEAD_BYTES);
        memcpy(&ref, piece, sizeof ref);
        if (ref) __builtin_prefetch(arena_at(&traces->arena, ref));
        memcpy(out, piece + PIECE_HEAD_BYTES, part);
    }
    return out;
}

void open_traces_unpack(OpenTraces *traces, const OpenTrace *trace, GByteArray *records) {
    GByteArray *bodies = traces->bodies;
    g_byte_array_set_size(bodies, trace->size_bytes + FRAGMENT_SLACK_BYTES);
    memset(copy_pieces(traces, trace, bodies->data), 0, FRAGMENT_SLACK_BYTES);
    fragment_unpack(trace->id, bodies->data, trace->size_bytes, records);
    if (bodies->len <= BODIES_KEPT_BYTES) return;
    g_byte_array_unref(bodies);
    traces->bodies = g_byte_array_new();
}

/* ---- spans in ---- */

void open_traces_expect(OpenTraces *traces, const FragmentHead *const *fragments, guint n) {
    guint32 tags[OPEN_TRACES_EXPECTED];
    ArenaRef found[OPEN_TRACES_EXPECTED];
    for (guint i = 0; i < n; i++) {
        tags[i] = tag_of(hash_of(traces, fragments[i]->trace));
        __builtin_prefetch(&traces->slots[home_slot(traces, tags[i])]);
    }
    for (guint i = 0; i < n; i++) {
        guint slot = home_slot(traces, tags[i]);
        while (traces->slots[slot].trace && traces->slots[slot].tag != tags[i]) slot = (slot + 1) & slot_mask(traces);
        found[i] = traces->slots[slot].trace;
        if (found[i]) __builtin_prefetch(arena_at(&traces->arena, found[i]), 1);
    }
    for (guint i = 0; i < n; i++)
        if (found[i]) __builtin_prefetch(tail_of(traces, arena_at(&traces->arena, found[i])), 1);
}

static guint64 *recent_slot(const OpenTraces *traces, guint64 id) {
    return &traces->recent[hash_of(traces, id) % RECENT_SLOTS];
}

static OpenTrace *trace_open(OpenTraces *traces, guint64 id, OpenTick now) {
    if ((gsize)(traces->count + 1) * 4 > ((gsize)3 << traces->slot_bits)) grow(traces);
    const ArenaRef ref = arena_take(&traces->arena, TRACE_CLASS);
    OpenTrace *trace = arena_at(&traces->arena, ref);
    memset(trace, 0, offsetof(OpenTrace, head));
    trace->id = id;
    trace->opened = trace->active = now;
    trace->oldest_segment = G_MAXUINT64;
    trace->room = sizeof trace->head;
    trace->has_root = id != 0 && *recent_slot(traces, id) == id;
    traces->slots[slot_of(traces, id)] = (Slot){tag_of(hash_of(traces, id)), ref};
    traces->count++;
    age_append(traces, trace, ref);
    activity_append(traces, trace, ref);
    return trace;
}

static void touch(OpenTraces *traces, OpenTrace *trace, gboolean has_root, OpenTick now) {
    trace->active = now;
    const gboolean completed = has_root && !trace->has_root;
    if (!completed && now - trace->moved <= move_gap(traces, trace)) return;
    const ArenaRef ref = traces->slots[slot_of(traces, trace->id)].trace;
    activity_remove(traces, trace);
    trace->has_root = trace->has_root || has_root;
    activity_append(traces, trace, ref);
}

OpenTrace *open_traces_add(OpenTraces *traces, const FragmentHead *fragment, gint64 now_ns) {
    const OpenTick now = tick_of(now_ns);
    OpenTrace *trace = open_traces_find(traces, fragment->trace);
    if (!trace) trace = trace_open(traces, fragment->trace, now);
    append(traces, trace, fragment_body(fragment), fragment->size_bytes);
    trace->n_spans += fragment->n_spans;
    traces->spans += fragment->n_spans;
    touch(traces, trace, fragment->has_root, now);
    return trace;
}

gboolean open_trace_full(const OpenTraces *traces, const OpenTrace *trace) {
    return trace->n_spans >= traces->limits.max_spans || trace->size_bytes >= OPEN_TRACE_BYTES_MAX;
}

void open_traces_remove(OpenTraces *traces, OpenTrace *trace) {
    if (trace->has_root) *recent_slot(traces, trace->id) = trace->id;
    age_remove(traces, trace);
    activity_remove(traces, trace);
    const guint slot = slot_of(traces, trace->id);
    const ArenaRef ref = traces->slots[slot].trace;
    vacate(traces, slot);
    traces->count--;
    traces->spans -= trace->n_spans;
    for (ArenaRef piece = trace->first, next; piece; piece = next) {
        memcpy(&next, arena_at(&traces->arena, piece), sizeof next);
        arena_give(&traces->arena, piece);
    }
    arena_give(&traces->arena, ref);
}

/* ---- who has to go ---- */

static OpenTrace *coldest(const OpenTraces *traces, OpenTick now) {
    OpenTrace *waiting = trace_at(traces, traces->by_activity[0].first);
    OpenTrace *complete = trace_at(traces, traces->by_activity[1].first);
    if (!complete || !waiting) return complete ? complete : waiting;
    return now - complete->moved >= now - waiting->moved ? complete : waiting;
}

/* The one that will be next has its memory fetched meanwhile. */
static OpenTrace *closing(const OpenTraces *traces, OpenTrace *trace) {
    if (trace && trace->warmer) __builtin_prefetch(arena_at(&traces->arena, trace->warmer));
    return trace;
}

OpenTrace *open_traces_due(OpenTraces *traces, gint64 now_ns, DueReason *reason) {
    const OpenTick now = tick_of(now_ns);
    const gsize bytes = open_traces_bytes(traces);
    if (bytes > traces->limits.memory_bytes) traces->shrinking = TRUE;
    if (bytes <= traces->limits.memory_bytes / 8 * 7) traces->shrinking = FALSE;
    OpenTrace *cold = traces->shrinking ? coldest(traces, now) : NULL;
    if (cold) {
        *reason = DUE_MEMORY;
        return closing(traces, cold);
    }
    OpenTrace *idle = trace_at(traces, traces->by_activity[1].first);
    if (idle && now - idle->active >= traces->idle) {
        *reason = DUE_IDLE;
        return closing(traces, idle);
    }
    OpenTrace *old = open_traces_first(traces);
    if (old && now - old->opened >= traces->max_age) {
        *reason = DUE_AGE;
        return old;
    }
    *reason = DUE_NOT;
    return NULL;
}

gint64 open_traces_next_due_ns(const OpenTraces *traces, gint64 now_ns) {
    const OpenTrace *idle = trace_at(traces, traces->by_activity[1].first);
    const OpenTrace *old = trace_at(traces, traces->by_age.first);
    const OpenTick now = tick_of(now_ns);
    gint64 due_ns = G_MAXINT64;
    if (idle) due_ns = now_ns + ns_after(now, idle->active + traces->idle);
    if (old) due_ns = MIN(due_ns, now_ns + ns_after(now, old->opened + traces->max_age));
    return due_ns;
}

OpenTrace *open_traces_first(OpenTraces *traces) { return trace_at(traces, traces->by_age.first); }

OpenTrace *open_traces_next(OpenTraces *traces, const OpenTrace *trace) { return trace_at(traces, trace->younger); }

guint open_traces_count(const OpenTraces *traces) { return traces->count; }
guint64 open_traces_spans(const OpenTraces *traces) { return traces->spans; }

gsize open_traces_bytes(const OpenTraces *traces) {
    return arena_used_bytes(&traces->arena) + (gsize)traces->count * 2 * sizeof(Slot);
}

gsize open_traces_held_bytes(const OpenTraces *traces) {
    return arena_held_bytes(&traces->arena) + (sizeof(Slot) << traces->slot_bits);
}
