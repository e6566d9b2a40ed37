#include "analyzer/calltree/record/record_ids.h"
#include "analyzer/calltree/record/record_model.h"
#include "analyzer/calltree/record/record_read.h"
#include "common/base/error.h"
#include "common/base/mix64.h"

/* ---- the head ---- */

static gboolean read_fields(ByteReader *reader, guint32 *field, guint n) {
    for (guint i = 0; i < n; i++) {
        guint64 value = get_varint(reader);
        if (value > G_MAXUINT32) return FALSE;
        field[i] = (guint32)value;
    }
    return !reader->failed;
}

/* What only some records have. */
static gboolean read_extras(ByteReader *reader, RecordOpen *open) {
    TraceSummary *summary = &open->summary;
    if ((open->bits & RECORD_TRACE_FLAGS) && !read_fields(reader, &summary->flags, 1)) return FALSE;
    if ((open->bits & RECORD_ORPHANS) && !read_fields(reader, &summary->orphans, 1)) return FALSE;
    if ((open->bits & RECORD_DROPPED) && !read_fields(reader, &summary->dropped, 1)) return FALSE;
    if (!(summary->dropped & DROPPED_IDS)) return TRUE;
    return read_fields(reader, &summary->part, 1) && read_fields(reader, &summary->ids_at, 1);
}

static gboolean read_period(ByteReader *reader, RecordOpen *open) {
    gint64 begin = read_zigzag(reader), unit_ns = record_unit_ns(open->bits);
    gint64 end = (gint64)((guint64)begin + get_varint(reader));
    return !reader->failed && end >= begin && times_to_ns(begin, unit_ns, &open->summary.begin_ns) &&
           times_to_ns(end, unit_ns, &open->summary.end_ns);
}

/* Left as it is: who asks for it takes it apart. */
static gboolean read_shape(ByteReader *reader, RecordOpen *open) {
    if (!(open->bits & RECORD_SHAPE)) return TRUE;
    guint64 size_bytes = get_varint(reader);
    if (reader->failed || size_bytes > reader_left(reader)) return FALSE;
    open->shape = (Bytes){read_bytes(reader, size_bytes), size_bytes};
    return !reader->failed;
}

static gboolean read_directory(ByteReader *reader, RecordOpen *open) {
    if (!(open->bits & RECORD_DIRECTORY)) return TRUE;
    open->times_bytes = get_varint(reader);
    open->tracers_bytes = get_varint(reader);
    if (open->bits & RECORD_PARENTS) open->parents_bytes = get_varint(reader);
    gsize left = reader_left(reader);
    return !reader->failed && open->times_bytes <= left && open->tracers_bytes <= left - open->times_bytes &&
           open->parents_bytes <= left - open->times_bytes - open->tracers_bytes;
}

static gboolean read_ids_length(ByteReader *reader, RecordOpen *open) {
    if (!(open->bits & RECORD_PLACES) || (open->summary.dropped & DROPPED_IDS)) return TRUE;
    open->ids_bytes = get_varint(reader);
    return !reader->failed && open->ids_bytes <= reader_left(reader);
}

/* How many spans the bytes that are left can hold: each has eight bytes of id, or two bits at least, and at least one
 * bit of times. */
static guint64 spans_bound(const RecordOpen *open, const ByteReader *reader) {
    const guint64 left = reader_left(reader);
    if (open->summary.dropped & DROPPED_IDS) return left * 8;
    if (!(open->bits & RECORD_PLACES)) return left / 8;
    return MIN(open->ids_bytes * 4, (left - open->ids_bytes) * 8);
}

static gboolean read_head(ByteReader *reader, RecordOpen *open) {
    guint32 field[3];
    if (!read_fields(reader, field, G_N_ELEMENTS(field)) || field[0] > RECORD_ALL) return FALSE;
    open->bits = field[0];
    open->summary.pattern = field[1];
    open->summary.n_spans = field[2];
    if (!read_extras(reader, open) || !read_period(reader, open) || !read_shape(reader, open) ||
        !read_directory(reader, open) || !read_ids_length(reader, open))
        return FALSE;
    const TraceSummary *summary = &open->summary;
    return summary->n_spans > 0 && summary->n_spans <= spans_bound(open, reader) &&
           summary->orphans <= summary->n_spans;
}

