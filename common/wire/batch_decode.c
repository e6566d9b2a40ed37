/* The hot call: Thrift bytes to a batch, in one pass over the frame.
 *
 * Fields may come in any order and unknown ones are skipped, so that a newer sender is understood. Strings stay in the
 * frame. Arrays grow by what a list's head declares, after that number was held against its limit and against the bytes
 * that are left. */
#include "common/base/limits.h"
#include "common/wire/codec.h"
#include "common/wire/thrift_varint.h"

/* Least sizes of entries with all their fields, in the compact protocol; a list that declares more entries than fit is
 * refused at its head. Spans of missing fields are decoded (with an invalid id), so theirs is the empty struct. */
enum { LEAST_SPAN_BYTES = 1, LEAST_ENTRY_BYTES = 5, LEAST_STRING_BYTES = 1 };

typedef struct Decoder {
    ThriftReader r;
    SpanBatch *batch;
    guint32 n_parents;    /* of batch->parents, which may have room for more */
    guint32 strings_used; /* one more than the largest index seen, as unsigned: negative ones are huge */
} Decoder;

/* Makes room for n more entries of one span and tells where they begin. */
static gboolean entries_of(ThriftReader *r, GArray *array, guint32 limit, guint32 *at, guint32 *n) {
    guint32 count;
    if (!thrift_list_of(r, TYPE_STRUCT, LEAST_ENTRY_BYTES, limit, &count)) return FALSE;
    if (count > LIMIT_BATCH_ENTRIES - array->len)
        return thrift_fault(r, PLUMB_ERROR_LIMIT, "too many entries in one batch");
    *at = array->len;
    *n = count;
    g_array_set_size(array, array->len + count);
    return TRUE;
}

static inline guint32 note_index(Decoder *d, guint32 index) {
    if (G_UNLIKELY(index >= d->strings_used)) d->strings_used = index < G_MAXUINT32 ? index + 1 : index;
    return index;
}

static guint32 read_index(Decoder *d) { return note_index(d, (guint32)thrift_i32(&d->r)); }

/* A list that comes twice would leave a hole in the slices. */
static gboolean first_time(ThriftReader *r, guint32 seen, guint32 field) {
    return (seen & field) == 0 || thrift_fault(r, PLUMB_ERROR_INPUT, "a list comes twice");
}

static void read_parent(ThriftReader *r, SpanId *parent) {
    guint32 seen = 0;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I64): parent->trace = (guint64)thrift_i64(r); break;
        case FIELD_KEY(2, TYPE_I64): parent->span = (guint64)thrift_i64(r); break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }
    thrift_require(r, seen, SEEN(1) | SEEN(2));
}

static void read_annotation(Decoder *d, BatchAnnotation *annotation) {
    ThriftReader *r = &d->r;
    guint32 seen = 0;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I32): annotation->key = read_index(d); break;
        case FIELD_KEY(2, TYPE_STRING): thrift_text(r, LIMIT_VALUE_BYTES, &annotation->value); break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }
    thrift_require(r, seen, SEEN(1) | SEEN(2));
}

static void read_parents(Decoder *d, BatchSpan *span) {
    GArray *parents = d->batch->parents;
    g_array_set_size(parents, d->n_parents);
    if (!entries_of(&d->r, parents, LIMIT_SPAN_PARENTS, &span->parents_at, &span->n_parents)) return;
    d->n_parents = parents->len;
    for (guint32 i = 0; i < span->n_parents && d->r.fault == NULL; i++)
        read_parent(&d->r, &g_array_index(parents, SpanId, span->parents_at + i));
}

static void read_annotations(Decoder *d, BatchSpan *span) {
    GArray *annotations = d->batch->annotations;
    if (!entries_of(&d->r, annotations, LIMIT_SPAN_ANNOTATIONS, &span->annotations_at, &span->n_annotations)) return;
    for (guint32 i = 0; i < span->n_annotations && d->r.fault == NULL; i++)
        read_annotation(d, &g_array_index(annotations, BatchAnnotation, span->annotations_at + i));
}

