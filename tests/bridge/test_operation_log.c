/* Operation logs: nesting, what real logs have wrong, and what our own rules say besides. */
#include "spark-bridge/logs/operations.h"

#include <string.h>

#define START(rdd, ms, more)                                                                                           \
    "tag=[RDD]org.apache.spark.rdd." rdd ";flag=start;timestamp=" #ms ";stage=0;thread=59;" more
#define END(rdd, ms, more) "tag=[RDD]org.apache.spark.rdd." rdd ";flag=end;timestamp=" #ms ";stage=0;thread=59;" more

typedef struct Read {
    SparkRecords *records;
    OperationCounts counts;
} Read;

static Read read_lines(const char *const *lines, const OperationSite *site) {
    g_autoptr(OperationLog) log = operation_log_new(site);
    Read read = {.records = spark_records_new()};
    for (guint i = 0; lines[i] != NULL; i++)
        operation_log_line(log, (Bytes){lines[i], strlen(lines[i])}, i + 1, read.records);
    operation_log_end(log, read.records);
    read.counts = *operation_log_counts(log);
    return read;
}

static void only_trouble(const Read *read, OperationTrouble kind, guint64 times, guint64 line) {
    for (guint i = 0; i < OPERATION_TROUBLE_COUNT; i++) {
        g_assert_cmpuint(read->counts.troubles[i], ==, i == kind ? times : 0);
        g_assert_cmpuint(read->counts.first_line[i], ==, i == kind && times > 0 ? line : 0);
    }
}

static void test_the_example(void) {
    static const char *const lines[] = {"tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=start;timestamp=1537215237040;"
                                        "stage=0;thread=59;this=HadoopRDD[0] at;"
                                        "partitionId=6;LoadedClassCount=8000;HeapOccupationRate=0.25;GCTime=100",
                                        "tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=end;timestamp=1537215240323;"
                                        "stage=0;thread=59;this=HadoopRDD[0] at;"
                                        "partitionId=6;LoadedClassCount=8010;HeapOccupationRate=0.5;GCTime=130",
                                        NULL};

    const OperationSite site = {"app-1", "3", "worker7"};
    Read read = read_lines(lines, &site);
    only_trouble(&read, OPERATION_TROUBLE_COUNT, 0, 0);
    g_assert_cmpuint(read.counts.lines, ==, 2);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 1);

    const SparkOperation *operation = spark_operation(read.records, 0);
    g_assert_cmpstr(operation->app, ==, "app-1");
    g_assert_cmpstr(operation->executor, ==, "3");
    g_assert_cmpstr(operation->host, ==, "worker7");
    g_assert_cmpstr(operation->class_name, ==, "org.apache.spark.rdd.HadoopRDD");
    g_assert_cmpstr(operation->rdd_text, ==, "HadoopRDD[0] at");
    g_assert_cmpint(operation->rdd, ==, 0);
    g_assert_cmpint(operation->stage, ==, 0);
    g_assert_cmpint(operation->partition, ==, 6);
    g_assert_cmpint(operation->thread, ==, 59);
    g_assert_cmpint(operation->task, ==, -1);
    g_assert_cmpint(operation->begin_ns, ==, G_GINT64_CONSTANT(1537215237040000000));
    g_assert_cmpint(operation->end_ns, ==, G_GINT64_CONSTANT(1537215240323000000));
    g_assert_cmpint(operation->exclusive_ns, ==, G_GINT64_CONSTANT(3283000000));
    g_assert_cmpint(operation->gc_ms, ==, 30);
    g_assert_cmpint(operation->source, ==, OPERATION_RULES);
    g_assert_cmpfloat(operation->at_start[JVM_LOADED_CLASSES], ==, 8000);
    g_assert_cmpfloat(operation->at_end[JVM_HEAP_RATE], ==, 0.5);
    g_assert_cmpfloat(operation->at_end[JVM_THREADS], ==, -1);
    spark_records_free(read.records);
}

/* C(B(A)): each has its own time and collections only. */
static void test_nesting(void) {
    static const char *const lines[] = {START("C", 1000, "this=C[2] at;partitionId=1;GCTime=0"),
                                        START("B", 1010, "this=B[1] at;partitionId=1;GCTime=1"),
                                        START("A", 1030, "this=A[0] at;partitionId=1;GCTime=2"),
                                        END("A", 1130, "this=A[0] at;partitionId=1;GCTime=12"),
                                        END("B", 1140, "this=B[1] at;partitionId=1;GCTime=15"),
                                        END("C", 1200, "this=C[2] at;partitionId=1;GCTime=15"),
                                        NULL};
    static const gint64 ms[] = {100, 30, 70}, gc[] = {10, 4, 1};

    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_TROUBLE_COUNT, 0, 0);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 3);

    for (guint i = 0; i < 3; i++) {
        const SparkOperation *operation = spark_operation(read.records, i);
        g_assert_cmpint(operation->rdd, ==, i);
        g_assert_cmpint(operation->exclusive_ns, ==, ms[i] * 1000000);
        g_assert_cmpint(operation->gc_ms, ==, gc[i]);
        g_assert_cmpint(operation->instance, ==, 2 - i);
    }

    spark_records_free(read.records);
}

