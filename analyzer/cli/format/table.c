#include "analyzer/cli/format/table.h"

#include <string.h>

#include "analyzer/cli/format/text.h"

#define MAX_COLUMNS 40
#define NAME_MIN    12 /* of a name behind the lines of a deep tree */
#define GAP         2

typedef struct Cell {
    char *prefix; /* NULL: none */
    char *text;
    guint32 width; /* of both */
    Colour colour;
} Cell;

typedef struct Row {
    guint first; /* cell */
    gboolean line;
} Row;

struct Table {
    Style style;
    TableColumn columns[MAX_COLUMNS];
    guint n_columns;
    GArray *cells;
    GArray *rows;
    guint open; /* cells of the row under construction; 0: none */
};

/* How a table is laid out for its style. */
typedef struct Layout {
    guint width[MAX_COLUMNS];
    gboolean shown[MAX_COLUMNS];
    guint dropped;
} Layout;

Table *table_new(const Style *style, const TableColumn *columns, guint n_columns) {
    g_assert(n_columns > 0 && n_columns <= MAX_COLUMNS);
    Table *table = g_new0(Table, 1);
    table->style = *style;
    for (guint i = 0; i < n_columns; i++) table->columns[i] = columns[i];
    table->n_columns = n_columns;
    table->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
    table->rows = g_array_new(FALSE, FALSE, sizeof(Row));
    return table;
}

void table_free(Table *table) {
    if (table == NULL) return;
    for (guint i = 0; i < table->cells->len; i++) {
        Cell *cell = &g_array_index(table->cells, Cell, i);
        g_free(cell->prefix);
        g_free(cell->text);
    }
    g_array_free(table->cells, TRUE);
    g_array_free(table->rows, TRUE);
    g_free(table);
}

static void add_cell(Table *table, char *prefix, char *text, Colour colour) {
    guint width = text_width(text) + (prefix != NULL ? text_width(prefix) : 0);
    Cell cell = {prefix, text, width, colour};
    g_array_append_val(table->cells, cell);
}

void table_cell_tree(Table *table, char *prefix, char *text, Colour colour) {
    if (table->open == 0) {
        Row row = {table->cells->len, FALSE};
        g_array_append_val(table->rows, row);
    }
    add_cell(table, prefix, text, colour);
    table->open = (table->open + 1) % table->n_columns;
}

void table_cell(Table *table, char *text, Colour colour) { table_cell_tree(table, NULL, text, colour); }

void table_cell_empty(Table *table) { table_cell(table, g_strdup(""), COLOUR_NONE); }

void table_line(Table *table, char *text, Colour colour) {
    g_assert(table->open == 0);
    Row row = {table->cells->len, TRUE};
    g_array_append_val(table->rows, row);
    add_cell(table, NULL, text, colour);
}

guint table_rows(const Table *table) {
    guint n = 0;
    for (guint i = 0; i < table->rows->len; i++) n += !g_array_index(table->rows, Row, i).line;
    return n;
}

static const Cell *cell_at(const Table *table, const Row *row, guint column) {
    return &g_array_index(table->cells, Cell, row->first + column);
}

static guint total_width(const Table *table, const Layout *layout) {
    guint total = 0, shown = 0;
    for (guint i = 0; i < table->n_columns; i++) {
        if (!layout->shown[i]) continue;
        total += layout->width[i];
        shown++;
    }
    return total + (shown > 0 ? (shown - 1) * GAP : 0);
}

/* The shown column that goes first, or n_columns when none may go. Of equals the rightmost goes. */
static guint next_to_drop(const Table *table, const Layout *layout) {
    guint found = table->n_columns, most = 0;
    for (guint i = 0; i < table->n_columns; i++) {
        if (!layout->shown[i] || table->columns[i].drop == 0 || table->columns[i].drop < most) continue;
        most = table->columns[i].drop;
        found = i;
    }
    return found;
}

static void fit(const Table *table, Layout *layout) {
    guint elastic = table->n_columns, full = 0;
    for (guint i = 0; i < table->n_columns; i++)
        if (table->columns[i].elastic > 0) elastic = i;
    if (elastic < table->n_columns) {
        full = layout->width[elastic];
        layout->width[elastic] = MIN(full, table->columns[elastic].elastic);
    }
    while (total_width(table, layout) > table->style.width) {
        guint column = next_to_drop(table, layout);
        if (column == table->n_columns) break;
        layout->shown[column] = FALSE;
        layout->dropped++;
    }
    guint total = total_width(table, layout);
    if (elastic < table->n_columns && total < table->style.width)
        layout->width[elastic] = MIN(full, layout->width[elastic] + table->style.width - total);
}