gboolean record_open(Bytes record, RecordOpen *open, GError **error) {
    RecordOpen read = {.start = record.data};
    ByteReader reader = byte_reader(record.data, record.size_bytes);
    guint8 version = read_u8(&reader);
    if (version > RECORD_VERSION) {
        return fail(error, PLUMB_ERROR_VERSION, "trace record of version %u; this program knows %u", version,
                    RECORD_VERSION);
    }
    if (version != RECORD_VERSION || !read_head(&reader, &read)) {
        return fail(error, PLUMB_ERROR_CORRUPT, "trace record of %zu bytes: malformed head", record.size_bytes);
    }
    read.reader = reader;
    *open = read;
    return TRUE;
}

gboolean record_summary(Bytes record, TraceSummary *summary, GError **error) {
    RecordOpen open;
    if (!record_open(record, &open, error)) return FALSE;
    *summary = open.summary;
    return TRUE;
}

gboolean record_shape(Bytes record, Pattern **pattern, GError **error) {
    RecordOpen open;
    if (!record_open(record, &open, error)) return FALSE;
    g_autoptr(Pattern) shape = NULL;
    if (open.bits & RECORD_SHAPE) {
        shape = pattern_decode(open.shape, error);
        if (shape == NULL) return FALSE;
    }
    *pattern = g_steal_pointer(&shape);
    return TRUE;
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
            gboolean single = !(d->open.bits & RECORD_COUNTS) || run_next(d);
            guint64 more = single ? 0 : get_varint(&d->reader);
            if (more >= d->places_room || (!single && more == 0)) return FALSE;
            if (!add_siblings(d, parent, 1 + more, is_span)) return FALSE;
        }
        d->first[q + 1] = d->n_places;
        if (is_span) spans += d->first[q + 1] - d->first[q];
    }
    return run_end(d) && spans == d->open.summary.n_spans;
}

static gsize plain_ids_bytes(const Decoder *d) {
    gsize n_spans = d->open.summary.n_spans;
    return record_plain_ids_bytes(d->open.bits, n_spans, d->n_places - 1 - n_spans);
}

gboolean decoder_corrupt(const Decoder *d, GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "trace record of %zu bytes: does not fit its pattern of %u nodes",
                (gsize)(d->open.reader.end - d->open.start), d->pattern->n_nodes);
}

/* Of times only the first child of the trace in a pattern node has one bit, all others have four. FALSE: there are
 * fewer. */
static gboolean times_hold(const Decoder *d) {
    guint64 n_roots = 0;
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) n_roots += d->pattern->nodes[q].parent == 0;
    const guint64 bits = 8 * (guint64)(reader_left(&d->reader) - d->open.ids_bytes);
    return 4 * (guint64)d->open.summary.n_spans <= bits + 3 * n_roots;
}

gboolean decoder_begin(Decoder *d, Bytes record, const Pattern *pattern, GError **error) {
    *d = (Decoder){.pattern = pattern};
    if (!record_open(record, &d->open, error)) return FALSE;
    d->reader = d->open.reader;
    d->unit_ns = record_unit_ns(d->open.bits);
    d->sizes.head = (gsize)(d->reader.at - d->open.start);

    /* A placeholder has an orphan. */
    guint64 room = 1 + (guint64)d->open.summary.n_spans + d->open.summary.orphans;
    if (pattern->n_nodes > room || !times_hold(d)) return decoder_corrupt(d, error);
    d->places_room = (guint32)MIN(room, G_MAXUINT32);

    d->places = g_new(Place, d->places_room);
    d->first = g_new(guint32, (gsize)pattern->n_nodes + 1);
    d->parents = g_array_new(FALSE, FALSE, sizeof(SpanId));

    const guint8 *start = d->reader.at;
    if (!read_places(d)) return decoder_corrupt(d, error);
    d->sizes.counts = (gsize)(d->reader.at - start);

    if (!(d->open.summary.dropped & DROPPED_IDS))
        d->sizes.ids = d->open.bits & RECORD_PLACES ? d->open.ids_bytes : plain_ids_bytes(d);
    if (d->sizes.ids > reader_left(&d->reader)) return decoder_corrupt(d, error);
    d->reader.end -= d->sizes.ids;
    return TRUE;
}

