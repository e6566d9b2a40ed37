#include "common/pack/pack.h"

#include <string.h>
#include <xxhash.h>

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
    guint64 hash;       /* of the text */
    guint8 text_known, name_known;
    guint8 text_result, name_result; /* PackResult */
    guint8 template_like;            /* as the key of a first annotation it must be escaped */
} PackString;

/* A string that needs no rule: as a name, a tracer id or a key it has one id. */
typedef struct Remembered {
    guint64 hash;     /* 0: free */
    const char *text; /* the dictionary's */
    guint32 length;
    guint32 id;
    guint8 plain_name; /* no rule is for it */
    guint8 template_like;
} Remembered;

/* Spans of a batch that are of one trace, in the batch's order: a chain through 'next'. */
typedef struct PackGroup {
    guint64 trace;
    guint32 first, last;
} PackGroup;

struct Packer {
    const NamingRules *rules;
    Dict *dict;
    const PackLimit *limit; /* NULL: none */
    GArray *strings;        /* PackString, parallel to the batch's */
    GError *error;
    Remembered *remembered; /* PACK_REMEMBERED; by hash, the newer one stays */
    GArray *groups;         /* PackGroup */
    GArray *next;           /* guint32, parallel to the batch's spans */
    GArray *slots;          /* guint32: group + 1, by trace; 0: free; a power of two */
    guint64 multiplier;     /* odd, random: a sender cannot choose ids that collide */
    GArray *parents;        /* SpanId: those of one span that refer to something */
    FragmentWriter writer;
    GArray *runs; /* PackRun of the batch */
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
        [PACK_PEER_NAMES] = "too many processes of one peer",
        [PACK_STORE_FAILED] = "store failed",
    };
    return texts[result];
}

Packer *packer_new(const NamingRules *rules, Dict *dict) {
    Packer *packer = g_new0(Packer, 1);
    packer->rules = rules;
    packer->dict = dict;
    packer->strings = g_array_new(FALSE, TRUE, sizeof(PackString));
    packer->remembered = g_new0(Remembered, PACK_REMEMBERED);
    packer->groups = g_array_new(FALSE, FALSE, sizeof(PackGroup));
    packer->next = g_array_new(FALSE, FALSE, sizeof(guint32));
    packer->slots = g_array_new(FALSE, TRUE, sizeof(guint32));
    packer->multiplier = ((guint64)g_random_int() << 32) | g_random_int() | 1;
    packer->parents = g_array_new(FALSE, FALSE, sizeof(SpanId));
    packer->runs = g_array_new(FALSE, FALSE, sizeof(PackRun));
    return packer;
}

void packer_free(Packer *packer) {
    if (!packer) return;
    g_array_unref(packer->strings);
    g_free(packer->remembered);
    g_array_unref(packer->groups);
    g_array_unref(packer->next);
    g_array_unref(packer->slots);
    g_array_unref(packer->parents);
    g_array_unref(packer->runs);
    g_clear_error(&packer->error);
    g_free(packer);
}

GError *packer_take_error(Packer *packer) { return g_steal_pointer(&packer->error); }

void packer_set_limit(Packer *packer, const PackLimit *limit) { packer->limit = limit; }

/* Is it known, or may the sender add it? */
static gboolean may_intern(const Packer *packer, PackNew what, const char *data, gsize length) {
    const PackLimit *limit = packer->limit;
    return limit == NULL || length == 0 || dict_find(packer->dict, data, length) != 0 ||
           limit->may_add(limit->arg, what, length);
}

static PackResult intern(Packer *packer, PackNew what, BatchString text, guint32 *id) {
    const char *data = text.data;
    const gsize length = text.length;
    if (length > LIMIT_NAME_BYTES) return PACK_NAME_TOO_LONG;
    if (!may_intern(packer, what, data, length)) return PACK_PEER_NAMES;
    g_autoptr(GError) error = NULL;
    if (dict_intern(packer->dict, data, length, id, &error)) return PACK_OK;
    if (g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT)) return PACK_DICTIONARY_FULL;
    g_clear_error(&packer->error);
    packer->error = g_steal_pointer(&error);
    return PACK_STORE_FAILED;
}

/* ---- strings that came before ---- */

