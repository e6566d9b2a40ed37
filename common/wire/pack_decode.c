/* Packs (idl/plumb.thrift has their form) to spans of a batch. Text stays in the frame; numbers become digits in the
 * batch's own memory. Arrays grow only by what was held against its limit and against the bytes that are left. */
#include <string.h>

#include "common/base/digits.h"
#include "common/base/limits.h"
#include "common/model/id_place.h"
#include "common/wire/codec.h"
#include "common/wire/thrift_varint.h"

/* Shape, bits, span id, begin, duration. */
#define LEAST_SPAN_BYTES  5
#define PARENT_BYTES      16
#define LEAST_NOTE_BYTES  2
#define LEAST_VALUE_BYTES 2 /* in a definition */

enum { KIND_TEXT, KIND_NUMBER };
enum {
    SAME_TRACE = 1,
    PARENT = 6, /* two bits */
    LISTS = 8,
    MILLISECONDS = 16,
    SPAN_NEAR = 32,
    TRACE_NEAR = 64,
    ALL_BITS = 127,
};
enum { PARENT_NONE, PARENT_SAME = 2, PARENT_WHOLE = 4, PARENT_NEAR = 6 };

/* What a span without lists takes at most up to its values, when the number of its shape is one byte. */
#define COMMON_SPAN_BYTES (1 + 1 + 5 * THRIFT_VARINT_BYTES)
#define COMMON_SHAPES     127u

/* Of the arrays that are made for each batch. */
#define FIRST_ENTRIES 64u

/* One annotation of a shape, and what it was in the last span of that shape. */
typedef struct PackValue {
    guint32 key; /* index into the batch's strings */
    guint8 kind;
    guint64 number;
    BatchString text; /* of the number too; data is NULL before the first */
} PackValue;

typedef struct PackShape {
    guint32 name, tracer;
    guint32 values_at, n_values;
} PackShape;

/* An array of the batch that may have room for more than is used, so that it seldom grows. */
typedef struct Entries {
    GArray *array;
    guint32 used;
} Entries;

/* Of a pack's last span. */
typedef struct PackIds {
    guint64 trace, parent;
    guint64 place; /* of the span's id (id_place.h) */
} PackIds;

typedef struct PackDecoder {
    ThriftReader r; /* of one pack */
    SpanBatch *batch;
    guint32 n_strings; /* of the batch's table, without what packs add to it */
    guint64 repeated_bytes;
    Entries parents, annotations;
    GArray *names;  /* guint32 */
    GArray *shapes; /* PackShape */
    GArray *values; /* PackValue, of all shapes */
    PackIds ids;
    guint64 begin; /* of the last span */
} PackDecoder;

static guint64 read_u64le(ThriftReader *r) {
    guint64 value;
    if (G_UNLIKELY(thrift_left(r) < sizeof value))
        return (guint64)thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return GUINT64_FROM_LE(value);
}

static inline const guint8 *take_u64le(const guint8 *at, guint64 *value) {
    memcpy(value, at, sizeof *value);
    *value = GUINT64_FROM_LE(*value);
    return at + sizeof *value;
}

/* Of a zig-zag number. Sums wrap round, hence unsigned. */
static inline guint64 unsigned_of(guint64 coded) { return coded >> 1 ^ -(coded & 1); }

static guint64 read_signed(ThriftReader *r) { return unsigned_of(thrift_varint(r)); }

/* FALSE: too many, or more than there are bytes for. */
static gboolean read_count(ThriftReader *r, gsize least_bytes, guint32 limit, guint32 *n) {
    const guint32 count = thrift_varint32(r);
    if (G_UNLIKELY(count > limit)) return thrift_fault(r, PLUMB_ERROR_LIMIT, "a list is longer than its limit");
    if (G_UNLIKELY(count * least_bytes > thrift_left(r)))
        return thrift_fault(r, PLUMB_ERROR_INPUT, "more elements than bytes");
    *n = count;
    return r->fault == NULL;
}

