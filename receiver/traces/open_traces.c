#include "receiver/traces/open_traces.h"

#include <string.h>

#include "common/base/error.h"
#include "receiver/traces/open_traces_inside.h"

#define FIRST_SLOT_BITS 10u
/* How many closed traces are remembered for their late spans: 128 KiB. */
#define RECENT_SLOTS 16384
/* A trace is its own first piece; others begin with the reference of the next. */
#define TRACE_CLASS      1u
#define SHRUNK_CLASS     0u
#define PIECE_HEAD_BYTES ((guint)sizeof(ArenaRef))
/* The first piece of a trace that goes on after it was spilled. */
#define SPILLED_PIECE_BYTES 512u

/* What open_traces_unpack() keeps for the next trace. */
#define BODIES_KEPT_BYTES (1024u * 1024)

/* ---- time ---- */

static gint64 ns_after(OpenTick from, OpenTick to) { return (gint64)(gint32)(to - from) * (1 << OPEN_TICK_SHIFT); }

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
    Ends *ends = activity_of(traces, trace);
    trace->colder = ends->last;
    trace->warmer = 0;
    if (ends->last)
        trace_at(traces, ends->last)->warmer = ref;
    else
        ends->first = ref;
    ends->last = ref;
    trace->moved = trace->active;
    traces->n_large += among_large(trace);
}

