#include "common/model/batch.h"

#include <string.h>

/* Strings of a builder's batch are mostly short; blocks of this size keep the number of allocations low. */
#define CHUNK_BYTES 16384
/* A batch of 10,000 spans, and all that comes with it, stays below this in each array. */
#define BATCH_KEPT_BYTES ((gsize)4 * 1024 * 1024)
/* Room for so many annotations at least. */
#define ANNOTATIONS_LEAST 64u
/* And at most for so many more at once: what is kept is not much more than what was used. */
#define ANNOTATIONS_MOST 65536u

static guint string_hash(gconstpointer key) {
    const BatchString *string = key;
    guint32 hash = 2166136261u; /* FNV-1a */
    for (guint32 i = 0; i < string->length; i++) hash = (hash ^ (guint8)string->data[i]) * 16777619u;
    return hash;
}

static gboolean string_equal(gconstpointer a, gconstpointer b) {
    const BatchString *left = a, *right = b;
    return left->length == right->length && memcmp(left->data, right->data, left->length) == 0;
}

/* With room from the start, so that the address of an empty slice is one within an array and not one off NULL. */
static GArray *array_new(guint element_bytes) { return g_array_sized_new(FALSE, FALSE, element_bytes, 8); }

SpanBatch *batch_new(void) {
    SpanBatch *batch = g_new0(SpanBatch, 1);
    batch->strings = array_new(sizeof(BatchString));
    batch->spans = array_new(sizeof(BatchSpan));
    batch->parents = array_new(sizeof(SpanId));
    batch->annotations = array_new(sizeof(BatchAnnotation));
    batch->notes = array_new(sizeof(BatchNote));
    batch->sender.sender.data = "";
    batch->sender.drops = array_new(sizeof(BatchDrop));
    return batch;
}

/* An array for the next use: the same one, unless it grew past what is worth to be kept for one batch of many. */
static GArray *array_clear(GArray *array) {
    const guint element_bytes = g_array_get_element_size(array);
    if ((gsize)array->len * element_bytes <= BATCH_KEPT_BYTES) return g_array_set_size(array, 0);
    g_array_unref(array);
    return array_new(element_bytes);
}

void batch_clear(SpanBatch *batch) {
    batch->strings = array_clear(batch->strings);
    batch->spans = array_clear(batch->spans);
    batch->parents = array_clear(batch->parents);
    batch->annotations = array_clear(batch->annotations);
    batch->annotations_room = 0;
    batch->notes = array_clear(batch->notes);
    GArray *drops = batch->sender.drops;
    g_array_set_size(drops, 0);
    batch->sender = (BatchSender){.sender = {"", 0}, .drops = drops};
    if (batch->index != NULL) g_hash_table_remove_all(batch->index);
    if (batch->chunk != NULL) g_string_chunk_clear(batch->chunk);
}

void batch_free(SpanBatch *batch) {
    if (batch == NULL) return;
    g_array_unref(batch->strings);
    g_array_unref(batch->spans);
    g_array_unref(batch->parents);
    g_array_unref(batch->annotations);
    g_array_unref(batch->notes);
    g_array_unref(batch->sender.drops);
    if (batch->index != NULL) g_hash_table_unref(batch->index);
    if (batch->chunk != NULL) g_string_chunk_free(batch->chunk);
    g_free(batch);
}

BatchString batch_copy(SpanBatch *batch, const char *data, gsize length) {
    g_assert(length <= G_MAXUINT32);
    if (length == 0) return (BatchString){"", 0};
    if (batch->chunk == NULL) batch->chunk = g_string_chunk_new(CHUNK_BYTES);
    return (BatchString){g_string_chunk_insert_len(batch->chunk, data, (gssize)length), (guint32)length};
}

guint32 batch_intern(SpanBatch *batch, const char *data, gsize length) {
    g_assert(length <= G_MAXUINT32);
    if (batch->index == NULL) batch->index = g_hash_table_new_full(string_hash, string_equal, g_free, NULL);
    const BatchString wanted = {length > 0 ? data : "", (guint32)length};
    gpointer found;
    if (g_hash_table_lookup_extended(batch->index, &wanted, NULL, &found)) return GPOINTER_TO_UINT(found);

    /* The table's key is its own small block: the array of strings moves when it grows. */
    BatchString *key = g_new(BatchString, 1);
    *key = batch_copy(batch, data, length);
    const guint32 i = batch->strings->len;
    g_array_append_val(batch->strings, *key);
    g_hash_table_insert(batch->index, key, GUINT_TO_POINTER(i));
    return i;
}

static BatchSpan *last_span(SpanBatch *batch) {
    g_assert(batch->spans->len > 0);
    return &g_array_index(batch->spans, BatchSpan, batch->spans->len - 1);
}

BatchSpan *batch_begin_span(SpanBatch *batch, SpanId id) {
    const BatchSpan span = {.id = id,
                            .parents_at = batch->parents->len,
                            .annotations_at = batch->annotations->len,
                            .notes_at = batch->notes->len};
    g_array_append_val(batch->spans, span);
    return last_span(batch);
}

void batch_add_parent(SpanBatch *batch, SpanId parent) {
    g_array_append_val(batch->parents, parent);
    last_span(batch)->n_parents++;
}

/* Makes room for as many again, within limits. GLib divides at each append to see whether there is room, which for a
 * span of ten annotations costs more than to copy them. */
static void make_annotations_room(SpanBatch *batch) {
    GArray *annotations = batch->annotations;
    const guint used = annotations->len;
    batch->annotations_room = used + CLAMP(used, ANNOTATIONS_LEAST, ANNOTATIONS_MOST);
    g_array_set_size(annotations, batch->annotations_room);
    annotations->len = used;
}

void batch_add_annotation(SpanBatch *batch, guint32 key, BatchString value) {
    GArray *annotations = batch->annotations;
    if (G_UNLIKELY(annotations->len >= batch->annotations_room)) make_annotations_room(batch);
    g_array_index(annotations, BatchAnnotation, annotations->len) = (BatchAnnotation){key, value};
    annotations->len++;
    last_span(batch)->n_annotations++;
}

void batch_add_note(SpanBatch *batch, gint64 time_ns, BatchString message) {
    const BatchNote note = {time_ns, message};
    g_array_append_val(batch->notes, note);
    last_span(batch)->n_notes++;
}

#define ONES  G_GUINT64_CONSTANT(0x0101010101010101)
#define HIGHS G_GUINT64_CONSTANT(0x8080808080808080)

/* Nearly all text here is ASCII: eight bytes at a time are accepted while none is zero or has its high bit set; from
 * the first other word on, GLib decides. */
gboolean batch_text_valid(const char *data, gsize length) {
    guint64 word;
    while (length >= sizeof word) {
        memcpy(&word, data, sizeof word);
        if (((word | ((word - ONES) & ~word)) & HIGHS) != 0) return g_utf8_validate_len(data, length, NULL);
        data += sizeof word;
        length -= sizeof word;
    }
    for (gsize i = 0; i < length; i++)
        if (data[i] <= 0) return g_utf8_validate_len(data + i, length - i, NULL);
    return TRUE;
}