static Remembered *remembered_slot(Packer *packer, guint64 hash) { return &packer->remembered[hash % PACK_REMEMBERED]; }

static const Remembered *recall(Packer *packer, BatchString text, guint64 hash) {
    const Remembered *seen = remembered_slot(packer, hash);
    if (seen->hash != hash || seen->length != text.length || memcmp(seen->text, text.data, text.length) != 0)
        return NULL;
    return seen;
}

/* id is that of the text itself. */
static void remember(Packer *packer, BatchString text, guint64 hash, guint32 id) {
    NormalName normal = naming_normalise(packer->rules, text.data, text.length);
    *remembered_slot(packer, hash) = (Remembered){
        .hash = hash,
        .text = dict_text(packer->dict, id, NULL),
        .length = text.length,
        .id = id,
        .plain_name = normal.key == NULL,
        .template_like = naming_is_template(text.data, text.length),
    };
}

/* Never 0. */
static guint64 text_hash(BatchString text) { return XXH3_64bits(text.data, text.length) | 1; }

/* Strings that came before lie far apart: what looking for them needs is fetched for all of a batch at once. */
void packer_begin_batch(Packer *packer, const SpanBatch *batch) {
    const guint n = batch->strings->len;
    g_array_set_size(packer->strings, 0); /* so that growing clears all entries */
    g_array_set_size(packer->strings, n);
    g_array_set_size(packer->runs, 0);
    PackString *entries = (PackString *)(gpointer)packer->strings->data;
    for (guint i = 0; i < n; i++) {
        entries[i].hash = text_hash(batch_string(batch, i));
        __builtin_prefetch(remembered_slot(packer, entries[i].hash));
    }
    for (guint i = 0; i < n; i++) {
        const Remembered *seen = remembered_slot(packer, entries[i].hash);
        if (seen->hash == entries[i].hash) __builtin_prefetch(seen->text);
    }
}

static gboolean name_recall(Packer *packer, PackString *entry, BatchString text, guint64 hash) {
    const Remembered *seen = recall(packer, text, hash);
    if (!seen || !seen->plain_name) return FALSE;
    entry->name = seen->id;
    entry->name_result = PACK_OK;
    return TRUE;
}

static gboolean text_recall(Packer *packer, PackString *entry, BatchString text, guint64 hash) {
    const Remembered *seen = recall(packer, text, hash);
    if (!seen) return FALSE;
    entry->id = seen->id;
    entry->template_like = seen->template_like;
    entry->text_result = PACK_OK;
    return TRUE;
}

/* Also of what rules make of a name: a name with a number in it is new each time, its normal form never. */
static PackResult intern_normal(Packer *packer, PackNew what, BatchString text, guint32 *id) {
    const guint64 hash = text_hash(text);
    const Remembered *seen = recall(packer, text, hash);
    if (seen != NULL) {
        *id = seen->id;
        return PACK_OK;
    }
    const PackResult result = intern(packer, what, text, id);
    if (result == PACK_OK && text.length > 0) remember(packer, text, hash, *id);
    return result;
}

static BatchString text_of(const char *data) { return (BatchString){data, (guint32)strlen(data)}; }

/* The id of a text that its sender may not add. */
static PackResult intern_folded(Packer *packer, BatchString text, guint32 *id) {
    char folded[LIMIT_NAME_BYTES];
    const gsize length = naming_fold(text.data, text.length, folded);
    PackResult result = PACK_PEER_NAMES;
    if (length < text.length || memcmp(folded, text.data, length) != 0)
        result = intern_normal(packer, PACK_NEW_FOLDED, (BatchString){folded, (guint32)length}, id);
    if (result == PACK_PEER_NAMES) result = intern_normal(packer, PACK_NEW_FIXED, text_of(PACK_OTHER), id);
    return result;
}

static PackResult name_fold(Packer *packer, PackString *entry, BatchString text) {
    entry->number = text.data;
    entry->number_length = text.length;
    entry->name_result = intern_folded(packer, text, &entry->name);
    if (entry->name_result == PACK_OK)
        entry->name_result = intern_normal(packer, PACK_NEW_FIXED, text_of(PACK_NAME_KEY), &entry->key);
    return entry->name_result;
}