static void read_notes(Decoder *d, BatchSpan *span) {
    GArray *notes = d->batch->notes;
    if (!entries_of(&d->r, notes, LIMIT_SPAN_ANNOTATIONS, &span->notes_at, &span->n_notes)) return;
    for (guint32 i = 0; i < span->n_notes && d->r.fault == NULL; i++)
        thrift_note(&d->r, &g_array_index(notes, BatchNote, span->notes_at + i));
}

/* The parent of field 7 stands before those of field 8, wherever in the struct it came. Nearly every span has one: the
 * array grows by many at a time, and read_spans() cuts it to those there are. */
static inline void put_first_parent(Decoder *d, SpanId parent, BatchSpan *span) {
    GArray *parents = d->batch->parents;
    if (G_UNLIKELY(span->n_parents >= LIMIT_SPAN_PARENTS || d->n_parents >= LIMIT_BATCH_ENTRIES)) {
        thrift_fault(&d->r, PLUMB_ERROR_LIMIT, "too many parents");
        return;
    }
    if (span->n_parents == 0) span->parents_at = d->n_parents;
    if (G_UNLIKELY(d->n_parents == parents->len)) g_array_set_size(parents, 2 * d->n_parents + 64);
    SpanId *place = &g_array_index(parents, SpanId, span->parents_at);
    if (G_UNLIKELY(span->n_parents > 0)) memmove(place + 1, place, span->n_parents * sizeof *place);
    *place = parent;
    span->n_parents++;
    d->n_parents++;
}

#define SPAN_PARENT   SEEN(7)
#define SPAN_REQUIRED (SEEN(1) | SEEN(2) | SEEN(3) | SEEN(4) | SEEN(5) | SEEN(6))

/* Heads of the fields in the compact protocol when each follows the one before. */
#define NEXT_I64 0x16
#define NEXT_I32 0x15

/* Numbers of a span as they stand in it: fields 1 to 7. */
enum { NUMBER_TRACE, NUMBER_SPAN, NUMBER_BEGIN, NUMBER_DURATION, NUMBER_NAME, NUMBER_TRACER, NUMBER_PARENT, NUMBERS };

/* A field's number, behind the head that is expected; NULL: it is another one, or none. */
static inline const guint8 *read_number(const guint8 *at, guint8 head, guint64 *number) {
    guint64 coded;
    if (G_UNLIKELY(at == NULL || *at != head)) return NULL;
    const guint length = varint_at(at + 1, &coded);
    if (G_UNLIKELY(length == 0 || (head == NEXT_I32 && coded > G_MAXUINT32))) return NULL;
    *number = coded >> 1 ^ -(coded & 1);
    return at + 1 + length;
}

/* Fields 1 to 6 and, where it comes next, 7, as every sender writes them that writes its fields in order: without a
 * look at the end of the bytes, the protocol and what may have gone wrong at each. How many there were; 0: they come
 * in another way, and nothing was read. */
static inline gint16 read_numbers(ThriftReader *r, guint64 numbers[NUMBERS]) {
    if (r->protocol != PROTOCOL_COMPACT || thrift_left(r) < NUMBERS * (1 + THRIFT_VARINT_BYTES) + 1) return 0;
    const guint8 *at = read_number(r->at, NEXT_I64, &numbers[NUMBER_TRACE]);
    at = read_number(at, NEXT_I64, &numbers[NUMBER_SPAN]);
    at = read_number(at, NEXT_I64, &numbers[NUMBER_BEGIN]);
    at = read_number(at, NEXT_I64, &numbers[NUMBER_DURATION]);
    at = read_number(at, NEXT_I32, &numbers[NUMBER_NAME]);
    at = read_number(at, NEXT_I32, &numbers[NUMBER_TRACER]);
    if (G_UNLIKELY(at == NULL)) return 0;
    r->at = at;
    if (*at != NEXT_I64) return NUMBER_PARENT;
    at = read_number(at, NEXT_I64, &numbers[NUMBER_PARENT]);
    if (G_UNLIKELY(at == NULL)) return NUMBER_PARENT; /* the longer way finds out what is wrong */
    r->at = at;
    return NUMBERS;
}

