#include "analyzer/archive/pack.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"

/* What is known of one entry of the batch's string table. An entry may serve as a name in one span and as a tracer id
 * or key in another; the two are looked up apart, each when first needed. */
typedef struct PackString {
    guint32 id;   /* of the text itself */
    guint32 name; /* of the normalised name */
    guint32 key;  /* of the template; 0: the name is as sent */
    guint32 number_length;
    const char *number; /* in the batch */
    guint8 text_known, name_known;
    guint8 text_result, name_result; /* PackResult */
    guint8 template_like;            /* as the key of a first annotation it must be escaped */
} PackString;

struct Packer {
    const NamingRules *rules;
    Dict *dict;
    GArray *strings; /* PackString, parallel to the batch's */
    GError *error;
};

const char *pack_result_text(PackResult result) {
    static const char *const texts[PACK_RESULT_COUNT] = {
        [PACK_OK] = "ok",
        [PACK_ZERO_ID] = "zero id",
        [PACK_BAD_INDEX] = "index outside the batch",
        [PACK_TIME_OUT_OF_RANGE] = "time out of range",
        [PACK_NAME_TOO_LONG] = "name too long",
        [PACK_VALUE_TOO_LONG] = "value too long",
        [PACK_TOO_MANY_PARENTS] = "too many parents",
        [PACK_TOO_MANY_ANNOTATIONS] = "too many annotations",
        [PACK_DICTIONARY_FULL] = "dictionary full",
        [PACK_STORE_FAILED] = "store failed",
    };
    return texts[result];
}

Packer *packer_new(const NamingRules *rules, Dict *dict) {
    Packer *packer = g_new0(Packer, 1);
    packer->rules = rules;
    packer->dict = dict;
    packer->strings = g_array_new(FALSE, TRUE, sizeof(PackString));
    return packer;
}

void packer_free(Packer *packer) {
    if (!packer) return;
    g_array_unref(packer->strings);
    g_clear_error(&packer->error);
    g_free(packer);
}

void packer_begin_batch(Packer *packer, const SpanBatch *batch) {
    g_array_set_size(packer->strings, 0); /* so that growing clears all entries */
    g_array_set_size(packer->strings, batch->strings->len);
}

GError *packer_take_error(Packer *packer) { return g_steal_pointer(&packer->error); }

static PackResult intern(Packer *packer, const char *data, gsize length, guint32 *id) {
    if (length > LIMIT_NAME_BYTES) return PACK_NAME_TOO_LONG;
    g_autoptr(GError) error = NULL;
    if (dict_intern(packer->dict, data, length, id, &error)) return PACK_OK;
    if (g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT)) return PACK_DICTIONARY_FULL;
    g_clear_error(&packer->error);
    packer->error = g_steal_pointer(&error);
    return PACK_STORE_FAILED;
}

static PackResult text_lookup(Packer *packer, PackString *entry, BatchString text) {
    entry->text_known = TRUE;
    entry->template_like = text.length == 0 || naming_is_template(text.data, text.length);
    entry->text_result = intern(packer, text.data, text.length, &entry->id);
    return entry->text_result;
}

static PackResult name_lookup(Packer *packer, PackString *entry, BatchString text) {
    entry->name_known = TRUE;
    entry->name_result = PACK_NAME_TOO_LONG;
    if (text.length > LIMIT_NAME_BYTES) return entry->name_result;
    NormalName normal = naming_normalise(packer->rules, text.data, text.length);
    entry->name_result = intern(packer, normal.name, normal.name_length, &entry->name);
    if (entry->name_result != PACK_OK || !normal.key) return entry->name_result;
    entry->number = normal.number;
    entry->number_length = (guint32)normal.number_length;
    entry->name_result = intern(packer, normal.key, strlen(normal.key), &entry->key);
    return entry->name_result;
}

