/* What the answer to a question may take: memory of a budget that all questions share, time, and only as long as the
 * asker is there.
 *
 * A question is answered by one thread from begin to end. Whatever works for it charges the thread's allowance with the
 * memory that grows with what is stored, and asks at each step of a loop whether it may go on; threads without an
 * allowance (those that store, `plumb --store`) are never refused. A charge never fails: what is taken between two
 * steps is little. Once one has failed, all that follow fail.
 *
 * What reads the store need not ask: its iterators (store.h) do, with each step, and end. Loops over what is in memory
 * already have allowance_goes_on() in their condition, and whoever gave them their work asks allowance_check() in the
 * end. tests/query/test_steps.c counts what is done between two looks at clock and asker. */
#pragma once

#include <glib.h>

/* Shared by all threads; set up by zeroes and a limit. */
typedef struct AllowanceBudget {
    _Atomic gsize limit_bytes;                          /* 0: none */
    _Atomic gsize used_bytes, most_bytes;               /* now, and ever */
    _Atomic guint64 refused_memory, refused_time, gone; /* questions that ended early */
} AllowanceBudget;

typedef enum { ALLOWANCE_GOOD, ALLOWANCE_OVER, ALLOWANCE_OTHERS, ALLOWANCE_LATE, ALLOWANCE_GONE } AllowanceState;

typedef struct Allowance {
    AllowanceBudget *budget;     /* must outlive the allowance */
    gint64 timeout_ns;           /* 0: none */
    gboolean (*gone)(void *arg); /* Has the asker left? May be NULL; called some hundred times a second. */
    void *arg;
    /* set by allowance_begin() */
    gint64 deadline_ns;
    gsize held_bytes, peak_bytes;
    gsize steps;
    AllowanceState state;
} Allowance;

/* What no question has any more but takes memory of the same budget: answers on their way. Less than 0: given back. */
void allowance_budget_add(AllowanceBudget *budget, gssize bytes);

/* The calling thread's, which has none yet, until allowance_end(), which gives back all that is held. */
void allowance_begin(Allowance *allowance);
void allowance_end(void);

void allowance_charge(gsize bytes);
void allowance_release(gsize bytes);
/* Makes what was charged for something, *held, what it has now. */
void allowance_hold(gsize *held, gsize bytes);
/* How much may still be charged; G_MAXSIZE without an allowance. */
gsize allowance_left(void);
/* A step of a loop. FALSE: stop; allowance_check() says why. */
gboolean allowance_goes_on(void);
/* The same of a step that looks at so many bytes: as many steps as they take time. */
gboolean allowance_goes_on_with(gsize bytes);
/* g_qsort_with_data() of which each comparison is a step; in no order when they may not go on. */
void allowance_sort(gpointer items, gsize n, gsize item_bytes, GCompareDataFunc compare, gpointer arg);
/* The same as allowance_goes_on(), with the error. FALSE: stop. LIMIT: it needs too much memory or time by itself;
 * BUSY: others have the memory; PEER: the asker left. */
gboolean allowance_check(GError **error);
/* Of a part of an answer that took too much memory by itself, and has given it back: the rest goes on without it.
 * FALSE: that is not why it ended. */
gboolean allowance_forgive(void);
/* Has too much been charged already? Cheaper, and looks at nothing else. */
gboolean allowance_over(void);