/* Returns the fields that were read; what remains is for the loop over fields, from *field on. */
static inline guint32 read_head(Decoder *d, BatchSpan *span, guint64 *first_parent, ThriftField *field) {
    guint64 numbers[NUMBERS];
    field->id = read_numbers(&d->r, numbers);
    if (field->id == 0) return 0;
    span->id = (SpanId){numbers[NUMBER_TRACE], numbers[NUMBER_SPAN]};
    span->begin_ns = (gint64)numbers[NUMBER_BEGIN];
    span->duration_ns = (gint64)numbers[NUMBER_DURATION];
    span->name = note_index(d, (guint32)numbers[NUMBER_NAME]);
    span->tracer = note_index(d, (guint32)numbers[NUMBER_TRACER]);
    if (field->id == NUMBERS) *first_parent = numbers[NUMBER_PARENT];
    return field->id == NUMBERS ? SPAN_REQUIRED | SPAN_PARENT : SPAN_REQUIRED;
}

static void read_span(Decoder *d, BatchSpan *out) {
    ThriftReader *r = &d->r;
    BatchSpan span = {.id = {0, 0}};
    guint64 first_parent = 0;
    ThriftField field = {0};
    guint32 seen = read_head(d, &span, &first_parent, &field);

    while (thrift_next_field(r, &field)) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_I64): span.id.trace = (guint64)thrift_i64(r); break;
        case FIELD_KEY(2, TYPE_I64): span.id.span = (guint64)thrift_i64(r); break;
        case FIELD_KEY(3, TYPE_I64): span.begin_ns = thrift_i64(r); break;
        case FIELD_KEY(4, TYPE_I64): span.duration_ns = thrift_i64(r); break;
        case FIELD_KEY(5, TYPE_I32): span.name = read_index(d); break;
        case FIELD_KEY(6, TYPE_I32): span.tracer = read_index(d); break;
        case FIELD_KEY(7, TYPE_I64): first_parent = (guint64)thrift_i64(r); break;
        case FIELD_KEY(8, TYPE_LIST):
            if (first_time(r, seen, SEEN(8))) read_parents(d, &span);
            break;
        case FIELD_KEY(9, TYPE_LIST):
            if (first_time(r, seen, SEEN(9))) read_annotations(d, &span);
            break;
        case FIELD_KEY(10, TYPE_LIST):
            if (first_time(r, seen, SEEN(10))) read_notes(d, &span);
            break;
        case FIELD_KEY(11, TYPE_I32): span.flags = (guint32)thrift_i32(r) & WIRE_SPAN_FLAGS; break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }

    if (r->fault != NULL) return;
    if ((seen & SPAN_PARENT) != 0) put_first_parent(d, (SpanId){span.id.trace, first_parent}, &span);
    if (G_UNLIKELY((seen & SPAN_REQUIRED) != SPAN_REQUIRED)) span.id = (SpanId){0, 0};
    *out = span;
}

static void read_strings(Decoder *d) {
    GArray *strings = d->batch->strings;
    guint32 n;
    if (!thrift_list_of(&d->r, TYPE_STRING, LEAST_STRING_BYTES, LIMIT_BATCH_STRINGS, &n)) return;
    g_array_set_size(strings, n);
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++)
        thrift_text(&d->r, LIMIT_NAME_BYTES, &g_array_index(strings, BatchString, i));
}

static void read_spans(Decoder *d) {
    GArray *spans = d->batch->spans;
    guint32 n;
    if (!thrift_list_of(&d->r, TYPE_STRUCT, LEAST_SPAN_BYTES, LIMIT_BATCH_SPANS, &n)) return;
    g_array_set_size(spans, n);
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++) read_span(d, &g_array_index(spans, BatchSpan, i));
    g_array_set_size(d->batch->parents, d->n_parents);
    if (n > 0 && d->strings_used == 0) d->strings_used = 1; /* spans without names refer to the first string */
}

static void read_drop(ThriftReader *r, BatchDrop *drop) {
    guint32 seen = 0;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_STRING): thrift_text(r, LIMIT_NAME_BYTES, &drop->reason); break;
        case FIELD_KEY(2, TYPE_I64): drop->spans = thrift_i64(r); break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }
    thrift_require(r, seen, SEEN(1) | SEEN(2));
}

