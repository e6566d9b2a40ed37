/* Lines of an executor's log. */
#include "fuzz/target.h"
#include "spark-bridge/logs/splits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(SplitLog) log = split_log_new(NULL);
    g_autoptr(SparkRecords) records = spark_records_new();
    guint64 number = 0;

    for (size_t at = 0; at < size;) {
        size_t n = 0;
        while (at + n < size && data[at + n] != '\n') n++;
        split_log_line(log, (Bytes){data + at, n}, ++number, records);
        at += n + 1;
    }

    const SplitCounts *counts = split_log_counts(log);
    g_assert_cmpuint(counts->splits, ==, records->of[SPARK_SPLIT]->len);
    g_assert_cmpuint(counts->lines, <=, number);
    g_assert_cmpuint(counts->unreadable, <=, counts->lines);

    for (guint i = 0; i < records->of[SPARK_SPLIT]->len; i++) {
        const SparkSplit *split = spark_split(records, i);
        g_assert_true(split->path != NULL && *split->path != '\0');
        g_assert_true(split->start >= 0 && split->length >= 0 && split->time_ms >= -1 && split->task >= -1);
    }
    return 0;
}
