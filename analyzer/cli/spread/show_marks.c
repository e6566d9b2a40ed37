/* What was done. */
#include <string.h>

#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/spread_show.h"
#include "common/base/clock.h"

static char *lasted(const json_t *row) {
    if (!field_present(row, "end_time_ns")) return g_strdup("-");
    return unit_age(field_number(row, "end_time_ns") - field_number(row, "begin_time_ns"));
}

/* It names the mark, for --begin: as exact as it has to be. */
static char *begin_text(const json_t *row) {
    const gint64 begin_ns = field_int(row, "begin_time_ns");
    const gint64 whole_ns = begin_ns % NS_PER_SEC == 0 ? NS_PER_SEC : NS_PER_MS;
    if (begin_ns % whole_ns == 0) return unit_time(begin_ns, whole_ns);
    g_autofree char *text = unit_time(begin_ns, NS_PER_US); /* the finest; ends with Z */
    return g_strdup_printf("%.*s%03dZ", (int)strlen(text) - 1, text, (int)(begin_ns % NS_PER_US));
}

void show_marks(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {
        {"begin", TRUE, 0, 0}, {"for", FALSE, 0, 3}, {"host", TRUE, 0, 0}, {"kind", TRUE, 0, 2}, {"what", TRUE, 20, 0}};
    const json_t *rows = field_list(document, "marks"), *row;
    const Style *style = &options->style;
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No marks. plumb mark --kind deployment 'what was done' makes one.\n");
        return;
    }

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, begin_text(row), COLOUR_NONE);
        table_cell(table, lasted(row), COLOUR_NONE);
        table_cell(table, field_present(row, "host") ? show_text(style, row, "host") : g_strdup("(all)"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "kind"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "text"), COLOUR_NONE);
    }
    table_print(table, out);
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit, --since, --until\n");
}