static void read_drops(ThriftReader *r, GArray *drops) {
    guint32 n;
    if (!thrift_list_of(r, TYPE_STRUCT, LEAST_ENTRY_BYTES, LIMIT_SENDER_DROPS, &n)) return;
    g_array_set_size(drops, n);
    for (guint32 i = 0; i < n && r->fault == NULL; i++) read_drop(r, &g_array_index(drops, BatchDrop, i));
}

static void read_sender(ThriftReader *r, BatchSender *sender) {
    guint32 seen = 0;
    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_STRING): thrift_text(r, LIMIT_NAME_BYTES, &sender->sender); break;
        case FIELD_KEY(2, TYPE_I64): sender->sequence = thrift_i64(r); break;
        case FIELD_KEY(3, TYPE_I64): sender->spans_sent = thrift_i64(r); break;
        case FIELD_KEY(4, TYPE_I64): sender->spans_queued = thrift_i64(r); break;
        case FIELD_KEY(5, TYPE_LIST):
            if (first_time(r, seen, SEEN(5))) read_drops(r, sender->drops);
            break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }
    thrift_require(r, seen, SEEN(1));
}

/* Of a batch for newer receivers nothing but the versions is looked at, not even whether it is whole. */
static gboolean for_newer(const WireVersions *versions) { return versions->needs > WIRE_VERSION; }

#define FIELD_NEEDS 2

static void read_batch(Decoder *d, WireVersions *versions) {
    ThriftReader *r = &d->r;
    ThriftReader packs = {.at = NULL};
    guint32 seen = 0;

    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (for_newer(versions) && field.id > FIELD_NEEDS ? 0 : field_key(&field)) {
        case FIELD_KEY(1, TYPE_I32): versions->version = thrift_i32(r); break;
        case FIELD_KEY(2, TYPE_I32): versions->needs = thrift_i32(r); break;
        case FIELD_KEY(3, TYPE_LIST):
            if (first_time(r, seen, SEEN(3))) read_strings(d);
            break;
        case FIELD_KEY(4, TYPE_LIST):
            if (first_time(r, seen, SEEN(4))) read_spans(d);
            break;
        case FIELD_KEY(5, TYPE_STRUCT):
            if (first_time(r, seen, SEEN(5))) read_sender(r, &d->batch->sender);
            break;
        case FIELD_KEY(6, TYPE_LIST): /* when all strings are there */
            if (first_time(r, seen, SEEN(6))) packs = *r;
            thrift_skip(r, TYPE_LIST, TRUE);
            break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }

    if (for_newer(versions)) {
        batch_clear(d->batch);
        return;
    }

    thrift_require(r, seen, SEEN(1) | SEEN(3) | SEEN(4));
    if (d->strings_used > d->batch->strings->len)
        thrift_fault(r, PLUMB_ERROR_INPUT, "an index points outside the table of strings");
    if (packs.at == NULL || r->fault != NULL) return;
    packs_decode(&packs, d->batch);
    if (packs.fault != NULL) thrift_fault(r, packs.code, packs.fault);
}

gboolean wire_batch_decode(const WireHeader *header, SpanBatch *batch, WireVersions *versions, GError **error) {
    Decoder d = {.r = thrift_reader(header->body, header->protocol), .batch = batch};
    WireVersions found = {.version = 0, .needs = 1};
    guint32 seen = 0;
    batch_clear(batch);

    for (ThriftField field = {0}; thrift_next_field(&d.r, &field);) {
        if (field_key(&field) != FIELD_KEY(1, TYPE_STRUCT)) {
            thrift_skip(&d.r, field.type, TRUE);
            continue;
        }
        if (first_time(&d.r, seen, SEEN(1))) read_batch(&d, &found);
        seen |= SEEN(1);
    }

    thrift_require(&d.r, seen, SEEN(1));
    if (d.r.fault == NULL && d.r.at != d.r.end) thrift_fault(&d.r, PLUMB_ERROR_INPUT, "bytes are left over");
    if (!thrift_ok(&d.r, error)) {
        batch_clear(batch);
        return FALSE;
    }

    *versions = found;
    return TRUE;
}
