#include "analyzer/calltree/record/record_read.h"
#include "common/base/limits.h"

/* Values kept at once, but for those of one place and of the lists that may be referred to. */
#define VALUES_KEPT 16384u

void value_column_init(ValueColumn *column, Decoder *d) {
    *column = (ValueColumn){.d = d, .start = d->reader.at};
    column->values = g_array_new(FALSE, FALSE, sizeof(Value));
    column->notes = g_array_new(FALSE, FALSE, sizeof(NoteValue));
}

void value_column_clear(ValueColumn *column) {
    g_array_unref(column->values);
    g_array_unref(column->notes);
    if (column->texts != NULL) g_string_chunk_free(column->texts);
}

void value_column_node(ValueColumn *column) { column->own = (ValueList){0, 0}; }

static guint32 digits_of(gint64 number) {
    guint32 digits = 1;
    for (; number >= 10; number /= 10) digits++;
    return digits;
}

static inline Value *value_at(const ValueColumn *column, guint at) { return &g_array_index(column->values, Value, at); }

static gboolean may_copy(ValueColumn *column, gsize size_bytes) {
    if (!record_may_copy(column->copied, size_bytes, (gsize)(column->d->reader.at - column->start))) return FALSE;
    column->copied += size_bytes;
    return TRUE;
}

/* What the whole list takes in a SpanRec. */
static gboolean may_copy_list(ValueColumn *column, ValueList list) {
    gsize size_bytes = 0;
    for (guint i = 0; i < list.n; i++) size_bytes += 8 + ((value_at(column, list.at + i)->length + 3) & ~3u);
    return may_copy(column, size_bytes);
}

/* ---- values ---- */

static gboolean read_text(ValueColumn *column, guint64 length, Value *value) {
    if (length > LIMIT_FRAME_BYTES) return FALSE;
    value->text = (const char *)read_bytes(&column->d->reader, length);
    value->length = (guint32)length;
    if (value->text == NULL) return FALSE;
    recent_add(&column->recent, value->text, value->length);
    return TRUE;
}

/* The start of the last text, and a rest that follows. */
static gboolean read_prefixed(ValueColumn *column, guint64 prefix, Value *value) {
    RecentTexts *recent = &column->recent;
    guint64 token = get_varint(&column->d->reader), length = token >> VALUE_KIND_BITS;
    guint32 last = (recent->n - 1) % RECENT_TEXTS;
    if ((token & ((1u << VALUE_KIND_BITS) - 1)) != VALUE_TEXT || recent->n == 0 || prefix < RECENT_MIN_BYTES ||
        prefix > recent->length[last] || length > LIMIT_FRAME_BYTES || !may_copy(column, prefix)) {
        return FALSE;
    }
    const char *rest = (const char *)read_bytes(&column->d->reader, length);
    if (rest == NULL) return FALSE;
    if (column->texts == NULL) column->texts = g_string_chunk_new(1024);
    g_autofree char *whole = g_malloc(prefix + length);
    memcpy(whole, recent->text[last], prefix);
    memcpy(whole + prefix, rest, length);
    value->text = g_string_chunk_insert_len(column->texts, whole, (gssize)(prefix + length));
    value->length = (guint32)(prefix + length);
    recent_add(recent, value->text, value->length);
    return TRUE;
}

static gboolean copy_value(ValueColumn *column, gboolean known, guint64 back, Value *value) {
    const RecentTexts *recent = &column->recent;
    if (back == 0) return known && may_copy(column, value->length);
    if (back > recent_known(recent)) return FALSE;
    guint32 at = (recent->n - (guint32)back) % RECENT_TEXTS;
    value->text = recent->text[at];
    value->length = recent->length[at];
    return may_copy(column, value->length);
}

/* *value: the one there, when known. */
static gboolean read_value(ValueColumn *column, gboolean known, Value *value) {
    guint64 token = get_varint(&column->d->reader), more = token >> VALUE_KIND_BITS;
    switch (token & ((1u << VALUE_KIND_BITS) - 1)) {
    case VALUE_TEXT: return read_text(column, more, value);
    case VALUE_RECENT: return copy_value(column, known, more, value);
    case VALUE_PREFIX: return read_prefixed(column, more, value);
    case VALUE_NUMBER: value->number = (gint64)more; break;
    case VALUE_STEP:
        if (!known || value->text != NULL) return FALSE;
        value->number = wrapping_add(value->number, zigzag_value(more));
        break;
    default: return FALSE;
    }
    value->text = NULL;
    value->length = value->number < 0 ? 0 : digits_of(value->number);
    return !column->d->reader.failed && value->number >= 0;
}

