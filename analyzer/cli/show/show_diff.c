#include <math.h>
#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/tree_lines.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"

#define HOST_COLUMN 3u /* only where rows have hosts */

static const TableColumn columns[] = {
    {"", TRUE, 0, 0},         {"function", TRUE, 24, 0}, {"role", TRUE, 0, 6},          {"host", TRUE, 0, 0},
    {"calls A", FALSE, 0, 3}, {"calls B", FALSE, 0, 3},  {"mean A", FALSE, 0, 0},       {"mean B", FALSE, 0, 0},
    {"change", FALSE, 0, 2},  {"change %", FALSE, 0, 0}, {"total change", FALSE, 0, 0}, {"z", FALSE, 0, 5},
};

static Colour state_colour(const char *state) {
    if (strcmp(state, "slower") == 0) return COLOUR_RED;
    if (strcmp(state, "faster") == 0) return COLOUR_GREEN;
    if (strcmp(state, "new") == 0) return COLOUR_YELLOW;
    return strcmp(state, "gone") == 0 ? COLOUR_DIM : COLOUR_NONE;
}

static char *calls_text(const json_t *measure) {
    return measure != NULL ? unit_count(field_number(measure, "calls")) : g_strdup("");
}

static gint64 mean_resolution(const json_t *measure) {
    return unit_mean_resolution(field_int(measure, "resolution_ns"), field_int(measure, "calls"));
}

static char *mean_text(const Style *style, const json_t *measure) {
    if (measure == NULL) return g_strdup("");
    return unit_in_column(unit_duration(style, field_number(measure, "mean_ns"), mean_resolution(measure)));
}

static char *change_text(const Style *style, const json_t *row, const char *field, gint64 resolution) {
    if (!field_present(row, field)) return g_strdup("");
    return unit_in_column(unit_duration_signed(style, field_number(row, field), resolution));
}

static gboolean any_host(const json_t *rows) {
    return json_array_size(rows) > 0 && field_present(json_array_get(rows, 0), "host");
}

static void add_row(Table *table, const Style *style, const json_t *row, char *prefix) {
    const json_t *a = field_object(row, "a"), *b = field_object(row, "b");
    gint64 resolution = MAX(field_int(a, "resolution_ns"), field_int(b, "resolution_ns"));
    const char *state = field_text(row, "state");
    table_cell(table, text_clean(style, strcmp(state, "same") == 0 ? "" : state), state_colour(state));
    table_cell_tree(table, prefix, show_text(style, row, "function"), measure_role_colour(style, row));
    table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
    if (field_present(row, "host")) table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    table_cell(table, calls_text(a), COLOUR_NONE);
    table_cell(table, calls_text(b), COLOUR_NONE);
    table_cell(table, mean_text(style, a), COLOUR_NONE);
    table_cell(table, mean_text(style, b), COLOUR_NONE);
    table_cell(table, change_text(style, row, "mean_change_ns", MAX(mean_resolution(a), mean_resolution(b))),
               COLOUR_NONE);
    gboolean percent = field_present(row, "mean_change_percent");
    table_cell(table, percent ? unit_percent(field_number(row, "mean_change_percent")) : g_strdup(""),
               state_colour(state));
    table_cell(table, change_text(style, row, "total_change_ns", resolution), COLOUR_NONE);
    table_cell(table, field_present(row, "z") ? g_strdup_printf("%+.1f", field_number(row, "z")) : g_strdup(""),
               COLOUR_NONE);
}

static void add_rows(Table *table, const Style *style, const json_t *rows) {
    gsize n = json_array_size(rows);
    g_autofree guint32 *depths = g_new0(guint32, n);
    for (gsize i = 0; i < n; i++) {
        gint64 depth = field_int(json_array_get(rows, i), "depth");
        depths[i] = (guint32)CLAMP(depth, 0, G_MAXUINT32);
    }
    g_autoptr(TreeLines) lines = tree_lines_new(style, depths, n);
    for (gsize i = 0; i < n; i++) add_row(table, style, json_array_get(rows, i), tree_lines_next(lines));
}

/* functions is a list of names, or one text. */
static char *functions_text(const Style *style, const json_t *pattern) {
    const json_t *list = field_list(pattern, "functions");
    if (list == NULL) return show_text(style, pattern, "functions");
    GString *out = g_string_new(NULL);
    gsize i;
    const json_t *name;
    json_array_foreach((json_t *)list, i, name)
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", json_is_string(name) ? json_string_value(name) : "?");
    g_autofree char *joined = g_string_free(out, FALSE);
    return text_clean(style, joined);
}

static void append_patterns(const json_t *patterns, const Style *style, GString *out) {
    static const TableColumn heads[] = {
        {"", TRUE, 0, 0}, {"pattern", TRUE, 0, 0}, {"traces", FALSE, 0, 0}, {"functions", TRUE, 16, 0}};
    if (json_array_size(patterns) == 0) return;
    g_string_append_c(out, '\n');
    g_autoptr(Table) table = table_new(style, heads, G_N_ELEMENTS(heads));
    gsize i;
    const json_t *pattern;
    json_array_foreach((json_t *)patterns, i, pattern) {
        table_cell(table, show_text(style, pattern, "state"), state_colour(field_text(pattern, "state")));
        table_cell(table, show_text(style, pattern, "pattern"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(pattern, "traces")), COLOUR_NONE);
        table_cell(table, functions_text(style, pattern), COLOUR_NONE);
    }
    table_print(table, out);
}

static char *side_text(const Style *style, const json_t *document, const char *side) {
    const json_t *value = json_object_get(document, side);
    if (json_is_object(value)) return show_period(value);
    return show_text(style, document, side);
}

void show_diff(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_autofree char *kind = show_text(style, document, "kind");
    g_autofree char *a = side_text(style, document, "a");
    g_autofree char *b = side_text(style, document, "b");
    g_string_append_printf(out, "A: %s %s\nB: %s %s\n\n", kind, a, kind, b);
    const json_t *rows = field_list(document, "rows");
    if (json_array_size(rows) == 0) {
        g_string_append(out, "Nothing to compare: neither has calls.\n");
        return;
    }
    TableColumn shown[G_N_ELEMENTS(columns)];
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        if (i != HOST_COLUMN || any_host(rows)) shown[n++] = columns[i];
    g_autoptr(Table) table = table_new(style, shown, n);
    add_rows(table, style, rows);
    table_print(table, out);
    append_patterns(field_list(document, "patterns"), style, out);
}
