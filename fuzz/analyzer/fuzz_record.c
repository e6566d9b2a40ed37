/* Stored traces: two bytes (big-endian) of length, a stored pattern of that length, and the record. What is accepted is
 * whole SpanRecs, one behind the other, as many as the summary says. */
#include "analyzer/calltree/record/record.h"
#include "fuzz/target.h"

static guint32 walk(const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    SpanNote note;
    guint32 entries = 0;
    while (span_next_annotation(&cursor, &annotation)) entries++;
    g_assert_cmpuint(entries, ==, span->n_annotations);
    while (span_next_note(&cursor, &note)) entries++;
    g_assert_cmpuint(entries, ==, (guint32)span->n_annotations + span->n_notes);
    g_assert_true(cursor.at <= (const guint8 *)span + span->size_bytes);
    return span->size_bytes;
}

static gboolean count_visit(void *arg, guint32 node, const SpanAnnotation *annotation) {
    guint32 *left = arg;
    g_assert_cmpuint(node, >, 0);
    g_assert_true(annotation->length == 0 || annotation->value[annotation->length - 1] + 1 != 1000); /* is readable */
    return --*left > 0;
}

/* Columns by themselves hold what the whole holds; those of a malformed record may be fine. */
static void read_columns(Bytes record, const Pattern *pattern, const GByteArray *spans) {
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(RecordPlace));
    guint32 annotations = 0, left = G_MAXUINT32;
    for (gsize at = 0; at < spans->len; at += ((const SpanRec *)(const void *)(spans->data + at))->size_bytes)
        annotations += ((const SpanRec *)(const void *)(spans->data + at))->n_annotations;
    const gboolean placed = record_places(record, pattern, TRUE, places, NULL);
    const gboolean visited = record_annotations(record, pattern, count_visit, &left, NULL);
    if (spans->len == 0) return;
    g_assert_true(placed && visited);
    g_assert_cmpuint(G_MAXUINT32 - left, ==, annotations);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const gsize pattern_bytes = (gsize)data[0] << 8 | data[1];
    if (pattern_bytes > size - 2) return 0;
    g_autoptr(Pattern) pattern = pattern_decode((Bytes){data + 2, pattern_bytes}, NULL);
    if (pattern == NULL) return 0;

    const Bytes record = {data + 2 + pattern_bytes, size - 2 - pattern_bytes};
    TraceSummary summary;
    const gboolean summarised = record_summary(record, &summary, NULL);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    const gboolean decoded = record_decode(record, pattern, 7, spans, NULL);
    read_columns(record, pattern, spans);

    if (!decoded) {
        g_assert_cmpuint(spans->len, ==, 0);
        return 0;
    }

    g_assert_true(summarised);
    guint32 n = 0;
    for (gsize at = 0; at < spans->len; n++) at += walk((const SpanRec *)(const void *)(spans->data + at));
    g_assert_cmpuint(n, ==, summary.n_spans);
    return 0;
}
