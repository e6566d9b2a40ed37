#include "analyzer/archive/tables/arrival_clock.h"

/* Few are enough to tell minutes apart. */
#define ARRIVALS_MAX 64u

typedef struct Arrival {
    gint64 at_ns;
    guint64 number; /* entries that came later have this one or a greater */
} Arrival;

void arrival_clock_init(ArrivalClock *clock) {
    *clock = (ArrivalClock){.arrivals = g_array_new(FALSE, FALSE, sizeof(Arrival))};
}

void arrival_clock_clear(ArrivalClock *clock) { g_clear_pointer(&clock->arrivals, g_array_unref); }

void arrival_clock_note(ArrivalClock *clock, gint64 now_ns, guint64 number, gint64 most_ns) {
    GArray *arrivals = clock->arrivals;
    const Arrival arrival = {now_ns, number};
    if (arrivals->len > 0) {
        const Arrival *last = &g_array_index(arrivals, Arrival, arrivals->len - 1);
        if (last->number == number || now_ns - last->at_ns < most_ns / (ARRIVALS_MAX / 2)) return;
    }
    g_array_append_val(arrivals, arrival);
    if (arrivals->len > ARRIVALS_MAX) g_array_remove_index(arrivals, 0);
}

guint64 arrival_clock_number_before(const ArrivalClock *clock, gint64 at_ns) {
    guint64 number = 0;
    for (guint i = 0; i < clock->arrivals->len; i++) {
        const Arrival *arrival = &g_array_index(clock->arrivals, Arrival, i);
        if (arrival->at_ns <= at_ns) number = arrival->number;
    }
    return number;
}
