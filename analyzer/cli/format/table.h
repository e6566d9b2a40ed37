/* Tables: columns as wide as their widest cell, numbers to the right, fitted to the terminal's width.
 *
 * When a table is too wide for the style, first the elastic column's texts are cut (down to its least width), then
 * whole columns go, those with the highest 'drop' first; table_print() says below the table which ones went. */
#pragma once

#include "analyzer/cli/format/style.h"

typedef struct TableColumn {
    const char *head;
    gboolean left; /* aligned to the left */
    guint elastic; /* may be cut, to this many columns but not below; 0: never cut. One a table at most */
    guint drop;    /* 0: always shown */
} TableColumn;

typedef struct Table Table;

/* Copies columns and style. */
Table *table_new(const Style *style, const TableColumn *columns, guint n_columns);
void table_free(Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* The next cell of the row under construction; takes text, which must be clean (text.h). Rows end by themselves when
 * all columns have their cell. */
void table_cell(Table *table, char *text, Colour colour);
/* As above, with a prefix (lines of a tree) that keeps the default colour. Takes both. */
void table_cell_tree(Table *table, char *prefix, char *text, Colour colour);
void table_cell_empty(Table *table);
/* A line of its own between rows, over all columns; takes text. Long lines are cut to the terminal's width. */
void table_line(Table *table, char *text, Colour colour);
guint table_rows(const Table *table); /* lines not counted */

/* Head, rows and lines, each on a line without trailing blanks. */
void table_print(const Table *table, GString *out);