static void test_spacing_and_order(void) {
    static const char *const lines[] = {
        "  tag = [RDD] org.apache.spark.rdd.A ; flag= start ;stage =4; thread= 7;timestamp=5 ; partitionId = 2 "
        ";what=is=this;"
        "this=A[3] at\r",
        "", " \t\r",
        "thread=7;flag=end;timestamp=9;stage=4;this= A[3] at;partitionId=2; tag=[RDD]org.apache.spark.rdd.A;", NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_TROUBLE_COUNT, 0, 0);
    g_assert_cmpuint(read.counts.lines, ==, 2);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 1);
    g_assert_cmpint(spark_operation(read.records, 0)->exclusive_ns, ==, 4000000);
    spark_records_free(read.records);
}

static void test_repeated_end(void) {
    static const char *const lines[] = {
        START("A", 1, "this=A[0] at;partitionId=1"), END("A", 3, "this=A[0] at;partitionId=1"),
        END("A", 3, "this=A[0] at;partitionId=1"), END("A", 4, "this=A[0] at;partitionId=1"), NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_REPEATED_END, 2, 3);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 1);
    g_assert_cmpint(spark_operation(read.records, 0)->exclusive_ns, ==, 2000000);
    spark_records_free(read.records);
}

static void test_end_without_begin(void) {
    static const char *const lines[] = {END("A", 3, "this=A[0] at;partitionId=1"), NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_END_WITHOUT_BEGIN, 1, 1);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 0);
    spark_records_free(read.records);
}

/* The inner one threw: its end is missing, the outer one's is there. Its time is nobody's but the outer one's. */
static void test_missing_end(void) {
    static const char *const lines[] = {START("B", 10, "this=B[1] at;partitionId=1"),
                                        START("A", 20, "this=A[0] at;partitionId=1"),
                                        END("B", 40, "this=B[1] at;partitionId=1"), NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_BEGIN_WITHOUT_END, 1, 2);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 2);
    const SparkOperation *lost = spark_operation(read.records, 0), *outer = spark_operation(read.records, 1);
    g_assert_cmpint(lost->rdd, ==, 0);
    g_assert_cmpint(lost->end_ns, ==, -1);
    g_assert_cmpint(lost->exclusive_ns, ==, -1);
    g_assert_cmpint(outer->exclusive_ns, ==, 30000000);
    spark_records_free(read.records);
}

/* A thread that goes on with another stage has left the one before. At the end of the log, all are over. */
static void test_left_behind(void) {
    static const char *const lines[] = {
        START("A", 10, "this=A[0] at;partitionId=1"),
        "tag=[RDD]B;flag=start;timestamp=20;stage=1;thread=59;this=B[5] at;partitionId=0",
        "tag=[RDD]B;flag=start;timestamp=20;stage=1;thread=60;this=B[5] at;partitionId=1",
        "tag=[RDD]B;flag=end;timestamp=25;stage=1;thread=59;this=B[5] at;partitionId=0", NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_BEGIN_WITHOUT_END, 2, 1);
    g_assert_cmpuint(read.records->of[SPARK_OPERATION]->len, ==, 3);
    g_assert_cmpint(spark_operation(read.records, 1)->exclusive_ns, ==, 5000000);
    spark_records_free(read.records);
}

static void test_threads_are_apart(void) {
    static const char *const lines[] = {
        "tag=[RDD]A;flag=start;timestamp=10;stage=0;thread=1;this=A[0] at;partitionId=1",
        "tag=[RDD]A;flag=start;timestamp=11;stage=0;thread=2;this=A[0] at;partitionId=2",
        "tag=[RDD]A;flag=end;timestamp=14;stage=0;thread=1;this=A[0] at;partitionId=1",
        "tag=[RDD]A;flag=end;timestamp=19;stage=0;thread=2;this=A[0] at;partitionId=2", NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_TROUBLE_COUNT, 0, 0);
    g_assert_cmpint(spark_operation(read.records, 0)->exclusive_ns, ==, 4000000);
    g_assert_cmpint(spark_operation(read.records, 1)->exclusive_ns, ==, 8000000);
    spark_records_free(read.records);
}

/* What our rules add: nanoseconds, the task, exits by exception. */
static void test_own_rules(void) {
    static const char *const lines[] = {
        START("A", 1000,
              "this=A[17] at;partitionId=1;nanoTime=-5;taskAttemptId=12;stageAttempt=1;application=app-2;executor=4;"
              "host=w1"),
        "tag=[RDD]org.apache.spark.rdd.A;flag=exception;timestamp=1000;stage=0;thread=59;this=A[17] "
        "at;partitionId=1;nanoTime=995;"
        "taskAttemptId=12",
        NULL};

    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_TROUBLE_COUNT, 0, 0);
    g_assert_cmpuint(read.counts.exceptions, ==, 1);

    const SparkOperation *operation = spark_operation(read.records, 0);
    g_assert_cmpint(operation->exclusive_ns, ==, 1000);
    g_assert_cmpint(operation->task, ==, 12);
    g_assert_cmpint(operation->stage_attempt, ==, 1);
    g_assert_cmpint(operation->rdd, ==, 17);
    g_assert_cmpstr(operation->app, ==, "app-2");
    g_assert_cmpstr(operation->executor, ==, "4");
    g_assert_cmpstr(operation->host, ==, "w1");

    spark_records_free(read.records);
}