void decoder_clear(Decoder *d) {
    g_free(d->places);
    g_free(d->first);
    if (d->parents != NULL) g_array_unref(d->parents);
}

/* ---- times ---- */

static void read_step(BitReader *bits, TimeModel *model, const Interval *before, Place *place) {
    guint width;
    gint64 from = model_step_from(model, before);
    guint64 step = bits_get_value(bits, model_step(model, before), &width);
    place->begin = wrapping_add(from, zigzag_value(step));
    model_learn_step(model, before, place->begin, width);
}

static void read_begin(BitReader *bits, TimeModel *model, const Interval *parent, Place *place) {
    guint width;
    guint64 begin = bits_get_value(bits, model_begin(model, parent), &width);
    place->begin = wrapping_add(parent->begin, zigzag_value(begin));
    model_learn(&model->begin, &model->begin_known, width);
}

static void read_duration(const Decoder *d, BitReader *bits, TimeModel *model, const Interval *parent, Place *place) {
    guint width;
    guint64 duration = bits_get_value(bits, model_duration(model, parent, place->begin), &width);
    place->duration = d->open.bits & RECORD_REVERSED ? zigzag_value(duration) : (gint64)duration;
    model_learn(&model->duration, &model->duration_known, width);
}

static void read_root(const Decoder *d, BitReader *bits, Place *place, const Interval *trace) {
    guint width;
    place->begin = trace->begin;
    place->duration = trace->duration;
    if (bits_get(bits, 1) == 1) return;
    place->begin = wrapping_add(trace->begin, zigzag_value(bits_get_value(bits, 0, &width)));
    guint64 duration = bits_get_value(bits, width_of((guint64)trace->duration), &width);
    place->duration = d->open.bits & RECORD_REVERSED ? zigzag_value(duration) : (gint64)duration;
}

/* The places of one pattern node; everything must fit into nanoseconds. */
static gboolean read_node_times(const Decoder *d, BitReader *bits, guint32 q, const Interval *trace) {
    TimeModel model = {0};
    Interval before = {0, 0};
    for (guint32 i = d->first[q]; i < d->first[q + 1] && !bits->failed; i++) {
        Place *place = &d->places[i];
        const Place *parent = &d->places[place->parent];
        const Interval around = parent->is_span ? (Interval){parent->begin, parent->duration} : *trace;
        if (place->parent == 0 && i == d->first[q]) {
            read_root(d, bits, place, trace);
        } else {
            gboolean later = i > d->first[q] && place->parent == d->places[i - 1].parent;
            later ? read_step(bits, &model, &before, place) : read_begin(bits, &model, &around, place);
            read_duration(d, bits, &model, &around, place);
        }
        before = (Interval){place->begin, place->duration};
        gint64 ns;
        if (!times_to_ns(place->begin, d->unit_ns, &ns) || !times_to_ns(place->duration, d->unit_ns, &ns)) return FALSE;
    }
    return !bits->failed;
}

/* The directory, where there is one, must agree with what is read. */
static gboolean column_is(const Decoder *d, gsize size_bytes, gsize said) {
    return !(d->open.bits & RECORD_DIRECTORY) || size_bytes == said;
}

gboolean decoder_times(Decoder *d) {
    gint64 begin = d->open.summary.begin_ns / d->unit_ns;
    const Interval trace = {begin, wrapping_sub(d->open.summary.end_ns / d->unit_ns, begin)};
    BitReader bits = bit_reader(d->reader.at, d->reader.end);
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        if (d->pattern->nodes[q].name != NAME_MISSING && !read_node_times(d, &bits, q, &trace)) return FALSE;
    }
    d->sizes.times = (gsize)(bits_read_end(&bits) - d->reader.at);
    d->reader.at = bits_read_end(&bits);
    return column_is(d, d->sizes.counts + d->sizes.times, d->open.times_bytes);
}

