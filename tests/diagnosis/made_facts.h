/* Facts of an application of Spark, made by hand, and what is advised on them. */
#pragma once

#include "analyzer/diagnosis/advise/advise.h"

#define MIB (1024.0 * 1024)

typedef struct Made {
    SparkPair pairs[8];
    SparkApp app;
    AdviseFacts *facts;
} Made;

/* An application of which nothing is known. */
void made_plain(Made *made);
/* Two executors of two cores, 100 s long, busy in 90 % of it; one stage of 8 tasks of 45 s. */
void made_init(Made *made);
void made_clear(Made *made);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)
void made_set(Made *made, const char *key, const char *value);
AdviseStage *made_stage(Made *made);
AdviseSpread made_spread(double median, double max);

const Finding *finding_of(const Advice *advice, const char *rule);
const Change *change_of(const Finding *finding, guint i);
/* What the finding of that rule costs. */
void assert_cost(const Made *made, const char *rule, double ms);
void assert_change(const Finding *finding, guint i, const char *key, const char *to);

#define ASSERT_FINDS(made, rule, expected)                                                                             \
    do {                                                                                                               \
        g_autoptr(Advice) judged = advise((made).facts, FALSE);                                                        \
        g_assert_true((finding_of(judged, rule) != NULL) == (expected));                                               \
    } while (0)
