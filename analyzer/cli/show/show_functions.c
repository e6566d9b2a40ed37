#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

static gboolean any_row_has(const json_t *rows, const char *field) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) if (field_present(row, field)) return TRUE;
    return FALSE;
}

static gboolean any_notes(const json_t *rows) {
    return any_row_has(rows, "orphan_calls") || any_row_has(rows, "reversed_calls") ||
           any_row_has(rows, "outside_parent_calls");
}

typedef struct Split {
    gboolean minute, host, notes; /* which columns there are */
} Split;

static void add_row(Table *table, const ShowOptions *options, const json_t *row, const Split *split) {
    const Style *style = &options->style;
    if (split->minute) table_cell(table, unit_time(field_int(row, "since_time_ns"), NS_PER_SEC), COLOUR_NONE);
    table_cell(table, show_text(style, row, "function"), measure_role_colour(style, row));
    table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
    if (split->host) table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    measure_cells(table, style, options->set, row);
    if (split->notes) table_cell(table, measure_notes(row), COLOUR_NONE);
}

void show_functions(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *rows = field_list(document, "functions");
    g_autofree char *period = show_period(document);
    if (json_array_size(rows) == 0) {
        g_string_append_printf(out, "No calls (%s).\n", period);
        return;
    }

    const Split split = {any_row_has(rows, "since_time_ns"), any_row_has(rows, "host"), any_notes(rows)};

    TableColumn columns[5 + MEASURE_MAX_COLUMNS];
    guint n = 0;
    if (split.minute) columns[n++] = (TableColumn){"minute", TRUE, 0, 0};
    columns[n++] = (TableColumn){"function", TRUE, 20, 0};
    columns[n++] = (TableColumn){"role", TRUE, 0, 8};
    if (split.host) columns[n++] = (TableColumn){"host", TRUE, 0, 0};
    n += measure_columns(options->set, columns + n);
    if (split.notes) columns[n++] = (TableColumn){"notes", TRUE, 0, 9};

    g_autoptr(Table) table = table_new(&options->style, columns, n);
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) add_row(table, options, row, &split);

    table_print(table, out);
    if (options->set == MEASURE_BYTES && !any_row_has(rows, "bytes"))
        g_string_append(out, "None of these calls recorded bytes (an annotation named bytes).\n");

    g_autofree char *count = show_count((double)json_array_size(rows), "row", "rows");
    g_string_append_printf(out, "%s, %s\n", count, period);
}
