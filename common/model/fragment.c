#include "common/model/fragment.h"

#include <string.h>

#include "common/base/clock.h"

enum {
    MARK_TRACER = 1,
    MARK_PARENTS = 6, /* two bits */
    MARK_LISTS = 8,
    MARK_KNOWN_ID = 16,
    MARK_MILLISECONDS = 32,
    MARK_FLAGS = 64,
    MARK_LAST = 128, /* of its fragment */
};
enum { PARENTS_NONE, PARENTS_ONE = 2, PARENTS_KNOWN = 4, PARENTS_LIST = 6 };

/* The most a span takes without parents and lists, and a body's head. */
#define SPAN_MAX_BYTES  64u
#define BODY_HEAD_BYTES 8u

/* ---- numbers ---- */

static inline guint64 zigzag(gint64 value) { return ((guint64)value << 1) ^ (guint64)(value >> 63); }
static inline gint64 unzigzag(guint64 value) { return (gint64)((value >> 1) ^ -(value & 1)); }

static inline guint8 *put_u64(guint8 *at, guint64 value) {
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static inline guint64 get_u64(const guint8 **at) {
    guint64 value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

/* May write a byte behind what it returns. */
static inline guint8 *put_varint(guint8 *at, guint32 value) {
    if (G_LIKELY(value < 0x4000)) { /* no branch: one byte or two is anybody's guess */
        const guint more = value >= 0x80;
        at[0] = (guint8)(value | more << 7);
        at[1] = (guint8)(value >> 7);
        return at + 1 + more;
    }
    for (; value >= 0x80; value >>= 7) *at++ = (guint8)(value | 0x80);
    *at++ = (guint8)value;
    return at;
}

static inline guint32 get_varint(const guint8 **at) {
    guint32 value = *(*at)++;
    if (G_LIKELY(value < 0x80)) return value;
    value &= 0x7f;
    for (guint shift = 7;; shift += 7) {
        const guint32 byte = *(*at)++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80 || shift == 28) return value;
    }
}

static inline guint length_of(guint64 value) { return (71 - (guint)__builtin_clzll(value | 1)) / 8 - (value == 0); }

/* The low bytes of value; writes eight, of which the next item overwrites the rest. */
static inline guint8 *put_low(guint8 *at, guint64 value, guint n_bytes) {
    value = GUINT64_TO_LE(value);
    memcpy(at, &value, sizeof value);
    return at + n_bytes;
}

static inline guint64 get_low(const guint8 **at, guint n_bytes) {
    guint64 value;
    memcpy(&value, *at, sizeof value);
    *at += n_bytes;
    value = GUINT64_FROM_LE(value);
    return n_bytes < 8 ? value & ((G_GUINT64_CONSTANT(1) << (8 * n_bytes)) - 1) : value;
}

static inline guint known_slot(guint64 id) { return (guint)(id * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 59); }

/* ---- writing ---- */

/* Of a new fragment: its heads, a span, and as much again. */
#define FIRST_BYTES (sizeof(FragmentHead) + BODY_HEAD_BYTES + SPAN_MAX_BYTES + 256)

static void grow(FragmentWriter *writer, gsize more_bytes) {
    const gsize used = (gsize)(writer->at - writer->out->data), since_last = (gsize)(writer->at - writer->last);
    g_byte_array_set_size(writer->out, (guint)(used + used / 2 + more_bytes + 256));
    writer->at = writer->out->data + used;
    writer->last = writer->at - since_last;
    writer->end = writer->out->data + writer->out->len;
}

static inline void need(FragmentWriter *writer, gsize more_bytes) {
    if (G_UNLIKELY((gsize)(writer->end - writer->at) < more_bytes)) grow(writer, more_bytes);
}

void fragment_begin(FragmentWriter *writer, GByteArray *out, guint64 trace) {
    const guint start = out->len;
    g_byte_array_set_size(out, (guint)(start + FIRST_BYTES)); /* an array that was never used has no memory yet */
    writer->out = out;
    writer->start = start;
    writer->at = writer->last = out->data + start;
    writer->end = out->data + out->len;
    writer->head = (FragmentHead){.trace = trace};
    writer->tracer = 0;
    writer->flags = 0;
    writer->known = 0;
    writer->plain = FALSE;
    writer->listed_bytes = 0;
    writer->n_values = writer->n_listed = 0;
    writer->at += sizeof(FragmentHead) + BODY_HEAD_BYTES;
}

/* Writes an id; 1: it was known, and one byte says where. No branch: nobody can guess which of the two it is. */
static inline guint put_id(FragmentWriter *writer, guint8 **at, guint64 id) {
    const guint slot = known_slot(id);
    const guint32 known = writer->known;
    const guint seen = (known >> slot & 1) & (guint)(writer->ids[slot] == id);
    writer->known = known | 1u << slot;
    writer->ids[slot] = id;
    put_u64(*at, seen ? GUINT64_TO_LE((guint64)slot) : id);
    *at += 8 - 7 * seen;
    return seen;
}

static guint8 *put_parents(FragmentWriter *writer, guint8 *at, guint n, const SpanId *parents) {
    at = put_varint(at, n);
    for (guint i = 0; i < n; i++) at = put_u64(put_u64(at, parents[i].trace), parents[i].span);
    gboolean inside = FALSE; /* a parent in another trace will never come to this one */
    for (guint i = 0; i < n; i++) inside = inside || parents[i].trace == writer->head.trace;
    if (!inside) writer->head.has_root = 1;
    return at;
}

/* Writes id and parents; returns the marks that say how. */
static inline guint8 put_ids(FragmentWriter *writer, guint8 **at, const SpanRec *head, const SpanId *parents) {
    const guint8 marks = (guint8)(put_id(writer, at, head->id.span) * MARK_KNOWN_ID);
    const guint n = head->n_parents;
    if (n == 1 && G_LIKELY(parents->trace == writer->head.trace))
        return (guint8)(marks | (PARENTS_ONE + put_id(writer, at, parents->span) * (PARENTS_KNOWN - PARENTS_ONE)));
    if (n == 0) {
        writer->head.has_root = 1;
        return marks;
    }
    *at = put_parents(writer, *at, n, parents);
    return marks | PARENTS_LIST;
}

static inline guint8 *put_times(FragmentWriter *writer, guint8 *at, const SpanRec *head, guint8 *marks) {
    gint64 begin = (gint64)((guint64)head->begin_ns - (guint64)writer->begin_ns), duration = head->duration_ns;
    writer->begin_ns = head->begin_ns;
    if (G_UNLIKELY((head->flags & SPAN_MILLISECONDS) && begin % NS_PER_MS == 0 && duration % NS_PER_MS == 0)) {
        begin /= NS_PER_MS;
        duration /= NS_PER_MS;
        *marks |= MARK_MILLISECONDS;
    }
    const guint64 first = zigzag(begin), second = zigzag(duration);
    const guint n_first = length_of(first), n_second = length_of(second);
    writer->at[1] = (guint8)(n_first | n_second << 4);
    return put_low(put_low(at, first, n_first), second, n_second);
}

void fragment_span(FragmentWriter *writer, const SpanRec *head, const SpanId *parents) {
    need(writer, SPAN_MAX_BYTES + (gsize)head->n_parents * sizeof(SpanId));
    guint8 *const start = writer->at, *at = start + 2, marks = 0;

    if (writer->head.n_spans++ == 0) {
        writer->begin_ns = head->begin_ns;
        put_u64(start - BODY_HEAD_BYTES, (guint64)head->begin_ns);
    }

    if (G_UNLIKELY(head->tracer != writer->tracer)) {
        at = put_varint(at, head->tracer);
        writer->tracer = head->tracer;
        marks = MARK_TRACER;
    }
    at = put_varint(at, head->name);
    marks |= put_ids(writer, &at, head, parents);
    at = put_times(writer, at, head, &marks);

    if (G_UNLIKELY(head->flags != writer->flags)) {
        memcpy(at, &head->flags, sizeof head->flags);
        at += sizeof head->flags;
        writer->flags = head->flags;
        marks |= MARK_FLAGS;
    }
    if (head->n_annotations + head->n_notes > 0) {
        at = put_varint(put_varint(at, head->n_annotations), head->n_notes);
        marks |= MARK_LISTS;
    }

    *start = marks;
    writer->n_listed = 0;
    writer->last = start;
    writer->at = at;
}

/* In the place of a key: as the last one there. No number is written so, since 0 takes one byte. */
static const guint8 as_last[2] = {0x80, 0x00};

static inline gsize padded(guint32 length) { return ((gsize)length + 3) & ~(gsize)3; }
static inline gsize annotation_bytes(guint32 length) { return 2 * sizeof(guint32) + padded(length); } /* in a SpanRec */

/* Its place among those of its span; NULL: it has none. */
static FragmentValue *next_value(FragmentWriter *writer) {
    if (writer->plain || writer->n_listed >= FRAGMENT_REPEATED) return NULL;
    const guint place = writer->n_listed++;
    if (place < writer->n_values) return &writer->values[place];
    writer->n_values = place + 1;
    writer->values[place] = (FragmentValue){.length = G_MAXUINT32};
    return &writer->values[place];
}

static gboolean may_repeat(const FragmentWriter *writer) {
    const gsize written = (gsize)(writer->at - writer->out->data) - writer->start;
    return writer->listed_bytes <= FRAGMENT_MOST_TIMES * written;
}

void fragment_annotation(FragmentWriter *writer, guint32 key, const char *value, guint32 length) {
    need(writer, SPAN_MAX_BYTES + length);
    FragmentValue *last = next_value(writer);
    writer->listed_bytes += annotation_bytes(length);
    if (last != NULL && last->key == key && last->length == length && may_repeat(writer) &&
        (length == 0 || memcmp(writer->out->data + last->at, value, length) == 0)) {
        memcpy(writer->at, as_last, sizeof as_last);
        writer->at += sizeof as_last;
        return;
    }

    guint8 *at = put_varint(put_varint(writer->at, key), length);
    if (length > 0) memcpy(at, value, length);
    if (last != NULL) *last = (FragmentValue){key, length, (guint)(at - writer->out->data)};
    writer->at = at + length;
}

void fragment_note(FragmentWriter *writer, gint64 time_ns, const char *message, guint32 length) {
    need(writer, SPAN_MAX_BYTES + length);
    guint8 *at = put_varint(put_u64(writer->at, (guint64)time_ns), length);
    if (length > 0) memcpy(at, message, length);
    writer->at = at + length;
}

void fragment_end(FragmentWriter *writer) {
    GByteArray *out = writer->out;
    if (writer->head.n_spans == 0) {
        g_byte_array_set_size(out, writer->start);
        return;
    }
    need(writer, 8);
    memset(writer->at, 0, 8);
    *writer->last |= MARK_LAST;
    const guint body = writer->start + (guint)sizeof(FragmentHead);
    writer->head.size_bytes = (guint32)(writer->at - out->data) - body;
    memcpy(out->data + writer->start, &writer->head, sizeof writer->head);
    g_byte_array_set_size(out, writer->start + (guint)fragment_size_bytes(&writer->head));
}

void fragment_pack(GByteArray *out, const guint8 *records, gsize size_bytes, gboolean plain) {
    FragmentWriter writer;
    for (gsize at = 0; at < size_bytes;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(records + at);
        if (at == 0) {
            fragment_begin(&writer, out, span->id.trace);
            writer.plain = plain;
        }
        SpanCursor cursor = span_cursor(span);
        SpanAnnotation annotation;
        SpanNote note;
        fragment_span(&writer, span, span_parents(span));
        while (span_next_annotation(&cursor, &annotation))
            fragment_annotation(&writer, annotation.key, annotation.value, annotation.length);
        while (span_next_note(&cursor, &note)) fragment_note(&writer, note.time_ns, note.message, note.length);
        at += span->size_bytes;
    }
    if (size_bytes > 0) fragment_end(&writer);
}

/* ---- reading ---- */

typedef struct FragmentReader {
    const guint8 *at, *begin, *end;
    const guint8 *body; /* where that of this fragment begins */
    gsize listed_bytes; /* of its annotations, as the writer has them */
    guint64 trace;
    gint64 begin_ns;
    guint32 tracer;
    guint16 flags;
    guint64 ids[FRAGMENT_KNOWN];
    guint n_values;                          /* of 'values'; the others are not even cleared */
    FragmentValue values[FRAGMENT_REPEATED]; /* as last, by their places */
} FragmentReader;

static inline guint64 read_id(FragmentReader *reader, gboolean known) {
    if (known) return reader->ids[*reader->at++ % FRAGMENT_KNOWN];
    const guint64 id = get_u64(&reader->at);
    reader->ids[known_slot(id)] = id;
    return id;
}

static inline gboolean has(const FragmentReader *reader, gsize bytes) {
    return reader->at <= reader->end && bytes <= (gsize)(reader->end - reader->at);
}

static guint8 *read_parents(FragmentReader *reader, guint8 marks, SpanRec *head) {
    SpanId *parents = (SpanId *)(gpointer)(head + 1);
    switch (marks & MARK_PARENTS) {
    case PARENTS_NONE: return (guint8 *)parents;
    case PARENTS_LIST:
        memcpy(parents, reader->at, head->n_parents * sizeof *parents);
        reader->at += head->n_parents * sizeof *parents;
        break;
    default: parents[0] = (SpanId){reader->trace, read_id(reader, (marks & MARK_PARENTS) == PARENTS_KNOWN)};
    }
    return (guint8 *)(parents + head->n_parents);
}

static void read_times(FragmentReader *reader, guint8 marks, guint8 lengths, SpanRec *head) {
    gint64 begin = unzigzag(get_low(&reader->at, lengths & 15)),
           duration = unzigzag(get_low(&reader->at, lengths >> 4));
    if (marks & MARK_MILLISECONDS) {
        begin = (gint64)((guint64)begin * NS_PER_MS);
        duration = (gint64)((guint64)duration * NS_PER_MS);
    }
    reader->begin_ns = (gint64)((guint64)reader->begin_ns + (guint64)begin);
    head->begin_ns = reader->begin_ns;
    head->duration_ns = duration;
}

/* Makes room for so many bytes behind the first 'used' ones, and points there. NULL: an array cannot have so many. */
static inline guint8 *reserve_at(GByteArray *out, gsize used, gsize bytes) {
    if (G_LIKELY(used + bytes <= out->len)) return out->data + used;
    if (used + bytes > G_MAXUINT) return NULL;
    g_byte_array_set_size(out, (guint)MIN(used + used / 2 + bytes + 1024, G_MAXUINT));
    return out->data + used;
}

/* The same; what 'place' points at moves along. */
static guint8 *reserve(GByteArray *out, guint8 *place, gsize bytes) {
    return reserve_at(out, (gsize)(place - out->data), bytes);
}

/* NULL: there is no room. */
static guint8 *copy_text(const guint8 *text, GByteArray *out, guint8 *at, guint32 length) {
    const gsize room = padded(length);
    at = reserve(out, at, room + SPAN_MAX_BYTES);
    if (at == NULL || room == 0) return at;
    memset(at + room - 4, 0, 4);
    memcpy(at, text, length);
    return at + room;
}

/* A repeated one: FALSE: nobody has written it so. */
static gboolean read_repeated(FragmentReader *reader, guint32 place, FragmentValue *value) {
    if (place >= reader->n_values) return FALSE;
    *value = reader->values[place];
    reader->listed_bytes += annotation_bytes(value->length);
    const gsize written = sizeof(FragmentHead) + (gsize)(reader->at - reader->body);
    reader->at += sizeof as_last;
    return reader->listed_bytes <= FRAGMENT_MOST_TIMES * written;
}

/* The annotation in that place of its span. FALSE: it is malformed. */
static gboolean read_value(FragmentReader *reader, guint32 place, FragmentValue *value) {
    if (!has(reader, sizeof as_last)) return FALSE;
    if (memcmp(reader->at, as_last, sizeof as_last) == 0) return read_repeated(reader, place, value);
    value->key = get_varint(&reader->at);
    value->length = get_varint(&reader->at);
    value->at = (guint)(reader->at - reader->begin);
    if (!has(reader, value->length)) return FALSE;
    reader->at += value->length;
    reader->listed_bytes += annotation_bytes(value->length);
    if (place < FRAGMENT_REPEATED) {
        reader->values[place] = *value;
        reader->n_values = MAX(reader->n_values, place + 1);
    }
    return TRUE;
}

/* NULL: they are malformed, or there is no room; as below. */
static guint8 *read_annotations(FragmentReader *reader, GByteArray *out, guint8 *at, guint16 n) {
    FragmentValue value;
    for (guint32 i = 0; i < n && at != NULL; i++) {
        if (!read_value(reader, i, &value)) return NULL;
        const guint32 fixed[2] = {value.key, value.length};
        memcpy(at, fixed, sizeof fixed);
        at = copy_text(reader->begin + value.at, out, at + sizeof fixed, value.length);
    }
    return at;
}

static guint8 *read_notes(FragmentReader *reader, GByteArray *out, guint8 *at, guint16 n) {
    for (guint32 i = 0; i < n && at != NULL; i++) {
        if (!has(reader, sizeof(guint64))) return NULL;
        const guint64 time = get_u64(&reader->at);
        const guint32 fixed[3] = {(guint32)time, (guint32)(time >> 32), get_varint(&reader->at)};
        if (!has(reader, fixed[2])) return NULL;
        memcpy(at, fixed, sizeof fixed);
        at = copy_text(reader->at, out, at + sizeof fixed, fixed[2]);
        reader->at += fixed[2];
    }
    return at;
}

static guint8 *read_lists(FragmentReader *reader, GByteArray *out, gsize start, guint8 *at) {
    const guint16 n_annotations = (guint16)get_varint(&reader->at), n_notes = (guint16)get_varint(&reader->at);
    SpanRec *head = (SpanRec *)(gpointer)(out->data + start);
    head->n_annotations = n_annotations;
    head->n_notes = n_notes;
    at = read_annotations(reader, out, at, n_annotations);
    return at != NULL ? read_notes(reader, out, at, n_notes) : NULL;
}

/* The head of a span, with room for its parents; NULL as above. */
static inline SpanRec *read_head(FragmentReader *reader, guint8 marks, GByteArray *out, gsize start) {
    if (marks & MARK_TRACER) reader->tracer = get_varint(&reader->at);
    SpanRec *head = (SpanRec *)(gpointer)reserve_at(out, start, sizeof *head + 2 * SPAN_MAX_BYTES);
    if (head == NULL) return NULL;
    *head = (SpanRec){.id.trace = reader->trace, .tracer = reader->tracer, .name = get_varint(&reader->at)};
    head->id.span = read_id(reader, (marks & MARK_KNOWN_ID) != 0);
    head->n_parents = (marks & MARK_PARENTS) != PARENTS_NONE;
    if ((marks & MARK_PARENTS) != PARENTS_LIST) return head;

    const guint16 n = (guint16)get_varint(&reader->at);
    if (!has(reader, n * sizeof(SpanId))) return NULL;
    head = (SpanRec *)(gpointer)reserve_at(out, start, sizeof *head + n * sizeof(SpanId) + 2 * SPAN_MAX_BYTES);
    if (head != NULL) head->n_parents = n;
    return head;
}

/* One span as a record at out->data + *start, which becomes where it ends. TRUE in *last: it ends its fragment. */
static gboolean read_span(FragmentReader *reader, GByteArray *out, gsize *start, gboolean *last) {
    const guint8 marks = *reader->at++, lengths = *reader->at++;
    *last = (marks & MARK_LAST) != 0;
    SpanRec *head = read_head(reader, marks, out, *start);
    if (head == NULL) return FALSE;

    guint8 *at = read_parents(reader, marks, head);
    read_times(reader, marks, lengths, head);
    if (marks & MARK_FLAGS) {
        memcpy(&reader->flags, reader->at, sizeof reader->flags);
        reader->at += sizeof reader->flags;
    }
    head->flags = reader->flags;
    if (marks & MARK_LISTS) at = read_lists(reader, out, *start, at);
    if (at == NULL) return FALSE;

    memset(at, 0, 4); /* what precedes is a multiple of 4 long */
    head = (SpanRec *)(gpointer)(out->data + *start);
    head->size_bytes = (guint32)(((gsize)(at - (guint8 *)head) + 7) & ~(gsize)7);
    *start += head->size_bytes;
    return TRUE;
}

/* All spans of one. */
static gboolean read_body(FragmentReader *reader, GByteArray *out, gsize *place) {
    reader->body = reader->at;
    reader->listed_bytes = 0;
    reader->n_values = 0;
    reader->begin_ns = (gint64)get_u64(&reader->at);
    reader->tracer = 0;
    reader->flags = 0;
    for (gboolean last = FALSE; !last;)
        if (reader->at >= reader->end || !read_span(reader, out, place, &last)) return FALSE;
    return TRUE;
}

gboolean fragment_unpack(guint64 trace, const guint8 *bodies, gsize size_bytes, GByteArray *out) {
    FragmentReader reader;
    memset(&reader, 0, G_STRUCT_OFFSET(FragmentReader, values));
    reader.at = reader.begin = bodies;
    reader.end = bodies + size_bytes;
    reader.trace = trace;
    const guint before = out->len;
    gsize place = before;
    gboolean good = TRUE;
    while (good && reader.at < reader.end) good = read_body(&reader, out, &place);
    good = good && reader.at == reader.end;
    g_byte_array_set_size(out, good ? (guint)place : before);
    return good;
}
