#include "analyzer/archive/consolidation/join_plan.h"

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/late.h"
#include "common/base/error.h"

/* All entries are read to find those that are due: not more often than this part of the time that they are to wait. */
#define LOOK_SHARE 4

gboolean join_due(Archive *archive, const JoinWhen *when, JoinBelow *below) {
    ArrivalClock *clock = &archive->arrivals;
    const Clock *time = archive->options.clock;
    gint64 now_ns = clock_monotonic_ns(time);
    arrival_clock_note(clock, now_ns, atomic_load_explicit(&archive->late_next, memory_order_relaxed), when->most_ns);
    guint64 waiting = atomic_load_explicit(&archive->late_waiting, memory_order_relaxed);
    if (waiting == 0) return FALSE;
    if (waiting <= when->few_spans || waiting > when->most_spans) {
        *below = (JoinBelow){G_MAXUINT64, G_MAXUINT64};
        return TRUE;
    }
    if (clock->looked && now_ns - clock->last_ns < when->quiet_ns / LOOK_SHARE) return FALSE;
    *below = (JoinBelow){arrival_clock_number_before(clock, now_ns - when->quiet_ns),
                         arrival_clock_number_before(clock, now_ns - when->most_ns)};
    if (below->quiet == 0) return FALSE;
    clock->looked = TRUE;
    clock->last_ns = now_ns;
    return TRUE;
}

/* What waits of one trace. */
typedef struct Waiting {
    JoinTrace trace;
    guint64 first, last; /* numbers */
    gboolean any;
} Waiting;

static void waiting_end(Waiting *waiting, const JoinBelow *below, JoinPlan *plan) {
    if (waiting->any && (waiting->last < below->quiet || waiting->first < below->old))
        g_array_append_val(plan->traces, waiting->trace);
    waiting->any = FALSE;
}

static void waiting_add(Waiting *waiting, const LateKey *key, Bytes value) {
    LateHead head = {.second = 0};
    late_head_parse(value, &head);
    if (!waiting->any) *waiting = (Waiting){{key->trace_id, 0}, key->number, key->number, TRUE};
    waiting->last = key->number;
    waiting->trace.second = MAX(waiting->trace.second, head.second);
}

static int by_place(gconstpointer a, gconstpointer b) {
    const JoinTrace *x = a, *y = b;
    if (x->second != y->second) return x->second < y->second ? -1 : 1;
    return (x->trace_id > y->trace_id) - (x->trace_id < y->trace_id);
}

gboolean join_plan_read(Archive *archive, const JoinBelow *below, JoinPlan *plan, GError **error) {
    g_array_set_size(plan->traces, 0);
    g_autoptr(StoreIter) late = store_iter_new(archive->store, FAMILY_LATE);
    Waiting waiting = {.any = FALSE};
    gboolean more = iter_seek_key(late, late_key(&(LateKey){plan->next, 0}));
    for (; more; more = store_iter_next(late)) {
        LateKey key;
        if (!late_key_parse(store_iter_key(late), &key))
            return fail(error, PLUMB_ERROR_CORRUPT, "an entry of late spans has a malformed key");
        if (waiting.any && key.trace_id != waiting.trace.trace_id) waiting_end(&waiting, below, plan);
        plan->next = key.trace_id;
        if (plan->traces->len >= JOIN_PLAN_TRACES) break;
        waiting_add(&waiting, &key, store_iter_value(late));
    }
    if (!more) waiting_end(&waiting, below, plan);
    plan->ended = !more;
    g_array_sort(plan->traces, by_place);
    return iter_finished(late, error);
}
