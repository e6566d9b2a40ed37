/* A finding: what is wrong, what shows it, what it costs, what to change, how that was worked out. Rules make them. */
#pragma once

#include "analyzer/diagnosis/advise/facts.h"

typedef enum { FINDING_SURE, FINDING_LIKELY, FINDING_POSSIBLE } Certainty;
const char *certainty_name(Certainty certainty); /* "sure", "likely", "possible" */

typedef enum { SEVERITY_NONE, SEVERITY_LOW, SEVERITY_MODERATE, SEVERITY_SEVERE, SEVERITY_CRITICAL } Severity;
const char *severity_name(Severity severity); /* "none", "low", ... */

typedef struct Change {
    const char *key;   /* static */
    char *from, *to;   /* from "": neither set nor with a default */
    gboolean set;      /* from is what was set, and not a default */
    gboolean conflict; /* a finding that costs more sets the key, to something else */
    gboolean program;  /* the program sets it itself: what spark-submit is told does not count */
} Change;

typedef struct Finding {
    const char *rule; /* "spill": static */
    char *what;       /* a sentence */
    GPtrArray *evidence;
    double cost_ms;                /* core-ms that it costs */
    double saves_ms;               /* core-ms that the changes are expected to save; 0: not known */
    double share;                  /* cost of what was used: task time, or what the executors held */
    GArray *changes;               /* Change */
    char *formula, *advice, *risk; /* sentences; NULL: none */
    Certainty certainty;
    gboolean node;           /* a host's doing: no setting of the job helps */
    const char *host, *role; /* of such a host; NULL: of none, or of several */
    guint32 partitions;      /* the program is to make of its data; 0: nothing is said of that */
    gboolean fails;          /* it made tasks fail */
    GArray *stages, *tasks;  /* gint64: ids */
} Finding;

/* By its share: 0.02, 0.1, 0.2, 0.5. */
Severity finding_severity(const Finding *finding);

typedef struct Unknown {
    const char *rule;
    char *why;
} Unknown;

/* Both static. */
typedef struct Well {
    const char *rule, *what;
} Well;

typedef struct Advice {
    GPtrArray *findings; /* Finding, by cost */
    GArray *unknown;     /* Unknown: what could not be judged, and with what it could */
    GArray *well;        /* Well: what was judged and is well, where all is asked for */
} Advice;

Advice *advice_new(void);
void advice_free(Advice *advice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Advice, advice_free)

/* A new finding, which the advice owns. */
Finding *advice_add(Advice *advice, const char *rule, Certainty certainty);
void advice_unknown(Advice *advice, const char *rule, const char *why);

/* 'from' is taken from the settings; takes 'to'. */
void finding_change(Finding *finding, const AdviseFacts *facts, const char *key, char *to);
void finding_evidence(Finding *finding, const char *format, ...) G_GNUC_PRINTF(2, 3);
void finding_stage(Finding *finding, const AdviseStage *stage);
void finding_task(Finding *finding, gint64 task);

/* New strings: "212 MiB"; as Spark's settings have it, rounded up to whole MiB: "640m"; "2.1 core-hours". */
char *bytes_text(double bytes);
char *bytes_setting(double bytes);
char *core_time_text(double ms);
/* "stage 7", "stage 7.1"; with its name in parentheses. */
char *stage_text(const AdviseStage *stage);
