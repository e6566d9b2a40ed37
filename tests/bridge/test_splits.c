/* Splits in executors' logs, in the forms of all versions and of several log4j patterns. */
#include "spark-bridge/logs/splits.h"

#include <string.h>

typedef struct Case {
    const char *line;
    const char *path; /* NULL: says of no split */
    gint64 start, length, task, time_ms;
} Case;

static const Case cases[] = {
    {"26/11/21 20:46:04 INFO HadoopRDD: Task (TID 1) input split: file:/tmp/in.txt:24374511+24374512",
     "file:/tmp/in.txt", 24374511, 24374512, 1, G_GINT64_CONSTANT(1795293964000)},
    {"26/11/21 20:46:04 INFO HadoopRDD: Input split: hdfs://127.0.0.1:9000/a b:c+d/part-00000:0+128",
     "hdfs://127.0.0.1:9000/a b:c+d/part-00000", 0, 128, -1, G_GINT64_CONSTANT(1795293964000)},
    {"2026-11-21 20:46:04,123 INFO [Executor task launch worker for task 3.0 in stage 0.0 (TID 17)] "
     "org.apache.spark.rdd.NewHadoopRDD: "
     "Input split: hdfs://n/x:5+6",
     "hdfs://n/x", 5, 6, 17, G_GINT64_CONSTANT(1795293964123)},
    {"[2026-11-21T20:46:04.5+01:00] INFO FileScanRDD: Reading File path: hdfs://n/t/part-0.parquet, range: 4-1004, "
     "partition values: "
     "[empty row]",
     "hdfs://n/t/part-0.parquet", 4, 1000, -1, G_GINT64_CONSTANT(1795290364500)},
    {"1795293964123 INFO FileScanRDD: Reading File path: hdfs://n/x, range: 0-1, partition values: [2026-11-21,7]",
     "hdfs://n/x", 0, 1, -1, G_GINT64_CONSTANT(1795293964123)},
    {"{\"ts\":\"2026-11-21T20:46:04.123Z\",\"level\":\"INFO\",\"msg\":\"Task (TID 9) input split: "
     "hdfs://n/x:1+2\",\"logger\":"
     "\"HadoopRDD\"}",
     "hdfs://n/x", 1, 2, 9, G_GINT64_CONSTANT(1795293964123)},
    {"20:46:04.123 INFO HadoopRDD: Task (TID 1) input split: /x:1+2", "/x", 1, 2, 1, -1},
    {"26/11/21 20:46:04 INFO MemoryStore: Block broadcast_0 stored", NULL, 0, 0, 0, 0},
    {"", NULL, 0, 0, 0, 0},
};

static void read_line(SplitLog *log, const char *line, guint64 number, SparkRecords *records) {
    split_log_line(log, (Bytes){line, strlen(line)}, number, records);
}

static void test_cases(void) {
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        const SplitSite site = {"app-1", "2", "w3", NULL};
        g_autoptr(SplitLog) log = split_log_new(&site);
        g_autoptr(SparkRecords) records = spark_records_new();

        read_line(log, c->line, 1, records);
        g_assert_cmpuint(records->of[SPARK_SPLIT]->len, ==, c->path != NULL);
        g_assert_cmpuint(split_log_counts(log)->lines, ==, c->path != NULL);
        if (c->path == NULL) continue;

        const SparkSplit *split = spark_split(records, 0);
        g_assert_cmpstr(split->path, ==, c->path);
        g_assert_cmpint(split->start, ==, c->start);
        g_assert_cmpint(split->length, ==, c->length);
        g_assert_cmpint(split->task, ==, c->task);
        g_assert_cmpint(split->time_ms, ==, c->time_ms);
        g_assert_cmpstr(split->app, ==, "app-1");
        g_assert_cmpstr(split->executor, ==, "2");
        g_assert_cmpstr(split->host, ==, "w3");
        g_assert_cmpuint(split_log_counts(log)->untimed, ==, c->time_ms < 0);
    }
}

