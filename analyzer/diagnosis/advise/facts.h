/* What the advice is worked out from: sums and spreads of an application's tasks by stage, its executors, jobs and
 * settings. analyzer/query/spark/ fills it from the store; the rules are pure functions over it.
 *
 * Amounts are those of tasks that ended well, so that speculative twins, killed tasks and tries again count once; only
 * task_ms is of all. 0 is "not known" for peaks, which Spark logs as 0 for tasks shorter than its polling. */
#pragma once

#include "analyzer/diagnosis/advise/plan_facts.h"
#include "analyzer/diagnosis/advise/read_facts.h"
#include "common/model/spark.h"

typedef struct AdviseSpread {
    guint32 n;
    double median, p75, max, mean; /* mean: of a stage's tasks without those that met a starting executor */
    gint64 max_task;               /* attempt id of the greatest */
    gint32 max_partition;
} AdviseSpread;

/* Of the values[0..n), which are reordered in no way; max_task and max_partition are the caller's. */
AdviseSpread advise_spread(const double *values, guint32 n);

typedef struct AdviseStage {
    gint64 stage;
    gint32 attempt;
    const char *name;
    gboolean sql, join, python;   /* of Spark SQL; joins two shuffles; its plan calls Python */
    gboolean cached, keeps_first; /* keeps an RDD; one that no stage before had */
    gint64 begin_ms, end_ms;      /* first launch, last finish */
    guint32 tasks, spilled_tasks, failed_tasks;
    gint64 profile; /* of resources; 0 and -1: what the settings say */
    double task_ms; /* from launch to finish, of all attempts */
    double local;   /* tasks that ran where their data was */
    double sums[TASK_METRIC_COUNT];
    AdviseSpread time, shuffle, input, run; /* ms; bytes read; ms */
    double max_peak_bytes;                  /* execution memory of one task; 0: not known */
    double node_ms;                         /* lost to slow hosts, of its stragglers */
    gboolean failed;
    gint64 query;           /* of Spark SQL that it worked for; -1: none */
    const char *spill_node; /* that spilled most of it; NULL: not known */
    double spill_node_bytes;
} AdviseStage;

static inline double stage_shuffle_bytes(const AdviseStage *stage) {
    return stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] + stage->sums[METRIC_SHUFFLE_LOCAL_BYTES];
}

typedef struct AdviseExecutor {
    const char *id, *host, *reason;
    gint64 profile; /* as a stage's */
    guint32 cores, tasks;
    gint64 begin_ms, end_ms;
    double run_ms, task_ms, gc_ms, input_bytes, shuffle_read_bytes, shuffle_write_bytes;
    double memory_bytes, heap_peak_bytes;          /* 0: not known, as below */
    double storage_peak_bytes, unified_peak_bytes; /* for storage; for that and execution */
    double resident_bytes;                         /* all its processes, each at its peak */
} AdviseExecutor;

typedef struct AdviseJob {
    gint64 job, begin_ms, end_ms; /* end -1: running */
    const char *name;             /* description or call site; may be NULL */
    gboolean failed;
    guint32 tasks, failed_tasks;
} AdviseJob;

typedef enum {
    FAILURE_FETCH,
    FAILURE_MEMORY,
    FAILURE_PREEMPTED,
    FAILURE_HOST, /* an executor went, for no reason that is the job's */
    FAILURE_CODE,
    FAILURE_CLASSES
} FailureClass;
/* By what Spark says of a task that failed or was lost. */
gboolean failure_of_heap(const char *reason);
FailureClass failure_class(const char *reason, TaskStatus status);
const char *failure_class_name(FailureClass failure); /* "fetch", "memory", "preempted", "host", "code" */

typedef struct AdviseFailure {
    guint32 tasks;
    double wasted_ms;
    gint64 task, stage; /* of the first */
    const char *reason;
} AdviseFailure;

/* A host that made tasks slow. */
typedef struct AdviseNode {
    const char *host, *role, *resource; /* "datanode2", "datanode", "disk" */
    guint32 tasks;
    double explains_ms;
    gint64 task, stage; /* of the first */
} AdviseNode;

/* An RDD that is kept. */
typedef struct AdviseCached {
    gint64 rdd;
    const char *name, *level;
    guint32 stages; /* that have it among their RDDs */
    gint64 stage;   /* the first */
} AdviseCached;

/* A profile of resources that the program made for some of its stages. */
typedef struct AdviseProfile {
    SparkProfile given;
    guint32 slots; /* tasks that may run at once on its executors */
} AdviseProfile;

typedef struct AdviseFacts {
    const SparkApp *app;
    gint64 begin_ms, end_ms;
    gboolean running;
    GArray *stages, *executors, *jobs, *nodes, *cached;    /* AdviseStage, AdviseExecutor, ... */
    GArray *scans, *joins, *profiles, *exclusions, *reads; /* AdviseScan, AdviseJoin, ... */
    GArray *program; /* SparkPair: settings that the program makes itself for its queries: --conf does not reach them */
    AdviseFailure failures[FAILURE_CLASSES];
    double task_ms, run_ms, gc_ms;   /* of all attempts of tasks */
    double held_ms, quiet_held_ms;   /* cores times life of executors; of it while no task ran */
    guint32 slots, most_tasks;       /* tasks that may run at once; that did */
    double quiet_ms;                 /* no task ran */
    gint64 gap_begin_ms, gap_end_ms; /* the longest such time */
} AdviseFacts;

AdviseFacts *advise_facts_new(const SparkApp *app);
void advise_facts_free(AdviseFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AdviseFacts, advise_facts_free)

/* Of the program's own; NULL: as the settings say, or not known. */
const AdviseProfile *advise_profile(const AdviseFacts *facts, gint64 profile);
/* Tasks of the stage that may run at once. */
guint stage_slots(const AdviseFacts *facts, const AdviseStage *stage);

static inline AdviseStage *advise_stage(const AdviseFacts *facts, guint i) {
    return &g_array_index(facts->stages, AdviseStage, i);
}

/* ---- settings: as they were set, else the default of the application's version of Spark ---- */

/* NULL: neither set nor with a known default. */
const char *advise_setting(const AdviseFacts *facts, const char *key);
/* The value that the program sets itself; NULL: it does not. */
const char *advise_program_sets(const AdviseFacts *facts, const char *key);
gboolean advise_is_set(const AdviseFacts *facts, const char *key);
gboolean advise_flag(const AdviseFacts *facts, const char *key);
/* A number; -1 where there is none. */
double advise_number(const AdviseFacts *facts, const char *key);
/* "512m", "1g", "134217728b", "134217728"; a number without a unit is in 'unit' bytes. -1: malformed or absent. */
double advise_bytes(const AdviseFacts *facts, const char *key, double unit);
double bytes_parse(const char *text, double unit); /* for tests */
double time_parse_ms(const char *text);            /* "3s", "300ms"; without a unit it is ms. -1: malformed */
/* Is it of that version of Spark or a later one? Unknown versions are new ones. */
gboolean advise_since(const AdviseFacts *facts, guint major, guint minor);
