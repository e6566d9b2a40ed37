#include "tests/wire/newer.h"

#include <string.h>

#include "common/wire/reference/glib_transport.h"

typedef struct Writer {
    ThriftProtocol *thrift;
    const NewerOptions *options;
    const SpanBatch *batch;
} Writer;

static void begin(ThriftProtocol *p) { thrift_protocol_write_struct_begin(p, "", NULL); }

static void end(ThriftProtocol *p) {
    thrift_protocol_write_field_stop(p, NULL);
    thrift_protocol_write_struct_end(p, NULL);
}

static void field(ThriftProtocol *p, ThriftType type, gint16 id) {
    thrift_protocol_write_field_begin(p, "", type, id, NULL);
}

static void done(ThriftProtocol *p) { thrift_protocol_write_field_end(p, NULL); }

static void put_i32(ThriftProtocol *p, gint16 id, gint32 value) {
    field(p, T_I32, id);
    thrift_protocol_write_i32(p, value, NULL);
    done(p);
}

static void put_i64(ThriftProtocol *p, gint16 id, gint64 value) {
    field(p, T_I64, id);
    thrift_protocol_write_i64(p, value, NULL);
    done(p);
}

static void write_text(ThriftProtocol *p, BatchString text) {
    g_autofree char *copy = g_strndup(text.data, text.length);
    thrift_protocol_write_string(p, copy, NULL);
}

static void put_text(ThriftProtocol *p, gint16 id, BatchString text) {
    field(p, T_STRING, id);
    write_text(p, text);
    done(p);
}

static void list_begin(ThriftProtocol *p, gint16 id, ThriftType type, guint32 n) {
    field(p, T_LIST, id);
    thrift_protocol_write_list_begin(p, type, (gint32)n, NULL);
}

static void list_end(ThriftProtocol *p) {
    thrift_protocol_write_list_end(p, NULL);
    done(p);
}

static void put_scalars(ThriftProtocol *p, gint16 id) {
    for (int value = 0; value < 2; value++) {
        field(p, T_BOOL, id++);
        thrift_protocol_write_bool(p, value != 0, NULL);
        done(p);
    }
    field(p, T_BYTE, id++);
    thrift_protocol_write_byte(p, -3, NULL);
    done(p);
    field(p, T_I16, id++);
    thrift_protocol_write_i16(p, -300, NULL);
    done(p);
    field(p, T_DOUBLE, id++);
    thrift_protocol_write_double(p, -1.5, NULL);
    done(p);
    put_i32(p, id++, G_MININT32);
    put_i64(p, id++, G_MININT64);
    put_text(p, id, (BatchString){"unknown", 7});
}

static void put_containers(ThriftProtocol *p, gint16 id) {
    list_begin(p, id++, T_BOOL, 20);
    for (int i = 0; i < 20; i++) thrift_protocol_write_bool(p, i % 3 == 0, NULL);
    list_end(p);

    list_begin(p, id++, T_STRUCT, 2);
    for (int i = 0; i < 2; i++) {
        begin(p);
        put_scalars(p, 1);
        end(p);
    }
    list_end(p);

    field(p, T_SET, id++);
    thrift_protocol_write_set_begin(p, T_I64, 2, NULL);
    thrift_protocol_write_i64(p, 1, NULL);
    thrift_protocol_write_i64(p, -1, NULL);
    thrift_protocol_write_set_end(p, NULL);
    done(p);

    field(p, T_MAP, id++);
    thrift_protocol_write_map_begin(p, T_STRING, T_LIST, 1, NULL);
    thrift_protocol_write_string(p, "key", NULL);
    thrift_protocol_write_list_begin(p, T_DOUBLE, 3, NULL);
    for (int i = 0; i < 3; i++) thrift_protocol_write_double(p, i, NULL);
    thrift_protocol_write_list_end(p, NULL);
    thrift_protocol_write_map_end(p, NULL);
    done(p);

    field(p, T_MAP, id++);
    thrift_protocol_write_map_begin(p, T_BOOL, T_STRUCT, 0, NULL);
    thrift_protocol_write_map_end(p, NULL);
    done(p);
    field(p, T_STRUCT, id);
    begin(p);
    end(p);
    done(p);
}

