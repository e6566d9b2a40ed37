/* A mark that somebody sends: what is taken of it can be kept, and has the limits that are said. */
#include <string.h>

#include "common/model/spark_fields.h"
#include "fuzz/target.h"
#include "receiver/http/posts/mark.h"

#define NOW_NS G_GINT64_CONSTANT(1700000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GError) error = NULL;
    const gboolean taken = mark_read((Bytes){data, size}, NOW_NS, records, &error);
    g_assert_true(taken == (error == NULL));
    g_assert_cmpuint(records->of[SPARK_MARK]->len, ==, taken ? 1 : 0);
    if (!taken) return 0;

    const HostMark *mark = spark_mark(records, 0);
    g_assert_null(spark_record_fault(SPARK_MARK, mark));
    g_assert_cmpuint(strlen(mark->text), <=, MARK_TEXT_MAX_BYTES);
    g_assert_cmpuint(strlen(mark->kind), <=, MARK_KIND_MAX_BYTES);
    g_assert_true(mark->begin_ns >= 0 && (mark->end_ns < 0 || mark->end_ns >= mark->begin_ns));
    g_assert_null(strpbrk(mark->text, "\n\r\033"));
    return 0;
}