static void test_clock_back(void) {
    static const char *const lines[] = {START("A", 1000, "this=A[0] at;partitionId=1"),
                                        END("A", 400, "this=A[0] at;partitionId=1"), NULL};
    Read read = read_lines(lines, NULL);
    only_trouble(&read, OPERATION_CLOCK_BACK, 1, 2);
    g_assert_cmpint(spark_operation(read.records, 0)->exclusive_ns, ==, 0);
    g_assert_cmpint(spark_operation(read.records, 0)->end_ns, ==, 1000000000);
    spark_records_free(read.records);
}

static void test_unreadable(void) {
    static const char *const bad[] = {
        "tag=[RDD]A;flag=start;timestamp=;stage=0;thread=1;partitionId=1",
        "tag=[RDD]A;flag=begun;timestamp=1;stage=0;thread=1;partitionId=1",
        "tag=A;flag=start;timestamp=1;stage=0;thread=1;partitionId=1",
        "tag=[RDD];flag=start;timestamp=1;stage=0;thread=1;partitionId=1",
        "tag=[RDD]A;flag=start;timestamp=1;stage=0;partitionId=1",
        "tag=[RDD]A;flag=start;timestamp=1;stage=-1;thread=1;partitionId=1",
        "tag=[RDD]A;flag=start;timestamp=1;stage=0;thread=1;partitionId=99999999999",
        "tag=[RDD]A;flag=start;timestamp=9223372036854775807;stage=0;thread=1;partitionId=1",
        "tag=[RDD]A;flag=start;timestamp=99999999999999999999;stage=0;thread=1;partitionId=1",
        "tag=[RDD]A;flag=start;timesta",
        "Exception in thread \"main\"",
        NULL};
    Read read = read_lines(bad, NULL);
    only_trouble(&read, OPERATION_LINE_UNREADABLE, G_N_ELEMENTS(bad) - 1, 1);
    g_assert_cmpuint(spark_records_count(read.records), ==, 0);
    spark_records_free(read.records);
}

static void test_limits(void) {
    g_autoptr(OperationLog) log = operation_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autofree char *longest = g_strnfill(OPERATION_MOST_LINE_BYTES + 1, 'x');
    operation_log_line(log, (Bytes){longest, strlen(longest)}, 1, records);
    g_assert_cmpuint(operation_log_counts(log)->troubles[OPERATION_LINE_TOO_LONG], ==, 1);
    const char *line = START("A", 1, "this=A[0] at;partitionId=1");
    for (guint i = 0; i <= OPERATION_MOST_DEPTH; i++)
        operation_log_line(log, (Bytes){line, strlen(line)}, i + 2, records);
    g_assert_cmpuint(operation_log_counts(log)->troubles[OPERATION_TOO_MANY_OPEN], ==, 1);
    g_assert_cmpuint(operation_log_counts(log)->first_line[OPERATION_TOO_MANY_OPEN], ==, OPERATION_MOST_DEPTH + 2);
    operation_log_end(log, records);
    g_assert_cmpuint(records->of[SPARK_OPERATION]->len, ==, OPERATION_MOST_DEPTH);
}

static void test_told_apart(void) {
    static const struct {
        const char *head;
        gboolean is;
    } heads[] = {{"tag=[RDD]org.apache", TRUE},
                 {" tag = [RDD]", TRUE},
                 {"tag=[rdd]", FALSE},
                 {"{\"Event\":", FALSE},
                 {"tag", FALSE},
                 {"", FALSE},
                 {"tag=", FALSE},
                 {"12:00:01 AM  CPU", FALSE}};
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
        g_assert_cmpint(operation_log_line_begins((Bytes){heads[i].head, strlen(heads[i].head)}), ==, heads[i].is);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/operation_log/example", test_the_example);
    g_test_add_func("/operation_log/nesting", test_nesting);
    g_test_add_func("/operation_log/spacing", test_spacing_and_order);
    g_test_add_func("/operation_log/repeated_end", test_repeated_end);
    g_test_add_func("/operation_log/end_without_begin", test_end_without_begin);
    g_test_add_func("/operation_log/missing_end", test_missing_end);
    g_test_add_func("/operation_log/left_behind", test_left_behind);
    g_test_add_func("/operation_log/threads", test_threads_are_apart);
    g_test_add_func("/operation_log/own_rules", test_own_rules);
    g_test_add_func("/operation_log/clock_back", test_clock_back);
    g_test_add_func("/operation_log/unreadable", test_unreadable);
    g_test_add_func("/operation_log/limits", test_limits);
    g_test_add_func("/operation_log/told_apart", test_told_apart);
    return g_test_run();
}
