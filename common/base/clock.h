/* Time as a parameter, so that tests own it. All times are nanoseconds; wall time counts from the Unix epoch. */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <time.h>

#define NS_PER_US     G_GINT64_CONSTANT(1000)
#define NS_PER_MS     G_GINT64_CONSTANT(1000000)
#define NS_PER_SEC    G_GINT64_CONSTANT(1000000000)
#define NS_PER_MINUTE (60 * NS_PER_SEC)

typedef struct Clock {
    gint64 (*wall_ns)(const struct Clock *clock);
    gint64 (*monotonic_ns)(const struct Clock *clock);
} Clock;

/* The machine's clocks. Static, never freed, usable from any thread. */
const Clock *clock_system(void);

/* For the calls of the system that wait; ns is not negative. */
static inline struct timespec timespec_of(gint64 ns) {
    return (struct timespec){.tv_sec = ns / NS_PER_SEC, .tv_nsec = ns % NS_PER_SEC};
}

/* For waits until a time of the system's monotonic clock, which nobody sets (pthread_cond_timedwait, timespec_of). */
void cond_init_monotonic(pthread_cond_t *cond);

static inline gint64 clock_wall_ns(const Clock *clock) { return clock->wall_ns(clock); }
static inline gint64 clock_monotonic_ns(const Clock *clock) { return clock->monotonic_ns(clock); }
