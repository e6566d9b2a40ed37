/* Arguments of submitRecords. The first byte chooses the protocol. What is accepted can be sent, and is then the same.
 */
#include "common/wire/message.h"
#include "fuzz/target.h"
#include "tests/model/records_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const WireHeader header = {.call = CALL_SUBMIT_RECORDS,
                               .protocol = data[0] & 1 ? PROTOCOL_COMPACT : PROTOCOL_BINARY,
                               .body = {data + 1, size - 1}};
    g_autoptr(SparkRecords) records = spark_records_new(), back = spark_records_new();
    WireVersions versions;
    guint32 refused;

    if (!wire_records_decode(&header, records, &versions, &refused, NULL)) {
        g_assert_cmpuint(spark_records_count(records), ==, 0);
        return 0;
    }

    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    WireHeader again;

    wire_records_encode(records, PROTOCOL_COMPACT, 1, bytes);
    g_assert_true(frame_cut((Bytes){bytes->data, bytes->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &again, NULL));
    g_assert_true(wire_records_decode(&again, back, &versions, &refused, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(refused, ==, 0);
    records_assert_equal(records, back);
    return 0;
}
