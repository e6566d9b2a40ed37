/* Lines of event logs. What a line says can be sent, whatever it is; a line that is broken leaves no record; the log's
 * records are the same in one batch and in a batch for each line, once merged. */
#include <string.h>

#include "common/model/spark_fields.h"
#include "common/wire/message.h"
#include "fuzz/target.h"
#include "spark-bridge/events/events.h"
#include "spark-bridge/storage/line_reader.h"

static void check_records(const SparkRecords *records) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const GArray *all = records->of[kind];
        for (guint i = 0; i < all->len; i++)
            g_assert_null(spark_record_fault((SparkKind)kind, all->data + i * spark_kind_size((SparkKind)kind)));
    }
    if (spark_records_count(records) == 0) return;
    g_autoptr(GByteArray) frame = g_byte_array_new();
    g_autoptr(SparkRecords) back = spark_records_new();
    FrameCut cut;
    WireHeader header;
    WireVersions versions;
    guint32 refused;
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    g_assert_true(frame_cut((Bytes){frame->data, frame->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &header, NULL));
    g_assert_true(wire_records_decode(&header, back, &versions, &refused, NULL));
    g_assert_cmpuint(refused, ==, 0);
    g_assert_cmpuint(spark_records_count(back), ==, spark_records_count(records));
}

/* In memory of its own, so that the sanitizer sees what is read behind the padding. */
static EventResult take(Events *events, const guint8 *data, gsize n) {
    g_autofree guint8 *line = g_malloc0(n + LINE_PADDING_BYTES);
    if (n > 0) memcpy(line, data, n);
    const char *problem = NULL;
    const EventResult result = events_take(events, (Bytes){line, n}, &problem);
    g_assert_true((result == EVENT_BROKEN) == (problem != NULL));
    g_assert_true(n < LINE_HEAD_BYTES || result != EVENT_TAKEN || events_wanted((Bytes){data, LINE_HEAD_BYTES}));
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(Events) events = events_new(NULL, "log"), others = events_new("app", "log");
    g_autoptr(SparkRecords) records = spark_records_new(), one = spark_records_new();
    events_into(events, records);

    for (gsize at = 0; at <= size;) {
        const guint8 *feed = at < size ? memchr(data + at, '\n', size - at) : NULL;
        const gsize n = (feed != NULL ? (gsize)(feed - data) : size) - at;
        const gsize before = spark_records_count(records);
        const EventResult result = take(events, data + at, n);
        if (result == EVENT_BROKEN) g_assert_cmpuint(spark_records_count(records), ==, before);

        spark_records_clear(one);
        events_into(others, one);
        g_assert_cmpint(take(others, data + at, n), ==, result);
        check_records(one);
        at += n + 1;
    }

    events_app_by_name(events);
    events_close_batch(events);
    g_assert_cmpuint(events_waiting(events), ==, 0);
    check_records(records);
    return 0;
}