/* ---- tracers and flags ---- */

static gboolean read_tracer(Decoder *d, TracerModel *model, guint32 i) {
    Place *place = &d->places[i];
    const Place *parent = &d->places[place->parent];
    const guint32 *parents = parent->is_span ? &parent->tracer : NULL;
    place->tracer = tracer_model_expect(model, parents);
    if (!run_next(d)) {
        guint64 token = get_varint(&d->reader);
        if (!tracer_of_token(model, token, &place->tracer)) return FALSE;
        tracer_written(model, token, place->tracer);
    }
    tracer_model_learn(model, parents, place->tracer);
    return TRUE;
}

gboolean decoder_tracers(Decoder *d) {
    TracerModel model = {.n_recent = 0};
    const guint8 *start = d->reader.at;
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) {
        if (d->pattern->nodes[q].name == NAME_MISSING) continue;
        tracer_model_node(&model, d->pattern, q);
        for (guint32 i = d->first[q]; i < d->first[q + 1]; i++) {
            if (!read_tracer(d, &model, i)) return FALSE;
        }
    }
    d->sizes.tracers = (gsize)(d->reader.at - start);
    return run_end(d);
}

static gboolean read_flags(Decoder *d) {
    const guint8 *start = d->reader.at;
    guint64 flags = d->open.bits & RECORD_FLAGS ? 0 : record_usual_flags(d->open.bits);
    for (guint32 i = 1; i < d->n_places; i++) {
        if (!d->places[i].is_span) continue;
        if ((d->open.bits & RECORD_FLAGS) && !run_next(d)) flags = get_varint(&d->reader);
        if (flags > G_MAXUINT16) return FALSE;
        d->places[i].flags = (guint16)flags;
    }
    d->sizes.flags = (gsize)(d->reader.at - start);
    return run_end(d) && column_is(d, d->sizes.tracers + d->sizes.flags, d->open.tracers_bytes);
}

/* ---- ids and parents ---- */

/* Ids of a record that lost its own ascend with its places: the same at every reading, and others in every part. */
static guint64 made_up_id(const Decoder *d, guint32 i) {
    guint64 z = mix64(d->trace_id + (d->open.summary.part + 1) * MIX64_GOLDEN);
    return (z & ~(guint64)G_MAXUINT32) | i;
}

static void make_up_ids(Decoder *d) {
    for (guint32 i = 1; i < d->n_places; i++) d->places[i].id = (SpanId){d->trace_id, made_up_id(d, i)};
}

static gboolean read_plain_ids(Decoder *d, Bytes ids) {
    if (ids.size_bytes != plain_ids_bytes(d)) return FALSE;
    ByteReader reader = byte_reader(ids.data, ids.size_bytes);
    for (guint32 i = 1; i < d->n_places; i++) {
        Place *place = &d->places[i];
        place->id.trace = d->trace_id;
        if (!place->is_span && (d->open.bits & RECORD_FOREIGN)) place->id.trace = read_u64be(&reader);
        place->id.span = read_u64be(&reader);
    }
    return !reader.failed;
}

static guint64 read_id(BitReader *bits, IdModel *model, const Place *place, const Place *parent, const Place *sibling) {
    IdContext at = {place->tracer, parent->is_span && parent->tracer == place->tracer,
                    sibling != NULL && sibling->tracer == place->tracer, 0};
    if (at.as_parent) at.parent = id_place(parent->id.span);
    const IdGuess guess = id_model_guess(model, &at);
    guint64 id;
    if (guess.kind == ID_UNKNOWN) {
        id = bits_get_u64(bits);
        id_model_learn(model, &at, id_place(id));
        return id;
    }
    guint width;
    guint64 missed = bits_get_value(bits, id_model_width(model, guess.kind), &width);
    id_model_learn_width(model, guess.kind, width);
    guint64 at_place = guess.place + (guint64)zigzag_value(missed);
    id_model_learn(model, &at, at_place);
    return id_at_place(at_place);
}

