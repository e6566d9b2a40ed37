/* Reads the format that record.c describes. Nothing in a record is believed: every count is held against the bytes
 * that are left before memory is taken for it, so a record of n bytes never takes more than a fixed multiple of n. */
#include <string.h>

#include "analyzer/calltree/record_form.h"
#include "analyzer/calltree/varint.h"
#include "common/base/error.h"
#include "common/base/limits.h"

/* What a GByteArray can hold, far from its end. */
#define DECODED_BOUND_BYTES (G_MAXUINT32 / 2)

typedef struct Place {
    SpanId id;    /* of placeholders: the missing one */
    gint64 begin; /* in units, as 'duration' */
    gint64 duration;
    guint32 parent; /* its place */
    guint32 tracer;
    guint32 parents_at; /* in Decoder.parents, when n_parents is not PARENTS_PLAIN */
    guint32 n_parents;
    guint16 flags;
    gboolean is_span;
} Place;

#define PARENTS_PLAIN G_MAXUINT32

typedef struct Decoder {
    ByteReader reader;
    const Pattern *pattern;
    TraceSummary summary;
    guint64 trace_id;
    guint32 bits;
    gint64 unit_ns;
    guint32 *first; /* per pattern node, and one more: its first place */
    Place *places;
    guint32 n_places, places_room;
    GArray *parents; /* SpanId */
    gboolean run_known;
    guint64 run;
} Decoder;

static gboolean to_ns(gint64 time, gint64 unit_ns, gint64 *time_ns) {
    return !__builtin_mul_overflow(time, unit_ns, time_ns);
}

/* Up to and including the length of the trace. */
static gboolean read_head(ByteReader *reader, TraceSummary *summary, guint32 *bits) {
    guint64 field[5];
    for (guint i = 0; i < G_N_ELEMENTS(field); i++) field[i] = get_varint(reader);
    gint64 begin = read_zigzag(reader);
    guint64 length = get_varint(reader);
    for (guint i = 0; i < G_N_ELEMENTS(field); i++) {
        if (field[i] > G_MAXUINT32) return FALSE;
    }
    gint64 end = (gint64)((guint64)begin + length);
    /* A span takes eight bytes at least. */
    if (reader->failed || field[0] > RECORD_ALL || field[3] == 0 || field[3] > reader_left(reader) / 8 ||
        field[4] > field[3] || end < begin) {
        return FALSE;
    }
    TraceSummary read = {(guint32)field[1], (guint32)field[3], (guint32)field[4], (guint32)field[2], 0, 0};
    gint64 unit_ns = record_unit_ns((guint32)field[0]);
    if (!to_ns(begin, unit_ns, &read.begin_ns) || !to_ns(end, unit_ns, &read.end_ns)) return FALSE;
    *summary = read;
    *bits = (guint32)field[0];
    return TRUE;
}

static gboolean open_record(Bytes record, ByteReader *reader, TraceSummary *summary, guint32 *bits, GError **error) {
    *reader = byte_reader(record.data, record.size_bytes);
    guint8 version = read_u8(reader);
    if (version > RECORD_VERSION) {
        return fail(error, PLUMB_ERROR_VERSION, "trace record of version %u; this program knows %u", version,
                    RECORD_VERSION);
    }
    if (version != RECORD_VERSION || !read_head(reader, summary, bits)) {
        return fail(error, PLUMB_ERROR_CORRUPT, "trace record of %zu bytes: malformed head", record.size_bytes);
    }
    return TRUE;
}

gboolean record_summary(Bytes record, TraceSummary *summary, GError **error) {
    ByteReader reader;
    guint32 bits;
    return open_record(record, &reader, summary, &bits, error);
}

/* ---- runs ---- */

/* TRUE: the next place is as expected; FALSE: its change follows, or the record ended too soon. */
static inline gboolean run_next(Decoder *d) {
    if (!d->run_known) {
        d->run = get_varint(&d->reader);
        d->run_known = TRUE;
    }
    if (d->run > 0) {
        d->run--;
        return TRUE;
    }
    d->run_known = FALSE;
    return FALSE;
}

