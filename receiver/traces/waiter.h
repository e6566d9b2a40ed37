/* Waiting for several threads to finish something: the asker makes a Waiter for n answers, each thread gives one. */
#pragma once

#include <glib.h>

typedef struct Waiter Waiter;
Waiter *waiter_new(guint answers);
/* One answer: what it adds to the sum, and an error or NULL (taken over; the first one is kept). */
void waiter_answer(Waiter *waiter, guint64 amount, GError *error);
/* Waits for all answers and frees the waiter. FALSE with *error when one of them was an error. */
gboolean waiter_wait(Waiter *waiter, guint64 *sum, GError **error);
/* The same, no longer than until_ns (of the monotonic clock), and until gone(arg), which is asked 20 times a second,
 * with the waiter locked: FALSE when answers are missing then, and the last of them frees the waiter. */
gboolean waiter_wait_until(Waiter *waiter, gint64 until_ns, gboolean (*gone)(void *arg), void *arg);