/* So many more in one array of the batch. */
static gboolean grow(ThriftReader *r, GArray *array, guint32 n, guint32 limit) {
    if (G_UNLIKELY(n > limit - array->len)) return thrift_fault(r, PLUMB_ERROR_LIMIT, "too many entries in one batch");
    g_array_set_size(array, array->len + n);
    return TRUE;
}

/* Room for n more of one span; *at is where. */
static inline gboolean take_entries(ThriftReader *r, Entries *entries, guint32 n, guint32 *at) {
    if (G_UNLIKELY(n > LIMIT_BATCH_ENTRIES - entries->used))
        return thrift_fault(r, PLUMB_ERROR_LIMIT, "too many entries in one batch");
    *at = entries->used;
    entries->used += n;
    if (G_UNLIKELY(entries->used > entries->array->len))
        g_array_set_size(entries->array, entries->used + entries->used / 2 + 64);
    return TRUE;
}

static BatchString read_chars(ThriftReader *r, guint32 length, guint32 limit_bytes) {
    const BatchString text = {(const char *)r->at, length};
    if (G_UNLIKELY(length > limit_bytes))
        thrift_fault(r, PLUMB_ERROR_LIMIT, "a text is longer than its limit");
    else if (G_UNLIKELY(length > thrift_left(r)))
        thrift_fault(r, PLUMB_ERROR_INPUT, "a text runs past the end");
    else if (G_UNLIKELY(!batch_text_valid(text.data, length)))
        thrift_fault(r, PLUMB_ERROR_INPUT, "a text is not UTF-8, or has a zero byte");
    else
        r->at += length;
    return text;
}

static guint32 read_name(PackDecoder *d) {
    ThriftReader *r = &d->r;
    const guint32 number = thrift_varint32(r);
    if (number > d->names->len)
        return (guint32)thrift_fault(r, PLUMB_ERROR_INPUT, "a name that the pack does not have");
    if (number > 0) return g_array_index(d->names, guint32, number - 1);
    const BatchString text = read_chars(r, thrift_varint32(r), LIMIT_NAME_BYTES);
    GArray *strings = d->batch->strings;
    if (strings->len >= LIMIT_BATCH_STRINGS)
        return (guint32)thrift_fault(r, PLUMB_ERROR_LIMIT, "too many strings in one batch");
    g_array_append_val(strings, text);
    return strings->len - 1;
}

static void read_names(PackDecoder *d) {
    guint32 n = 0;
    if (!read_count(&d->r, 1, LIMIT_BATCH_STRINGS, &n)) return;
    g_array_set_size(d->names, n);
    for (guint32 i = 0; i < n; i++) {
        const guint32 index = thrift_varint32(&d->r);
        if (index >= d->n_strings)
            thrift_fault(&d->r, PLUMB_ERROR_INPUT, "an index points outside the table of strings");
        g_array_index(d->names, guint32, i) = index;
    }
}

static void define_shape(PackDecoder *d, PackShape *shape) {
    ThriftReader *r = &d->r;
    *shape = (PackShape){.values_at = d->values->len};
    shape->name = read_name(d);
    shape->tracer = read_name(d);
    guint32 n = 0;
    if (!read_count(r, LEAST_VALUE_BYTES, LIMIT_SPAN_ANNOTATIONS, &n)) return;
    if (!grow(r, d->values, n, LIMIT_BATCH_ENTRIES)) return;
    shape->n_values = n;
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        PackValue value = {.kind = KIND_TEXT};
        if (thrift_left(r) > 0) value.kind = *r->at++;
        if (value.kind > KIND_NUMBER) thrift_fault(r, PLUMB_ERROR_INPUT, "an annotation of no kind");
        value.key = read_name(d);
        g_array_index(d->values, PackValue, shape->values_at + i) = value;
    }
}