static void activity_remove(OpenTraces *traces, const OpenTrace *trace) {
    Ends *ends = activity_of(traces, trace);
    traces->n_large -= among_large(trace);
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
static OpenTick move_gap(OpenTraces *traces, const OpenTrace *trace) {
    const OpenTrace *coldest = trace_at(traces, activity_of(traces, trace)->first);
    return MIN(traces->idle / 16, (trace->active - coldest->moved) / 8);
}

/* ---- life ---- */

static void set_limits(OpenTraces *traces, const OpenLimits *limits) {
    traces->limits = *limits;
    traces->idle = traces->large_idle = ticks(limits->idle_ns);
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
    spill_free(traces->spill);
    g_clear_error(&traces->spill_error);
    g_free(traces);
}

void open_traces_spill_to(OpenTraces *traces, const char *folder) {
    traces->spill = spill_new(folder);
    spill_set_limit(traces->spill, traces->limits.disk_bytes);
}

void open_traces_set_share(OpenTraces *traces, gsize memory_bytes, guint64 disk_bytes) {
    traces->limits.memory_bytes = memory_bytes;
    traces->limits.disk_bytes = disk_bytes;
    if (traces->spill) spill_set_limit(traces->spill, disk_bytes);
}

void open_traces_set_limits(OpenTraces *traces, const OpenLimits *limits) {
    set_limits(traces, limits);
    open_traces_set_share(traces, limits->memory_bytes, limits->disk_bytes);
}

void open_traces_set_idle(OpenTraces *traces, gint64 idle_ns, gint64 large_idle_ns) {
    traces->idle = ticks(idle_ns);
    traces->large_idle = ticks(large_idle_ns);
}

/* ---- table ---- */

static inline guint64 hash_of(const OpenTraces *traces, guint64 id) { return trace_id_hash(id ^ traces->seed); }
static inline guint32 tag_of(guint64 hash) { return (guint32)(hash >> 32); }
static inline guint home_slot(const OpenTraces *traces, guint32 tag) { return tag >> (32 - traces->slot_bits); }

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
    traces->compact_slot *= 2;
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

static SpilledPart spilled_part(const OpenTrace *trace) {
    SpilledPart part = {0};
    if (trace->kept == KEPT_SPILLED || trace->kept == KEPT_ASLEEP) memcpy(&part, trace->head, sizeof part);
    return part;
}

static inline guint piece_bytes(const OpenTraces *traces, ArenaRef ref) {
    return ARENA_UNIT_BYTES << arena_class(&traces->arena, ref);
}

/* As much as fits, but no less than half of what is there: a trace has few pieces, and little room unused. */
static void add_piece(OpenTraces *traces, OpenTrace *trace, gsize more_bytes) {
    const gsize least = MAX(spilled_part(trace).list ? SPILLED_PIECE_BYTES : 0, trace->size_bytes / 2);
    const gsize wanted = MAX(more_bytes + PIECE_HEAD_BYTES, least);
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

/* Where the bytes in the head begin. */
static inline guint head_start(const OpenTrace *trace) {
    return trace->kept == KEPT_HERE ? 0 : (guint)sizeof(SpilledPart);
}

/* What the trace has in memory, behind what is in traces->bodies. */
static void copy_pieces(OpenTraces *traces, const OpenTrace *trace) {
    const guint before = traces->bodies->len;
    g_byte_array_set_size(traces->bodies, before + trace->size_bytes);
    guint8 *out = traces->bodies->data + before;
    gsize left = trace->size_bytes;
    gsize part = MIN(left, sizeof trace->head - head_start(trace));
    memcpy(out, trace->head + head_start(trace), part);
    out += part;
    left -= part;
    for (ArenaRef ref = trace->first; left > 0; left -= part, out += part) {
        const guint8 *piece = arena_at(&traces->arena, ref);
        part = MIN(left, piece_bytes(traces, ref) - PIECE_HEAD_BYTES);
        memcpy(&ref, piece, sizeof ref);
        if (ref) __builtin_prefetch(arena_at(&traces->arena, ref));
        memcpy(out, piece + PIECE_HEAD_BYTES, part);
    }
}

static void keep_bodies_small(OpenTraces *traces) {
    if (traces->bodies->len <= BODIES_KEPT_BYTES) return;
    g_byte_array_unref(traces->bodies);
    traces->bodies = g_byte_array_new();
}

static void give_pieces(OpenTraces *traces, const OpenTrace *trace) {
    for (ArenaRef piece = trace->first, next; piece; piece = next) {
        memcpy(&next, arena_at(&traces->arena, piece), sizeof next);
        arena_give(&traces->arena, piece);
    }
}

static gboolean unpack_bodies(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error) {
    const guint size_bytes = traces->bodies->len;
    g_byte_array_set_size(traces->bodies, size_bytes + FRAGMENT_SLACK_BYTES);
    memset(traces->bodies->data + size_bytes, 0, FRAGMENT_SLACK_BYTES);
    return fragment_unpack(trace->id, traces->bodies->data, size_bytes, records) ||
           fail(error, PLUMB_ERROR_CORRUPT, "its spans are malformed, or take more than 4 GiB");
}

static gboolean unpack_small(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error) {
    const SpillPlace small = trace->kept == KEPT_SHRUNK ? trace->shrunk : spilled_part(trace).small;
    g_byte_array_set_size(traces->bodies, 0);
    if (!spill_get_small(traces->spill, &small, traces->bodies, error)) return FALSE;
    return unpack_bodies(traces, trace, records, error);
}

static gboolean unpack_list(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error) {
    const SpillList list = spilled_part(trace).list;
    for (guint at = 0;;) {
        g_byte_array_set_size(traces->bodies, 0);
        if (!spill_get(traces->spill, list, &at, traces->bodies, error)) return FALSE;
        if (traces->bodies->len == 0) return TRUE;
        if (!unpack_bodies(traces, trace, records, error)) return FALSE;
    }
}

/* What is on the disk. */
static gboolean unpack_spilled(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error) {
    if (trace->kept == KEPT_HERE) return TRUE;
    const gboolean listed = trace->kept != KEPT_SHRUNK && spilled_part(trace).list != 0;
    return listed ? unpack_list(traces, trace, records, error) : unpack_small(traces, trace, records, error);
}

gboolean open_traces_unpack(OpenTraces *traces, const OpenTrace *trace, GByteArray *records, GError **error) {
    gboolean good = unpack_spilled(traces, trace, records, error);
    if (good && trace->kept != KEPT_SHRUNK) {
        g_byte_array_set_size(traces->bodies, 0);
        copy_pieces(traces, trace);
        good = unpack_bodies(traces, trace, records, error);
    }
    keep_bodies_small(traces);
    return good;
}

/* ---- to the disk ---- */

/* Was something put off just now? Then what is on the disk most likely cannot be had at all. */
static gboolean unreadable(OpenTraces *traces, OpenTick now) {
    if (traces->asleep_unreadable && (gint32)(now - traces->asleep_from) >= 0) traces->asleep_unreadable = FALSE;
    return traces->asleep_unreadable;
}

static gboolean may_spill(OpenTraces *traces, OpenTick now) {
    if (!traces->spill || unreadable(traces, now)) return FALSE;
    if (traces->spill_paused && (gint32)(now - traces->spill_from) >= 0) traces->spill_paused = FALSE;
    return !traces->spill_paused;
}

static void note_failure(OpenTraces *traces, GError *error, OpenTick now) {
    traces->spill_failures++;
    traces->spill_paused = TRUE;
    traces->spill_from = now + ticks(SPILL_PAUSE_NS);
    g_clear_error(&traces->spill_error);
    traces->spill_error = error;
}

/* With nothing in memory. */
static void go_on_spilled(OpenTrace *trace, const SpilledPart *part) {
    memcpy(trace->head, part, sizeof *part);
    trace->first = trace->last = 0;
    trace->size_bytes = 0;
    trace->room = sizeof trace->head - sizeof *part;
}

/* More is to follow what is on the disk. */
static void need_list(OpenTraces *traces, OpenTrace *trace) {
    SpilledPart part = spilled_part(trace);
    if (part.list) return;
    part.list = spill_list_small(traces->spill, &part.small);
    memcpy(trace->head, &part, sizeof part);
}

/* How long it will be there: complete ones close in the order in which they fell asleep, large ones later. */
static SpillKin kin_of(const OpenTrace *trace) {
    if (trace->n_spans >= OPEN_LARGE_SPANS || trace->size_bytes >= SPILL_WARM_BYTES) return SPILL_GROWING;
    return trace->has_root ? SPILL_COMPLETE : SPILL_WAITING;
}

/* What the trace has in memory goes to the file: whole fragments, so that parts can be unpacked one by one. */
static gboolean spill(OpenTraces *traces, OpenTrace *trace, OpenTick now) {
    if (trace->kept == KEPT_SPILLED) need_list(traces, trace);
    SpilledPart part = spilled_part(trace);
    GError *error = NULL;
    g_byte_array_set_size(traces->bodies, 0);
    copy_pieces(traces, trace);
    const Bytes bodies = {traces->bodies->data, trace->size_bytes};
    if (!spill_put(traces->spill, kin_of(trace), &part.list, bodies, &error)) {
        note_failure(traces, error, now);
        return FALSE;
    }
    keep_bodies_small(traces);
    give_pieces(traces, trace);
    traces->spilled_spans += trace->n_spans - part.n_spans;
    part.n_spans = trace->n_spans;
    part.size_bytes += trace->size_bytes;
    go_on_spilled(trace, &part);
    if (trace->kept == KEPT_HERE) trace->kept = KEPT_SPILLED;
    return TRUE;
}

static void spill_warm(OpenTraces *traces, OpenTrace *trace, OpenTick now) {
    if (trace->size_bytes < SPILL_WARM_BYTES || open_traces_bytes(traces) <= traces->limits.memory_bytes / 2) return;
    if (may_spill(traces, now)) spill(traces, trace, now);
}

/* Has it begin with another piece, which then is in the list by age; it must not be in one by activity. */
static OpenTrace *move_trace(OpenTraces *traces, ArenaRef *ref, guint class) {
    const ArenaRef from = *ref, to = arena_take(&traces->arena, class);
    OpenTrace *trace = arena_at(&traces->arena, to);
    memcpy(trace, arena_at(&traces->arena, from), offsetof(OpenTrace, head));
    traces->slots[slot_of(traces, trace->id)].trace = to;
    relink_age(traces, trace, to);
    arena_give(&traces->arena, from);
    *ref = to;
    return trace;
}

/* All of it is little, and has not been written, or with others only. */
static gboolean is_small(const OpenTrace *trace) {
    const SpilledPart part = spilled_part(trace);
    return (trace->kept == KEPT_HERE || trace->kept == KEPT_SPILLED) && !part.list &&
           trace->size_bytes + part.size_bytes < SPILL_COLD_BYTES;
}

/* Writes a small one together with others, what had been written before again. */
static gboolean put_small(OpenTraces *traces, const OpenTrace *trace, OpenTick now, SpillPlace *where) {
    const SpilledPart part = spilled_part(trace);
    GError *error = NULL;
    g_byte_array_set_size(traces->bodies, 0);
    gboolean good = trace->kept == KEPT_HERE || spill_get_small(traces->spill, &part.small, traces->bodies, &error);
    if (good) {
        copy_pieces(traces, trace);
        const Bytes bodies = {traces->bodies->data, traces->bodies->len};
        good = spill_put_small(traces->spill, bodies, where, &error);
    }
    if (!good) note_failure(traces, error, now);
    return good;
}

static OpenTrace *shrink(OpenTraces *traces, OpenTrace *trace, ArenaRef *ref, const SpillPlace *where) {
    const SpilledPart part = spilled_part(trace);
    if (trace->kept == KEPT_SPILLED) spill_drop_small(traces->spill, &part.small);
    traces->spilled_spans += trace->n_spans - part.n_spans;
    give_pieces(traces, trace);
    OpenTrace *shrunk = move_trace(traces, ref, SHRUNK_CLASS);
    shrunk->shrunk = *where;
    shrunk->kept = KEPT_SHRUNK;
    traces->n_shrunk++;
    return shrunk;
}

/* Something comes of it: what is on the disk stays there until it closes, or shrinks again. */
static OpenTrace *wake_shrunk(OpenTraces *traces, OpenTrace *shrunk, OpenTick now) {
    ArenaRef ref = traces->slots[slot_of(traces, shrunk->id)].trace;
    activity_remove(traces, shrunk);
    OpenTrace *trace = move_trace(traces, &ref, TRACE_CLASS);
    const SpilledPart part = {
        .small = trace->shrunk,
        .size_bytes = trace->shrunk.size_bytes,
        .n_spans = trace->n_spans,
    };
    go_on_spilled(trace, &part);
    trace->kept = KEPT_SPILLED;
    trace->active = now;
    traces->n_shrunk--;
    activity_append(traces, trace, ref);
    return trace;
}

/* Of one that has a part on the disk already, what little came since follows. A small one that has its root, and was
 * quiet for some time, most likely is complete: to write it and read it back costs more than to close it. */
static gboolean fall_asleep(OpenTraces *traces, OpenTrace *trace, OpenTick now) {
    if (is_asleep(trace)) return FALSE;
    const gboolean small = is_small(trace);
    if (small && trace->has_root && now - trace->active > ticks(OPEN_COMPLETE_NS)) return FALSE;

    SpillPlace where;
    if (trace->size_bytes > 0) {
        if (!may_spill(traces, now)) return FALSE;
        if (small ? !put_small(traces, trace, now, &where) : !spill(traces, trace, now)) return FALSE;
    }

    ArenaRef ref = traces->slots[slot_of(traces, trace->id)].trace;
    const OpenTick moved = trace->moved;
    activity_remove(traces, trace);

    if (small) {
        trace = shrink(traces, trace, &ref, &where);
    } else {
        trace->kept = KEPT_ASLEEP;
        traces->n_asleep++;
    }

    activity_append(traces, trace, ref);
    trace->moved = moved;
    return TRUE;
}

OpenSpilled open_traces_spilled(const OpenTraces *traces) {
    OpenSpilled spilled = {.spans = traces->spilled_spans, .failures = traces->spill_failures};
    if (!traces->spill) return spilled;
    spilled.bytes = spill_live_bytes(traces->spill);
    spilled.file_bytes = spill_file_bytes(traces->spill);
    spilled.written_bytes = spill_written_bytes(traces->spill);
    return spilled;
}

GError *open_traces_take_error(OpenTraces *traces) { return g_steal_pointer(&traces->spill_error); }

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
        if (found[i] && trace_at(traces, found[i])->kept != KEPT_SHRUNK)
            __builtin_prefetch(tail_of(traces, trace_at(traces, found[i])), 1);
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
    const gboolean large = trace->n_spans >= OPEN_LARGE_SPANS;
    trace->active = now;
    const gboolean elsewhere = (has_root && !trace->has_root) || large != trace->large || trace->kept == KEPT_ASLEEP;
    if (!elsewhere && now - trace->moved <= move_gap(traces, trace)) return;
    const ArenaRef ref = traces->slots[slot_of(traces, trace->id)].trace;
    activity_remove(traces, trace);
    trace->has_root = trace->has_root || has_root;
    trace->large = large;
    if (trace->kept == KEPT_ASLEEP) {
        trace->kept = KEPT_SPILLED;
        traces->n_asleep--;
    }
    activity_append(traces, trace, ref);
}

OpenTrace *open_traces_add(OpenTraces *traces, const FragmentHead *fragment, gint64 now_ns) {
    const OpenTick now = tick_of(now_ns);
    OpenTrace *trace = open_traces_find(traces, fragment->trace);
    if (!trace) trace = trace_open(traces, fragment->trace, now);
    if (trace->kept == KEPT_SHRUNK) trace = wake_shrunk(traces, trace, now);
    append(traces, trace, fragment_body(fragment), fragment->size_bytes);
    trace->n_spans += fragment->n_spans;
    traces->spans += fragment->n_spans;
    touch(traces, trace, fragment->has_root, now);
    spill_warm(traces, trace, now);
    return trace;
}

gsize open_trace_bytes(const OpenTrace *trace) {
    if (trace->kept == KEPT_SHRUNK) return trace->shrunk.size_bytes;
    return (gsize)trace->size_bytes + spilled_part(trace).size_bytes;
}

gboolean open_trace_full(const OpenTraces *traces, const OpenTrace *trace) {
    const gsize most = traces->limits.max_bytes > 0 ? traces->limits.max_bytes : OPEN_TRACE_BYTES_MAX;
    return trace->n_spans >= traces->limits.max_spans ||
           open_trace_bytes(trace) >= most + (guint64)trace->n_spans * OPEN_SPAN_BYTES;
}

static void drop_bodies(OpenTraces *traces, const OpenTrace *trace) {
    if (trace->kept == KEPT_SHRUNK) {
        spill_drop_small(traces->spill, &trace->shrunk);
        traces->spilled_spans -= trace->n_spans;
        traces->n_shrunk--;
        return;
    }
    give_pieces(traces, trace);
    if (trace->kept == KEPT_HERE) return;
    const SpilledPart part = spilled_part(trace);
    if (part.list)
        spill_drop(traces->spill, part.list);
    else
        spill_drop_small(traces->spill, &part.small);
    traces->spilled_spans -= part.n_spans;
    if (trace->kept == KEPT_ASLEEP) traces->n_asleep--;
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
    drop_bodies(traces, trace);
    arena_give(&traces->arena, ref);
}

void open_traces_put_off(OpenTraces *traces, OpenTrace *trace, gint64 now_ns) {
    const ArenaRef ref = traces->slots[slot_of(traces, trace->id)].trace;
    age_remove(traces, trace);
    activity_remove(traces, trace);
    trace->opened = trace->active = tick_of(now_ns);
    age_append(traces, trace, ref);
    activity_append(traces, trace, ref);
    traces->asleep_unreadable = TRUE;
    traces->asleep_from = trace->opened + ticks(UNREADABLE_PAUSE_NS);
}

/* ---- who has to go ---- */

#define WAITING_PART 4u

static OpenTrace *first_of(const OpenTraces *traces, guint activity) {
    return trace_at(traces, traces->by_activity[activity].first);
}

/* The one that something will most likely still come of stays: a trace that waits for its root goes only when it is
 * four times as cold as one that has it. */
static OpenTrace *colder_of(const OpenTraces *traces, guint asleep, OpenTick now) {
    OpenTrace *waiting = first_of(traces, asleep), *large = first_of(traces, asleep | HAS_ROOT | LARGE);
    OpenTrace *complete = first_of(traces, asleep | HAS_ROOT);
    if (!complete || (large && now - large->moved > now - complete->moved)) complete = large;
    if (!complete || !waiting) return complete ? complete : waiting;
    return now - complete->moved >= (now - waiting->moved) / WAITING_PART ? complete : waiting;
}

/* Those asleep have little in memory, but if there are very many of them, that is what fills it. While they cannot be
 * read back, others close for them. */
static OpenTrace *coldest(const OpenTraces *traces, gboolean readable, OpenTick now) {
    if (!readable) return colder_of(traces, 0, now);
    const gsize asleep_bytes = (gsize)traces->n_asleep * (sizeof(OpenTrace) + 2 * sizeof(Slot)) +
                               (gsize)traces->n_shrunk * (offsetof(OpenTrace, head) + 2 * sizeof(Slot));
    OpenTrace *awake = asleep_bytes > traces->limits.memory_bytes / 4 * 3 ? NULL : colder_of(traces, 0, now);
    return awake ? awake : colder_of(traces, ASLEEP, now);
}

/* The one that will be next has its memory fetched meanwhile. */
static OpenTrace *closing(const OpenTraces *traces, OpenTrace *trace) {
    if (trace && trace->warmer) __builtin_prefetch(arena_at(&traces->arena, trace->warmer));
    return trace;
}

/* Puts traces to sleep until there is memory enough, or one that has to close. */
static OpenTrace *due_for_memory(OpenTraces *traces, OpenTick now) {
    const gboolean readable = !unreadable(traces, now);
    for (;;) {
        const gsize bytes = open_traces_bytes(traces);
        if (bytes > traces->limits.memory_bytes) traces->shrinking = TRUE;
        if (bytes <= traces->limits.memory_bytes / 16 * 15) traces->shrinking = FALSE;
        OpenTrace *cold = traces->shrinking ? coldest(traces, readable, now) : NULL;
        if (!cold || !fall_asleep(traces, cold, now)) return cold;
    }
}

/* With its root, and the next that will have been without a span for its time, or longest past that; *left: until then.
 */
static OpenTrace *idlest(const OpenTraces *traces, OpenTick now, gint64 *left) {
    static const guint complete[] = {HAS_ROOT, HAS_ROOT | ASLEEP, HAS_ROOT | LARGE, HAS_ROOT | LARGE | ASLEEP};
    OpenTrace *idlest = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(complete); i++) {
        OpenTrace *first = first_of(traces, complete[i]);
        if (!first) continue;
        const OpenTick wait = complete[i] & LARGE ? traces->large_idle : traces->idle;
        const gint64 ticks_left = (gint64)wait - (OpenTick)(now - first->active);
        if (idlest && ticks_left >= *left) continue;
        idlest = first;
        *left = ticks_left;
    }
    return idlest;
}