/* The entry of string i, looked up as a tracer id or key, or as a name; NULL with *result set otherwise. */
static inline const PackString *string_entry(Packer *packer, const SpanBatch *batch, guint32 i, gboolean as_name,
                                             PackResult *result) {
    if (G_UNLIKELY(i >= packer->strings->len)) {
        *result = PACK_BAD_INDEX;
        return NULL;
    }
    PackString *entry = &g_array_index(packer->strings, PackString, i);
    if (as_name)
        *result = G_LIKELY(entry->name_known) ? entry->name_result : name_lookup(packer, entry, batch_string(batch, i));
    else
        *result = G_LIKELY(entry->text_known) ? entry->text_result : text_lookup(packer, entry, batch_string(batch, i));
    return *result == PACK_OK ? entry : NULL;
}

static inline gboolean slice_fits(guint32 at, guint32 n, guint length) { return at <= length && n <= length - at; }

static PackResult check_fixed(const SpanBatch *batch, const BatchSpan *span) {
    if (!span_id_valid(span->id)) return PACK_ZERO_ID;
    if (span->begin_ns < PACK_BEGIN_MIN_NS || span->begin_ns > PACK_BEGIN_MAX_NS) return PACK_TIME_OUT_OF_RANGE;
    if (span->duration_ns < -PACK_DURATION_MAX_NS || span->duration_ns > PACK_DURATION_MAX_NS)
        return PACK_TIME_OUT_OF_RANGE;
    if (span->n_parents > LIMIT_SPAN_PARENTS) return PACK_TOO_MANY_PARENTS;
    if (span->n_annotations > LIMIT_SPAN_ANNOTATIONS || span->n_notes > LIMIT_SPAN_ANNOTATIONS)
        return PACK_TOO_MANY_ANNOTATIONS;
    if (!slice_fits(span->parents_at, span->n_parents, batch->parents->len) ||
        !slice_fits(span->annotations_at, span->n_annotations, batch->annotations->len) ||
        !slice_fits(span->notes_at, span->n_notes, batch->notes->len))
        return PACK_BAD_INDEX;
    return PACK_OK;
}

/* ---- writing: the layout of common/model/span.h, in one piece whose size is known beforehand ---- */

#define ANNOTATION_HEAD_BYTES 8
#define NOTE_HEAD_BYTES       12

static inline gsize padded4(gsize length) { return (length + 3) & ~(gsize)3; }

/* Looks up the keys, checks the values and adds their size. */
static PackResult check_lists(Packer *packer, const SpanBatch *batch, const BatchSpan *span, gsize *size_bytes) {
    PackResult result;
    for (guint32 k = 0; k < span->n_annotations; k++) {
        const BatchAnnotation *a = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + k);
        if (a->value.length > LIMIT_VALUE_BYTES) return PACK_VALUE_TOO_LONG;
        if (!string_entry(packer, batch, a->key, FALSE, &result)) return result;
        *size_bytes += ANNOTATION_HEAD_BYTES + padded4(a->value.length);
    }
    for (guint32 k = 0; k < span->n_notes; k++) {
        const BatchNote *note = &g_array_index(batch->notes, BatchNote, span->notes_at + k);
        if (note->message.length > LIMIT_VALUE_BYTES) return PACK_VALUE_TOO_LONG;
        *size_bytes += NOTE_HEAD_BYTES + padded4(note->message.length);
    }
    return PACK_OK;
}

static inline guint8 *put_text(guint8 *at, const char *data, guint32 length) {
    gsize room = padded4(length);
    if (room == 0) return at;
    memset(at + room - 4, 0, 4);
    memcpy(at, data, length);
    return at + room;
}

static inline guint8 *put_annotation(guint8 *at, guint32 key, const char *value, guint32 length) {
    const guint32 head[2] = {key, length};
    memcpy(at, head, ANNOTATION_HEAD_BYTES);
    return put_text(at + ANNOTATION_HEAD_BYTES, value, length);
}

static inline guint8 *put_note(guint8 *at, const BatchNote *note) {
    const guint64 time = (guint64)note->time_ns;
    const guint32 head[3] = {(guint32)time, (guint32)(time >> 32), note->message.length};
    memcpy(at, head, NOTE_HEAD_BYTES);
    return put_text(at + NOTE_HEAD_BYTES, note->message.data, note->message.length);
}

