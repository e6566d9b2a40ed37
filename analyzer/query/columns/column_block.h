/* Columns of an answer, each a typed array: "PLUMBCO1", the length of a JSON head as u32, the head, then the columns,
 * all little-endian, each at a multiple of 8 bytes from the begin. The head has "rows", and "columns": for each its
 * name, type and offset (docs/api.md, "Columns").
 *
 * Columns are announced first, so that the answer is one piece of memory, and they are written where they stay. */
#pragma once

#include <jansson.h>

#include "common/base/bytes.h"

typedef enum { COLUMN_F64, COLUMN_I32, COLUMN_U32, COLUMN_U16, COLUMN_U8 } ColumnType;

typedef struct Column {
    const char *name;
    ColumnType type;
    void *values; /* set by column_block_open(); the caller fills in all rows */
} Column;

typedef struct ColumnBlock {
    Column *columns; /* the caller's */
    guint n_columns;
    guint32 rows;
    guint8 *bytes;
    gsize size_bytes;
    gsize charged; /* to the thread's allowance */
} ColumnBlock;

/* Makes room, and charges it. LIMIT, BUSY. */
gboolean column_block_open(ColumnBlock *block, GError **error);
void column_block_clear(ColumnBlock *block);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ColumnBlock, column_block_clear)
/* Ends the block: head (which gets "rows" and "columns") and columns as bytes, to be freed by g_bytes_unref(). */
GBytes *column_block_take(ColumnBlock *block, json_t *head);
/* The same as a document, for readers of JSON: "columns" have "values" instead of "offset". */
void column_block_add_json(const ColumnBlock *block, json_t *head);

/* The smaller type that holds numbers below 'n'. */
static inline ColumnType column_type_for(guint32 n) { return n <= 1u << 16 ? COLUMN_U16 : COLUMN_U32; }
/* column: of a type of column_type_for(). */
static inline void column_set(const Column *column, guint32 row, guint32 value) {
    if (column->type == COLUMN_U16)
        ((guint16 *)column->values)[row] = (guint16)value;
    else
        ((guint32 *)column->values)[row] = value;
}