static PackResult text_lookup(Packer *packer, PackString *entry, BatchString text, PackNew what) {
    entry->text_known = TRUE;
    const guint64 hash = entry->hash;
    if (text_recall(packer, entry, text, hash)) return PACK_OK;
    entry->template_like = text.length == 0 || naming_is_template(text.data, text.length);
    entry->text_result = intern(packer, what, text, &entry->id);
    if (entry->text_result == PACK_PEER_NAMES && what == PACK_NEW_NAME)
        return entry->text_result = intern_folded(packer, text, &entry->id);
    if (entry->text_result == PACK_OK && text.length > 0) remember(packer, text, hash, entry->id);
    return entry->text_result;
}

static PackResult name_lookup(Packer *packer, PackString *entry, BatchString text) {
    entry->name_known = TRUE;
    entry->name_result = PACK_NAME_TOO_LONG;
    if (text.length > LIMIT_NAME_BYTES) return entry->name_result;
    const guint64 hash = entry->hash;
    if (name_recall(packer, entry, text, hash)) return PACK_OK;
    NormalName normal = naming_normalise(packer->rules, text.data, text.length);
    const PackNew what = normal.key ? PACK_NEW_FIXED : PACK_NEW_NAME;
    const BatchString name = {normal.name, (guint32)normal.name_length};
    entry->name_result = intern_normal(packer, what, name, &entry->name);
    if (entry->name_result == PACK_PEER_NAMES) return name_fold(packer, entry, text);
    if (entry->name_result != PACK_OK || !normal.key) return entry->name_result;
    entry->number = normal.number;
    entry->number_length = (guint32)normal.number_length;
    entry->name_result = intern_normal(packer, PACK_NEW_FIXED, text_of(normal.key), &entry->key);
    return entry->name_result;
}

typedef enum { AS_NAME, AS_KEY, AS_PROCESS } StringUse;

/* The entry of string i, looked up for this use; NULL with *result set otherwise. */
static inline const PackString *string_entry(Packer *packer, const SpanBatch *batch, guint32 i, StringUse use,
                                             PackResult *result) {
    if (G_UNLIKELY(i >= packer->strings->len)) {
        *result = PACK_BAD_INDEX;
        return NULL;
    }
    PackString *entry = &g_array_index(packer->strings, PackString, i);
    if (use == AS_NAME)
        *result = G_LIKELY(entry->name_known) ? entry->name_result : name_lookup(packer, entry, batch_string(batch, i));
    else
        *result = G_LIKELY(entry->text_known) ? entry->text_result
                                              : text_lookup(packer, entry, batch_string(batch, i),
                                                            use == AS_KEY ? PACK_NEW_NAME : PACK_NEW_TEXT);
    return *result == PACK_OK ? entry : NULL;
}

static inline gboolean slice_fits(guint32 at, guint32 n, guint length) { return (guint64)at + n <= length; }

static inline gboolean in_range(gint64 value, gint64 least, gint64 most) {
    return (guint64)value - (guint64)least <= (guint64)most - (guint64)least;
}

static inline PackResult check_fixed(const SpanBatch *batch, const BatchSpan *span) {
    if (G_UNLIKELY(!span_id_valid(span->id))) return PACK_ZERO_ID;
    if (G_UNLIKELY(!in_range(span->begin_ns, PACK_BEGIN_MIN_NS, PACK_BEGIN_MAX_NS) ||
                   !in_range(span->duration_ns, -PACK_DURATION_MAX_NS, PACK_DURATION_MAX_NS)))
        return PACK_TIME_OUT_OF_RANGE;
    if (G_UNLIKELY(span->n_parents > LIMIT_SPAN_PARENTS)) return PACK_TOO_MANY_PARENTS;
    if (G_UNLIKELY(!slice_fits(span->parents_at, span->n_parents, batch->parents->len))) return PACK_BAD_INDEX;
    return PACK_OK;
}

/* ---- writing: the layout of common/model/span.h, in one piece whose size is known beforehand ---- */

#define ANNOTATION_HEAD_BYTES 8
#define NOTE_HEAD_BYTES       12

static inline gsize padded4(gsize length) { return (length + 3) & ~(gsize)3; }