/* A run must not be longer than what there is. */
static gboolean run_end(Decoder *d) {
    gboolean fine = !d->reader.failed && (!d->run_known || d->run == 0);
    d->run_known = FALSE;
    d->run = 0;
    return fine;
}

/* ---- places ---- */

static gboolean add_siblings(Decoder *d, guint32 parent, guint64 n, gboolean is_span) {
    if (n > d->places_room - d->n_places) return FALSE;
    for (guint64 i = 0; i < n; i++) {
        d->places[d->n_places++] = (Place){.parent = parent, .is_span = is_span, .n_parents = PARENTS_PLAIN};
    }
    return TRUE;
}

static gboolean read_places(Decoder *d) {
    guint32 n_pattern = d->pattern->n_nodes, spans = 0;
    d->first[0] = 0;
    d->first[1] = 1;
    if (!add_siblings(d, 0, 1, FALSE)) return FALSE;
    for (guint32 q = 1; q < n_pattern; q++) {
        const PatternNode *node = &d->pattern->nodes[q];
        gboolean is_span = node->name != NAME_MISSING;
        for (guint32 parent = d->first[node->parent]; parent < d->first[node->parent + 1]; parent++) {
            gboolean single = !(d->bits & RECORD_COUNTS) || run_next(d);
            guint64 more = single ? 0 : get_varint(&d->reader);
            if (more >= d->places_room || (!single && more == 0)) return FALSE;
            if (!add_siblings(d, parent, 1 + more, is_span)) return FALSE;
        }
        d->first[q + 1] = d->n_places;
        if (is_span) spans += d->first[q + 1] - d->first[q];
    }
    return run_end(d) && spans == d->summary.n_spans;
}

static gboolean read_ids(Decoder *d) {
    for (guint32 i = 1; i < d->n_places; i++) {
        Place *place = &d->places[i];
        gboolean foreign = !place->is_span && (d->bits & RECORD_FOREIGN);
        place->id.trace = foreign ? read_u64be(&d->reader) : d->trace_id;
        place->id.span = read_u64be(&d->reader);
    }
    return !d->reader.failed;
}

static inline gboolean later_sibling(const Decoder *d, guint32 q, guint32 i) {
    return i > d->first[q] && d->places[i].parent == d->places[i - 1].parent;
}

static void read_durations(Decoder *d) {
    for (guint32 i = 1; i < d->n_places; i++) {
        Place *place = &d->places[i];
        if (!place->is_span) continue;
        guint64 coded = get_varint(&d->reader);
        place->duration = d->bits & RECORD_REVERSED ? zigzag_value(coded) : (gint64)coded;
    }
}

/* From differences to begins, once the durations are known; then everything must fit into nanoseconds. */
static gboolean resolve_begins(Decoder *d) {
    gint64 trace_begin = d->summary.begin_ns / d->unit_ns, ns;
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++) {
            Place *place = &d->places[i];
            if (!place->is_span) break;
            gint64 from = d->places[place->parent].is_span ? d->places[place->parent].begin : trace_begin;
            if (later_sibling(d, q, i)) {
                from = d->places[i - 1].begin;
                if (d->bits & RECORD_AFTER_END) from = wrapping_add(from, d->places[i - 1].duration);
            }
            place->begin = wrapping_add(from, place->begin);
            if (!to_ns(place->begin, d->unit_ns, &ns) || !to_ns(place->duration, d->unit_ns, &ns)) return FALSE;
        }
    }
    return TRUE;
}

static gboolean read_times(Decoder *d) {
    for (guint32 i = 1; i < d->n_places; i++) {
        if (d->places[i].is_span) d->places[i].begin = zigzag_value(get_varint(&d->reader));
    }
    read_durations(d);
    return !d->reader.failed && resolve_begins(d);
}

static gboolean read_tracers(Decoder *d) {
    guint32 before = 0;
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        gboolean as_parent = FALSE;
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++) {
            Place *place = &d->places[i];
            if (!place->is_span) break;
            const Place *parent = &d->places[place->parent];
            gboolean first = i == d->first[q];
            guint32 expected = parent->is_span && (first || as_parent) ? parent->tracer : before;
            guint64 tracer = run_next(d) ? expected : get_varint(&d->reader);
            if (tracer > G_MAXUINT32) return FALSE;
            if (first) as_parent = tracer == expected;
            before = place->tracer = (guint32)tracer;
        }
    }
    return run_end(d);
}

