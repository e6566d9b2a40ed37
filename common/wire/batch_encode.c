/* A batch to the bytes of a submit call, in both protocols. Room for the most that a span can take is made once, and
 * the fields are then written through a pointer. */
#include "common/wire/codec.h"
#include "common/wire/thrift_write.h"

static void put_parent(ThriftWriter *w, SpanId parent) {
    w->last = 0;
    put_i64(w, 1, (gint64)parent.trace);
    put_i64(w, 2, (gint64)parent.span);
    put_stop(w);
}

static void put_annotation(ThriftWriter *w, const BatchAnnotation *annotation) {
    w->last = 0;
    put_i32(w, 1, (gint32)annotation->key);
    put_field(w, 2, TYPE_STRING);
    put_text(w, annotation->value);
    put_stop(w);
}

static void put_note(ThriftWriter *w, const BatchNote *note) {
    w->last = 0;
    put_i64(w, 1, note->time_ns);
    put_field(w, 2, TYPE_STRING);
    put_text(w, note->message);
    put_stop(w);
}

/* Most bytes that the span can take. */
static gsize span_bytes(const BatchSpan *span, const BatchAnnotation *annotations, const BatchNote *notes) {
    gsize most = 12 * FIELD_BYTES + (gsize)span->n_parents * 2 * FIELD_BYTES;
    for (guint32 i = 0; i < span->n_annotations; i++) most += 3 * FIELD_BYTES + annotations[i].value.length;
    for (guint32 i = 0; i < span->n_notes; i++) most += 3 * FIELD_BYTES + notes[i].message.length;
    return most + (gsize)span->n_parents;
}

static void put_fixed(ThriftWriter *w, const BatchSpan *span) {
    put_i64(w, 1, (gint64)span->id.trace);
    put_i64(w, 2, (gint64)span->id.span);
    put_i64(w, 3, span->begin_ns);
    put_i64(w, 4, span->duration_ns);
    put_i32(w, 5, (gint32)span->name);
    put_i32(w, 6, (gint32)span->tracer);
}

static void encode_span(const SpanBatch *batch, const BatchSpan *span, WireProtocol protocol, GByteArray *out) {
    const SpanId *parents = (const SpanId *)batch->parents->data + span->parents_at;
    const BatchAnnotation *annotations = (const BatchAnnotation *)batch->annotations->data + span->annotations_at;
    const BatchNote *notes = (const BatchNote *)batch->notes->data + span->notes_at;

    ThriftWriter w = writer_begin(out, span_bytes(span, annotations, notes), protocol);
    put_fixed(&w, span);

    /* The usual parent, of the same trace, needs no struct. */
    const guint32 short_form = span->n_parents > 0 && parents[0].trace == span->id.trace;
    if (short_form) put_i64(&w, 7, (gint64)parents[0].span);
    if (span->n_parents > short_form) {
        put_list(&w, 8, TYPE_STRUCT, span->n_parents - short_form);
        for (guint32 i = short_form; i < span->n_parents; i++) put_parent(&w, parents[i]);
        w.last = 8;
    }
    if (span->n_annotations > 0) {
        put_list(&w, 9, TYPE_STRUCT, span->n_annotations);
        for (guint32 i = 0; i < span->n_annotations; i++) put_annotation(&w, &annotations[i]);
        w.last = 9;
    }
    if (span->n_notes > 0) {
        put_list(&w, 10, TYPE_STRUCT, span->n_notes);
        for (guint32 i = 0; i < span->n_notes; i++) put_note(&w, &notes[i]);
        w.last = 10;
    }

    if (span->flags != 0) put_i32(&w, 11, (gint32)span->flags);
    put_stop(&w);
    writer_end(&w, out);
}

void batch_encode_sender(const BatchSender *sender, WireProtocol protocol, GByteArray *out) {
    gsize most = 8 * FIELD_BYTES + sender->sender.length;
    for (guint i = 0; i < sender->drops->len; i++)
        most += 3 * FIELD_BYTES + g_array_index(sender->drops, BatchDrop, i).reason.length;

    ThriftWriter w = writer_begin(out, most, protocol);
    w.last = 4;
    put_field(&w, 5, TYPE_STRUCT);
    w.last = 0;
    put_field(&w, 1, TYPE_STRING);
    put_text(&w, sender->sender);
    put_i64(&w, 2, sender->sequence);
    put_i64(&w, 3, sender->spans_sent);
    put_i64(&w, 4, sender->spans_queued);

    if (sender->drops->len > 0) {
        put_list(&w, 5, TYPE_STRUCT, sender->drops->len);
        for (guint i = 0; i < sender->drops->len; i++) {
            const BatchDrop *drop = &g_array_index(sender->drops, BatchDrop, i);
            w.last = 0;
            put_field(&w, 1, TYPE_STRING);
            put_text(&w, drop->reason);
            put_i64(&w, 2, drop->spans);
            put_stop(&w);
        }
    }

    put_stop(&w);
    writer_end(&w, out);
}

void batch_encode_head(const SpanBatch *batch, const BatchHead *head, GByteArray *out) {
    const BatchString *strings = (const BatchString *)batch->strings->data;
    gsize most = 16 * FIELD_BYTES;
    for (guint i = 0; i < batch->strings->len; i++) most += FIELD_BYTES + strings[i].length;
    ThriftWriter w = writer_begin(out, most, head->protocol);
    const ThriftHead call = {.kind = KIND_CALL, .sequence = head->sequence, .method = {"submit", 6}};
    put_head(&w, &call);
    put_field(&w, 1, TYPE_STRUCT);
    w.last = 0;
    put_i32(&w, 1, WIRE_VERSION);
    if (head->needs > 0) put_i32(&w, 2, head->needs);
    put_list(&w, 3, TYPE_STRING, batch->strings->len);
    for (guint i = 0; i < batch->strings->len; i++) put_text(&w, strings[i]);
    put_list(&w, 4, TYPE_STRUCT, head->n_spans);
    writer_end(&w, out);
}

void wire_batch_encode(const SpanBatch *batch, WireProtocol protocol, gint32 sequence, GByteArray *out) {
    const guint begin = out->len;
    batch_encode_head(batch, &(BatchHead){protocol, sequence, 0, batch->spans->len}, out);
    for (guint i = 0; i < batch->spans->len; i++) encode_span(batch, batch_span(batch, i), protocol, out);
    if (batch->sender.sender.length > 0) batch_encode_sender(&batch->sender, protocol, out);
    const guint8 stops[2] = {TYPE_STOP, TYPE_STOP}; /* of the batch and of the arguments */
    g_byte_array_append(out, stops, sizeof stops);
    frame_close(out, begin);
}
