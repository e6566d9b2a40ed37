/* submitPlain as a client of Thrift's own library sends it. */
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/message.h"
#include "common/wire/reference/glib_transport.h"
#include "plumb_plumb_types.h"

static const WireProtocol protocols[] = {PROTOCOL_BINARY, PROTOCOL_COMPACT};

#define ID_1 "0000000000000001000000000000000a"
#define ID_2 "0000000000000001000000000000000b"
#define ID_3 "0000000000000002000000000000000c"

/* Header and body of a call with that list. */
static GByteArray *plain_call(WireProtocol protocol, const GPtrArray *spans, WireHeader *header) {
    GByteArray *out = g_byte_array_new();
    ThriftProtocol *p = glib_protocol_writer(out, protocol);
    thrift_protocol_write_message_begin(p, "submitPlain", T_CALL, 3, NULL);
    thrift_protocol_write_struct_begin(p, "", NULL);
    thrift_protocol_write_field_begin(p, "", T_LIST, 1, NULL);
    thrift_protocol_write_list_begin(p, T_STRUCT, (gint32)spans->len, NULL);
    for (guint i = 0; i < spans->len; i++) thrift_struct_write(g_ptr_array_index(spans, i), p, NULL);
    thrift_protocol_write_list_end(p, NULL);
    thrift_protocol_write_field_end(p, NULL);
    thrift_protocol_write_field_stop(p, NULL);
    thrift_protocol_write_struct_end(p, NULL);
    thrift_protocol_write_message_end(p, NULL);
    g_object_unref(p);
    g_autoptr(GError) error = NULL;
    wire_header_decode((Bytes){out->data, out->len}, header, &error);
    g_assert_no_error(error);
    g_assert_cmpint(header->call, ==, CALL_SUBMIT_PLAIN);
    return out;
}

static PlumbPlainSpan *plain_span(const char *id, const char *name) {
    return g_object_new(PLUMB_TYPE_PLAIN_SPAN, "id", id, "beginNs", (gint64)1605956000000000001, "durationNs",
                        (gint64)5, "name", name, "tracer", "App/10.0.0.5", NULL);
}

static void add_parent(PlumbPlainSpan *span, const char *id) { g_ptr_array_add(span->parents, g_strdup(id)); }

static void add_annotation(PlumbPlainSpan *span, const char *key, const char *value) {
    g_hash_table_insert(span->annotations, g_strdup(key), g_strdup(value));
    span->__isset_annotations = TRUE;
}

static void add_note(PlumbPlainSpan *span, gint64 time_ns, const char *message) {
    g_ptr_array_add(span->notes, g_object_new(PLUMB_TYPE_NOTE, "timeNs", time_ns, "message", message, NULL));
    span->__isset_notes = TRUE;
}

static void assert_text(const SpanBatch *batch, guint32 i, const char *expected) {
    const BatchString text = batch_string(batch, i);
    g_assert_cmpmem(text.data, text.length, expected, strlen(expected));
}

static void test_spans(void) {
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(g_object_unref);
        PlumbPlainSpan *first = plain_span(ID_1, "read"), *second = plain_span(ID_2, "read");
        g_ptr_array_add(spans, first);
        g_ptr_array_add(spans, second);
        add_parent(second, ID_1);
        add_parent(second, ID_3);
        add_annotation(second, "path", "/user/anna");
        add_note(second, 17, "half way");
        add_note(second, -1, "");
        g_object_set(second, "flags", 1, NULL);
        WireHeader header;
        g_autoptr(GByteArray) bytes = plain_call(protocols[p], spans, &header);
        g_autoptr(SpanBatch) batch = batch_new();
        g_autoptr(GError) error = NULL;
        wire_plain_decode(&header, batch, &error);
        g_assert_no_error(error);
        memset(bytes->data, 0, bytes->len); /* the batch has copies */

        g_assert_cmpuint(batch->spans->len, ==, 2);
        const BatchSpan *one = batch_span(batch, 0), *two = batch_span(batch, 1);
        g_assert_true(span_id_equal(one->id, (SpanId){1, 10}));
        g_assert_cmpuint(one->n_parents + one->n_annotations + one->n_notes, ==, 0);
        g_assert_cmpint(one->begin_ns, ==, G_GINT64_CONSTANT(1605956000000000001));
        g_assert_cmpint(one->duration_ns, ==, 5);
        g_assert_cmpuint(one->flags, ==, 0);
        assert_text(batch, one->name, "read");
        assert_text(batch, one->tracer, "App/10.0.0.5");
        g_assert_cmpuint(two->name, ==, one->name);
        g_assert_cmpuint(two->flags, ==, SPAN_MILLISECONDS);
        g_assert_cmpuint(two->n_parents, ==, 2);
        g_assert_true(span_id_equal(g_array_index(batch->parents, SpanId, two->parents_at + 1), (SpanId){2, 12}));
        g_assert_cmpuint(two->n_annotations, ==, 1);
        const BatchAnnotation *annotation = &g_array_index(batch->annotations, BatchAnnotation, two->annotations_at);
        assert_text(batch, annotation->key, "path");
        g_assert_cmpmem(annotation->value.data, annotation->value.length, "/user/anna", 10);
        g_assert_cmpuint(two->n_notes, ==, 2);
        const BatchNote *notes = &g_array_index(batch->notes, BatchNote, two->notes_at);
        g_assert_cmpint(notes[0].time_ns, ==, 17);
        g_assert_cmpmem(notes[0].message.data, notes[0].message.length, "half way", 8);
        g_assert_cmpint(notes[1].time_ns, ==, -1);
    }
}

