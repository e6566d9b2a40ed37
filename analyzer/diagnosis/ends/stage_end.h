/* When a running stage will end.
 *
 * As LATE does (Zaharia et al., OSDI 2008) the time left of a task is (1 - progress) / rate. Spark tells no progress
 * within a task, so the rate is that of the stage's tasks on that host: how long they take there (1 / rate), of which
 * the time so far is the progress. How long is told by the tasks that ended and those that run (survival.h), all scaled
 * by how fast their hosts are: the host's factor as it is known before, and what its own tasks of the stage say,
 * weighed by their number. Tasks that wait begin on the slot that is free first. That is played through with durations
 * drawn at random, and each time those of all hosts, and of each host, off by as much as the mean of what ended may be
 * off. The median is told, and within what nine of ten plays end. */
#pragma once

#include <glib.h>

/* So many tasks must have ended before anything is told. */
#define STAGE_END_LEAST 5u
/* Of a host its factor weighs as much as so many tasks. */
#define STAGE_END_PRIOR 3.0

typedef struct StageTask {
    double ms; /* its duration; so far, if it runs */
    guint32 host;
    gboolean ended;
} StageTask;

typedef struct StageNow {
    const StageTask *tasks; /* that ended well, or run */
    guint32 n;
    const double *factors; /* of each host: how many times as long a task takes there as elsewhere */
    guint32 n_hosts;
    guint32 waiting;   /* tasks that have not begun */
    guint32 slots;     /* tasks that may run at once: those that are free take what waits at once */
    double elapsed_ms; /* since the stage began */
} StageNow;

typedef struct StageEnd {
    gboolean known;
    double progress;                  /* of 1: ended tasks, and of running ones their part */
    double left_ms;                   /* the median */
    double least_ms, most_ms;         /* of twenty plays one is shorter, and one longer */
    double naive_ms;                  /* by progress alone, as if all hosts were equal */
    guint32 last;                     /* the running task that ends last; G_MAXUINT32: none runs */
    double last_left_ms, last_factor; /* its time left, and its host's factor */
    double last_times;                /* how many times its usual duration there it has taken */
} StageEnd;
void stage_end_predict(const StageNow *now, StageEnd *end);
