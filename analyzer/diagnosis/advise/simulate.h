/* How long an application would take with other numbers of executors, as Sparklens estimates it: its stages are
 * scheduled again, with the tasks that they had and the times that these took. No I/O.
 *
 * Jobs that ran at the same time are one round. Rounds come one after the other, and what the driver did between them
 * takes as long as it did. Within a round a job begins as long after the round as it did; a stage is ready when its
 * parents are done; tasks go to free slots in the order of their stages, then of their launch, as Spark's FIFO
 * scheduler has it. A task takes as long as it did: that executors share disks, or have less memory, is not in it. Only
 * the first task of each slot takes start_ms longer, since its executor still starts (classes, Python's workers): with
 * other numbers of executors there are as many of those as slots. */
#pragma once

#include <glib.h>

typedef struct SimStage {
    gint64 stage;
    const gint64 *parents; /* numbers of stages; those that are not in the round are done */
    guint32 n_parents;
    guint32 round;
    double offset_ms;          /* of its job's begin, from the round's */
    guint32 first_task, tasks; /* in SimApp.task_ms, in the order of their launch */
} SimStage;

typedef struct SimApp {
    GArray *stages;   /* SimStage; of a round one behind the other, in the order of their numbers */
    GArray *task_ms;  /* double; without the start of its executor */
    double driver_ms; /* no round ran */
    double start_ms;  /* of a slot's first task */
} SimApp;

SimApp *sim_app_new(void);
void sim_app_free(SimApp *app);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimApp, sim_app_free)

/* The time of all with so many tasks at once, ms; 0 slots: as many as there are tasks. */
double sim_app_time(const SimApp *app, guint32 slots);
/* Of all tasks together, ms, without starts. */
double sim_app_work(const SimApp *app);
