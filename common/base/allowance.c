#include "common/base/allowance.h"

#include <stdatomic.h>

#include "common/base/clock.h"
#include "common/base/error.h"

/* Clock and asker are looked at after so many steps: a step is for a microsecond or a few of work. */
#define LOOK_STEPS 64u
/* Of stored bytes, which take a few ns each to be decoded and added up. */
#define STEP_BYTES 256u

static _Thread_local Allowance *current;

void allowance_begin(Allowance *allowance) {
    g_return_if_fail(current == NULL);
    allowance->deadline_ns =
        allowance->timeout_ns > 0 ? clock_monotonic_ns(clock_system()) + allowance->timeout_ns : G_MAXINT64;
    allowance->held_bytes = allowance->peak_bytes = 0;
    allowance->steps = LOOK_STEPS; /* the first one looks */
    allowance->state = ALLOWANCE_GOOD;
    current = allowance;
}

void allowance_end(void) {
    if (current == NULL) return;
    AllowanceBudget *budget = current->budget;
    atomic_fetch_sub(&budget->used_bytes, current->held_bytes);
    if (current->state == ALLOWANCE_OVER || current->state == ALLOWANCE_OTHERS)
        atomic_fetch_add(&budget->refused_memory, 1);
    if (current->state == ALLOWANCE_LATE) atomic_fetch_add(&budget->refused_time, 1);
    if (current->state == ALLOWANCE_GONE) atomic_fetch_add(&budget->gone, 1);
    current = NULL;
}

/* Returns how much is used then. */
static gsize use(AllowanceBudget *budget, gsize bytes) {
    const gsize used = atomic_fetch_add(&budget->used_bytes, bytes) + bytes;
    gsize most = atomic_load_explicit(&budget->most_bytes, memory_order_relaxed);
    while (used > most && !atomic_compare_exchange_weak(&budget->most_bytes, &most, used)) continue;
    return used;
}

void allowance_budget_add(AllowanceBudget *budget, gssize bytes) {
    if (bytes >= 0)
        use(budget, (gsize)bytes);
    else
        atomic_fetch_sub(&budget->used_bytes, (gsize)-bytes);
}

void allowance_charge(gsize bytes) {
    if (current == NULL) return;
    const gsize used = use(current->budget, bytes);
    const gsize limit = atomic_load(&current->budget->limit_bytes);
    current->held_bytes += bytes;
    current->peak_bytes = MAX(current->peak_bytes, current->held_bytes);
    if (limit == 0 || used <= limit || current->state != ALLOWANCE_GOOD) return;
    /* With more than half of it a question is refused for its own sake: it would not fit beside another one either. */
    current->state = current->held_bytes > limit / 2 ? ALLOWANCE_OVER : ALLOWANCE_OTHERS;
}

void allowance_release(gsize bytes) {
    if (current == NULL) return;
    bytes = MIN(bytes, current->held_bytes); /* it may have been taken before the begin */
    atomic_fetch_sub(&current->budget->used_bytes, bytes);
    current->held_bytes -= bytes;
}

void allowance_hold(gsize *held, gsize bytes) {
    if (bytes > *held)
        allowance_charge(bytes - *held);
    else
        allowance_release(*held - bytes);
    *held = bytes;
}

gsize allowance_left(void) {
    if (current == NULL) return G_MAXSIZE;
    const gsize limit = atomic_load(&current->budget->limit_bytes), used = atomic_load(&current->budget->used_bytes);
    return limit == 0 ? G_MAXSIZE : limit - MIN(used, limit);
}

gboolean allowance_over(void) {
    return current != NULL && (current->state == ALLOWANCE_OVER || current->state == ALLOWANCE_OTHERS);
}

gboolean allowance_forgive(void) {
    if (current == NULL || current->state != ALLOWANCE_OVER) return FALSE;
    current->state = ALLOWANCE_GOOD;
    return TRUE;
}

static void look(Allowance *allowance) {
    allowance->steps = 0;
    if (allowance->state != ALLOWANCE_GOOD) return;
    if (allowance->gone != NULL && allowance->gone(allowance->arg))
        allowance->state = ALLOWANCE_GONE;
    else if (clock_monotonic_ns(clock_system()) > allowance->deadline_ns)
        allowance->state = ALLOWANCE_LATE;
}

gboolean allowance_goes_on_with(gsize bytes) {
    if (current == NULL) return TRUE;
    current->steps += 1 + bytes / STEP_BYTES;
    if (current->steps > LOOK_STEPS) look(current);
    return current->state == ALLOWANCE_GOOD;
}

gboolean allowance_goes_on(void) { return allowance_goes_on_with(0); }

typedef struct Sorting {
    GCompareDataFunc compare;
    gpointer arg;
} Sorting;

static gint compare_going_on(gconstpointer a, gconstpointer b, gpointer arg) {
    const Sorting *sorting = arg;
    return allowance_goes_on() ? sorting->compare(a, b, sorting->arg) : 0;
}

void allowance_sort(gpointer items, gsize n, gsize item_bytes, GCompareDataFunc compare, gpointer arg) {
    Sorting sorting = {compare, arg};
    if (n > 1) g_qsort_with_data(items, (gint)n, item_bytes, compare_going_on, &sorting);
}

#define NARROW "ask for less: a shorter period (since, until), one function, host, role or pattern, a lower limit"

gboolean allowance_check(GError **error) {
    if (allowance_goes_on()) return TRUE;

    switch (current->state) {
    case ALLOWANCE_GOOD: return TRUE;
    case ALLOWANCE_OVER:
        return fail(error, PLUMB_ERROR_LIMIT,
                    "the answer takes more memory than questions may have (%.0f MB, http.question-memory): " NARROW,
                    (double)atomic_load(&current->budget->limit_bytes) / 1e6);
    case ALLOWANCE_OTHERS:
        return fail(error, PLUMB_ERROR_BUSY,
                    "other questions have the memory for questions (%.0f MB, http.question-memory): ask again in a "
                    "moment, or " NARROW,
                    (double)atomic_load(&current->budget->limit_bytes) / 1e6);
    case ALLOWANCE_LATE:
        return fail(error, PLUMB_ERROR_LIMIT,
                    "the answer takes longer than a question may (%.0f s, http.question-timeout): " NARROW,
                    (double)current->timeout_ns / (double)NS_PER_SEC);
    case ALLOWANCE_GONE: return fail(error, PLUMB_ERROR_PEER, "the reader went away");
    }
    return TRUE;
}
