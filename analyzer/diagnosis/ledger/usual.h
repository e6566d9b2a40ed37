/* What is usual in a stage: the parts of its normal tasks' time, and how much longer more data makes them. */
#pragma once

#include "analyzer/diagnosis/ledger/times.h"

/* Standard deviations of normal tasks about the line, up to which a task's data explains its time. */
#define USUAL_BOUND 3.0

/* A task has unusually much of an account when at most one of 40 normal tasks would have as much (the upper end of a
 * prediction interval of 95 %): more than that one of n normal tasks which is at rank 0.975 (n + 1), so that the next
 * one is above it in one of 40 cases, however they are distributed. Fewer than USUAL_RANKED have no such rank beside
 * the greatest, and one task shall not decide: there it is more than the second of them, and than Student's interval of
 * their logarithms (waits are skewed to the right; the deviation is robust_spread()). Before these are taken, each has
 * a twentieth of the usual time more: what is less than that is not told apart. With one normal task nobody can say. */
#define USUAL_LEVEL        0.975
#define USUAL_LEVEL_NORMAL 1.959963985 /* of a normal distribution */
#define USUAL_RANKED       79u
#define USUAL_TIME_LEAST   0.05
#define USUAL_ANYTHING     G_MAXINT64 /* nothing is unusual */

typedef struct StageUsual {
    guint32 n;                          /* normal tasks (counted, no stragglers) that it is of; 0: nothing is known */
    gint64 duration_ns;                 /* the median of the stage's counted tasks */
    gint64 parts_ns[LEDGER_PART_COUNT]; /* which add up to it */
    gint64 varies_ns[ACCOUNT_COUNT];    /* so much more of an account is not unusual; 0 of data, which has its line */
    gboolean by_records;                /* the line is over records in place of bytes */
    double amount;                      /* that is usual; 0: unknown, and then there is no line */
    double ns_per_unit;                 /* by which more of it makes a task longer */
    double deviation_ns, spread,
        middle; /* of normal tasks: about the line; of their amounts the sum of squares, mean */
} StageUsual;

/* Parts are means over the middle half of the normal tasks by duration, in proportion, so that they add up to the
 * median. traced: of those alone of which traces tell as much.
 *
 * The line: more data takes as much longer in proportion, unless the normal tasks say otherwise: then it is the slope
 * next to that within the 95 % interval of theirs (robust.h), of pairs whose amounts differ by a tenth of the usual one
 * at least. It is never steeper: a task has costs beside those of its data. */
StageUsual stage_usual(const TaskTable *table, const Stragglers *stragglers, const LedgerTimes *times, guint32 stage,
                       LedgerTraced traced);

/* How much longer than usual a task's amount makes one expect it; 0 where it read no more than usual. */
gint64 usual_more_ns(const StageUsual *usual, const TaskTimes *times);
/* The longest time that a task's amount explains; 0: unknown. */
gint64 usual_bound_ns(const StageUsual *usual, const TaskTimes *times);
