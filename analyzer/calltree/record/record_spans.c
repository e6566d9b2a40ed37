#include "analyzer/calltree/record/record_read.h"

/* What a GByteArray can hold, far from its end. */
#define DECODED_BOUND_BYTES (G_MAXUINT32 / 2)

static guint32 padded(guint32 length) { return (length + 3) & ~3u; }

static void write_digits(char *at, const Value *value) {
    gint64 number = value->number;
    for (guint32 i = value->length; i-- > 0; number /= 10) at[i] = (char)('0' + number % 10);
}

static guint8 *write_u32(guint8 *at, guint32 value) {
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static guint8 *write_text(guint8 *at, const Value *value) {
    at = write_u32(at, value->length);
    if (value->text != NULL) {
        memcpy(at, value->text, value->length);
    } else {
        write_digits((char *)at, value);
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

static SpanRec head_of(const ValueColumn *column, guint32 name, const Place *place) {
    const Decoder *d = column->d;
    guint32 n_parents = place->n_parents != PARENTS_PLAIN ? place->n_parents : place->parent != 0 ? 1 : 0;
    gsize size_bytes = sizeof(SpanRec) + n_parents * sizeof(SpanId);
    for (guint i = 0; i < column->own.n; i++) size_bytes += 8 + padded(value_column_value(column, i)->length);
    for (guint i = 0; i < column->notes->len; i++)
        size_bytes += 12 + padded(g_array_index(column->notes, NoteValue, i).message.length);
    return (SpanRec){
        .size_bytes = (guint32)MIN((size_bytes + 7) & ~(gsize)7, DECODED_BOUND_BYTES),
        .n_parents = (guint16)n_parents,
        .flags = place->flags,
        .id = place->id,
        .begin_ns = place->begin * d->unit_ns,
        .duration_ns = place->duration * d->unit_ns,
        .name = name,
        .tracer = place->tracer,
        .n_annotations = (guint16)column->own.n,
        .n_notes = (guint16)column->notes->len,
    };
}

static gboolean write_span(const ValueColumn *column, guint32 name, const Place *place, GByteArray *spans) {
    const Decoder *d = column->d;
    const SpanRec head = head_of(column, name, place);
    guint start = spans->len;
    if (head.size_bytes >= DECODED_BOUND_BYTES - start) return FALSE;

    g_byte_array_set_size(spans, start + head.size_bytes);
    memcpy(spans->data + start, &head, sizeof head);
    guint8 *at = write_parents(d, place, spans->data + start + sizeof head);

    for (guint i = 0; i < column->own.n; i++) {
        const Value *value = value_column_value(column, i);
        at = write_text(write_u32(at, value->key), value);
    }

    for (guint i = 0; i < column->notes->len; i++) {
        const NoteValue *note = &g_array_index(column->notes, NoteValue, i);
        gint64 time_ns;
        if (!times_to_ns(wrapping_add(place->begin, note->time), d->unit_ns, &time_ns)) return FALSE;
        at = write_u32(write_u32(at, (guint32)(guint64)time_ns), (guint32)((guint64)time_ns >> 32));
        at = write_text(at, &note->message);
    }

    memset(at, 0, (gsize)(spans->data + spans->len - at));
    return TRUE;
}

/* What is done with each span's annotations; FALSE: no more, for whatever reason. */
typedef gboolean (*EachSpan)(void *arg, const ValueColumn *column, guint32 q, const Place *place);

static gboolean each_span(ValueColumn *column, EachSpan each, void *arg) {
    Decoder *d = column->d;
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        if (d->pattern->nodes[q].name == NAME_MISSING) continue;
        value_column_node(column);
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++) {
            if (!value_column_next(column) || !each(arg, column, q, &d->places[i])) return FALSE;
        }
    }
    return value_column_end(column);
}

/* Where spans go. */
typedef struct Adding {
    GByteArray *spans;
    TreePlace *places; /* NULL: not asked for */
} Adding;

static gboolean add_span(void *arg, const ValueColumn *column, guint32 q, const Place *place) {
    const Adding *adding = arg;
    if (adding->places != NULL) adding->places[place - column->d->places].at = adding->spans->len;
    return write_span(column, column->d->pattern->nodes[q].name, place, adding->spans);
}

static TreePlace *list_places(const Decoder *d, GArray *places) {
    g_array_set_size(places, d->n_places);
    TreePlace *list = (TreePlace *)(gpointer)places->data;
    for (guint32 q = 0; q < d->pattern->n_nodes; q++) {
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++)
            list[i] = (TreePlace){q, d->places[i].parent, PLACE_VIRTUAL};
    }
    return list;
}

static gboolean read_spans(Decoder *d, GByteArray *spans, GArray *places) {
    ValueColumn column;
    Adding adding = {spans, places != NULL ? list_places(d, places) : NULL};
    value_column_init(&column, d);
    gboolean fine = each_span(&column, add_span, &adding);
    value_column_clear(&column);
    return fine;
}

gboolean record_decode_places(const RecordSource *source, GByteArray *spans, GArray *places, GError **error) {
    Decoder d;
    guint before = spans->len;
    gboolean begun = decoder_begin(&d, source->record, source->pattern, error);
    d.trace_id = source->trace_id;
    gboolean fine = begun && decoder_times(&d) && decoder_tracers(&d) && decoder_ids(&d, source->ids) &&
                    decoder_parents(&d) && read_spans(&d, spans, places);
    if (begun && !fine) decoder_corrupt(&d, error);
    if (!fine) g_byte_array_set_size(spans, before);
    decoder_clear(&d);
    return fine;
}

typedef struct Visiting {
    RecordVisit visit;
    void *arg;
    gboolean stopped;
} Visiting;

static gboolean visit_span(void *arg, const ValueColumn *column, guint32 q, const Place *place) {
    Visiting *visiting = arg;
    char digits[24];
    (void)place;
    for (guint i = 0; i < column->own.n && !visiting->stopped; i++) {
        const Value *value = value_column_value(column, i);
        if (value->text == NULL) write_digits(digits, value);
        const SpanAnnotation annotation = {value->key, value->length, value->text != NULL ? value->text : digits};
        visiting->stopped = !visiting->visit(visiting->arg, q, &annotation);
    }
    return !visiting->stopped;
}

gboolean record_annotations(Bytes record, const Pattern *pattern, RecordVisit visit, void *arg, GError **error) {
    Decoder d;
    Visiting visiting = {visit, arg, FALSE};
    gboolean begun = decoder_begin(&d, record, pattern, error), fine = begun;
    if (begun && (d.open.bits & RECORD_ANNOTATED)) {
        ValueColumn column;
        fine = decoder_to_annotations(&d);
        value_column_init(&column, &d);
        fine = fine && (each_span(&column, visit_span, &visiting) || visiting.stopped);
        value_column_clear(&column);
    }
    if (begun && !fine) decoder_corrupt(&d, error);
    decoder_clear(&d);
    return fine;
}

gboolean record_sizes(Bytes record, const Pattern *pattern, RecordSizes *sizes, GError **error) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    Decoder d;
    gboolean begun = decoder_begin(&d, record, pattern, error);
    gboolean fine = begun && decoder_times(&d) && decoder_tracers(&d) && decoder_ids(&d, (Bytes){NULL, 0}) &&
                    decoder_parents(&d) && read_spans(&d, spans, NULL);
    if (begun && !fine) decoder_corrupt(&d, error);
    if (fine) *sizes = d.sizes;
    decoder_clear(&d);
    return fine;
}
