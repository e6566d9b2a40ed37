/* Operation logs: one line when an operation (RDD.compute) begins, one when it ends, as rules of Byteman write them.
 *
 *     tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=start;timestamp=1537215237040;stage=0;thread=59;
 *     this=HadoopRDD[0] at;partitionId=6;HeapUsed=...;...
 *
 * on one line; flag=end when it returned, flag=exception when it threw. Blanks around names, values and separators,
 * the order of the pairs and pairs of unknown names do not matter. Our own rules add nanoTime, taskAttemptId,
 * stageAttempt, application, executor and host, which take the place of what is coarser or missing.
 *
 * Calls nest: there is a stack for each thread, and what nested operations took (time, collections) is taken off the
 * one around them. Lines that repeat an end, ends without a begin, and begins without an end (a call that threw, a
 * process that was killed) are counted, the first of each kind with the number of its line; an operation whose end is
 * missing is handed out without end and without a time of its own. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_records.h"

/* Longest line that is looked at; real ones have 500 bytes. */
#define OPERATION_MOST_LINE_BYTES 65536u
/* Deepest nesting of operations; an application's longest chain of narrow dependencies in one stage. */
#define OPERATION_MOST_DEPTH 4096u
/* Operations of all threads that are going on at once, as the log has it. */
#define OPERATION_MOST_OPEN 1000000u

typedef enum {
    OPERATION_LINE_UNREADABLE,   /* it has no tag, flag, time, thread, stage or partition */
    OPERATION_LINE_TOO_LONG,     /* passed over */
    OPERATION_REPEATED_END,      /* passed over */
    OPERATION_END_WITHOUT_BEGIN, /* passed over */
    OPERATION_BEGIN_WITHOUT_END, /* handed out without end; the line is that of the begin */
    OPERATION_CLOCK_BACK,        /* its end is before its begin: taken for no time at all */
    OPERATION_TOO_MANY_OPEN,     /* a begin that was passed over */
    OPERATION_TROUBLE_COUNT
} OperationTrouble;

typedef struct OperationCounts {
    guint64 lines;      /* that say of an operation, or should */
    guint64 operations; /* handed out */
    guint64 exceptions; /* of these, those that threw */
    guint64 troubles[OPERATION_TROUBLE_COUNT];
    guint64 first_line[OPERATION_TROUBLE_COUNT]; /* 0: there was none */
} OperationCounts;

/* What the lines do not say themselves; each may be NULL. Borrowed until the log is freed. */
typedef struct OperationSite {
    const char *app, *executor, *host;
} OperationSite;

typedef struct OperationLog OperationLog;

OperationLog *operation_log_new(const OperationSite *site);
void operation_log_free(OperationLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OperationLog, operation_log_free)

/* Is it a line of such a log? By its begin alone. */
gboolean operation_log_line_begins(Bytes head); /* for tests */

/* One line, without its line feed; number: of the line, from 1. Operations that it ends are appended to records. Empty
 * lines do not count. */
void operation_log_line(OperationLog *log, Bytes line, guint64 number, SparkRecords *records);
/* A line that the reader could not hand out. */
void operation_log_too_long(OperationLog *log, guint64 number);
/* The log is over: whatever is still going on has no end. */
void operation_log_end(OperationLog *log, SparkRecords *records);

const OperationCounts *operation_log_counts(const OperationLog *log);
/* "lines that repeat an end", ... : what is counted, for messages. */
const char *operation_trouble_text(OperationTrouble trouble);
