/* Spans of a batch as one pack (idl/plumb.thrift has the form). Texts that a span has in common with the one of its
 * shape before it take a byte; ids and parents are written whole, since no sequence is known that they came from. */
#include <string.h>

#include "common/base/limits.h"
#include "common/base/mix64.h"
#include "common/wire/codec.h"
#include "common/wire/thrift_write.h"

/* The version of the wire that knows packs as they are written here. */
#define NEEDS 2
/* Where a shape is looked for; of two that fall together the newer one is found, the other is defined anew. */
#define SHAPE_SLOTS 1024u
/* Shapes and annotations of shapes that are kept; what is beyond is defined with its span alone. */
#define SHAPES_KEPT   4096u
#define VALUES_KEPT   65536u
#define FIRST_ENTRIES 64u
/* The most that a varint takes. */
#define NUMBER_BYTES 10u
/* Shape with its definition's head, bits, three ids, two times, two counts. */
#define SPAN_BYTES (10 * NUMBER_BYTES)

enum { KIND_TEXT };
enum { SAME_TRACE = 1, PARENT_SAME = 2, PARENT_WHOLE = 4, LISTS = 8, MILLISECONDS = 16 };

typedef struct Shape {
    guint32 name, tracer;
    guint32 n_values, values_at;
} Shape;

typedef struct PackEncoder {
    const SpanBatch *batch;
    GArray *shapes;             /* Shape */
    GArray *values;             /* BatchAnnotation: of all shapes, as they were last */
    guint32 slots[SHAPE_SLOTS]; /* shape + 1; 0: none */
    gsize repeated_bytes;
    guint64 trace, parent, begin; /* of the last span */
} PackEncoder;

static void put_signed(ThriftWriter *w, guint64 value) { put_varint(w, value << 1 ^ (guint64)((gint64)value >> 63)); }

static void put_u64(ThriftWriter *w, guint64 value) {
    const guint64 little = GUINT64_TO_LE(value);
    memcpy(w->at, &little, sizeof little);
    w->at += sizeof little;
}

static inline BatchAnnotation *value_at(const PackEncoder *e, guint32 at) {
    return &g_array_index(e->values, BatchAnnotation, at);
}

/* ---- shapes ---- */

static gboolean shape_is(const PackEncoder *e, const Shape *shape, const BatchSpan *span,
                         const BatchAnnotation *annotations) {
    if (shape->name != span->name || shape->tracer != span->tracer || shape->n_values != span->n_annotations)
        return FALSE;
    for (guint32 i = 0; i < shape->n_values; i++)
        if (value_at(e, shape->values_at + i)->key != annotations[i].key) return FALSE;
    return TRUE;
}

static guint32 *slot_of(PackEncoder *e, const BatchSpan *span, const BatchAnnotation *annotations) {
    guint64 hash = (guint64)span->name << 32 | span->tracer;
    for (guint32 i = 0; i < span->n_annotations; i++) hash = (hash ^ annotations[i].key) * MIX64_GOLDEN;
    return &e->slots[mix64(hash) % SHAPE_SLOTS];
}

static void put_definition(ThriftWriter *w, const BatchSpan *span, const BatchAnnotation *annotations) {
    put_varint(w, 1 + (guint64)span->name);
    put_varint(w, 1 + (guint64)span->tracer);
    put_varint(w, span->n_annotations);
    for (guint32 i = 0; i < span->n_annotations; i++) {
        *w->at++ = KIND_TEXT;
        put_varint(w, 1 + (guint64)annotations[i].key);
    }
}

/* Where the values of the span's shape were last; NULL: it has none yet. */
static BatchAnnotation *put_shape(PackEncoder *e, ThriftWriter *w, const BatchSpan *span,
                                  const BatchAnnotation *annotations) {
    guint32 *slot = slot_of(e, span, annotations);
    if (*slot != 0) {
        const Shape *shape = &g_array_index(e->shapes, Shape, *slot - 1);
        if (G_LIKELY(shape_is(e, shape, span, annotations))) {
            put_varint(w, *slot);
            return value_at(e, shape->values_at);
        }
    }

    const gboolean kept = e->shapes->len < SHAPES_KEPT && e->values->len + span->n_annotations <= VALUES_KEPT;
    put_varint(w, kept ? e->shapes->len + 1 : 0);
    put_definition(w, span, annotations);
    if (!kept) return NULL;
    const Shape shape = {span->name, span->tracer, span->n_annotations, e->values->len};
    g_array_append_val(e->shapes, shape);
    if (span->n_annotations > 0) g_array_append_vals(e->values, annotations, span->n_annotations);
    *slot = e->shapes->len;
    return NULL;
}

/* ---- a span ---- */

static gsize most_bytes(const PackEncoder *e, const BatchSpan *span, const BatchAnnotation *annotations) {
    const BatchNote *notes = &g_array_index(e->batch->notes, BatchNote, span->notes_at);
    gsize most = SPAN_BYTES + (gsize)span->n_parents * sizeof(SpanId);
    for (guint32 i = 0; i < span->n_annotations; i++) most += 1 + 2 * NUMBER_BYTES + annotations[i].value.length;
    for (guint32 i = 0; i < span->n_notes; i++) most += 2 * NUMBER_BYTES + notes[i].message.length;
    return most;
}

