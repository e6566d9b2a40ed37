#include "analyzer/cli/show/show_csv.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/harmless.h"

/* One row: column -> value. */
typedef struct Cells {
    GHashTable *columns; /* name -> number + 1, of the table; owns the names */
    GPtrArray *names;    /* by number */
    GPtrArray *rows;     /* GPtrArray of json_t by number; NULL: none */
} Cells;

static void row_free(gpointer row) { g_ptr_array_unref(row); }

static void drop(gpointer value) { json_decref(value); }

static Cells cells_new(void) {
    return (Cells){g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), g_ptr_array_new(),
                   g_ptr_array_new_with_free_func(row_free)};
}

static void cells_free(Cells *cells) {
    g_hash_table_unref(cells->columns);
    g_ptr_array_unref(cells->names);
    g_ptr_array_unref(cells->rows);
}

static guint column_of(Cells *cells, const char *name) {
    const guint known = GPOINTER_TO_UINT(g_hash_table_lookup(cells->columns, name));
    if (known > 0) return known - 1;
    char *own = g_strdup(name);
    g_ptr_array_add(cells->names, own);
    g_hash_table_insert(cells->columns, own, GUINT_TO_POINTER(cells->names->len));
    return cells->names->len - 1;
}

/* Names in these come from the network: a column for each would be no table. */
static gboolean is_data(const char *name) {
    static const char *const names[] = {"annotations", "drops", "properties", "refused", NULL};
    return g_strv_contains(names, name);
}

static void set_cell(Cells *cells, GPtrArray *row, const char *name, json_t *value) {
    const guint column = column_of(cells, name);
    if (row->len <= column) g_ptr_array_set_size(row, (gint)column + 1);
    if (row->pdata[column] == NULL) row->pdata[column] = json_incref(value);
}

/* skip: a member that is told otherwise, or NULL. */
static void set_members(Cells *cells, GPtrArray *row, const char *prefix, json_t *object, const char *skip) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        if (skip != NULL && strcmp(name, skip) == 0) continue;
        g_autofree char *whole = g_strconcat(prefix, name, NULL);
        if (json_is_object(value) && !is_data(name)) {
            g_autofree char *below = g_strconcat(whole, ".", NULL);
            set_members(cells, row, below, value, NULL);
        } else {
            set_cell(cells, row, whole, value);
        }
    }
}

static GPtrArray *add_row(Cells *cells) {
    GPtrArray *row = g_ptr_array_new_with_free_func(drop);
    g_ptr_array_add(cells->rows, row);
    return row;
}

static void add_rows(Cells *cells, const json_t *list) {
    gsize i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) set_members(cells, add_row(cells), "", item, NULL);
}

/* The items of 'inner' of each of the list. */
static void add_inner_rows(Cells *cells, const json_t *list, const char *outer, const char *inner) {
    gsize i, k;
    json_t *around, *item;
    g_autofree char *prefix = g_strconcat(outer, ".", NULL);
    json_array_foreach((json_t *)list, i, around) {
        json_array_foreach(json_object_get(around, inner), k, item) {
            GPtrArray *row = add_row(cells);
            set_members(cells, row, prefix, around, inner);
            set_members(cells, row, "", item, NULL);
        }
    }
}

/* ---- text ---- */

/* As in JSON, but for a terminal: what commands one is escaped, as in tables. */
static void append_text(const char *text, gsize length, GString *out) {
    g_autofree char *whole = g_strndup(text, length); /* names have no zero byte */
    g_auto(GStrv) lines = g_strsplit(whole, "\n", -1);
    const gboolean quoted = strpbrk(whole, ",\"\r\n") != NULL || whole[0] == '\0';
    if (quoted) g_string_append_c(out, '"');
    for (guint i = 0; lines[i] != NULL; i++) {
        g_autofree char *harmless = harmless_text(lines[i], FALSE, 0);
        if (i > 0) g_string_append_c(out, '\n');
        for (const char *at = harmless; *at != '\0'; at++) {
            if (*at == '"') g_string_append_c(out, '"');
            g_string_append_c(out, *at);
        }
    }
    if (quoted) g_string_append_c(out, '"');
}

static void append_value(const json_t *value, GString *out) {
    if (value == NULL || json_is_null(value)) return;
    if (json_is_string(value)) {
        append_text(json_string_value(value), json_string_length(value), out);
        return;
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    append_text(text, strlen(text), out);
    free(text);
}

static void append_cells(const Cells *cells, GString *out) {
    if (cells->names->len == 0) return;
    for (guint i = 0; i < cells->names->len; i++) {
        const char *name = g_ptr_array_index(cells->names, i);
        g_string_append(out, i > 0 ? "," : "");
        append_text(name, strlen(name), out);
    }
    g_string_append(out, "\r\n");
    for (guint r = 0; r < cells->rows->len; r++) {
        const GPtrArray *row = g_ptr_array_index(cells->rows, r);
        for (guint i = 0; i < cells->names->len; i++) {
            g_string_append(out, i > 0 ? "," : "");
            append_value(i < row->len ? row->pdata[i] : NULL, out);
        }
        g_string_append(out, "\r\n");
    }
}

gboolean show_csv(const json_t *document, const char *rows, GString *out) {
    g_auto(GStrv) lists = g_strsplit(rows, "|", -1);
    for (guint i = 0; lists[i] != NULL; i++) {
        g_auto(GStrv) path = g_strsplit(lists[i], ".", 2);
        const json_t *list = json_object_get(document, path[0]);
        if (!json_is_array(list)) continue;
        Cells cells = cells_new();
        if (path[1] != NULL)
            add_inner_rows(&cells, list, path[0], path[1]);
        else
            add_rows(&cells, list);
        append_cells(&cells, out);
        cells_free(&cells);
        return TRUE;
    }
    return FALSE;
}
