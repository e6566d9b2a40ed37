/* Records of Spark and of hosts in the store, beside the traces (family 'spark'; spark_key.h describes it). Any thread;
 * writes come one after the other. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/spark/spark_key.h"
#include "common/model/spark_records.h"

/* What became of the records of one call. */
typedef struct SparkPut {
    guint64 added;     /* were not there */
    guint64 changed;   /* were there, and know more now or something else */
    guint64 unchanged; /* were there as they are */
    guint64 refused;   /* cannot be kept: without a key, or their owner's hash is another's */
} SparkPut;

/* Writes them all or none. What is there already is merged with what comes (spark_record_merge()), so that the same
 * records again change nothing. now_ms: the wall clock. NO_SPACE, IO, CORRUPT: nothing was written. */
gboolean archive_spark_put(Archive *archive, const SparkRecords *records, gint64 now_ms, SparkPut *put, GError **error);

/* Called with the visitor's arg; FALSE: stop. */
typedef struct SparkOwnerVisitor {
    gboolean (*visit)(void *arg, const SparkOwner *owner);
    void *arg;
} SparkOwnerVisitor;
/* Applications or hosts of which something is stored, in no useful order; the owner's name lives in 'texts'. */
gboolean archive_spark_owners(Archive *archive, OwnerKind kind, SparkRecords *texts, SparkOwnerVisitor visitor,
                              GError **error);
/* Of all owners together. */
typedef struct SparkTotals {
    guint64 apps, hosts;
    guint64 records[SPARK_KIND_COUNT];
} SparkTotals;
gboolean archive_spark_totals(Archive *archive, SparkTotals *totals, GError **error);

/* Which records: those of a kind of one owner (application's key; of samples and marks the host), in the order of their
 * keys. */
typedef struct SparkSelect {
    SparkKind kind;
    const char *owner;
    gint64 stage;              /* STAGE, TASK, OPERATION: only these; -1: all */
    gint32 attempt;            /* and of the stage's attempt; -1: all */
    gint64 task;               /* SPLIT, LINK; with stage and attempt TASK, OPERATION; -1: all */
    gint64 since_ns, until_ns; /* SAMPLE, MARK: times (begins) in [since, until); both 0: all */
} SparkSelect;
#define SPARK_SELECT(k, o)                                                                                             \
    { .kind = (k), .owner = (o), .stage = -1, .attempt = -1, .task = -1 }

/* The record is valid during the call only, its texts and lists as long as those of 'texts', which visit() may clear.
 * FALSE: stop. */
typedef struct SparkVisitor {
    gboolean (*visit)(void *arg, const void *record);
    void *arg;
} SparkVisitor;
gboolean archive_spark_visit(Archive *archive, const SparkSelect *select, SparkRecords *texts, SparkVisitor visitor,
                             GError **error);
/* Appends them to 'into'. A million tasks take 360 MB there: visit them where columns will do. */
gboolean archive_spark_load(Archive *archive, const SparkSelect *select, SparkRecords *into, GError **error);
/* Links from tasks to a trace, appended. */
gboolean archive_spark_links_of(Archive *archive, guint64 trace, SparkRecords *into, GError **error);

/* When an application ended, as retention has it: its end, or the last event of its log; but what was written into the
 * store later counts from then. ms. */
gint64 spark_app_age_from_ms(const SparkApp *app, const SparkOwner *owner);

typedef struct SparkRemoval {
    gint64 before_ms; /* applications that ended before go, and samples and marks from before, but of those that stay */
    gboolean oldest;  /* for room: at least the one application that ended first, if before 'oldest_before_ms' */
    gint64 oldest_before_ms;
} SparkRemoval;
typedef struct SparkRemoved {
    guint64 apps, records; /* removed */
} SparkRemoved;
/* Removes applications as a whole, each in one write. */
gboolean archive_spark_remove(Archive *archive, const SparkRemoval *removal, SparkRemoved *removed, GError **error);
