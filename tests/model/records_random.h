/* Random records of Spark: every field known or not, lists empty and long, texts beyond ASCII. */
#pragma once

#include "common/model/spark_fields.h"
#include "common/model/spark_records.h"

/* A record that can be kept, of one of 'n_apps' applications ("app-0", ...). */
void records_random_add(SparkRecords *records, SparkKind kind, GRand *rand, guint n_apps);
/* n of each kind. */
SparkRecords *records_random(GRand *rand, guint n, guint n_apps);
/* Same records of each kind in the same order. Fails the test that calls it. */
void records_assert_equal(const SparkRecords *a, const SparkRecords *b);
