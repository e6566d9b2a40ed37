/* When a stage would have ended if its tasks had taken other times: they are replayed on its slots, each in the order
 * of its begin on the slot that is free first. Pauses between tasks (a driver that is busy, waiting for locality) are
 * left out, in what was and in what would have been. */
#pragma once

#include <glib.h>

/* The most of n tasks that ran at once; one that begins when another ends does not run beside it. 0 of none. */
guint32 replay_slots(const double *begins_ms, const double *durations_ms, guint32 n);

/* Of each of n tasks which one it is in the order of their begin, of equal ones the first given first; out: n. */
void replay_order(const double *begins_ms, guint32 n, guint32 *out);

/* From the first task's begin to the last one's end, of n durations in the order of the tasks' begin. slots: at least
 * 1. Some n log slots steps. */
double replay_ms(const double *durations_ms, guint32 n, guint32 slots);