static void read_node_ids(Decoder *d, BitReader *bits, IdModel *model, guint32 q) {
    const gboolean missing = d->pattern->nodes[q].name == NAME_MISSING;
    id_model_node(model);
    for (guint32 i = d->first[q]; i < d->first[q + 1] && !bits->failed; i++) {
        Place *place = &d->places[i];
        place->id.trace = d->trace_id;
        if (missing) {
            if (d->open.bits & RECORD_FOREIGN) place->id.trace = bits_get_u64(bits);
            place->id.span = bits_get_u64(bits);
            continue;
        }
        gboolean later = i > d->first[q] && place->parent == d->places[i - 1].parent;
        place->id.span = read_id(bits, model, place, &d->places[place->parent], later ? place - 1 : NULL);
    }
}

static gboolean read_coded_ids(Decoder *d, Bytes ids) {
    const guint8 *start = ids.data;
    BitReader bits = bit_reader(start, start + ids.size_bytes);
    const guint32 n_slots = id_slots_of(d->n_places);
    g_autofree IdSlot *slots = g_new(IdSlot, n_slots);
    IdModel model;
    id_model_init(&model, slots, n_slots);
    for (guint32 q = 1; q < d->pattern->n_nodes; q++) read_node_ids(d, &bits, &model, q);
    return !bits.failed && bits_read_end(&bits) == bits.end;
}

/* Tracers must have been read. */
gboolean decoder_ids(Decoder *d, Bytes apart) {
    Bytes ids = {d->reader.end, d->sizes.ids};
    if (d->open.summary.dropped & DROPPED_IDS) {
        if (apart.data == NULL) {
            make_up_ids(d);
            return TRUE;
        }
        ids = apart;
    }
    return d->open.bits & RECORD_PLACES ? read_coded_ids(d, ids) : read_plain_ids(d, ids);
}

static gboolean read_parent(Decoder *d, gint64 *before) {
    guint64 token = get_varint(&d->reader);
    SpanId id = {d->trace_id, 0};
    if (token == PARENT_FOREIGN) id.trace = read_u64be(&d->reader);
    if (token < PARENT_PLACE) {
        id.span = read_u64be(&d->reader);
    } else {
        gint64 at = wrapping_add(*before, zigzag_value(token - PARENT_PLACE));
        if (at < 1 || at >= d->n_places) return FALSE;
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

gboolean decoder_parents(Decoder *d) {
    if (!read_flags(d)) return FALSE;
    const guint8 *start = d->reader.at;
    for (guint32 i = 1; i < d->n_places && (d->open.bits & RECORD_PARENTS); i++) {
        Place *place = &d->places[i];
        if (place->is_span && !run_next(d) && !read_parent_list(d, place)) return FALSE;
    }
    d->sizes.parents = (gsize)(d->reader.at - start);
    return run_end(d) && column_is(d, d->sizes.parents, d->open.parents_bytes);
}

gboolean decoder_to_annotations(Decoder *d) {
    if (!(d->open.bits & RECORD_DIRECTORY)) {
        return decoder_times(d) && decoder_tracers(d) && decoder_parents(d);
    }
    gsize before = d->open.times_bytes + d->open.tracers_bytes + d->open.parents_bytes;
    if (before > (gsize)(d->reader.end - d->open.reader.at)) return FALSE;
    d->reader.at = d->open.reader.at + before;
    return TRUE;
}

/* ---- some columns only ---- */

gboolean record_places(Bytes record, const Pattern *pattern, gboolean with_tracers, GArray *places, GError **error) {
    Decoder d;
    guint before = places->len;
    gboolean begun = decoder_begin(&d, record, pattern, error);
    gboolean fine = begun && decoder_times(&d) && (!with_tracers || decoder_tracers(&d));
    if (begun && !fine) decoder_corrupt(&d, error);
    for (guint32 q = 0; q < pattern->n_nodes && fine; q++) {
        for (guint32 i = d.first[q]; i < d.first[q + 1]; i++) {
            const Place *from = &d.places[i];
            const RecordPlace place = {
                q, from->parent, from->begin * d.unit_ns, from->duration * d.unit_ns, from->tracer, from->is_span};
            g_array_append_val(places, place);
        }
    }
    decoder_clear(&d);
    if (!fine) g_array_set_size(places, before);
    return fine;
}