/* Ids from 'id' on, in the middle of what else the struct has. */
static void put_deep(ThriftProtocol *p, gint16 id, guint depth) {
    field(p, T_STRUCT, id);
    begin(p);
    for (guint i = 1; i < depth; i++) {
        field(p, T_STRUCT, 9);
        begin(p);
    }
    for (guint i = 1; i < depth; i++) {
        end(p);
        done(p);
    }
    end(p);
    done(p);
}

static void put_extras(const Writer *w, gint16 id) {
    if (w->options->deep > 0) put_deep(w->thrift, id, w->options->deep);
    if (!w->options->extras) return;
    put_scalars(w->thrift, id);
    put_containers(w->thrift, (gint16)(id + 8));
    /* A known number of another type than ours. */
    field(w->thrift, T_DOUBLE, 1);
    thrift_protocol_write_double(w->thrift, 1, NULL);
    done(w->thrift);
}

static void write_parent(const Writer *w, SpanId parent) {
    begin(w->thrift);
    put_extras(w, 300);
    put_i64(w->thrift, 1, (gint64)parent.trace);
    put_extras(w, -300);
    put_i64(w->thrift, 2, (gint64)parent.span);
    put_extras(w, 30000);
    end(w->thrift);
}

static void write_annotation(const Writer *w, const BatchAnnotation *annotation) {
    begin(w->thrift);
    put_extras(w, 3);
    put_i32(w->thrift, 1, (gint32)annotation->key);
    put_extras(w, 3);
    put_text(w->thrift, 2, annotation->value);
    put_extras(w, 3);
    end(w->thrift);
}

static void write_note(const Writer *w, const BatchNote *note) {
    begin(w->thrift);
    put_i64(w->thrift, 1, note->time_ns);
    put_text(w->thrift, 2, note->message);
    put_extras(w, 3);
    end(w->thrift);
}

static void put_parents(const Writer *w, const BatchSpan *span, guint32 first) {
    list_begin(w->thrift, 8, T_STRUCT, span->n_parents - first);
    for (guint32 i = first; i < span->n_parents; i++)
        write_parent(w, g_array_index(w->batch->parents, SpanId, span->parents_at + i));
    list_end(w->thrift);
}

static void put_annotations(const Writer *w, const BatchSpan *span) {
    list_begin(w->thrift, 9, T_STRUCT, span->n_annotations);
    for (guint32 i = 0; i < span->n_annotations; i++)
        write_annotation(w, &g_array_index(w->batch->annotations, BatchAnnotation, span->annotations_at + i));
    list_end(w->thrift);
}

static void put_notes(const Writer *w, const BatchSpan *span) {
    list_begin(w->thrift, 10, T_STRUCT, span->n_notes);
    for (guint32 i = 0; i < span->n_notes; i++)
        write_note(w, &g_array_index(w->batch->notes, BatchNote, span->notes_at + i));
    list_end(w->thrift);
}

static void put_span_field(const Writer *w, const BatchSpan *span, gint16 id) {
    ThriftProtocol *p = w->thrift;
    const SpanId *parents = &g_array_index(w->batch->parents, SpanId, span->parents_at);
    const guint32 first = span->n_parents > 0 && parents[0].trace == span->id.trace;
    switch (id) {
    case 1: put_i64(p, 1, (gint64)span->id.trace); break;
    case 2: put_i64(p, 2, (gint64)span->id.span); break;
    case 3: put_i64(p, 3, span->begin_ns); break;
    case 4: put_i64(p, 4, span->duration_ns); break;
    case 5: put_i32(p, 5, (gint32)span->name); break;
    case 6: put_i32(p, 6, (gint32)span->tracer); break;
    case 7:
        if (first) put_i64(p, 7, (gint64)parents[0].span);
        break;
    case 8: put_parents(w, span, first); break;
    case 9: put_annotations(w, span); break;
    case 10: put_notes(w, span); break;
    default: put_i32(p, 11, (gint32)(span->flags | (w->options->extras ? 1u << 20 : 0)));
    }
}

static void write_span(const Writer *w, const BatchSpan *span) {
    begin(w->thrift);
    put_extras(w, 100);
    for (gint16 i = 1; i <= 11; i++) {
        const gint16 id = w->options->reversed ? (gint16)(12 - i) : i;
        if ((w->options->leave_out >> id & 1) == 0) put_span_field(w, span, id);
        if (i == 4) put_extras(w, 12);
    }
    put_extras(w, 12);
    end(w->thrift);
}