static Layout lay_out(const Table *table) {
    Layout layout = {.dropped = 0};
    for (guint i = 0; i < table->n_columns; i++) {
        layout.shown[i] = TRUE;
        layout.width[i] = text_width(table->columns[i].head);
    }
    for (guint r = 0; r < table->rows->len; r++) {
        const Row *row = &g_array_index(table->rows, Row, r);
        for (guint i = 0; !row->line && i < table->n_columns; i++)
            layout.width[i] = MAX(layout.width[i], cell_at(table, row, i)->width);
    }
    if (table->style.width > 0) fit(table, &layout);
    return layout;
}

static void append_blanks(GString *out, guint n) {
    for (guint i = 0; i < n; i++) g_string_append_c(out, ' ');
}

static void print_cell(const Table *table, const Cell *cell, guint width, GString *out) {
    if (cell->width <= width || table->style.width == 0) {
        if (cell->prefix != NULL) g_string_append(out, cell->prefix);
        style_append(&table->style, cell->colour, cell->text, out);
        return;
    }
    guint prefix_width = cell->prefix != NULL ? text_width(cell->prefix) : 0;
    /* A prefix that leaves no room for the name is cut itself, from the left: the name is what people look for. */
    guint prefix_room = width - MIN(width, MIN(cell->width - prefix_width, NAME_MIN));
    if (prefix_width > prefix_room) {
        append_blanks(out, prefix_room - MIN(prefix_room, 1));
        if (prefix_room > 0) g_string_append(out, table->style.utf8 ? "…" : "~");
        prefix_width = prefix_room;
    } else if (cell->prefix != NULL) {
        g_string_append(out, cell->prefix);
    }
    g_autofree char *cut = text_cut_name(&table->style, cell->text, width - prefix_width);
    style_append(&table->style, cell->colour, cut, out);
}

static void trim_end(GString *out) {
    gsize length = out->len;
    while (length > 0 && out->str[length - 1] == ' ') length--;
    g_string_truncate(out, length);
}

static void print_row(const Table *table, const Layout *layout, const Cell *const *cells, GString *out) {
    gboolean first = TRUE;
    for (guint i = 0; i < table->n_columns; i++) {
        if (!layout->shown[i]) continue;
        if (!first) append_blanks(out, GAP);
        first = FALSE;
        guint width = layout->width[i], pad = width - MIN(width, cells[i]->width);
        if (!table->columns[i].left) append_blanks(out, pad);
        print_cell(table, cells[i], width, out);
        if (table->columns[i].left) append_blanks(out, pad);
    }
    trim_end(out);
    g_string_append_c(out, '\n');
}

static void print_head(const Table *table, const Layout *layout, GString *out) {
    Cell heads[MAX_COLUMNS];
    const Cell *cells[MAX_COLUMNS];
    for (guint i = 0; i < table->n_columns; i++) {
        char *head = (char *)table->columns[i].head;
        heads[i] = (Cell){NULL, head, text_width(head), COLOUR_BOLD};
        cells[i] = &heads[i];
    }
    print_row(table, layout, cells, out);
}

static void print_line(const Table *table, const Cell *cell, GString *out) {
    guint width = table->style.width > 0 ? table->style.width : G_MAXUINT;
    g_autofree char *cut = text_cut(&table->style, cell->text, width);
    style_append(&table->style, cell->colour, cut, out);
    g_string_append_c(out, '\n');
}

/* Names the columns that went, on lines no longer than the terminal's. */
static void print_dropped(const Table *table, const Layout *layout, GString *out) {
    GString *line = g_string_new("not shown for want of width:");
    guint left = layout->dropped;
    for (guint i = 0; i < table->n_columns; i++) {
        if (layout->shown[i]) continue;
        const char *head = table->columns[i].head;
        if (line->len + strlen(head) + 2 > table->style.width) {
            style_append(&table->style, COLOUR_DIM, line->str, out);
            g_string_append_c(out, '\n');
            g_string_assign(line, " ");
        }
        g_string_append_printf(line, " %s%s", head, --left > 0 ? "," : "");
    }
    style_append(&table->style, COLOUR_DIM, line->str, out);
    g_string_append_c(out, '\n');
    g_string_free(line, TRUE);
}

void table_print(const Table *table, GString *out) {
    Layout layout = lay_out(table);
    gboolean any = table_rows(table) > 0;
    if (any) print_head(table, &layout, out);
    for (guint r = 0; r < table->rows->len; r++) {
        const Row *row = &g_array_index(table->rows, Row, r);
        if (row->line) {
            print_line(table, cell_at(table, row, 0), out);
            continue;
        }
        const Cell *cells[MAX_COLUMNS];
        for (guint i = 0; i < table->n_columns; i++) cells[i] = cell_at(table, row, i);
        print_row(table, &layout, cells, out);
    }
    if (any && layout.dropped > 0) print_dropped(table, &layout, out);
}
