/* The tight form of spans, as what is damaged in the store or in a spilled trace would have it: the input is the byte
 * that fills the slack behind the bodies, and the bodies. What is read are whole records, of no more memory than the
 * size of the bodies tells; written and read again, in both forms, they are the same. */
#include <string.h>

#include "common/model/fragment.h"
#include "fuzz/target.h"

#define TRACE 7u

/* How many records there are. */
static guint check_records(const GByteArray *records) {
    guint n = 0, at = 0;
    for (; at < records->len; n++) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(records->data + at);
        g_assert_true(span->size_bytes >= sizeof *span && span->size_bytes % 8 == 0);
        g_assert_cmpuint(span->size_bytes, <=, records->len - at);
        g_assert_cmpuint(span->id.trace, ==, TRACE);
        at += span->size_bytes;
    }
    g_assert_cmpuint(at, ==, records->len);
    return n;
}

static void write_and_read(const GByteArray *records, gboolean plain) {
    g_autoptr(GByteArray) packed = g_byte_array_new(), back = g_byte_array_new();
    fragment_pack(packed, records->data, records->len, plain);
    const guint32 size_bytes = ((const FragmentHead *)(gconstpointer)packed->data)->size_bytes;
    g_byte_array_set_size(packed, packed->len + FRAGMENT_SLACK_BYTES);
    g_assert_true(fragment_unpack(TRACE, packed->data + sizeof(FragmentHead), size_bytes, back));
    g_assert_cmpmem(back->data, back->len, records->data, records->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const gsize size_bytes = size - 1;
    g_autofree guint8 *bodies = g_malloc(size_bytes + FRAGMENT_SLACK_BYTES);
    memcpy(bodies, data + 1, size_bytes);
    memset(bodies + size_bytes, data[0], FRAGMENT_SLACK_BYTES);
    g_autoptr(GByteArray) records = g_byte_array_new();
    if (!fragment_unpack(TRACE, bodies, size_bytes, records)) {
        g_assert_cmpuint(records->len, ==, 0);
        return 0;
    }

    const guint n = check_records(records);
    const gsize each = sizeof(SpanRec) + sizeof(SpanId) + 8;
    g_assert_cmpuint(records->len, <=, FRAGMENT_MOST_TIMES * size_bytes + n * each);
    if (n == 0) return 0;
    write_and_read(records, FALSE);
    write_and_read(records, TRUE);
    return 0;
}
