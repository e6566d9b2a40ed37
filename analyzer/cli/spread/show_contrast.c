/* What tells some traces from the others. */
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/spread_show.h"

static char *value_text(const Style *style, const json_t *row) {
    if (!field_present(row, "key")) return show_text(style, row, "value");
    g_autofree char *both = g_strconcat(field_text(row, "key"), "=", field_text(row, "value"), NULL);
    return text_clean(style, both);
}

static char *share_text(double share) { return g_strdup_printf("%.0f %%", 100 * share); }

static void show_rows(const json_t *rows, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"kind", TRUE, 0, 2},
                                          {"what", TRUE, 24, 0},
                                          {"of these", FALSE, 0, 0},
                                          {"of the others", FALSE, 0, 0},
                                          {"difference", FALSE, 0, 1}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        const double a = field_number(row, "a_share"), b = field_number(row, "b_share");
        table_cell(table, show_text(style, row, "kind"), COLOUR_NONE);
        table_cell(table, value_text(style, row), a > b ? COLOUR_RED : COLOUR_NONE);
        table_cell(table, share_text(a), COLOUR_NONE);
        table_cell(table, share_text(b), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%+.0f", 100 * (a - b)), COLOUR_NONE);
    }
    table_print(table, out);
}

void show_contrast(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *rows = field_list(document, "rows");
    const double a = field_number(document, "a_traces"), b = field_number(document, "b_traces");
    if (a == 0 || b == 0) {
        g_string_append_printf(out, "Nothing to compare: %s. --a-min-duration and the like say which are meant.\n",
                               a == 0 ? "no trace is one of these" : "no trace is left for the others");
        return;
    }
    if (json_array_size(rows) > 0)
        show_rows(rows, &options->style, out);
    else
        g_string_append(out, "No difference: every function, host and annotation is in as many of both.\n");
    g_autofree char *these = show_count(a, "trace", "traces");
    g_autofree char *others = show_count(b, "other", "others");
    g_string_append_printf(out, "%s, %s", these, others);
    if (field_true(document, "more")) g_string_append(out, "; there is more: --limit, or a shorter --since");
    g_string_append_c(out, '\n');
}
