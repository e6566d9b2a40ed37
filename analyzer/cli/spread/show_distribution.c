/* How calls are spread: a bar for each bin; over time a line of shades for each step. */
#include <string.h>

#include "analyzer/cli/format/bar.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/figure.h"
#include "analyzer/cli/spread/spread_show.h"
#include "common/base/clock.h"

#define BAR_WIDTH    30
#define SHADES_WIDE  96 /* where nothing limits the width */
#define SHADES_LEAST 16
#define BESIDE       34 /* columns of time and calls, and the gaps */
#define MARK_EVERY   12 /* columns between two edges that are written */

/* As fields that have the same unit are called. */
static const char *unit_of(const json_t *document) {
    const char *of = field_text(document, "of");
    if (strcmp(of, "bytes") == 0) return "_bytes";
    return strcmp(of, "rate") == 0 ? "_bytes_per_s" : "_ns";
}

static gsize bins_of(const json_t *document) {
    const gsize edges = json_array_size(field_list(document, "edges"));
    return edges > 0 ? edges - 1 : 0;
}

/* The document comes from outside: bins that are not among the edges are left out. */
static void add_counts(const json_t *column, double *counts, gsize n) {
    const gsize cells = json_array_size(field_list(column, "at"));
    for (gsize i = 0; i < cells; i++) {
        const double at = figure_at(column, "at", i);
        if (at >= 0 && at < (double)n) counts[(gsize)at] += figure_at(column, "counts", i);
    }
}

static double sum_of(const double *counts, gsize n) {
    double sum = 0;
    for (gsize i = 0; i < n; i++) sum += counts[i];
    return sum;
}

static double most_of(const double *counts, gsize n) {
    double most = 0;
    for (gsize i = 0; i < n; i++) most = MAX(most, counts[i]);
    return most;
}

/* ---- one step ---- */

