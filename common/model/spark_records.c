#include "common/model/spark_records.h"

#include <string.h>

#include "common/base/limits.h"
#include "common/model/batch.h"
#include "common/model/spark_fields.h"

/* Large enough that a batch of a few records takes one piece, small enough to waste nothing. */
#define PIECE_BYTES 65536u
/* Kept for the next use by spark_records_clear(). */
#define KEPT_BYTES (16u * 1024 * 1024)

typedef struct SparkArena {
    GPtrArray *pieces; /* of g_malloc() */
    guint8 *at;        /* free part of the last piece */
    gsize left_bytes;
    gsize bytes;        /* of all pieces */
    GHashTable *shared; /* text -> itself */
} SparkArena;

static const char *const names[SPARK_KIND_COUNT] = {
    [SPARK_APP] = "app",       [SPARK_EXECUTOR] = "executor", [SPARK_JOB] = "job",
    [SPARK_STAGE] = "stage",   [SPARK_TASK] = "task",         [SPARK_OPERATION] = "operation",
    [SPARK_SAMPLE] = "sample", [SPARK_SPLIT] = "split",       [SPARK_LINK] = "link",
    [SPARK_QUERY] = "query",   [SPARK_PROFILE] = "profile",   [SPARK_EXCLUSION] = "exclusion",
    [SPARK_MARK] = "mark",
};

const char *spark_kind_name(SparkKind kind) {
    g_return_val_if_fail((guint)kind < SPARK_KIND_COUNT, "unknown");
    return names[kind];
}

gsize spark_kind_size(SparkKind kind) { return spark_form(kind)->size_bytes; }

SparkRecords *spark_records_new(void) {
    SparkRecords *records = g_new0(SparkRecords, 1);
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        records->of[kind] = g_array_new(FALSE, FALSE, (guint)spark_kind_size((SparkKind)kind));
    records->arena = g_new0(SparkArena, 1);
    records->arena->pieces = g_ptr_array_new_with_free_func(g_free);
    records->arena->shared = g_hash_table_new(g_str_hash, g_str_equal);
    return records;
}

void spark_records_clear(SparkRecords *records) {
    SparkArena *arena = records->arena;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        GArray **array = &records->of[kind];
        const gsize held = (gsize)(*array)->len * spark_kind_size((SparkKind)kind);
        g_array_set_size(*array, 0);
        if (held <= KEPT_BYTES) continue;
        g_array_unref(*array);
        *array = g_array_new(FALSE, FALSE, (guint)spark_kind_size((SparkKind)kind));
    }
    g_hash_table_remove_all(arena->shared);
    g_ptr_array_set_size(arena->pieces, 0);
    arena->at = NULL;
    arena->left_bytes = arena->bytes = 0;
}

void spark_records_free(SparkRecords *records) {
    if (records == NULL) return;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) g_array_unref(records->of[kind]);
    g_hash_table_unref(records->arena->shared);
    g_ptr_array_unref(records->arena->pieces);
    g_free(records->arena);
    g_free(records);
}

gsize spark_records_count(const SparkRecords *records) {
    gsize count = 0;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) count += records->of[kind]->len;
    return count;
}

gsize spark_records_bytes(const SparkRecords *records) {
    gsize bytes = records->arena->bytes;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        bytes += (gsize)records->of[kind]->len * spark_kind_size((SparkKind)kind);
    return bytes;
}

void *spark_records_add(SparkRecords *records, SparkKind kind) {
    GArray *array = records->of[kind];
    const SparkForm *form = spark_form(kind);
    g_array_set_size(array, array->len + 1);
    void *record = array->data + (gsize)(array->len - 1) * form->size_bytes;
    spark_form_init(form, record);
    return record;
}

void spark_records_copy(SparkRecords *records, SparkKind kind, const void *record) {
    const SparkForm *form = spark_form(kind);
    g_autofree guint8 *copy = g_malloc(form->size_bytes); /* 'record' may lie in the array that grows */
    spark_form_copy(form, records, record, copy);
    g_array_append_vals(records->of[kind], copy, 1);
}

void spark_record_init(SparkKind kind, void *record) { spark_form_init(spark_form(kind), record); }

static guint8 *arena_take(SparkArena *arena, gsize bytes) {
    if (bytes > arena->left_bytes) {
        const gsize piece = MAX(bytes, PIECE_BYTES);
        guint8 *memory = g_malloc(piece);
        g_ptr_array_add(arena->pieces, memory);
        arena->bytes += piece;
        /* A large text gets a piece of its own, and what is left of the last one stays in use. */
        if (piece - bytes < arena->left_bytes) return memory;
        arena->at = memory;
        arena->left_bytes = piece;
    }
    guint8 *taken = arena->at;
    arena->at += bytes;
    arena->left_bytes -= bytes;
    return taken;
}

/* Whole characters within the limit. */
static gsize text_cut(const char *data, gsize length) {
    if (length <= LIMIT_VALUE_BYTES) return length;
    gsize n = LIMIT_VALUE_BYTES;
    while (n > 0 && ((guint8)data[n] & 0xc0) == 0x80) n--;
    return n;
}

static const char *text_keep(SparkRecords *records, const char *data, gsize length) {
    char *text = (char *)arena_take(records->arena, length + 1);
    memcpy(text, data, length);
    text[length] = '\0';
    return text;
}

const char *spark_text(SparkRecords *records, const char *data, gsize length) {
    if (data == NULL) return NULL;
    length = text_cut(data, strnlen(data, length));
    if (G_LIKELY(batch_text_valid(data, length))) return text_keep(records, data, length);
    g_autofree char *valid = g_utf8_make_valid(data, (gssize)length);
    return text_keep(records, valid, text_cut(valid, strlen(valid)));
}

const char *spark_text_shared(SparkRecords *records, const char *data, gsize length) {
    if (data == NULL) return NULL;
    char small[256];
    if (length >= sizeof small) return spark_text(records, data, length); /* such texts hardly repeat */
    memcpy(small, data, length);
    small[length] = '\0';
    const char *known = g_hash_table_lookup(records->arena->shared, small);
    if (known != NULL) return known;
    const char *text = spark_text(records, data, length);
    g_hash_table_add(records->arena->shared, (gpointer)text);
    return text;
}

void *spark_list(SparkRecords *records, gsize items, gsize item_bytes) {
    g_return_val_if_fail(item_bytes == 0 || items <= G_MAXSIZE / 2 / item_bytes, NULL);
    if (items * item_bytes == 0) return NULL;
    guint8 *memory = arena_take(records->arena, items * item_bytes + 7);
    memory = (guint8 *)(((guintptr)memory + 7) & ~(guintptr)7);
    memset(memory, 0, items * item_bytes);
    return memory;
}