/* An earlier one, or one that is defined here. *alone: to be forgotten after this span. */
static PackShape read_shape(PackDecoder *d, gboolean *alone) {
    PackShape shape = {0, 0, 0, 0};
    const guint32 number = thrift_varint32(&d->r);
    *alone = number == 0;
    if (G_LIKELY(number > 0 && number <= d->shapes->len)) return g_array_index(d->shapes, PackShape, number - 1);
    if (number > d->shapes->len + 1) {
        thrift_fault(&d->r, PLUMB_ERROR_INPUT, "a shape that the pack does not have");
        return shape;
    }
    define_shape(d, &shape);
    if (number > 0) g_array_append_val(d->shapes, shape);
    return shape;
}

static void read_parents(PackDecoder *d, BatchSpan *span) {
    guint32 n = 0;
    if (!read_count(&d->r, PARENT_BYTES, LIMIT_SPAN_PARENTS, &n) ||
        !take_entries(&d->r, &d->parents, n, &span->parents_at))
        return;
    span->n_parents = n;
    for (guint32 i = 0; i < n; i++) {
        SpanId *parent = &g_array_index(d->parents.array, SpanId, span->parents_at + i);
        parent->trace = read_u64le(&d->r);
        parent->span = read_u64le(&d->r);
    }
}

static inline void put_parent(PackDecoder *d, BatchSpan *span) {
    if (!take_entries(&d->r, &d->parents, 1, &span->parents_at)) return;
    g_array_index(d->parents.array, SpanId, span->parents_at) = (SpanId){d->ids.trace, d->ids.parent};
    span->n_parents = 1;
}

/* The place of an id that is near another place, or is given whole. */
static guint64 read_place(ThriftReader *r, gboolean near, guint64 place) {
    return near ? place + read_signed(r) : id_place(read_u64le(r));
}

static void read_ids(PackDecoder *d, guint8 bits, BatchSpan *span) {
    ThriftReader *r = &d->r;
    PackIds *ids = &d->ids;
    const guint8 parent = bits & PARENT;
    if ((bits & SAME_TRACE) == 0) ids->trace = id_at_place(read_place(r, (bits & TRACE_NEAR) != 0, ids->place));
    ids->place = read_place(r, (bits & SPAN_NEAR) != 0, ids->place);
    span->id = (SpanId){ids->trace, id_at_place(ids->place)};
    if (parent >= PARENT_WHOLE) ids->parent = id_at_place(read_place(r, parent == PARENT_NEAR, ids->place));
    if (parent != PARENT_NONE)
        put_parent(d, span);
    else if ((bits & LISTS) != 0)
        read_parents(d, span);
}

static BatchString digits_of(SpanBatch *batch, gint64 number) {
    char digits[DIGITS_MOST], *end = digits + sizeof digits, *at = digits_before_signed(end, number);
    return batch_copy(batch, at, (gsize)(end - at));
}

static void read_number(PackDecoder *d, PackValue *value) {
    const guint64 more = read_signed(&d->r);
    if (more == 0 && value->text.data != NULL) return; /* as the last one */
    value->number += more;
    value->text = digits_of(d->batch, (gint64)value->number);
}

static void read_text(PackDecoder *d, PackValue *value) {
    const guint32 length = thrift_varint32(&d->r);
    if (length > 0) {
        value->text = read_chars(&d->r, length - 1, LIMIT_VALUE_BYTES);
    } else if (value->text.data == NULL) {
        thrift_fault(&d->r, PLUMB_ERROR_INPUT, "a text is that of an earlier span, and there is none");
    } else {
        d->repeated_bytes += value->text.length;
        if (d->repeated_bytes > LIMIT_FRAME_BYTES)
            thrift_fault(&d->r, PLUMB_ERROR_LIMIT, "too many repeated texts in one batch");
    }
}

static void read_values(PackDecoder *d, const PackShape *shape, BatchSpan *span) {
    if (!take_entries(&d->r, &d->annotations, shape->n_values, &span->annotations_at)) return;
    span->n_annotations = shape->n_values;
    PackValue *value = &g_array_index(d->values, PackValue, shape->values_at);
    BatchAnnotation *annotation = &g_array_index(d->annotations.array, BatchAnnotation, span->annotations_at);
    for (guint32 i = 0; i < shape->n_values; i++, value++, annotation++) {
        if (value->kind == KIND_NUMBER)
            read_number(d, value);
        else
            read_text(d, value);
        *annotation = (BatchAnnotation){value->key, value->text};
    }
}

