#include "analyzer/query/columns/column_block.h"

#include <math.h>
#include <string.h>

#include "analyzer/query/shared/json_compact.h"
#include "common/base/allowance.h"

#define MAGIC       "PLUMBCO1"
#define MAGIC_BYTES (sizeof MAGIC - 1)
#define BEFORE_HEAD (MAGIC_BYTES + sizeof(guint32))

static const struct {
    const char *name;
    gsize bytes;
} types[] = {
    [COLUMN_F64] = {"f64", sizeof(double)},  [COLUMN_I32] = {"i32", sizeof(gint32)},
    [COLUMN_U32] = {"u32", sizeof(guint32)}, [COLUMN_U16] = {"u16", sizeof(guint16)},
    [COLUMN_U8] = {"u8", sizeof(guint8)},
};

static gsize aligned(gsize bytes) { return (bytes + 7) & ~(gsize)7; }

static gsize column_bytes(const ColumnBlock *block, guint i) {
    return aligned(block->rows * types[block->columns[i].type].bytes);
}

gboolean column_block_open(ColumnBlock *block, GError **error) {
    gsize size_bytes = 0;
    for (guint i = 0; i < block->n_columns; i++) size_bytes += column_bytes(block, i);
    allowance_hold(&block->charged, size_bytes);
    if (!allowance_check(error)) return FALSE;

    block->bytes = g_malloc0(MAX(size_bytes, 1));
    block->size_bytes = size_bytes;
    gsize at = 0;
    for (guint i = 0; i < block->n_columns; i++) {
        block->columns[i].values = block->bytes + at;
        at += column_bytes(block, i);
    }
    return TRUE;
}

void column_block_clear(ColumnBlock *block) {
    g_clear_pointer(&block->bytes, g_free);
    allowance_hold(&block->charged, 0);
}

/* offset: of the first column; the digits of a head whose columns lie further on may be more. */
static char *head_text(const ColumnBlock *block, json_t *head, gsize offset, gsize *length) {
    json_t *list = json_array();
    for (guint i = 0; i < block->n_columns; i++) {
        const Column *column = &block->columns[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", column->name, "type", types[column->type].name,
                                              "offset", (json_int_t)offset));
        offset += column_bytes(block, i);
    }
    json_object_set_new(head, "rows", json_integer(block->rows));
    json_object_set_new(head, "columns", list);
    return json_compact(head, length);
}

/* What the columns are behind, when the head says so itself. */
static char *head_that_fits(const ColumnBlock *block, json_t *head, gsize *length, gsize *offset) {
    char *text = head_text(block, head, 0, length);
    for (*offset = 0; *offset != aligned(BEFORE_HEAD + *length);) {
        *offset = MAX(*offset, aligned(BEFORE_HEAD + *length));
        g_free(text);
        text = head_text(block, head, *offset, length);
        if (aligned(BEFORE_HEAD + *length) <= *offset) break;
    }
    return text;
}

GBytes *column_block_take(ColumnBlock *block, json_t *head) {
    gsize length, offset;
    g_autofree char *text = head_that_fits(block, head, &length, &offset);
    const guint32 head_bytes = GUINT32_TO_LE((guint32)length);

    /* Large pieces move by remapping: nothing is there twice but what the head takes. */
    guint8 *bytes = g_realloc(g_steal_pointer(&block->bytes), offset + block->size_bytes + 1);
    memmove(bytes + offset, bytes, block->size_bytes);
    memset(bytes, 0, offset);
    memcpy(bytes, MAGIC, MAGIC_BYTES);
    memcpy(bytes + MAGIC_BYTES, &head_bytes, sizeof head_bytes);
    memcpy(bytes + BEFORE_HEAD, text, length);
    return g_bytes_new_take(bytes, offset + block->size_bytes);
}

static json_t *value_json(const Column *column, guint32 row) {
    switch (column->type) {
    case COLUMN_F64: {
        const double value = ((const double *)column->values)[row];
        const gboolean whole = fabs(value) < 0x1p63 && value == (double)(json_int_t)value;
        return whole ? json_integer((json_int_t)value) : json_real(value);
    }
    case COLUMN_I32: return json_integer(((const gint32 *)column->values)[row]);
    case COLUMN_U32: return json_integer(((const guint32 *)column->values)[row]);
    case COLUMN_U16: return json_integer(((const guint16 *)column->values)[row]);
    case COLUMN_U8: break;
    }
    return json_integer(((const guint8 *)column->values)[row]);
}

void column_block_add_json(const ColumnBlock *block, json_t *head) {
    json_t *list = json_array();
    for (guint i = 0; i < block->n_columns; i++) {
        const Column *column = &block->columns[i];
        json_t *values = json_array();
        for (guint32 row = 0; row < block->rows && allowance_goes_on(); row++)
            json_array_append_new(values, value_json(column, row));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", column->name, "type", types[column->type].name,
                                              "values", values));
    }
    json_object_set_new(head, "rows", json_integer(block->rows));
    json_object_set_new(head, "columns", list);
}