/* Looks up the keys, checks the values and adds their size. */
static PackResult check_lists(Packer *packer, const SpanBatch *batch, const BatchSpan *span, gsize *size_bytes) {
    PackResult result;
    if (span->n_annotations > LIMIT_SPAN_ANNOTATIONS || span->n_notes > LIMIT_SPAN_ANNOTATIONS)
        return PACK_TOO_MANY_ANNOTATIONS;
    if (!slice_fits(span->annotations_at, span->n_annotations, batch->annotations->len) ||
        !slice_fits(span->notes_at, span->n_notes, batch->notes->len))
        return PACK_BAD_INDEX;
    for (guint32 k = 0; k < span->n_annotations; k++) {
        const BatchAnnotation *a = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + k);
        if (a->value.length > LIMIT_VALUE_BYTES) return PACK_VALUE_TOO_LONG;
        if (!string_entry(packer, batch, a->key, AS_KEY, &result)) return result;
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

/* What the batch says of a span by itself; its size and parents are filled in by who writes it. */
static inline SpanRec span_head(const BatchSpan *span, guint32 name, guint32 tracer, gboolean annotation_before) {
    return (SpanRec){
        .flags = (guint16)span->flags,
        .id = span->id,
        .begin_ns = span->begin_ns,
        .duration_ns = span->duration_ns,
        .name = name,
        .tracer = tracer,
        .n_annotations = (guint16)(span->n_annotations + (annotation_before ? 1 : 0)),
        .n_notes = (guint16)span->n_notes,
    };
}

PackResult packer_span(Packer *packer, const SpanBatch *batch, guint i, GByteArray *out) {
    const BatchSpan *span = batch_span(batch, i);
    PackResult result = check_fixed(batch, span);
    if (result != PACK_OK) return result;
    const PackString *name = string_entry(packer, batch, span->name, AS_NAME, &result);
    if (!name) return result;
    const PackString *tracer = string_entry(packer, batch, span->tracer, AS_PROCESS, &result);
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
    *head = span_head(span, name->name, tracer->id, name->key || escape);
    head->size_bytes = size_bytes;
    head->n_parents = n_parents;
    g_byte_array_set_size(out, start + size_bytes);
    return PACK_OK;
}

/* ---- the tight form ---- */

/* The group of a trace, made when there is none yet; the table has 2^bits slots. */
static guint32 group_of(Packer *packer, guint64 trace, guint bits, guint32 span) {
    guint32 *slots = (guint32 *)(gpointer)packer->slots->data;
    const guint mask = (1u << bits) - 1;
    guint slot = (guint)((trace * packer->multiplier) >> (64 - bits));
    for (; slots[slot] != 0; slot = (slot + 1) & mask)
        if (g_array_index(packer->groups, PackGroup, slots[slot] - 1).trace == trace) return slots[slot] - 1;
    PackGroup group = {trace, span, span};
    g_array_append_val(packer->groups, group);
    slots[slot] = packer->groups->len;
    return packer->groups->len - 1;
}

#define END_OF_GROUP G_MAXUINT32

guint packer_group(Packer *packer, const SpanBatch *batch) {
    const guint n = batch->spans->len;
    guint bits = 6;
    while ((1u << bits) < 2 * n) bits++;

    g_array_set_size(packer->groups, 0);
    g_array_set_size(packer->next, n);
    g_array_set_size(packer->slots, 0);
    g_array_set_size(packer->slots, 1u << bits); /* cleared by growing */

    guint32 *next = (guint32 *)(gpointer)packer->next->data;
    guint32 at = 0;
    for (guint32 i = 0; i < n; i++) {
        const guint64 trace = batch_span(batch, i)->id.trace;
        if (i == 0 || g_array_index(packer->groups, PackGroup, at).trace != trace)
            at = group_of(packer, trace, bits, i);
        PackGroup *group = &g_array_index(packer->groups, PackGroup, at);
        next[group->last] = i; /* its own, when it is the first */
        group->last = i;
        next[i] = END_OF_GROUP;
    }

    return packer->groups->len;
}

guint64 packer_trace(const Packer *packer, guint group) {
    return g_array_index(packer->groups, PackGroup, group).trace;
}

/* Parents that refer to something; most spans have one, in place. */
static const SpanId *good_parents(Packer *packer, const SpanBatch *batch, const BatchSpan *span, guint16 *n) {
    const SpanId *parents = &g_array_index(batch->parents, SpanId, span->parents_at);
    *n = (guint16)span->n_parents;
    if (span->n_parents == 0 || (span->n_parents == 1 && span_id_valid(*parents))) return parents;
    g_array_set_size(packer->parents, 0);
    for (guint32 k = 0; k < span->n_parents; k++)
        if (span_id_valid(parents[k])) g_array_append_val(packer->parents, parents[k]);
    *n = (guint16)packer->parents->len;
    return (const SpanId *)(gconstpointer)packer->parents->data;
}

static void write_lists(Packer *packer, const SpanBatch *batch, const BatchSpan *span) {
    for (guint32 k = 0; k < span->n_annotations; k++) {
        const BatchAnnotation *a = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + k);
        guint32 key = g_array_index(packer->strings, PackString, a->key).id;
        fragment_annotation(&packer->writer, key, a->value.data, a->value.length);
    }
    for (guint32 k = 0; k < span->n_notes; k++) {
        const BatchNote *note = &g_array_index(batch->notes, BatchNote, span->notes_at + k);
        fragment_note(&packer->writer, note->time_ns, note->message.data, note->message.length);
    }
}