static void put_drops(const Writer *w) {
    const GArray *drops = w->batch->sender.drops;
    list_begin(w->thrift, 5, T_STRUCT, drops->len);
    for (guint i = 0; i < drops->len; i++) {
        const BatchDrop *drop = &g_array_index(drops, BatchDrop, i);
        begin(w->thrift);
        put_extras(w, 4);
        put_text(w->thrift, 1, drop->reason);
        put_i64(w->thrift, 2, drop->spans);
        end(w->thrift);
    }
    list_end(w->thrift);
}

static void put_sender(const Writer *w) {
    const BatchSender *sender = &w->batch->sender;
    if (sender->sender.length == 0) return;
    field(w->thrift, T_STRUCT, 5);
    begin(w->thrift);
    put_text(w->thrift, 1, sender->sender);
    put_extras(w, 6);
    put_i64(w->thrift, 2, sender->sequence);
    put_i64(w->thrift, 3, sender->spans_sent);
    put_i64(w->thrift, 4, sender->spans_queued);
    put_drops(w);
    end(w->thrift);
    done(w->thrift);
}

static void put_packs(const Writer *w) {
    const GPtrArray *packs = w->options->packs;
    list_begin(w->thrift, 6, T_STRING, packs->len);
    for (guint i = 0; i < packs->len; i++) {
        const GByteArray *pack = g_ptr_array_index(packs, i);
        thrift_protocol_write_binary(w->thrift, pack->data, pack->len, NULL);
    }
    list_end(w->thrift);
}

static void put_spans(const Writer *w) {
    const guint n = w->options->packs == NULL ? w->batch->spans->len : 0;
    list_begin(w->thrift, 4, T_STRUCT, n);
    for (guint i = 0; i < n; i++) write_span(w, batch_span(w->batch, i));
    list_end(w->thrift);
}

static void put_batch_field(const Writer *w, gint16 id) {
    const SpanBatch *batch = w->batch;
    switch (id) {
    case 1: put_i32(w->thrift, 1, w->options->version); break;
    case 2:
        if (w->options->needs != 0) put_i32(w->thrift, 2, w->options->needs);
        break;
    case 3:
        list_begin(w->thrift, 3, T_STRING, batch->strings->len);
        for (guint i = 0; i < batch->strings->len; i++) write_text(w->thrift, batch_string(batch, i));
        list_end(w->thrift);
        break;
    case 4: put_spans(w); break;
    case 5: put_sender(w); break;
    default:
        if (w->options->packs != NULL) put_packs(w);
    }
}

static GByteArray *message_begin(WireProtocol protocol, ThriftProtocol **thrift) {
    GByteArray *out = g_byte_array_new();
    append_u32be(out, 0);
    *thrift = glib_protocol_writer(out, protocol);
    thrift_protocol_write_message_begin(*thrift, "submit", T_CALL, 42, NULL);
    return out;
}

static GByteArray *message_end(GByteArray *out, ThriftProtocol *thrift) {
    thrift_protocol_write_message_end(thrift, NULL);
    g_object_unref(thrift);
    const guint32 length = GUINT32_TO_BE(out->len - FRAME_HEADER_BYTES);
    memcpy(out->data, &length, sizeof length);
    return out;
}

GByteArray *newer_submit(const SpanBatch *batch, const NewerOptions *options) {
    Writer w = {.options = options, .batch = batch};
    GByteArray *out = message_begin(options->protocol, &w.thrift);
    begin(w.thrift);
    put_extras(&w, 2);
    field(w.thrift, T_STRUCT, 1);
    begin(w.thrift);
    for (gint16 i = 1; i <= 6; i++) {
        const gint16 id = options->reversed ? (gint16)(7 - i) : i;
        if ((options->leave_out_of_batch >> id & 1) == 0) put_batch_field(&w, id);
        put_extras(&w, 7);
    }
    end(w.thrift);
    done(w.thrift);
    put_extras(&w, 2);
    end(w.thrift);
    return message_end(out, w.thrift);
}

GByteArray *newer_deep(WireProtocol protocol, guint depth) {
    ThriftProtocol *p;
    GByteArray *out = message_begin(protocol, &p);
    for (guint i = 0; i < depth; i++) {
        begin(p);
        field(p, T_STRUCT, 9);
    }
    begin(p);
    end(p);
    for (guint i = 0; i < depth; i++) {
        done(p);
        end(p);
    }
    return message_end(out, p);
}
