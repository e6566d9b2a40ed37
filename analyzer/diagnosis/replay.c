#include "analyzer/diagnosis/replay.h"

#include "analyzer/diagnosis/order.h"

static OrderItem *in_order(const double *values, guint32 n) {
    OrderItem *items = g_new(OrderItem, n + 1);
    g_autofree OrderItem *scratch = g_new(OrderItem, n + 1);
    for (guint32 i = 0; i < n; i++) items[i] = (OrderItem){values[i], i};
    order_sort(items, scratch, n);
    return items;
}

void replay_order(const double *begins_ms, guint32 n, guint32 *out) {
    g_autofree OrderItem *items = in_order(begins_ms, n);
    for (guint32 i = 0; i < n; i++) out[items[i].index] = i;
}

guint32 replay_slots(const double *begins_ms, const double *durations_ms, guint32 n) {
    g_autofree double *until = g_new(double, n + 1);
    for (guint32 i = 0; i < n; i++) until[i] = begins_ms[i] + durations_ms[i];
    g_autofree OrderItem *ends = in_order(until, n), *begins = in_order(begins_ms, n);

    guint32 most = 0, ended = 0;
    for (guint32 begun = 0; begun < n; begun++) {
        while (ended < begun && ends[ended].value <= begins[begun].value) ended++;
        most = MAX(most, begun + 1 - ended);
    }
    return most;
}

/* A heap of times, the least first: its first one becomes 'value'. */
static void replace_first(double *heap, guint32 n, double value) {
    guint32 at = 0;
    for (;;) {
        guint64 child = 2 * (guint64)at + 1;
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (child >= n || heap[child] >= value) break;
        heap[at] = heap[child];
        at = (guint32)child;
    }
    heap[at] = value;
}

double replay_ms(const double *durations_ms, guint32 n, guint32 slots) {
    g_autofree double *free_ms = g_new0(double, slots);
    double end = 0;
    for (guint32 i = 0; i < n; i++) {
        const double ends = free_ms[0] + durations_ms[i];
        end = MAX(end, ends);
        replace_first(free_ms, slots, ends);
    }
    return end;
}