static void read_notes(PackDecoder *d, BatchSpan *span) {
    GArray *notes = d->batch->notes;
    guint32 n = 0;
    if (!read_count(&d->r, LEAST_NOTE_BYTES, LIMIT_SPAN_ANNOTATIONS, &n) || !grow(&d->r, notes, n, LIMIT_BATCH_ENTRIES))
        return;
    span->n_notes = n;
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++) {
        BatchNote *note = &g_array_index(notes, BatchNote, span->notes_at + i);
        note->time_ns = (gint64)((guint64)span->begin_ns + read_signed(&d->r));
        note->message = read_chars(&d->r, thrift_varint32(&d->r), LIMIT_VALUE_BYTES);
    }
}

static gboolean bits_valid(guint bits) {
    return bits <= ALL_BITS && (bits & (SAME_TRACE | TRACE_NEAR)) != (SAME_TRACE | TRACE_NEAR);
}

static guint8 read_bits(ThriftReader *r) {
    if (G_UNLIKELY(thrift_left(r) == 0)) return (guint8)thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    const guint8 bits = *r->at++;
    if (G_UNLIKELY(!bits_valid(bits))) thrift_fault(r, PLUMB_ERROR_INPUT, "a span's bits say nothing");
    return bits;
}

/* As varint_at(), for what mostly takes one byte. */
static inline guint near_at(const guint8 *at, guint64 *coded) {
    *coded = *at;
    return G_LIKELY(*at < 0x80) ? 1 : varint_at(at, coded);
}

/* As read_place(), where it is known that its bytes can be read. Returns where they end; NULL: over-long. */
static inline const guint8 *take_place(const guint8 *at, gboolean near, guint64 *place) {
    guint64 coded;
    if (!near) {
        at = take_u64le(at, &coded);
        *place = id_place(coded);
        return at;
    }
    const guint length = near_at(at, &coded);
    *place += unsigned_of(coded);
    return G_LIKELY(length != 0) ? at + length : NULL;
}

static inline const guint8 *take_ids(const guint8 *at, guint bits, PackIds *ids) {
    if ((bits & SAME_TRACE) == 0) {
        guint64 place = ids->place;
        at = take_place(at, (bits & TRACE_NEAR) != 0, &place);
        if (G_UNLIKELY(at == NULL)) return NULL;
        ids->trace = id_at_place(place);
    }
    at = take_place(at, (bits & SPAN_NEAR) != 0, &ids->place);
    if (G_UNLIKELY(at == NULL) || (bits & PARENT) < PARENT_WHOLE) return at;
    guint64 place = ids->place;
    at = take_place(at, (bits & PARENT) == PARENT_NEAR, &place);
    ids->parent = id_at_place(place);
    return at;
}

/* A span up to its values, when it is as nearly all are: of a shape that is there, without lists, with enough bytes
 * behind it that its end need not be looked for at each number. NULL: another one, of which nothing was read. */
static inline const PackShape *read_common(PackDecoder *d, BatchSpan *span) {
    const guint8 *at = d->r.at;
    if (G_UNLIKELY(thrift_left(&d->r) < COMMON_SPAN_BYTES)) return NULL;
    const guint shape = (guint)at[0] - 1, bits = at[1];
    if (G_UNLIKELY(shape >= MIN(d->shapes->len, COMMON_SHAPES) || (bits & LISTS) != 0 || !bits_valid(bits)))
        return NULL;

    PackIds ids = d->ids;
    guint64 begin, duration;
    at = take_ids(at + 2, bits, &ids);
    if (G_UNLIKELY(at == NULL)) return NULL;
    const guint begin_bytes = varint_at(at, &begin);
    const guint duration_bytes = varint_at(at + begin_bytes, &duration);
    if (G_UNLIKELY(begin_bytes == 0 || duration_bytes == 0)) return NULL;

    d->r.at = at + begin_bytes + duration_bytes;
    d->ids = ids;
    d->begin += unsigned_of(begin);

    const PackShape *found = &g_array_index(d->shapes, PackShape, shape);
    *span = (BatchSpan){.id = {ids.trace, id_at_place(ids.place)}, .name = found->name, .tracer = found->tracer};
    span->begin_ns = (gint64)d->begin;
    span->duration_ns = (gint64)unsigned_of(duration);
    if ((bits & MILLISECONDS) != 0) span->flags = SPAN_MILLISECONDS;
    if ((bits & PARENT) != 0) put_parent(d, span);
    return found;
}