static gboolean read_flags(Decoder *d) {
    guint64 flags = d->bits & RECORD_FLAGS ? 0 : record_usual_flags(d->bits);
    for (guint32 i = 1; i < d->n_places; i++) {
        if (!d->places[i].is_span) continue;
        if ((d->bits & RECORD_FLAGS) && !run_next(d)) flags = get_varint(&d->reader);
        if (flags > G_MAXUINT16) return FALSE;
        d->places[i].flags = (guint16)flags;
    }
    return run_end(d);
}

/* ---- parents ---- */

static gboolean read_parent(Decoder *d, gint64 *before) {
    guint64 token = get_varint(&d->reader);
    SpanId id = {d->trace_id, 0};
    if (token == PARENT_FOREIGN) id.trace = read_u64be(&d->reader);
    if (token < PARENT_PLACE) {
        id.span = read_u64be(&d->reader);
    } else {
        gint64 at = wrapping_add(*before, zigzag_value(token - PARENT_PLACE));
        if (at < 1 || at >= d->n_places || !d->places[at].is_span) return FALSE;
        id = d->places[at].id;
        *before = at;
    }
    g_array_append_val(d->parents, id);
    return !d->reader.failed;
}

static gboolean read_parent_list(Decoder *d, Place *place) {
    guint64 n = get_varint(&d->reader);
    if (n > G_MAXUINT16 || n > reader_left(&d->reader)) return FALSE;
    gint64 before = d->places[place->parent].is_span ? place->parent : 0;
    place->parents_at = d->parents->len;
    place->n_parents = (guint32)n;
    for (guint64 i = 0; i < n; i++) {
        if (!read_parent(d, &before)) return FALSE;
    }
    return TRUE;
}

static gboolean read_parents(Decoder *d) {
    if (!(d->bits & RECORD_PARENTS)) return TRUE;
    for (guint32 i = 1; i < d->n_places; i++) {
        Place *place = &d->places[i];
        if (place->is_span && !run_next(d) && !read_parent_list(d, place)) return FALSE;
    }
    return run_end(d);
}

/* ---- annotations and notes ---- */

/* A value: borrowed from the record or, with text NULL, the digits of a number. */
typedef struct Value {
    const char *text;
    gint64 number;
    guint32 key;
    guint32 length;
} Value;

typedef struct NoteValue {
    gint64 time_ns;
    Value message;
} NoteValue;

typedef struct Column {
    const guint8 *start; /* of the column in the record */
    guint64 copied;      /* bytes "as before" */
    GArray *values;      /* Value: of the span before of the same pattern node, then of the span at hand */
    GArray *notes;       /* NoteValue: of the span at hand */
    RecentTexts recent;
} Column;

static guint32 padded(guint32 length) { return (length + 3) & ~3u; }

static guint32 digits_of(gint64 number) {
    guint32 digits = 1;
    for (; number >= 10; number /= 10) digits++;
    return digits;
}

static gsize values_bytes(const GArray *values) {
    gsize size = 0;
    for (guint i = 0; i < values->len; i++) size += 8 + padded(g_array_index(values, Value, i).length);
    return size;
}

static gboolean may_copy(const Decoder *d, Column *column, gsize size_bytes) {
    if (!record_may_copy(column->copied, size_bytes, (gsize)(d->reader.at - column->start))) return FALSE;
    column->copied += size_bytes;
    return TRUE;
}

static gboolean read_text(Decoder *d, Column *column, guint64 length, Value *value) {
    if (length > LIMIT_FRAME_BYTES) return FALSE;
    value->text = (const char *)read_bytes(&d->reader, length);
    value->length = (guint32)length;
    if (value->text == NULL) return FALSE;
    recent_add(&column->recent, value->text, value->length);
    return TRUE;
}

