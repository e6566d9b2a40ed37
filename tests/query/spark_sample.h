/* An application of Spark and the traces of its tasks, made by hand, for tests of links and of "why". */
#pragma once

#include "common/base/clock.h"
#include "common/model/spark_records.h"
#include "tests/query/fixture.h"

#define BASE_MS (SAMPLE_BASE_NS / NS_PER_MS)
#define APP     "app-20201121105300-0001"

/* Of APP, stage 1.0; it still runs when duration_ms < 0. Times in ms after BASE_MS. */
SparkTask *sample_task(SparkRecords *records, gint64 id, const char *host, gint64 launch_ms, gint64 duration_ms);
/* APP, "count words", begun at BASE_MS. */
SparkApp *sample_app(SparkRecords *records);
void sample_put(Fixture *fixture, const SparkRecords *records);

/* The trace of one task: a read of a file, from one DataNode that takes disk_ms to read a packet. Times in ms. */
typedef struct Read {
    guint64 trace;
    const char *client, *datanode;
    gint64 begin_ms, disk_ms;
    const char *notes; /* annotations of the read */
    gboolean in_task;
} Read;
void sample_read(Fixture *fixture, const Read *read);

/* Eight tasks of 100 ms; d2 takes 300 ms from its disk for tasks 5 and 6, which take 400. Task 7 takes as long, with
 * nothing to show for it. */
void sample_slow_disk(Fixture *fixture);