static guint8 *put_lists(const Packer *packer, const SpanBatch *batch, const BatchSpan *span, guint8 *at) {
    for (guint32 k = 0; k < span->n_annotations; k++) {
        const BatchAnnotation *a = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + k);
        guint32 key = g_array_index(packer->strings, PackString, a->key).id;
        at = put_annotation(at, key, a->value.data, a->value.length);
    }
    for (guint32 k = 0; k < span->n_notes; k++)
        at = put_note(at, &g_array_index(batch->notes, BatchNote, span->notes_at + k));
    return at;
}

static guint8 *put_parents(const SpanBatch *batch, const BatchSpan *span, guint8 *at) {
    for (guint32 k = 0; k < span->n_parents; k++) {
        SpanId parent = g_array_index(batch->parents, SpanId, span->parents_at + k);
        if (!span_id_valid(parent)) continue;
        memcpy(at, &parent, sizeof parent);
        at += sizeof parent;
    }
    return at;
}

/* Must the sender's first annotation be kept from being taken for ours? */
static gboolean needs_escape(const Packer *packer, const SpanBatch *batch, const BatchSpan *span) {
    if (span->n_annotations == 0) return FALSE;
    guint32 key = g_array_index(batch->annotations, BatchAnnotation, span->annotations_at).key;
    return g_array_index(packer->strings, PackString, key).template_like;
}

PackResult packer_span(Packer *packer, const SpanBatch *batch, guint i, GByteArray *out) {
    const BatchSpan *span = batch_span(batch, i);
    PackResult result = check_fixed(batch, span);
    if (result != PACK_OK) return result;
    const PackString *name = string_entry(packer, batch, span->name, TRUE, &result);
    if (!name) return result;
    const PackString *tracer = string_entry(packer, batch, span->tracer, FALSE, &result);
    if (!tracer) return result;
    gsize room = sizeof(SpanRec) + span->n_parents * sizeof(SpanId) + 8; /* 8: the end's padding */
    result = check_lists(packer, batch, span, &room);
    if (result != PACK_OK) return result;

    gboolean escape = !name->key && needs_escape(packer, batch, span);
    if (name->key || escape) room += ANNOTATION_HEAD_BYTES + padded4(name->number_length);
    const guint start = out->len;
    g_byte_array_set_size(out, start + (guint)room);
    SpanRec *head = (SpanRec *)(void *)(out->data + start);
    guint8 *at = put_parents(batch, span, (guint8 *)(head + 1));
    const guint16 n_parents = (guint16)((gsize)(at - (guint8 *)(head + 1)) / sizeof(SpanId));
    if (name->key)
        at = put_annotation(at, name->key, name->number, name->number_length);
    else if (escape)
        at = put_annotation(at, 0, NULL, 0);
    at = put_lists(packer, batch, span, at);
    memset(at, 0, 4); /* what precedes is a multiple of 4 long */
    const guint32 size_bytes = (guint32)(((gsize)(at - (guint8 *)head) + 7) & ~(gsize)7);
    *head = (SpanRec){
        .size_bytes = size_bytes,
        .n_parents = n_parents,
        .flags = (guint16)span->flags,
        .id = span->id,
        .begin_ns = span->begin_ns,
        .duration_ns = span->duration_ns,
        .name = name->name,
        .tracer = tracer->id,
        .n_annotations = (guint16)(span->n_annotations + (name->key || escape ? 1 : 0)),
        .n_notes = (guint16)span->n_notes,
    };
    g_byte_array_set_size(out, start + size_bytes);
    return PACK_OK;
}

PackedName pack_name_annotation(Dict *dict, const SpanRec *span, SpanAnnotation *first) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    if (!span_next_annotation(&cursor, &annotation)) return NAME_AS_SENT;
    PackedName kind = NAME_AS_SENT;
    if (annotation.key == 0) {
        kind = annotation.length == 0 ? NAME_ESCAPED : NAME_AS_SENT;
    } else {
        gsize length;
        const char *key = dict_text(dict, annotation.key, &length);
        if (naming_is_template(key, length)) kind = NAME_NORMALISED;
    }
    if (kind != NAME_AS_SENT) *first = annotation;
    return kind;
}