static gboolean copy_value(const Decoder *d, Column *column, gboolean known, guint64 back, Value *value) {
    const RecentTexts *recent = &column->recent;
    if (back == 0) return known && may_copy(d, column, value->length);
    if (back > recent_known(recent)) return FALSE;
    guint32 at = (recent->n - (guint32)back) % RECENT_TEXTS;
    value->text = recent->text[at];
    value->length = recent->length[at];
    return may_copy(d, column, value->length);
}

/* *value: the one there before, when known. */
static gboolean read_value(Decoder *d, Column *column, gboolean known, Value *value) {
    guint64 token = get_varint(&d->reader), more = token >> 2;
    switch (token & 3) {
    case VALUE_TEXT: return read_text(d, column, more, value);
    case VALUE_AS_BEFORE: return copy_value(d, column, known, more, value);
    case VALUE_NUMBER: value->number = (gint64)more; break;
    default:
        if (!known || value->text != NULL) return FALSE;
        value->number = wrapping_add(value->number, zigzag_value(more));
    }
    value->text = NULL;
    value->length = value->number < 0 ? 0 : digits_of(value->number);
    return !d->reader.failed && value->number >= 0;
}

static gboolean read_keys(Decoder *d, GArray *values, guint64 n) {
    if (n > G_MAXUINT16 || n > reader_left(&d->reader)) return FALSE;
    g_array_set_size(values, 0);
    for (guint64 i = 0; i < n; i++) {
        guint64 key = get_varint(&d->reader);
        if (key > G_MAXUINT32) return FALSE;
        Value value = {.key = (guint32)key};
        g_array_append_val(values, value);
    }
    return TRUE;
}

static gboolean read_annotations(Decoder *d, Column *column) {
    guint64 token = get_varint(&d->reader);
    gboolean known = token == KEYS_AS_BEFORE;
    if (!known && !read_keys(d, column->values, token - 1)) return FALSE;
    for (guint i = 0; i < column->values->len; i++) {
        if (!read_value(d, column, known, &g_array_index(column->values, Value, i))) return FALSE;
    }
    return TRUE;
}

static gboolean read_notes(Decoder *d, Column *column, const Place *place) {
    guint64 n = get_varint(&d->reader);
    if (n > G_MAXUINT16 || n > reader_left(&d->reader)) return FALSE;
    for (guint64 i = 0; i < n; i++) {
        NoteValue note = {0};
        gint64 time = wrapping_add(place->begin, zigzag_value(get_varint(&d->reader)));
        if (!to_ns(time, d->unit_ns, &note.time_ns) || !read_value(d, column, FALSE, &note.message)) return FALSE;
        g_array_append_val(column->notes, note);
    }
    return TRUE;
}

static gboolean read_variable(Decoder *d, Column *column, const Place *place) {
    g_array_set_size(column->notes, 0);
    if (!(d->bits & RECORD_ANNOTATED)) return TRUE;
    if (run_next(d)) return may_copy(d, column, values_bytes(column->values));
    return read_annotations(d, column) && (!(d->bits & RECORD_NOTES) || read_notes(d, column, place));
}

/* ---- spans ---- */

