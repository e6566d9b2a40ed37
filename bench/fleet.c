#include "bench/fleet.h"

#include <string.h>

#include "common/base/clock.h"

/* Of the repeated and lost spans so many come as whole batches, the rest singly. */
#define REPEATED_BATCHES 0.8
#define LOST_BATCHES     0.6

static guint32 windows(const ClusterOptions *options, gint64 ns) { return (guint32)MAX(ns / options->flush_ns, 1); }

guint64 fleet_first_id(const Fleet *fleet, guint32 process) {
    /* Mixed first: a process of one seed must not be another one of the next seed. */
    guint64 random = fleet->options->seed;
    random = next_random(&random) + ((guint64)fleet->options->lane << 32 | process);
    random = next_random(&random);
    return next_random(&random) / BLOCK_OF_IDS * BLOCK_OF_IDS;
}

static void init_process(Fleet *fleet, guint32 number) {
    const ClusterOptions *o = fleet->options;
    Process *p = &fleet->processes[number];
    guint32 host = number / 2;
    const char *role = number % 2 == 0 ? "Client" : "DataNode";
    if (number >= 2 * o->hosts) {
        host = 250 * 250 + number - 2 * o->hosts;
        role = "NameNode";
    }
    p->local = fleet->locals + (gsize)number * (fleet->set->strings->len + fleet->set->shapes);
    p->last = fleet->lasts + (gsize)number * fleet->set->shapes;
    p->ids_at = fleet_first_id(fleet, number);
    p->host_pid =
        g_strdup_printf("/10.%u.%u.%u/%u", host / 62500, host / 250 % 250, host % 250 + 1, 4000 + number % 2000);
    p->sender = g_strdup_printf("%s%s@%" G_GINT64_FORMAT ".%u", role, p->host_pid, o->begin_ns / NS_PER_MS, o->lane);
}

void fleet_init(Fleet *fleet, const ClusterOptions *options, const TemplateSet *set) {
    *fleet = (Fleet){.options = options, .set = set, .n = 2 * options->hosts + options->namenodes};
    fleet->random = options->seed ^ G_GUINT64_CONSTANT(0x5851f42d4c957f2d);
    fleet->processes = g_new0(Process, fleet->n);
    fleet->locals = g_new0(guint16, (gsize)fleet->n * (set->strings->len + set->shapes));
    fleet->lasts = g_new0(ShapeLast, (gsize)fleet->n * set->shapes);
    for (guint32 i = 0; i < fleet->n; i++) init_process(fleet, i);
    double spans_per_s = options->spans_per_s / options->lanes;
    fleet->flush_step = spans_per_s * (double)options->flush_ns / 1e9 / fleet->n;
    fleet->next_flush = fleet->flush_step;
    fleet->late_windows = windows(options, options->late_ns);
    fleet->n_later = 2 * fleet->late_windows + 16;
    fleet->later = g_new(GPtrArray *, fleet->n_later);
    for (guint32 i = 0; i < fleet->n_later; i++) fleet->later[i] = g_ptr_array_new();
}

void fleet_clear(Fleet *fleet) {
    for (guint32 i = 0; i < fleet->n; i++) {
        if (fleet->processes[i].frame != NULL) frame_release(&fleet->pool, fleet->processes[i].frame);
        g_free(fleet->processes[i].host_pid);
        g_free(fleet->processes[i].sender);
    }
    for (guint32 i = 0; i < fleet->n_later; i++) {
        for (guint k = 0; k < fleet->later[i]->len; k++) frame_release(&fleet->pool, fleet->later[i]->pdata[k]);
        g_ptr_array_free(fleet->later[i], TRUE);
    }
    frame_pool_clear(&fleet->pool);
    g_free(fleet->later);
    g_free(fleet->processes);
    g_free(fleet->locals);
    g_free(fleet->lasts);
}

Frame *fleet_begin_frame(Fleet *fleet, Process *process) {
    guint32 number = (guint32)(process - fleet->processes);
    process->frame =
        frame_new(&fleet->pool, number >= 2 * fleet->options->hosts ? 2 : number % 2, !fleet->options->structs);
    process->frame->process = number;
    memset(process->local, 0, (fleet->set->strings->len + fleet->set->shapes) * sizeof *process->local);
    return process->frame;
}

guint32 fleet_add_string(Fleet *fleet, Process *process, guint32 string, guint64 number) {
    const TemplateString *text = &g_array_index(fleet->set->strings, TemplateString, string);
    if (text->numbered) return frame_add_string(process->frame, text->text, text->length, number);
    char whole[300];
    guint32 length = text->length;
    memcpy(whole, text->text, length);
    if (text->tracer) {
        guint32 more = (guint32)strlen(process->host_pid);
        memcpy(whole + length, process->host_pid, more);
        length += more;
    }
    guint32 place = frame_add_string(process->frame, whole, length, 0);
    process->local[string] = (guint16)(place + 1);
    return place;
}