static char *share_text(double part, double whole) {
    return g_strdup_printf("%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

static void show_bins(const json_t *document, const Style *style, const double *counts, gsize n, GString *out) {
    static const TableColumn columns[] = {{"from", FALSE, 0, 0},  {"to", FALSE, 0, 2},    {"calls", FALSE, 0, 0},
                                          {"share", FALSE, 0, 0}, {"up to", FALSE, 0, 1}, {"bar", TRUE, 0, 3}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    const char *unit = unit_of(document);
    const double sum = sum_of(counts, n), most = most_of(counts, n);
    double reached = 0;
    for (gsize i = 0; i < n; i++) {
        reached += counts[i];
        table_cell(table, figure_text(style, unit, figure_at(document, "edges", i)), COLOUR_NONE);
        table_cell(table, figure_text(style, unit, figure_at(document, "edges", i + 1)), COLOUR_NONE);
        table_cell(table, unit_count(counts[i]), COLOUR_NONE);
        table_cell(table, share_text(counts[i], sum), COLOUR_NONE);
        table_cell(table, share_text(reached, sum), COLOUR_NONE);
        table_cell(table, bar_text(style, counts[i], most, BAR_WIDTH), COLOUR_BLUE);
    }
    table_print(table, out);
}

/* ---- over time ---- */

typedef struct Shades {
    gsize n_bins, a_column; /* bins that share one column of the terminal */
    gsize n;                /* columns */
} Shades;

static Shades shades_for(const Style *style, gsize n_bins) {
    const gsize room = style->width == 0 ? SHADES_WIDE : MAX(style->width, BESIDE + SHADES_LEAST) - BESIDE;
    const gsize a_column = MAX((n_bins + room - 1) / room, 1);
    return (Shades){n_bins, a_column, (n_bins + a_column - 1) / a_column};
}

/* "|1.00 ms    |8.00 ms": where some of the edges are. */
static char *scale_text(const json_t *document, const Style *style, const Shades *shades) {
    GString *scale = g_string_new(NULL);
    for (gsize at = 0; at < shades->n; at += MARK_EVERY) {
        while (scale->len < at) g_string_append_c(scale, ' ');
        g_autofree char *edge =
            figure_text(style, unit_of(document), figure_at(document, "edges", at * shades->a_column));
        g_string_append_printf(scale, "|%s", g_strchomp(edge));
    }
    return g_string_free(scale, FALSE);
}

static double *column_counts(const json_t *column, const Shades *shades) {
    g_autofree double *bins = g_new0(double, shades->n_bins + 1);
    double *counts = g_new0(double, shades->n + 1);
    add_counts(column, bins, shades->n_bins);
    for (gsize i = 0; i < shades->n_bins; i++) counts[i / shades->a_column] += bins[i];
    return counts;
}

static void show_steps(const json_t *document, const Style *style, GString *out) {
    const json_t *list = field_list(document, "columns"), *column;
    const Shades shades = shades_for(style, bins_of(document));
    g_autofree char *scale = scale_text(document, style, &shades);
    const TableColumn columns[] = {{"from", TRUE, 0, 0}, {"calls", FALSE, 0, 1}, {scale, TRUE, 0, 0}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    double most = 0;
    gsize i;
    json_array_foreach((json_t *)list, i, column) {
        g_autofree double *counts = column_counts(column, &shades);
        most = MAX(most, most_of(counts, shades.n));
    }

    json_array_foreach((json_t *)list, i, column) {
        g_autofree double *counts = column_counts(column, &shades);
        table_cell(table, unit_time(field_int(column, "begin_time_ns"), NS_PER_SEC), COLOUR_NONE);
        table_cell(table, unit_count(field_number(column, "calls")), COLOUR_NONE);
        table_cell(table, bar_shades(style, counts, shades.n, most), COLOUR_BLUE);
    }
    table_print(table, out);
    g_autofree char *most_text = show_count(most, "call", "calls");
    g_string_append_printf(out, "the darkest: %s\n", most_text);
}

void show_distribution(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *list = field_list(document, "columns"), *column;
    const gsize n = bins_of(document);
    g_autofree char *period = show_period(document);
    if (json_array_size(list) == 0 || n == 0) {
        g_string_append_printf(out, "No such calls (%s).\n", period);
        return;
    }

    g_autofree double *counts = g_new0(double, n);
    gsize i;
    json_array_foreach((json_t *)list, i, column) add_counts(column, counts, n);
    const gint64 length = field_int(document, "until_time_ns") - field_int(document, "since_time_ns");
    const gboolean steps = field_int(document, "step_ns") > 0 && field_int(document, "step_ns") < length;
    if (steps)
        show_steps(document, &options->style, out);
    else
        show_bins(document, &options->style, counts, n, out);

    g_autofree char *calls = show_count(sum_of(counts, n), "call", "calls");
    g_autofree char *of = show_text(&options->style, document, "of");
    g_autofree char *over = steps ? figure_steps(document, &options->style) : g_strdup(period);
    g_string_append_printf(out, "%s by %s\n%s\n", calls, of, over);
}

static void set_edge(json_t *row, const json_t *document, const char *name, gsize i) {
    const json_t *edge = json_array_get(field_list(document, "edges"), i);
    g_autofree char *whole = g_strconcat(name, unit_of(document), NULL);
    if (edge != NULL) json_object_set(row, whole, (json_t *)edge);
}

json_t *distribution_rows(const json_t *document) {
    json_t *rows = json_array();
    const json_t *column;
    gsize i;
    json_array_foreach((json_t *)field_list(document, "columns"), i, column) {
        const gsize n = json_array_size(field_list(column, "at"));
        for (gsize k = 0; k < n; k++) {
            const gsize bin = (gsize)MAX(figure_at(column, "at", k), 0);
            json_t *row = json_object();
            json_object_set_new(row, "begin_time_ns", json_integer(field_int(column, "begin_time_ns")));
            set_edge(row, document, "from", bin);
            set_edge(row, document, "to", bin + 1);
            json_object_set(row, "calls", json_array_get(field_list(column, "counts"), k));
            json_array_append_new(rows, row);
        }
    }
    return rows;
}
