/* Names to choose from. */
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/spread_show.h"

void show_names(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *rows = field_list(document, "names"), *row;
    const Style *style = &options->style;
    const gboolean roles = field_present(json_array_get(rows, 0), "role");
    const gboolean traces = field_present(document, "traces");
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No such name is stored (of that time). A part of the name is enough.\n");
        return;
    }

    TableColumn columns[3];
    guint n = 0;
    columns[n++] = (TableColumn){"name", TRUE, 20, 0};
    if (roles) columns[n++] = (TableColumn){"role", TRUE, 0, 0};
    columns[n++] = (TableColumn){traces ? "traces" : "calls", FALSE, 0, 1};
    g_autoptr(Table) table = table_new(style, columns, n);
    gsize i;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, show_text(style, row, "name"), roles ? measure_role_colour(style, row) : COLOUR_NONE);
        if (roles) table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, traces ? "traces" : "calls")), COLOUR_NONE);
    }
    table_print(table, out);

    g_autofree char *names = show_count(field_number(document, "names_total"), "name", "names");
    g_string_append(out, names);
    if (traces) {
        g_autofree char *looked = show_count(field_number(document, "traces"), "trace", "traces");
        g_string_append_printf(out, " in the newest %s", looked);
    }
    if (field_true(document, "more")) g_string_append(out, "; there are more: a longer text, --limit");
    g_string_append_c(out, '\n');
}