static void keep_for(Fleet *fleet, Frame *frame, guint32 window) {
    g_ptr_array_add(fleet->later[window % fleet->n_later], frame);
}

static void deliver(Fleet *fleet, Frame *frame) {
    fleet->counts.batches++;
    fleet->options->deliver(fleet->options->arg, frame);
}

/* Is it time for another one, to keep to the share? Not at once, so that it hits any process. */
static gboolean is_due(Fleet *fleet, guint64 so_far, double share) {
    return (double)so_far < share * (double)fleet->counts.made && next_random(&fleet->random) % 4 == 0;
}

/* Half to three halves of the usual lateness. */
static guint32 draw_late(Fleet *fleet) {
    guint32 half = MAX(fleet->late_windows / 2, 1);
    return half + (guint32)(next_random(&fleet->random) % (2 * half)) + 1;
}

/* NameNodes, few and large, do not stall: the share would jump. */
static gboolean is_stalled(Fleet *fleet, guint32 number) {
    Process *p = &fleet->processes[number];
    guint32 pairs = 2 * fleet->options->hosts;
    if (p->stalled_until > fleet->window) return TRUE;
    if (p->stalled_until > 0) fleet->stalled--;
    p->stalled_until = 0;
    if (number >= pairs || fleet->stalled >= (guint32)(fleet->options->late * pairs + 0.5)) return FALSE;
    if (next_random(&fleet->random) % 8 != 0) return FALSE;
    p->stalled_until = fleet->window + draw_late(fleet);
    fleet->stalled++;
    return TRUE;
}

static void repeat_single(Fleet *fleet, Frame *frame) {
    double share = fleet->options->repeated * (1 - REPEATED_BATCHES) * frame->n_spans;
    guint n = (guint)(share + unit_of(next_random(&fleet->random)));
    fleet->counts.repeated += frame_repeat_one(frame, n);
}

static void repeat_batch(Fleet *fleet, Frame *frame) {
    if (!is_due(fleet, fleet->repeated_batches_spans, fleet->options->repeated * REPEATED_BATCHES)) return;
    fleet->repeated_batches_spans += frame->n_spans;
    fleet->counts.repeated += frame->n_spans;
    guint64 random = next_random(&fleet->random);
    frame->refs++;
    keep_for(fleet, frame, fleet->window + (random % 4 != 0 ? 1 + (guint32)(random >> 8) % 4 : draw_late(fleet)));
}

void fleet_flush_one(Fleet *fleet, guint32 number) {
    Process *p = &fleet->processes[number];
    gboolean stalled = is_stalled(fleet, number);
    Frame *frame = g_steal_pointer(&p->frame);
    if (frame == NULL) return;

    if (is_due(fleet, fleet->lost_batches_spans, fleet->options->withheld * LOST_BATCHES)) {
        fleet->lost_batches_spans += frame->n_spans;
        fleet->counts.withheld += frame->n_spans;
        p->dropped += frame->n_spans;
        frame_release(&fleet->pool, frame);
        return;
    }

    guint32 n_spans = frame->n_spans;
    fleet->counts.sent += n_spans;
    repeat_single(fleet, frame);
    FrameSender sender = {.id = p->sender, .sequence = ++p->sequence, .spans_sent = p->sent, .dropped = p->dropped};
    p->sent += frame->n_spans;
    frame_close_batch(frame, &sender);
    repeat_batch(fleet, frame);

    if (stalled) {
        frame->late = TRUE;
        fleet->counts.late += n_spans;
        keep_for(fleet, frame, p->stalled_until);
    } else {
        deliver(fleet, frame);
    }
}

void fleet_deliver_later(Fleet *fleet) {
    GPtrArray *now = fleet->later[fleet->window % fleet->n_later];
    for (guint i = 0; i < now->len; i++) deliver(fleet, now->pdata[i]);
    g_ptr_array_set_size(now, 0);
}

void fleet_flush_due(Fleet *fleet) {
    /* Far from each other in number, so that the two processes of a host are not flushed together. */
    const guint64 stride = fleet->n % 7919 != 0 ? 7919 : 7907;
    while ((double)fleet->counts.made >= fleet->next_flush) {
        fleet_flush_one(fleet, (guint32)(fleet->flushed * stride % fleet->n));
        fleet->next_flush += fleet->flush_step;
        if (++fleet->flushed < fleet->n) continue;
        fleet->flushed = 0;
        fleet->window++;
        fleet_deliver_later(fleet);
    }
}

void fleet_flush_all(Fleet *fleet) {
    for (guint32 i = 0; i < fleet->n; i++) fleet_flush_one(fleet, i);
}
