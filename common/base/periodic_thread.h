/* A thread that works in rounds and rests between them. A stop ends the rest at once, and waits for the round. */
#pragma once

#include <glib.h>

typedef struct PeriodicWork {
    const char *name;      /* of the thread */
    gint64 first_pause_ns; /* before the first round */
    /* One round. Returns how long to rest before the next, in ns; 0: not at all. */
    gint64 (*round)(void *arg);
    void *arg; /* outlives the thread */
} PeriodicWork;

typedef struct PeriodicThread PeriodicThread;
PeriodicThread *periodic_thread_start(const PeriodicWork *work);
/* Waits for the round under way; no other begins. */
void periodic_thread_stop(PeriodicThread *thread);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PeriodicThread, periodic_thread_stop)