/* TRUE: lists follow. */
static gboolean put_ids(PackEncoder *e, ThriftWriter *w, const BatchSpan *span) {
    const SpanId *parents = &g_array_index(e->batch->parents, SpanId, span->parents_at);
    const gboolean one = span->n_parents == 1 && span->n_notes == 0 && parents->trace == span->id.trace;
    const gboolean lists = !one && (span->n_parents > 0 || span->n_notes > 0);
    const gboolean same_parent = one && parents->span == e->parent;
    guint8 bits = (span->flags & SPAN_MILLISECONDS) != 0 ? MILLISECONDS : 0;
    if (span->id.trace == e->trace) bits |= SAME_TRACE;
    if (lists) bits |= LISTS;
    if (one) bits |= same_parent ? PARENT_SAME : PARENT_WHOLE;

    *w->at++ = bits;
    if ((bits & SAME_TRACE) == 0) put_u64(w, e->trace = span->id.trace);
    put_u64(w, span->id.span);
    if ((bits & PARENT_WHOLE) != 0) put_u64(w, e->parent = parents->span);
    if (!lists) return FALSE;
    put_varint(w, span->n_parents);
    for (guint32 i = 0; i < span->n_parents; i++) {
        put_u64(w, parents[i].trace);
        put_u64(w, parents[i].span);
    }
    return TRUE;
}

/* A decoder takes no more repeated texts than LIMIT_FRAME_BYTES. */
static gboolean may_repeat(PackEncoder *e, BatchString last, BatchString text) {
    if (last.length != text.length || memcmp(last.data, text.data, text.length) != 0 ||
        e->repeated_bytes + text.length > LIMIT_FRAME_BYTES)
        return FALSE;
    e->repeated_bytes += text.length;
    return TRUE;
}

static void put_values(PackEncoder *e, ThriftWriter *w, const BatchAnnotation *annotations, guint32 n,
                       BatchAnnotation *last) {
    for (guint32 i = 0; i < n; i++) {
        const BatchString text = annotations[i].value;
        if (last != NULL && may_repeat(e, last[i].value, text)) {
            *w->at++ = 0;
            continue;
        }
        put_varint(w, 1 + (guint64)text.length);
        memcpy(w->at, text.data, text.length);
        w->at += text.length;
        if (last != NULL) last[i].value = text;
    }
}

static void put_span(PackEncoder *e, const BatchSpan *span, GByteArray *out) {
    const BatchAnnotation *annotations = &g_array_index(e->batch->annotations, BatchAnnotation, span->annotations_at);
    const BatchNote *notes = &g_array_index(e->batch->notes, BatchNote, span->notes_at);
    ThriftWriter w = writer_begin(out, most_bytes(e, span, annotations), PROTOCOL_COMPACT);
    BatchAnnotation *last = put_shape(e, &w, span, annotations);
    const gboolean lists = put_ids(e, &w, span);
    put_signed(&w, (guint64)span->begin_ns - e->begin);
    put_signed(&w, (guint64)span->duration_ns);
    e->begin = (guint64)span->begin_ns;

    put_values(e, &w, annotations, span->n_annotations, last);
    if (lists) put_varint(&w, span->n_notes);
    for (guint32 i = 0; i < span->n_notes; i++) {
        put_signed(&w, (guint64)notes[i].time_ns - (guint64)span->begin_ns);
        put_text(&w, notes[i].message);
    }
    writer_end(&w, out);
}

/* ---- all ---- */

static void put_names(const SpanBatch *batch, GByteArray *out) {
    const guint n = batch->strings->len;
    ThriftWriter w = writer_begin(out, (n + 2) * (gsize)NUMBER_BYTES, PROTOCOL_COMPACT);
    put_varint(&w, batch->spans->len);
    put_varint(&w, n);
    for (guint i = 0; i < n; i++) put_varint(&w, i);
    writer_end(&w, out);
}

/* Puts the length of what 'out' has from there on before it. */
static void put_length_before(GByteArray *out, guint begin) {
    const guint length = out->len - begin;
    ThriftWriter w = writer_begin(out, NUMBER_BYTES, PROTOCOL_COMPACT);
    const guint8 *end = w.at;
    put_varint(&w, length);
    const gsize head = (gsize)(w.at - end);
    guint8 bytes[NUMBER_BYTES];
    memcpy(bytes, end, head);
    writer_end(&w, out);
    memmove(out->data + begin + head, out->data + begin, length);
    memcpy(out->data + begin, bytes, head);
}

void wire_batch_encode_packed(const SpanBatch *batch, GByteArray *out) {
    const guint begin = out->len;
    PackEncoder encoder = {.batch = batch,
                           .shapes = g_array_sized_new(FALSE, FALSE, sizeof(Shape), FIRST_ENTRIES),
                           .values = g_array_sized_new(FALSE, FALSE, sizeof(BatchAnnotation), FIRST_ENTRIES)};
    const gboolean has_sender = batch->sender.sender.length > 0;
    batch_encode_head(batch, &(BatchHead){.protocol = PROTOCOL_COMPACT, .needs = NEEDS}, out);
    if (has_sender) batch_encode_sender(&batch->sender, PROTOCOL_COMPACT, out);

    ThriftWriter w = writer_begin(out, 2 * FIELD_BYTES, PROTOCOL_COMPACT);
    w.last = has_sender ? 5 : 4;
    put_list(&w, 6, TYPE_STRING, 1);
    writer_end(&w, out);
    const guint pack = out->len;
    put_names(batch, out);
    for (guint i = 0; i < batch->spans->len; i++) put_span(&encoder, batch_span(batch, i), out);
    put_length_before(out, pack);

    g_byte_array_append(out, (const guint8[]){TYPE_STOP, TYPE_STOP}, 2); /* of the batch and of the arguments */
    frame_close(out, begin);
    g_array_unref(encoder.shapes);
    g_array_unref(encoder.values);
}
