#include "analyzer/archive/tables/due_clock.h"

/* Few are enough to tell minutes apart. */
#define MARKS_MAX 64u

typedef struct DueMark {
    gint64 at_ns;
    guint64 number; /* entries that came later have this one or a greater */
} DueMark;

void due_clock_init(DueClock *clock) { *clock = (DueClock){.marks = g_array_new(FALSE, FALSE, sizeof(DueMark))}; }

void due_clock_clear(DueClock *clock) { g_clear_pointer(&clock->marks, g_array_unref); }

void due_clock_note(DueClock *clock, gint64 now_ns, guint64 number, gint64 most_ns) {
    GArray *marks = clock->marks;
    const DueMark mark = {now_ns, number};
    if (marks->len > 0) {
        const DueMark *last = &g_array_index(marks, DueMark, marks->len - 1);
        if (last->number == number || now_ns - last->at_ns < most_ns / (MARKS_MAX / 2)) return;
    }
    g_array_append_val(marks, mark);
    if (marks->len > MARKS_MAX) g_array_remove_index(marks, 0);
}

guint64 due_clock_number_before(const DueClock *clock, gint64 at_ns) {
    guint64 number = 0;
    for (guint i = 0; i < clock->marks->len; i++) {
        const DueMark *mark = &g_array_index(clock->marks, DueMark, i);
        if (mark->at_ns <= at_ns) number = mark->number;
    }
    return number;
}
