#include <string.h>

#include "receiver/traces/open_traces_inside.h"

/* A pass begins when more than this and a part of what is in use is held for nothing, and not so soon after the last
 * one, as it may not have helped: over half a million traces it takes a fifth of a second, and the pause grows with it.
 */
#define COMPACT_LEAST_BYTES (4u << 20)
#define COMPACT_PART        8u
#define COMPACT_PAUSE_NS    G_GINT64_CONSTANT(10000000000)
#define COMPACT_PAUSE_SHIFT 20    /* so long for each 2^20 slots */
#define COMPACT_SLOTS       2048u /* with each call: about half a millisecond */
#define COMPACT_AHEAD       8u

static void relink_activity(OpenTraces *traces, const OpenTrace *trace, ArenaRef to) {
    Ends *ends = activity_of(traces, trace);
    *(trace->colder ? &trace_at(traces, trace->colder)->warmer : &ends->first) = to;
    *(trace->warmer ? &trace_at(traces, trace->warmer)->colder : &ends->last) = to;
}

static gboolean holds_too_much(const OpenTraces *traces) {
    const gsize used = arena_used_bytes(&traces->arena);
    return arena_held_bytes(&traces->arena) > used + used / COMPACT_PART + COMPACT_LEAST_BYTES;
}

static void compact_pieces(OpenTraces *traces, OpenTrace *trace) {
    ArenaRef before = 0;
    for (ArenaRef ref = trace->first, next; ref; before = ref, ref = next) {
        memcpy(&next, arena_at(&traces->arena, ref), sizeof next);
        if (!arena_lies_loose(&traces->arena, ref)) continue;
        const gboolean last = ref == trace->last;
        ref = arena_move(&traces->arena, ref);
        if (before)
            memcpy(arena_at(&traces->arena, before), &ref, sizeof ref);
        else
            trace->first = ref;
        if (last) trace->last = ref;
    }
}

static void compact_trace(OpenTraces *traces, Slot *slot) {
    if (arena_lies_loose(&traces->arena, slot->trace)) {
        slot->trace = arena_move(&traces->arena, slot->trace);
        relink_age(traces, trace_at(traces, slot->trace), slot->trace);
        relink_activity(traces, trace_at(traces, slot->trace), slot->trace);
    }
    OpenTrace *trace = trace_at(traces, slot->trace);
    if (trace->kept != KEPT_SHRUNK) compact_pieces(traces, trace);
}

void open_traces_compact(OpenTraces *traces, gint64 now_ns) {
    const OpenTick now = tick_of(now_ns);
    if (traces->compact_paused && (gint32)(now - traces->compact_from) >= 0) traces->compact_paused = FALSE;
    if (traces->compact_slot == 0 && (traces->compact_paused || !holds_too_much(traces))) return;
    const guint n_slots = slot_mask(traces) + 1, end = MIN(traces->compact_slot + COMPACT_SLOTS, n_slots);
    for (guint i = traces->compact_slot; i < end; i++) {
        if (i + COMPACT_AHEAD < n_slots && traces->slots[i + COMPACT_AHEAD].trace)
            __builtin_prefetch(trace_at(traces, traces->slots[i + COMPACT_AHEAD].trace));
        if (traces->slots[i].trace) compact_trace(traces, &traces->slots[i]);
    }
    traces->compact_slot = end < n_slots ? end : 0;
    traces->compact_paused = end == n_slots;
    traces->compact_from = now + ticks(COMPACT_PAUSE_NS) * (1 + (n_slots >> COMPACT_PAUSE_SHIFT));
}