OpenTrace *open_traces_due(OpenTraces *traces, gint64 now_ns, DueReason *reason) {
    const OpenTick now = tick_of(now_ns);
    OpenTrace *cold = due_for_memory(traces, now);
    if (cold) {
        *reason = DUE_MEMORY;
        return closing(traces, cold);
    }

    gint64 left;
    OpenTrace *idle = idlest(traces, now, &left);
    if (idle && left <= 0) {
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
    const OpenTick now = tick_of(now_ns);
    gint64 left;
    const OpenTrace *idle = idlest(traces, now, &left);
    const OpenTrace *old = trace_at(traces, traces->by_age.first);
    gint64 due_ns = G_MAXINT64;
    if (idle) due_ns = now_ns + left * (1 << OPEN_TICK_SHIFT);
    if (old) due_ns = MIN(due_ns, now_ns + ns_after(now, old->opened + traces->max_age));
    return due_ns;
}

OpenTrace *open_traces_first(OpenTraces *traces) { return trace_at(traces, traces->by_age.first); }

OpenTrace *open_traces_next(OpenTraces *traces, const OpenTrace *trace) { return trace_at(traces, trace->younger); }

guint open_traces_count(const OpenTraces *traces) { return traces->count; }
guint64 open_traces_spans(const OpenTraces *traces) { return traces->spans; }
guint open_traces_large(const OpenTraces *traces) { return traces->n_large; }

gsize open_traces_bytes(const OpenTraces *traces) {
    return arena_used_bytes(&traces->arena) + (gsize)traces->count * 2 * sizeof(Slot) +
           (traces->spill ? spill_memory_bytes(traces->spill) : 0);
}

gsize open_traces_held_bytes(const OpenTraces *traces) {
    return arena_held_bytes(&traces->arena) + (sizeof(Slot) << traces->slot_bits) +
           (traces->spill ? spill_memory_bytes(traces->spill) : 0);
}
