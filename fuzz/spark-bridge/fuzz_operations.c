/* Lines of an operation log: whatever they say, what comes of it adds up. */
#include "fuzz/target.h"
#include "spark-bridge/logs/operations.h"

static guint64 each_line(OperationLog *log, const char *text, gsize size, SparkRecords *records) {
    guint64 number = 0;
    for (gsize at = 0; at < size;) {
        gsize n = 0;
        while (at + n < size && text[at + n] != '\n') n++;
        operation_log_line(log, (Bytes){text + at, n}, ++number, records);
        at += n + 1;
    }
    return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(OperationLog) log = operation_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    const guint64 lines = each_line(log, (const char *)data, size, records);
    operation_log_end(log, records);
    const OperationCounts *counts = operation_log_counts(log);
    g_assert_cmpuint(counts->operations, ==, records->of[SPARK_OPERATION]->len);
    g_assert_cmpuint(counts->lines, <=, lines);
    g_assert_cmpuint(counts->operations, <=, counts->lines);
    for (guint i = 0; i < records->of[SPARK_OPERATION]->len; i++) {
        const SparkOperation *operation = spark_operation(records, i);
        g_assert_cmpint(operation->exclusive_ns, >=, -1);
        g_assert_true(operation->end_ns == -1 || operation->end_ns >= operation->begin_ns);
        g_assert_true(operation->end_ns == -1 || operation->exclusive_ns <= operation->end_ns - operation->begin_ns);
    }
    return 0;
}
