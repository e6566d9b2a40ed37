#include "analyzer/out/show.h"
#include "analyzer/out/text.h"
#include "analyzer/out/tree_lines.h"
#include "analyzer/out/units.h"

/* "dn1", "dn1, dn2", "5 hosts"; the list of the document ends at 16. */
static char *hosts_text(const Style *style, const json_t *node) {
    const json_t *hosts = field_list(node, "hosts");
    gsize n = json_array_size(hosts);
    if (n > 2) return g_strdup_printf("%zu%s hosts", n, n >= 16 ? "+" : "");
    GString *out = g_string_new(NULL);
    for (gsize i = 0; i < n; i++) {
        const char *host = json_string_value(json_array_get(hosts, i));
        if (out->len > 0) g_string_append(out, ", ");
        g_string_append(out, host != NULL ? host : "");
    }
    g_autofree char *joined = g_string_free(out, FALSE);
    return text_clean(style, joined);
}

static TreeLines *lines_of(const Style *style, const json_t *nodes) {
    gsize n = json_array_size(nodes);
    g_autofree guint32 *depths = g_new(guint32, n);
    for (gsize i = 0; i < n; i++) {
        gint64 depth = field_int(json_array_get(nodes, i), "depth");
        depths[i] = (guint32)CLAMP(depth, 0, G_MAXUINT32);
    }
    return tree_lines_new(style, depths, n);
}

static char *title(const json_t *pattern, gsize rank, const Style *style) {
    g_autofree char *id = show_text(style, pattern, "pattern");
    g_autofree char *trace = show_text(style, pattern, "trace");
    g_autofree char *example = show_text(style, pattern, "first_example");
    g_autofree char *traces = show_count(field_number(pattern, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(pattern, "spans"), "span", "spans");
    g_autofree char *total =
        unit_duration(style, field_number(pattern, "total_ns"), field_int(pattern, "resolution_ns"));
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%zu. ", rank);
    if (*trace != '\0') g_string_append_printf(out, "trace %s, ", trace);
    g_string_append_printf(out, "pattern %s: ", id);
    if (*trace == '\0') g_string_append_printf(out, "%s, ", traces);
    g_string_append_printf(out, "%s, %s in all", spans, total);
    gint64 incomplete = field_int(pattern, "incomplete");
    if (incomplete > 0 || field_true(pattern, "incomplete")) {
        g_autofree char *count = unit_count((double)incomplete);
        g_string_append_printf(out, ", %s%sincomplete", *trace == '\0' ? count : "", *trace == '\0' ? " " : "");
    }
    if (*example != '\0' && *trace == '\0') g_string_append_printf(out, "; example: trace %s", example);
    return g_string_free(out, FALSE);
}

static void add_pattern(Table *table, const ShowOptions *options, const json_t *pattern, gsize rank) {
    const Style *style = &options->style;
    if (rank > 1) table_line(table, g_strdup(""), COLOUR_NONE);
    table_line(table, title(pattern, rank, style), COLOUR_BOLD);
    const json_t *nodes = field_list(pattern, "nodes");
    g_autoptr(TreeLines) lines = lines_of(style, nodes);
    gsize i;
    const json_t *node;
    json_array_foreach((json_t *)nodes, i, node) {
        table_cell_tree(table, tree_lines_next(lines), show_text(style, node, "function"),
                        measure_role_colour(style, node));
        measure_cells(table, style, options->set, node);
        table_cell(table, hosts_text(style, node), COLOUR_NONE);
    }
}

static void append_summary(const json_t *document, gsize shown, GString *out) {
    g_autofree char *period = show_period(document);
    g_autofree char *traces = show_count(field_number(document, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    double all = field_number(document, "patterns_total");
    g_autofree char *patterns = show_count(all, "pattern", "patterns");
    g_string_append_printf(out, "\n%s, %s, %s; %s", traces, spans, patterns, period);
    double json_bytes = field_number(document, "json_bytes_estimate");
    if (json_bytes > 0) {
        g_autofree char *bytes = unit_bytes(json_bytes);
        g_string_append_printf(out, "; as JSON lines these spans take %s", bytes);
    }
    g_string_append_c(out, '\n');
    if ((double)shown < all) g_string_append_printf(out, "%zu shown: --limit N shows more (0: all)\n", shown);
}

void show_forest(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *patterns = field_list(document, "patterns");
    if (json_array_size(patterns) == 0) {
        g_autofree char *period = show_period(document);
        g_string_append_printf(out, "No traces (%s).\n", period);
        return;
    }
    TableColumn columns[2 + MEASURE_MAX_COLUMNS];
    guint n = 0;
    columns[n++] = (TableColumn){"function", TRUE, TRUE, 0};
    n += measure_columns(options->set, columns + n);
    columns[n++] = (TableColumn){"hosts", TRUE, FALSE, 8};
    g_autoptr(Table) table = table_new(&options->style, columns, n);
    gsize i;
    const json_t *pattern;
    json_array_foreach((json_t *)patterns, i, pattern) add_pattern(table, options, pattern, i + 1);
    table_print(table, out);
    append_summary(document, json_array_size(patterns), out);
}