static void read_other(PackDecoder *d, BatchSpan *span) {
    gboolean alone;
    const PackShape shape = read_shape(d, &alone);
    const guint8 bits = read_bits(&d->r);
    if (d->r.fault != NULL) return;
    *span = (BatchSpan){.name = shape.name, .tracer = shape.tracer, .notes_at = d->batch->notes->len};
    if ((bits & MILLISECONDS) != 0) span->flags = SPAN_MILLISECONDS;
    read_ids(d, bits, span);
    d->begin += read_signed(&d->r);
    span->begin_ns = (gint64)d->begin;
    span->duration_ns = (gint64)read_signed(&d->r);
    if (shape.n_values > 0) read_values(d, &shape, span);
    if ((bits & LISTS) != 0) read_notes(d, span);
    if (alone) g_array_set_size(d->values, shape.values_at);
}

static inline void read_span(PackDecoder *d, BatchSpan *span) {
    const PackShape *shape = read_common(d, span);
    if (G_UNLIKELY(shape == NULL))
        read_other(d, span);
    else if (shape->n_values > 0)
        read_values(d, shape, span);
}

static void read_pack(PackDecoder *d) {
    ThriftReader *r = &d->r;
    GArray *spans = d->batch->spans;
    const guint32 first = spans->len;
    guint32 n = 0;
    if (!read_count(r, LEAST_SPAN_BYTES, LIMIT_BATCH_SPANS, &n)) return;
    g_array_set_size(d->shapes, 0);
    g_array_set_size(d->values, 0);
    d->ids = (PackIds){0, 0, 0};
    d->begin = 0;
    read_names(d);
    if (r->fault != NULL || !grow(r, spans, n, LIMIT_BATCH_SPANS)) return;
    for (guint32 i = 0; i < n && r->fault == NULL; i++) read_span(d, &g_array_index(spans, BatchSpan, first + i));
    if (r->fault == NULL && r->at != r->end) thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are left over in a pack");
}

void packs_decode(ThriftReader *list, SpanBatch *batch) {
    guint32 n;
    if (!thrift_list_of(list, TYPE_STRING, 1, LIMIT_BATCH_SPANS, &n)) return;

    PackDecoder d = {.batch = batch, .n_strings = batch->strings->len};
    d.parents = (Entries){batch->parents, batch->parents->len};
    d.annotations = (Entries){batch->annotations, batch->annotations->len};
    d.names = g_array_sized_new(FALSE, FALSE, sizeof(guint32), FIRST_ENTRIES);
    d.shapes = g_array_sized_new(FALSE, FALSE, sizeof(PackShape), FIRST_ENTRIES);
    d.values = g_array_sized_new(FALSE, FALSE, sizeof(PackValue), FIRST_ENTRIES);

    for (guint32 i = 0; i < n && list->fault == NULL; i++) {
        const char *data = NULL;
        guint32 length = 0;
        if (!thrift_string(list, &data, &length)) break;
        d.r = thrift_reader((Bytes){data, length}, PROTOCOL_COMPACT);
        read_pack(&d);
        if (d.r.fault != NULL) thrift_fault(list, d.r.code, d.r.fault);
    }

    g_array_set_size(batch->parents, d.parents.used);
    g_array_set_size(batch->annotations, d.annotations.used);
    g_array_unref(d.names);
    g_array_unref(d.shapes);
    g_array_unref(d.values);
}