/* A line that does not say the task means the one that runs, if there is one only. */
static void test_the_running_task(void) {
    g_autoptr(SplitLog) log = split_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    read_line(log, "26/11/21 20:46:04 INFO Executor: Running task 0.0 in stage 0.0 (TID 4)", 1, records);
    read_line(log, "26/11/21 20:46:04 INFO HadoopRDD: Input split: /a:0+1", 2, records);
    read_line(log, "26/11/21 20:46:05 INFO Executor: Running task 1.0 in stage 0.0 (TID 5)", 3, records);
    read_line(log, "26/11/21 20:46:05 INFO HadoopRDD: Input split: /a:1+1", 4, records);
    read_line(
        log,
        "26/11/21 20:46:06 INFO Executor: Finished task 0.0 in stage 0.0 (TID 4). 1088 bytes result sent to driver", 5,
        records);
    read_line(log, "26/11/21 20:46:06 INFO HadoopRDD: Input split: /a:2+1", 6, records);
    read_line(log, "26/11/21 20:46:06 ERROR Executor: Exception in task 1.0 in stage 0.0 (TID 5)", 7, records);
    read_line(log, "26/11/21 20:46:06 INFO HadoopRDD: Input split: /a:3+1", 8, records);
    static const gint64 tasks[] = {4, -1, 5, -1};
    g_assert_cmpuint(records->of[SPARK_SPLIT]->len, ==, G_N_ELEMENTS(tasks));
    for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) g_assert_cmpint(spark_split(records, i)->task, ==, tasks[i]);
    g_assert_cmpuint(split_log_counts(log)->unassigned, ==, 2);
}

static void test_combined(void) {
    g_autoptr(SplitLog) log = split_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    read_line(
        log,
        "26/11/21 20:46:04 INFO NewHadoopRDD: Task (TID 2) input split: Paths:/a,b:0+10,/c:5+20 Locations:w1:; w2:; ",
        1, records);
    g_assert_cmpuint(records->of[SPARK_SPLIT]->len, ==, 2);
    g_assert_cmpstr(spark_split(records, 0)->path, ==, "/a,b");
    g_assert_cmpint(spark_split(records, 0)->length, ==, 10);
    g_assert_cmpstr(spark_split(records, 1)->path, ==, "/c");
    g_assert_cmpint(spark_split(records, 1)->start, ==, 5);
}

static void test_zone(void) {
    g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("Europe/Berlin");
    g_assert_nonnull(zone);
    const SplitSite site = {NULL, NULL, NULL, zone};
    g_autoptr(SplitLog) log = split_log_new(&site);
    g_autoptr(SparkRecords) records = spark_records_new();
    read_line(log, "26/07/01 12:00:00 INFO HadoopRDD: Input split: /a:0+1", 1, records);
    read_line(log, "26/12/01 12:00:00 INFO HadoopRDD: Input split: /a:0+1", 2, records);
    read_line(log, "2026-12-01T12:00:00Z INFO HadoopRDD: Input split: /a:0+1", 3, records);
    g_assert_cmpint(spark_split(records, 0)->time_ms, ==, G_GINT64_CONSTANT(1782900000000));
    g_assert_cmpint(spark_split(records, 1)->time_ms, ==, G_GINT64_CONSTANT(1796122800000));
    g_assert_cmpint(spark_split(records, 2)->time_ms, ==, G_GINT64_CONSTANT(1796126400000));
}

static void test_unreadable(void) {
    static const char *const lines[] = {
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: ",
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: /a:0+",
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: /a:-1+4",
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: :0+4",
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: /a:9223372036854775807+1",
        "26/11/21 20:46:04 INFO HadoopRDD: Input split: Paths:,,, Locations:",
        "26/11/21 20:46:04 INFO FileScanRDD: Reading File path: /a, range: 5-4, partition values: [empty row]",
        "26/11/21 20:46:04 INFO FileScanRDD: Reading File path: /a",
    };
    g_autoptr(SplitLog) log = split_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) read_line(log, lines[i], i + 3, records);
    g_assert_cmpuint(split_log_counts(log)->unreadable, ==, G_N_ELEMENTS(lines));
    g_assert_cmpuint(split_log_counts(log)->first_unreadable_line, ==, 3);
    g_assert_cmpuint(spark_records_count(records), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/splits/cases", test_cases);
    g_test_add_func("/splits/running_task", test_the_running_task);
    g_test_add_func("/splits/combined", test_combined);
    g_test_add_func("/splits/zone", test_zone);
    g_test_add_func("/splits/unreadable", test_unreadable);
    return g_test_run();
}
