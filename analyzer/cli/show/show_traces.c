#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

static const TableColumn columns[] = {
    {"begin", TRUE, 0, 0}, {"trace", TRUE, 0, 0},   {"root", TRUE, 20, 0},  {"role", TRUE, 0, 6},
    {"host", TRUE, 0, 3},  {"time", FALSE, 0, 0},   {"spans", FALSE, 0, 0}, {"orphans", FALSE, 0, 4},
    {"whole", TRUE, 0, 5}, {"pattern", TRUE, 0, 7},
};

static void add_row(Table *table, const Style *style, const json_t *row) {
    gint64 resolution = show_resolution(row);
    table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);
    table_cell(table, show_text(style, row, "trace"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "root"), measure_role_colour(style, row));
    table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    table_cell(table, unit_in_column(unit_duration(style, field_number(row, "duration_ns"), resolution)), COLOUR_NONE);
    g_autofree char *spans = unit_count(field_number(row, "spans"));
    table_cell(table, g_strconcat(spans, field_true(row, "more") ? "+" : NULL, NULL), COLOUR_NONE);
    table_cell(table, unit_count(field_number(row, "orphans")), COLOUR_NONE);
    gboolean incomplete = field_true(row, "incomplete"), parts = field_true(row, "in_parts");
    table_cell(table,
               g_strdup(incomplete ? "no"
                        : parts    ? "in parts"
                                   : "yes"),
               incomplete ? COLOUR_YELLOW : COLOUR_NONE);
    table_cell(table, show_text(style, row, "pattern"), COLOUR_NONE);
}

void show_traces(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *rows = field_list(document, "traces");
    g_autofree char *scanned = show_count(field_number(document, "scanned"), "trace", "traces");
    g_autoptr(Table) table = table_new(&options->style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) add_row(table, &options->style, row);
    table_print(table, out);
    gsize n = json_array_size(rows);
    if (n == 0) {
        g_string_append_printf(out, "No trace fits (%s looked at).\n", scanned);
        return;
    }
    g_string_append_printf(out, "%zu shown, %s looked at", n, scanned);
    if (field_true(document, "more")) g_string_append(out, "; there are more: --limit N shows more (0: all)");
    g_string_append_c(out, '\n');
    if (field_present(document, "next"))
        g_string_append_printf(out, "the next ones: --after %s\n", field_text(document, "next"));
}
