/* Stages that are slow for everybody: those whose tasks all wait for one host of HDFS, and those that took longer than
 * in earlier runs of the same application. Stragglers do not tell: where all tasks are slow, the median is, too. */
#pragma once

#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/normals.h"
#include "analyzer/query/spark/tasks/asked_app.h"

/* Of a stage so many tasks are read, evenly; of an application no more than that in all, of the stages that took most.
 */
#define STAGE_TASKS_READ     32u
#define STAGE_TASKS_READ_ALL 2000u
/* Stages of fewer tasks are not judged: "all" means nothing there. */
#define STAGE_TASKS_LEAST 4u
/* A task waits for a host when that took this share of its time; all wait when this share of the tasks does, and the
 * host has WAIT_SHARE of all their time, too. */
#define STAGE_WAIT_SHARE    0.25
#define STAGE_WAITING_SHARE 0.5
/* Where no single resource of the host has as much, the host must have so many times what any other one has, and
 * what is named must be so many times slower than usual. */
#define STAGE_TIMES_OTHERS 2
#define STAGE_TIMES_USUAL  3
/* Slower than before: the median is so many times the median of earlier runs' medians, of RUNS_MOST at most. */
#define STAGE_TIMES_EARLIER 1.5
#define STAGE_RUNS_MOST     5u
#define STAGE_RUN_TASKS     50000u /* runs of more are not looked at */

typedef struct StageWait {
    guint32 stage; /* number in the table */
    guint32 read, waiting;
    gint64 duration_ns, hdfs_ns; /* of the tasks that were read */
    gint64 namenode_ns, bytes;
    guint64 files;
    gboolean waits; /* for one host: */
    Suspect suspect;
    PaceFound pace;
    gboolean by_spell;                    /* the host was slow in all that it does, whatever the pace says */
    gboolean split;                       /* its time is split between several resources: */
    gint64 host_ns;                       /* of the whole host, */
    gint64 split_ns[HDFS_RESOURCE_COUNT]; /* and of each; network and socket are one: HDFS_NETWORK */
    guint earlier_runs;                   /* 0: nothing to compare with */
    double earlier_ms, times_earlier;
} StageWait;

/* A new array of StageWait: what is worth telling, the most time first; with the parameter "stage" of that alone. list:
 * all applications; standing: of when it ran. */
GArray *stage_waits_find(const Asked *asked, AppCauses *causes, const AppList *list, Standing *standing,
                         GError **error);
/* NULL with *error. */
json_t *stage_waits_json(const AppCauses *causes, const GArray *found, Archive *archive, Standing *standing,
                         GError **error);
