/* How far the clocks of hosts are apart. */
#include <stdlib.h>

#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/spread_show.h"

void show_skew(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"from", TRUE, 0, 0},
                                          {"to", TRUE, 0, 0},
                                          {"offset", FALSE, 0, 0},
                                          {"wrong by at most", FALSE, 0, 0},
                                          {"calls", FALSE, 0, 1}};
    const json_t *rows = field_list(document, "pairs"), *row;
    const Style *style = &options->style;
    g_autofree char *traces = show_count(field_number(document, "traces"), "trace", "traces");
    if (json_array_size(rows) == 0) {
        g_string_append_printf(out, "No call went from one host to another (%s looked at).\n", traces);
        return;
    }

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    json_array_foreach((json_t *)rows, i, row) {
        const gint64 offset_ns = field_int(row, "offset_ns"), wrong_ns = field_int(row, "uncertainty_ns");
        const gboolean apart = offset_ns > wrong_ns || offset_ns < -wrong_ns;
        table_cell(table, show_text(style, row, "from"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "to"), COLOUR_NONE);
        table_cell(table, unit_in_column(unit_duration_signed(style, (double)offset_ns, 1)),
                   apart ? COLOUR_RED : COLOUR_NONE);
        table_cell(table, unit_in_column(unit_duration(style, (double)wrong_ns, 1)), COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, "samples")), COLOUR_NONE);
    }
    table_print(table, out);
    g_string_append_printf(out, "offset: to be added to a time of \"to\"; %s looked at\n", traces);
}