/* One bad span is refused alone. */
static void test_bad_ids(void) {
    static const char *const ids[] = {"", "1", "0000000000000001000000000000000g", ID_1 "0", "\xff"};
    for (gsize i = 0; i < G_N_ELEMENTS(ids); i++)
        for (int as_parent = 0; as_parent < 2; as_parent++) {
            g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(g_object_unref);
            PlumbPlainSpan *bad = plain_span(as_parent ? ID_2 : ids[i], "x");
            if (as_parent) add_parent(bad, ids[i]);
            g_ptr_array_add(spans, bad);
            g_ptr_array_add(spans, plain_span(ID_1, "x"));
            WireHeader header;
            g_autoptr(GByteArray) bytes = plain_call(PROTOCOL_BINARY, spans, &header);
            g_autoptr(SpanBatch) batch = batch_new();
            g_assert_cmpuint(bytes->len, >, header.body.size_bytes);
            g_assert_true(wire_plain_decode(&header, batch, NULL));
            g_assert_cmpuint(batch->spans->len, ==, 2);
            g_assert_false(span_id_valid(batch_span(batch, 0)->id));
            g_assert_true(span_id_equal(batch_span(batch, 1)->id, (SpanId){1, 10}));
        }
}

static void expect(PlumbPlainSpan *span, int code) {
    g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(g_object_unref);
    g_ptr_array_add(spans, span);
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        WireHeader header;
        g_autoptr(GByteArray) bytes = plain_call(protocols[p], spans, &header);
        g_autoptr(SpanBatch) batch = batch_new();
        g_autoptr(GError) error = NULL;
        g_assert_cmpuint(bytes->len, >, header.body.size_bytes);
        wire_plain_decode(&header, batch, &error);
        if (code < 0)
            g_assert_no_error(error);
        else
            g_assert_error(error, PLUMB_ERROR, code);
        if (code >= 0) g_assert_cmpuint(batch->spans->len, ==, 0);
    }
}

static void test_limits_and_text(void) {
    g_autofree char *name = g_strnfill(LIMIT_NAME_BYTES, 'x'), *long_name = g_strnfill(LIMIT_NAME_BYTES + 1, 'x');
    g_autofree char *value = g_strnfill(LIMIT_VALUE_BYTES, 'x'), *long_value = g_strnfill(LIMIT_VALUE_BYTES + 1, 'x');
    expect(plain_span(ID_1, name), -1);
    expect(plain_span(ID_1, long_name), PLUMB_ERROR_LIMIT);
    expect(plain_span(ID_1, "\xff"), PLUMB_ERROR_INPUT);

    for (int over = 0; over < 2; over++) {
        PlumbPlainSpan *by_key = plain_span(ID_1, "x"), *by_value = plain_span(ID_1, "x"),
                       *by_note = plain_span(ID_1, "x");
        PlumbPlainSpan *by_parents = plain_span(ID_1, "x"), *by_notes = plain_span(ID_1, "x");
        add_annotation(by_key, over ? long_name : name, "v");
        add_annotation(by_value, "k", over ? long_value : value);
        add_note(by_note, 1, over ? long_value : value);
        for (guint i = 0; i < LIMIT_SPAN_PARENTS + (guint)over; i++) add_parent(by_parents, ID_2);
        for (guint i = 0; i < LIMIT_SPAN_ANNOTATIONS + (guint)over; i++) add_note(by_notes, 1, "");

        const int code = over ? PLUMB_ERROR_LIMIT : -1;
        expect(by_key, code);
        expect(by_value, code);
        expect(by_note, code);
        expect(by_parents, code);
        expect(by_notes, code);
    }
}

static void test_truncation(void) {
    for (gsize p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(g_object_unref);
        PlumbPlainSpan *span = plain_span(ID_1, "x");
        add_parent(span, ID_2);
        add_annotation(span, "path", "/user/anna");
        add_note(span, 17, "half way");
        g_ptr_array_add(spans, span);

        WireHeader header;
        g_autoptr(GByteArray) bytes = plain_call(protocols[p], spans, &header);
        g_autoptr(SpanBatch) batch = batch_new();

        for (gsize n = 0; n < header.body.size_bytes; n++) {
            g_autofree guint8 *cut = g_memdup2(header.body.data, n);
            WireHeader shorter = header;
            shorter.body = (Bytes){cut, n};
            g_autoptr(GError) error = NULL;
            g_assert_false(wire_plain_decode(&shorter, batch, &error));
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        }

        append_u8(bytes, 0);
        header.body = (Bytes){bytes->data + bytes->len - 1 - header.body.size_bytes, header.body.size_bytes + 1};
        g_assert_false(wire_plain_decode(&header, batch, NULL));
    }
}

static void test_garbage(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(20);
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint round = 0; round < 100000; round++) {
        guint8 bytes[64];
        const gsize size = (gsize)g_rand_int_range(rand, 0, sizeof bytes + 1);
        for (gsize i = 0; i < size; i++) bytes[i] = (guint8)g_rand_int(rand);
        if (size > 2 && round % 4 != 0) memcpy(bytes, round % 2 != 0 ? "\x19\x1c" : "\x0f\0\1", 2 + (round % 2 == 0));
        const WireHeader header = {.call = CALL_SUBMIT_PLAIN, .protocol = round % 2, .body = {bytes, size}};
        if (!wire_plain_decode(&header, batch, NULL)) g_assert_cmpuint(batch->spans->len, ==, 0);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    glib_repair_class(PLUMB_TYPE_PLAIN_SPAN);
    glib_repair_class(PLUMB_TYPE_NOTE);
    g_test_add_func("/plain/spans", test_spans);
    g_test_add_func("/plain/bad-ids", test_bad_ids);
    g_test_add_func("/plain/limits-and-text", test_limits_and_text);
    g_test_add_func("/plain/truncation", test_truncation);
    g_test_add_func("/plain/garbage", test_garbage);
    return g_test_run();
}
