#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/tree_lines.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

/* "dn1", "dn1, dn2", "5 hosts"; the list of the document ends at 16. */
static char *hosts_text(const Style *style, const json_t *node) {
    const json_t *hosts = field_list(node, "hosts");
    gsize n = json_array_size(hosts);
    if (n > 2) return g_strdup_printf("%zu%s hosts", MIN(n, 16), n >= 16 ? "+" : "");
    GString *out = g_string_new(NULL);
    for (gsize i = 0; i < n; i++) {
        const char *host = json_string_value(json_array_get(hosts, i));
        if (out->len > 0) g_string_append(out, ", ");
        g_string_append(out, host != NULL ? host : "");
    }
    g_autofree char *joined = g_string_free(out, FALSE);
    return text_clean(style, joined);
}

/* The nodes to show: with a host, those that ran there and what leads to them. Free the list, not the nodes. */
static json_t *shown_nodes(const json_t *nodes) {
    const gsize n = json_array_size(nodes);
    json_t *shown = json_array();
    for (gsize i = 0; i < n; i++) {
        json_t *node = json_array_get(nodes, i);
        const gint64 depth = field_int(node, "depth");
        gboolean runs = field_int(node, "calls") > 0;
        for (gsize k = i + 1; !runs && k < n && field_int(json_array_get(nodes, k), "depth") > depth; k++)
            runs = field_int(json_array_get(nodes, k), "calls") > 0;
        if (runs) json_array_append(shown, node);
    }
    return shown;
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

/* A sum of durations that were all counted in milliseconds is whole milliseconds. */
static gint64 resolution_of(const json_t *pattern) {
    return field_int(pattern, "total_ns") % NS_PER_MS == 0 ? NS_PER_MS : 1;
}

/* The others count in statistics only. */
static void append_kept(GString *facts, double stored) {
    g_autofree char *kept = show_count(stored, "is", "are");
    g_string_append_printf(facts, " (%s stored)", kept);
}

/* Two lines, so that the ids, which people copy, fit any terminal. */
static void add_title(Table *table, const Style *style, const json_t *pattern, gsize rank) {
    g_autofree char *id = show_text(style, pattern, "pattern");
    g_autofree char *trace = show_text(style, pattern, "trace");
    g_autofree char *example = show_text(style, pattern, "first_example");
    g_autofree char *traces = show_count(field_number(pattern, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(pattern, "spans"), "span", "spans");
    g_autofree char *total = unit_duration(style, field_number(pattern, "total_ns"), resolution_of(pattern));

    double merged = field_number(pattern, "merged");
    gboolean one = *trace != '\0', incomplete = field_true(pattern, "incomplete"), mixed = field_true(pattern, "mixed");

    GString *facts = g_string_new("   ");
    if (one) {
        table_line(table, g_strdup_printf("%zu. trace %s, pattern %s", rank, trace, id), COLOUR_BOLD);
        g_string_append_printf(facts, "%s, %s%s", spans, total, incomplete ? ", incomplete" : "");
    } else {
        gboolean known = *example != '\0';
        char *line = g_strdup_printf("%zu. %spattern %s%s%s", rank, mixed ? "mixed " : "", id,
                                     known ? ", like trace " : "", example);
        table_line(table, line, COLOUR_BOLD);
        g_string_append(facts, traces);
        if (field_present(pattern, "stored_traces")) append_kept(facts, field_number(pattern, "stored_traces"));
        g_string_append_printf(facts, ", %s, %s", spans, total);
        if (merged > 1) g_string_append_printf(facts, ", of %.0f patterns", merged);
        if (mixed) g_string_append(facts, ", of rare shapes, by path of calls");
        if (incomplete) g_string_append_printf(facts, ", %sincomplete: spans never came", mixed ? "some " : "");
    }

    table_line(table, g_string_free(facts, FALSE), COLOUR_NONE);
}

static void add_pattern(Table *table, const ShowOptions *options, const json_t *pattern, gsize rank) {
    const Style *style = &options->style;
    if (rank > 1) table_line(table, g_strdup(""), COLOUR_NONE);
    add_title(table, style, pattern, rank);
    json_auto_t *nodes = shown_nodes(field_list(pattern, "nodes"));
    g_autoptr(TreeLines) lines = lines_of(style, nodes);
    gsize i;
    const json_t *node;
    json_array_foreach(nodes, i, node) {
        table_cell_tree(table, tree_lines_next(lines), show_text(style, node, "function"),
                        measure_role_colour(style, node));
        measure_cells(table, style, options->set, node);
        table_cell(table, hosts_text(style, node), COLOUR_NONE);
    }
}

static double share(const json_t *part, const json_t *whole, const char *field) {
    double all = field_number(whole, field);
    return all > 0 ? 100 * field_number(part, field) / all : 0;
}

/* What has no pattern of its own, and what is not shown: how much of all that is. */
static void append_parts(const json_t *document, gsize shown, GString *out) {
    const json_t *rare = json_object_get(document, "rare"), *rest = json_object_get(document, "rest");
    if (rare != NULL) {
        g_autofree char *traces = show_count(field_number(rare, "traces"), "trace", "traces");
        g_autofree char *mixed = show_count(field_number(rare, "patterns"), "mixed pattern", "mixed patterns");
        g_string_append_printf(out, "%s of rare shapes in %s: %.2g %% of the traces, %.2g %% of the spans\n", traces,
                               mixed, share(rare, document, "traces"), share(rare, document, "spans"));
    }
    if (rest == NULL) return;
    g_autofree char *others = show_count(field_number(rest, "patterns"), "other pattern", "other patterns");
    g_string_append_printf(
        out, "%zu shown; %s: %.2g %% of the traces, %.2g %% of the spans. --limit N shows more (0: all)\n", shown,
        others, share(rest, document, "traces"), share(rest, document, "spans"));
}

static void append_summary(const json_t *document, gsize shown, GString *out) {
    g_autofree char *period = show_period(document);
    g_autofree char *traces = show_count(field_number(document, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    /* Trees of single traces are as many as there are traces. */
    gboolean forest = field_present(document, "patterns_total");
    double all = field_number(document, forest ? "patterns_total" : "traces");
    g_autofree char *patterns = show_count(all, "pattern", "patterns");
    g_string_append_printf(out, "\n%s, %s%s%s; %s", traces, spans, forest ? ", " : "", forest ? patterns : "", period);
    g_string_append_c(out, '\n');
    append_parts(document, shown, out);
    if (!json_object_get(document, "rest") && (double)shown < all)
        g_string_append_printf(out, "%zu shown: --limit N shows more (0: all)\n", shown);
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
    columns[n++] = (TableColumn){"function", TRUE, 32, 0};
    n += measure_columns(options->set, columns + n);
    columns[n++] = (TableColumn){"hosts", TRUE, 0, 8};
    g_autoptr(Table) table = table_new(&options->style, columns, n);
    gsize i;
    const json_t *pattern;
    json_array_foreach((json_t *)patterns, i, pattern) add_pattern(table, options, pattern, i + 1);
    table_print(table, out);
    append_summary(document, json_array_size(patterns), out);
}