static void add_run(Packer *packer, PackRun run) {
    const guint n = packer->runs->len;
    PackRun *last = n > 0 ? &g_array_index(packer->runs, PackRun, n - 1) : NULL;
    if (run.spans == 0) return;
    if (last && last->tracer == run.tracer)
        last->spans += run.spans;
    else
        g_array_append_val(packer->runs, run);
}

const GArray *packer_runs(const Packer *packer) { return packer->runs; }

/* Refused: nothing was written. Else *tracer is whose it is. */
static inline PackResult write_span(Packer *packer, const SpanBatch *batch, const BatchSpan *span, guint32 *tracer) {
    PackResult result = check_fixed(batch, span);
    if (G_UNLIKELY(result != PACK_OK)) return result;
    const PackString *name = string_entry(packer, batch, span->name, AS_NAME, &result);
    if (G_UNLIKELY(!name)) return result;
    const PackString *process = string_entry(packer, batch, span->tracer, AS_PROCESS, &result);
    if (G_UNLIKELY(!process)) return result;
    const gboolean lists = (span->n_annotations | span->n_notes) != 0;
    gsize unused = 0;
    if (lists) result = check_lists(packer, batch, span, &unused);
    if (G_UNLIKELY(result != PACK_OK)) return result;

    const gboolean escape = !name->key && needs_escape(packer, batch, span);
    SpanRec head = span_head(span, name->name, process->id, name->key || escape);
    const SpanId *parents = good_parents(packer, batch, span, &head.n_parents);
    fragment_span(&packer->writer, &head, parents);
    if (G_UNLIKELY(name->key))
        fragment_annotation(&packer->writer, name->key, name->number, name->number_length);
    else if (G_UNLIKELY(escape))
        fragment_annotation(&packer->writer, 0, NULL, 0);
    if (lists) write_lists(packer, batch, span);
    *tracer = process->id;
    return PACK_OK;
}

gboolean packer_fragment(Packer *packer, const SpanBatch *batch, guint group, GByteArray *out,
                         guint32 refused[PACK_RESULT_COUNT]) {
    const PackGroup *spans = &g_array_index(packer->groups, PackGroup, group);
    PackRun run = {0, 0};
    fragment_begin(&packer->writer, out, spans->trace);

    for (guint32 i = spans->first; i != END_OF_GROUP; i = g_array_index(packer->next, guint32, i)) {
        guint32 tracer = 0;
        PackResult result = write_span(packer, batch, batch_span(batch, i), &tracer);
        if (G_UNLIKELY(result != PACK_OK)) {
            if (result == PACK_STORE_FAILED) return FALSE;
            refused[result]++;
            continue;
        }
        if (G_UNLIKELY(tracer != run.tracer)) {
            add_run(packer, run);
            run = (PackRun){tracer, 0};
        }
        run.spans++;
    }

    add_run(packer, run);
    fragment_end(&packer->writer);
    return TRUE;
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