/* ---- lists ---- */

static inline ValueList *recent_list(ValueColumn *column, guint64 k) {
    return &column->list[(column->n_lists - 1 - (guint32)k) % RECENT_LISTS];
}

static gboolean read_keys(ValueColumn *column, guint64 n, ValueList *list) {
    ByteReader *reader = &column->d->reader;
    if (n > G_MAXUINT16 || n > reader_left(reader)) return FALSE;
    *list = (ValueList){column->values->len, (guint)n};
    for (guint64 i = 0; i < n; i++) {
        guint64 key = get_varint(reader);
        if (key > G_MAXUINT32) return FALSE;
        Value value = {.key = (guint32)key};
        g_array_append_val(column->values, value);
    }
    return TRUE;
}

/* A copy of a list, whose values are the ones "there". */
static ValueList copy_list(ValueColumn *column, ValueList list) {
    guint at = column->values->len;
    g_array_set_size(column->values, at + list.n);
    if (list.n > 0) memcpy(value_at(column, at), value_at(column, list.at), list.n * sizeof(Value));
    return (ValueList){at, list.n};
}

static gboolean read_values(ValueColumn *column, ValueList list, gboolean known) {
    for (guint i = 0; i < list.n; i++) {
        if (!read_value(column, known, value_at(column, list.at + i))) return FALSE;
    }
    return TRUE;
}

static gboolean read_list(ValueColumn *column) {
    guint64 token = get_varint(&column->d->reader);
    ValueList *list = &column->own;

    if (token == KEYS_AS_BEFORE) {
        *list = copy_list(column, *list);
        return read_values(column, *list, TRUE);
    }

    if (token >= KEYS_OWN) {
        if (!read_keys(column, token - KEYS_OWN, list) || !read_values(column, *list, FALSE)) return FALSE;
        if (list->n > 0) column->list[column->n_lists++ % RECENT_LISTS] = *list;
        return TRUE;
    }

    guint64 k = (token - KEYS_RECENT) / 2;
    if (k >= column->n_lists) return FALSE;
    if ((token - KEYS_RECENT) % 2 == 1) {
        *list = *recent_list(column, k);
        return may_copy_list(column, *list);
    }
    *list = copy_list(column, *recent_list(column, k));
    *recent_list(column, k) = *list;
    return read_values(column, *list, TRUE);
}

/* ---- places ---- */

static void move_list(const ValueColumn *column, GArray *to, ValueList *list) {
    guint at = to->len;
    if (list->n > 0) g_array_append_vals(to, value_at(column, list->at), list->n);
    list->at = at;
}

/* Values that nothing refers to any more go. */
static void values_shrink(ValueColumn *column) {
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(Value));
    move_list(column, kept, &column->own);
    for (guint i = 0; i < MIN(column->n_lists, RECENT_LISTS); i++) move_list(column, kept, &column->list[i]);
    g_array_unref(column->values);
    column->values = kept;
}

static gboolean read_notes(ValueColumn *column) {
    ByteReader *reader = &column->d->reader;
    guint64 n = get_varint(reader);
    if (n > G_MAXUINT16 || n > reader_left(reader)) return FALSE;
    for (guint64 i = 0; i < n; i++) {
        NoteValue note = {.time = zigzag_value(get_varint(reader))};
        if (!read_value(column, FALSE, &note.message)) return FALSE;
        g_array_append_val(column->notes, note);
    }
    return TRUE;
}

gboolean value_column_next(ValueColumn *column) {
    Decoder *d = column->d;
    g_array_set_size(column->notes, 0);
    if (!(d->open.bits & RECORD_ANNOTATED)) return TRUE;
    if (run_next(d)) return may_copy_list(column, column->own);
    if (column->values->len > VALUES_KEPT) values_shrink(column);
    return read_list(column) && (!(d->open.bits & RECORD_NOTES) || read_notes(column));
}

gboolean value_column_end(ValueColumn *column) {
    Decoder *d = column->d;
    d->sizes.annotations = (gsize)(d->reader.at - column->start);
    return run_end(d) && reader_left(&d->reader) == 0;
}