static guint8 *write_u32(guint8 *at, guint32 value) {
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static guint8 *write_text(guint8 *at, const Value *value) {
    at = write_u32(at, value->length);
    if (value->text != NULL) {
        memcpy(at, value->text, value->length);
    } else {
        gint64 number = value->number;
        for (guint32 i = value->length; i-- > 0; number /= 10) at[i] = (guint8)('0' + number % 10);
    }
    for (guint32 i = value->length; i < padded(value->length); i++) at[i] = 0;
    return at + padded(value->length);
}

static guint8 *write_parents(const Decoder *d, const Place *place, guint8 *at) {
    if (place->n_parents == PARENTS_PLAIN) {
        if (place->parent == 0) return at;
        memcpy(at, &d->places[place->parent].id, sizeof(SpanId));
        return at + sizeof(SpanId);
    }
    if (place->n_parents == 0) return at;
    gsize size_bytes = place->n_parents * sizeof(SpanId);
    memcpy(at, &g_array_index(d->parents, SpanId, place->parents_at), size_bytes);
    return at + size_bytes;
}

static gboolean write_span(const Decoder *d, const Column *column, guint32 name, const Place *place,
                           GByteArray *spans) {
    guint32 n_parents = place->n_parents != PARENTS_PLAIN ? place->n_parents : place->parent != 0 ? 1 : 0;
    gsize size_bytes = sizeof(SpanRec) + n_parents * sizeof(SpanId) + values_bytes(column->values);
    for (guint i = 0; i < column->notes->len; i++) {
        size_bytes += 12 + padded(g_array_index(column->notes, NoteValue, i).message.length);
    }
    size_bytes = (size_bytes + 7) & ~(gsize)7;
    guint start = spans->len;
    if (size_bytes > DECODED_BOUND_BYTES - start) return FALSE;
    g_byte_array_set_size(spans, start + (guint)size_bytes);
    const SpanRec head = {
        .size_bytes = (guint32)size_bytes,
        .n_parents = (guint16)n_parents,
        .flags = place->flags,
        .id = place->id,
        .begin_ns = place->begin * d->unit_ns,
        .duration_ns = place->duration * d->unit_ns,
        .name = name,
        .tracer = place->tracer,
        .n_annotations = (guint16)column->values->len,
        .n_notes = (guint16)column->notes->len,
    };
    memcpy(spans->data + start, &head, sizeof head);
    guint8 *at = write_parents(d, place, spans->data + start + sizeof head);
    for (guint i = 0; i < column->values->len; i++) {
        const Value *value = &g_array_index(column->values, Value, i);
        at = write_text(write_u32(at, value->key), value);
    }
    for (guint i = 0; i < column->notes->len; i++) {
        const NoteValue *note = &g_array_index(column->notes, NoteValue, i);
        at = write_u32(write_u32(at, (guint32)(guint64)note->time_ns), (guint32)((guint64)note->time_ns >> 32));
        at = write_text(at, &note->message);
    }
    memset(at, 0, (gsize)(spans->data + spans->len - at));
    return TRUE;
}

static gboolean write_spans(Decoder *d, Column *column, GByteArray *spans) {
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        g_array_set_size(column->values, 0);
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++) {
            const Place *place = &d->places[i];
            if (!place->is_span) break;
            if (!read_variable(d, column, place)) return FALSE;
            if (!write_span(d, column, d->pattern->nodes[q].name, place, spans)) return FALSE;
        }
    }
    return run_end(d) && reader_left(&d->reader) == 0;
}

static gboolean read_spans(Decoder *d, GByteArray *spans) {
    Column column = {.start = d->reader.at};
    column.values = g_array_new(FALSE, FALSE, sizeof(Value));
    column.notes = g_array_new(FALSE, FALSE, sizeof(NoteValue));
    gboolean fine = write_spans(d, &column, spans);
    g_array_unref(column.values);
    g_array_unref(column.notes);
    return fine;
}

static gboolean decode_body(Decoder *d, GByteArray *spans) {
    /* Every place but the first has an id; a placeholder has a child. */
    guint64 room = 1 + MIN(reader_left(&d->reader) / 8, 2 * (guint64)d->summary.n_spans);
    if (d->pattern->n_nodes > room) return FALSE;
    g_autofree Place *places = g_new(Place, room);
    g_autofree guint32 *first = g_new(guint32, (gsize)d->pattern->n_nodes + 1);
    g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(SpanId));
    d->places = places;
    d->places_room = (guint32)room;
    d->first = first;
    d->parents = parents;
    return read_places(d) && read_ids(d) && read_times(d) && read_tracers(d) && read_flags(d) && read_parents(d) &&
           read_spans(d, spans);
}

gboolean record_decode(Bytes record, const Pattern *pattern, guint64 trace_id, GByteArray *spans, GError **error) {
    Decoder d = {.pattern = pattern, .trace_id = trace_id};
    if (!open_record(record, &d.reader, &d.summary, &d.bits, error)) return FALSE;
    d.unit_ns = record_unit_ns(d.bits);
    guint before = spans->len;
    if (decode_body(&d, spans)) return TRUE;
    g_byte_array_set_size(spans, before);
    return fail(error, PLUMB_ERROR_CORRUPT, "trace record of %zu bytes: does not fit its pattern of %u nodes",
                record.size_bytes, pattern->n_nodes);
}
