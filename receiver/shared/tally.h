/* Calls that were stored since the start, added up for those who watch: by function, and by host and class of work.
 *
 * What is told is bounded, whatever names senders have: of each table the TALLY_..._SHOWN rows with the most time have
 * series of their own, all others are summed in "(other)". Once a minute a row that has had twice the time of one that
 * is shown takes its place. What a series tells never falls: a row begins at 0 when it is shown, and what it had before
 * stays with "(other)".
 *
 * Writers add, one at a time, once for each group of stored traces; any thread reads. */
#pragma once

#include "analyzer/archive/stored_calls.h"
#include "analyzer/diagnosis/nodes/work_class.h"

#define TALLY_FUNCTIONS_SHOWN 100u
/* 3,000 hosts with seven classes of work each are 21,000. */
#define TALLY_HOSTS_SHOWN 22000u
/* Rows that are not shown and may become so. */
#define TALLY_HIDDEN(shown) ((shown) / 4)

typedef struct TallyExample {
    guint64 trace_id; /* 0: none */
    guint64 duration_ns;
    gint64 begin_ns;
} TallyExample;

typedef struct TallySteps {
    guint64 calls[STATS_STEPS];
    TallyExample examples[STATS_STEPS]; /* the newest of each step */
} TallySteps;

typedef struct TallyRow {
    guint32 id; /* dictionary id of the function or host; 0: of none */
    gboolean other;
    guint8 role;  /* Role */
    guint8 class; /* WorkClass; of functions WORK_NONE */
    guint64 calls, errors;
    guint64 total_ns; /* of functions */
    guint64 self_ns;
    TallySteps *steps; /* of functions; NULL: of a host */
} TallyRow;

typedef struct Tally Tally;
Tally *tally_new(void);
void tally_free(Tally *tally);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tally, tally_free)

void tally_add(Tally *tally, const StoredCalls *calls, gint64 now_ns); /* now_ns: monotonic */
/* The rows that are shown, those of "(other)" last: copies, for tally_rows_free(). */
GArray *tally_functions(Tally *tally);
GArray *tally_hosts(Tally *tally);
void tally_rows_free(GArray *rows);
