/* One figure over time: a row for each step of a single series, a row with its curve for each of several. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/format/bar.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/figure.h"
#include "analyzer/cli/spread/spread_show.h"
#include "common/base/clock.h"

#define BAR_WIDTH   30
#define CURVE_WIDE  40
#define CURVE_SMALL 16
#define WIDE        110 /* columns of a terminal that has room for the longer curves */
#define STEPS_MAX   100000

static gsize steps_of(const json_t *document) {
    const double length = field_number(document, "until_time_ns") - field_number(document, "since_time_ns");
    const double step = field_number(document, "step_ns");
    return step > 0 && length > 0 ? (gsize)MIN(length / step, STEPS_MAX) : 0;
}

/* ---- one ---- */

static void show_one(const json_t *document, const json_t *series, const Style *style, GString *out) {
    static const TableColumn of_one[] = {
        {"from", TRUE, 0, 0}, {"value", FALSE, 0, 0}, {"calls", FALSE, 0, 2}, {"bar", TRUE, 0, 1}};
    const char *field = field_text(document, "field");
    g_autofree char *name = figure_name(style, field);
    TableColumn columns[G_N_ELEMENTS(of_one)];
    memcpy(columns, of_one, sizeof columns);
    columns[1].head = name;
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));

    const gsize n = json_array_size(field_list(series, "at"));
    double most = 0;
    for (gsize i = 0; i < n; i++) most = MAX(most, figure_at(series, "values", i));
    for (gsize i = 0; i < n; i++) {
        const double value = figure_at(series, "values", i);
        table_cell(table, unit_time(figure_step_ns(document, (gint64)figure_at(series, "at", i)), NS_PER_SEC),
                   COLOUR_NONE);
        table_cell(table, figure_text(style, field, value), COLOUR_NONE);
        table_cell(table, unit_count(figure_at(series, "calls", i)), COLOUR_NONE);
        table_cell(table, bar_text(style, value, most, BAR_WIDTH), COLOUR_BLUE);
    }
    table_print(table, out);
}

/* ---- several ---- */

/* The greatest of the steps that share a column, so that a spike is seen. */
static char *curve_of(const json_t *series, const Style *style, gsize n_steps, gsize width) {
    const gsize n = MIN(n_steps, width), values_n = json_array_size(field_list(series, "at"));
    g_autofree double *values = g_new(double, n + 1);
    for (gsize i = 0; i < n; i++) values[i] = NAN;
    for (gsize i = 0; i < values_n; i++) {
        const double at = figure_at(series, "at", i);
        if (at < 0 || at >= (double)n_steps) continue;
        const gsize place = (gsize)at * n / n_steps;
        values[place] = fmax(values[place], figure_at(series, "values", i));
    }
    return bar_spark(style, values, n);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Least, median and greatest of its values. */
static void add_range(Table *table, const Style *style, const char *field, const json_t *series) {
    const gsize n = json_array_size(field_list(series, "values"));
    g_autofree double *values = g_new0(double, n + 1);
    for (gsize i = 0; i < n; i++) values[i] = figure_at(series, "values", i);
    qsort(values, n, sizeof *values, by_value);
    const gsize last = n > 0 ? n - 1 : 0;
    const gsize places[] = {0, last / 2, last};
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
        table_cell(table, figure_text(style, field, values[places[i]]), COLOUR_NONE);
}

/* Then the line below names it, and the hosts have the room. */
static gboolean one_function(const json_t *list) {
    const json_t *first = json_array_get(list, 0), *series;
    gsize i;
    json_array_foreach((json_t *)list, i, series) if (strcmp(field_text(series, "function"),
                                                             field_text(first, "function")) != 0) return FALSE;
    return TRUE;
}

static void show_many(const json_t *document, const Style *style, GString *out) {
    const json_t *list = field_list(document, "series"), *series;
    const gboolean hosts = field_present(json_array_get(list, 0), "host");
    const gsize width = style->width == 0 || style->width >= WIDE ? CURVE_WIDE : CURVE_SMALL;
    const gboolean functions = !hosts || !one_function(list);
    TableColumn columns[8];
    guint n = 0;
    if (hosts) columns[n++] = (TableColumn){"host", TRUE, functions ? 0 : 12, 0};
    if (functions) columns[n++] = (TableColumn){"function", TRUE, hosts ? 12 : 20, 0};
    columns[n++] = (TableColumn){"role", TRUE, 0, 5};
    if (hosts) columns[n++] = (TableColumn){"x peers", FALSE, 0, 0};
    columns[n++] = (TableColumn){"least", FALSE, 0, 4};
    columns[n++] = (TableColumn){"median", FALSE, 0, 2};
    columns[n++] = (TableColumn){"most", FALSE, 0, 0};
    columns[n++] = (TableColumn){"over time", TRUE, 0, 1};

    g_autoptr(Table) table = table_new(style, columns, n);
    gsize i;
    json_array_foreach((json_t *)list, i, series) {
        if (hosts) table_cell(table, show_text(style, series, "host"), COLOUR_NONE);
        if (functions) table_cell(table, show_text(style, series, "function"), measure_role_colour(style, series));
        table_cell(table, show_text(style, series, "role"), COLOUR_NONE);
        if (hosts)
            table_cell(table,
                       field_present(series, "ratio") ? g_strdup_printf("%.2f", field_number(series, "ratio"))
                                                      : g_strdup("-"),
                       field_number(series, "ratio") >= 2 ? COLOUR_RED : COLOUR_NONE);
        add_range(table, style, field_text(document, "field"), series);
        table_cell(table, curve_of(series, style, steps_of(document), width), COLOUR_BLUE);
    }
    table_print(table, out);
}

void show_series(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *list = field_list(document, "series");
    const gsize n = json_array_size(list);
    if (n == 0) {
        g_autofree char *period = show_period(document);
        g_string_append_printf(out, "No such calls (%s).\n", period);
        return;
    }
    if (n == 1)
        show_one(document, json_array_get(list, 0), &options->style, out);
    else
        show_many(document, &options->style, out);

    g_autofree char *name = figure_name(&options->style, field_text(document, "field"));
    g_autofree char *steps = figure_steps(document, &options->style);
    const json_t *first = json_array_get(list, 0);
    g_autofree char *what =
        one_function(list) ? show_text(&options->style, first, "function") : show_count((double)n, "row", "rows");
    g_string_append_printf(out, "%s: %s%s\n%s\n", what, name,
                           field_true(document, "more") ? "; there are more: --limit, --function" : "", steps);
}

/* ---- rows ---- */

static const json_t *peers_of(const json_t *document, const json_t *series) {
    gsize i;
    const json_t *peers;
    json_array_foreach((json_t *)field_list(document, "peers"), i,
                       peers) if (strcmp(field_text(peers, "function"), field_text(series, "function")) == 0 &&
                                  strcmp(field_text(peers, "role"), field_text(series, "role")) == 0) return peers;
    return NULL;
}

/* Steps come in their order, in both: *at goes forward. */
static json_t *median_at(const json_t *peers, double step, gsize *at) {
    const gsize n = json_array_size(field_list(peers, "at"));
    while (*at < n && figure_at(peers, "at", *at) < step) ++*at;
    return *at < n && figure_at(peers, "at", *at) == step ? json_array_get(field_list(peers, "medians"), *at) : NULL;
}

static void add_series_rows(const json_t *document, const json_t *series, json_t *rows) {
    static const char *const names[] = {"function", "role", "host", "ratio"};
    const json_t *peers = peers_of(document, series);
    const gsize n = json_array_size(field_list(series, "at"));
    gsize of_peers = 0;
    for (gsize i = 0; i < n; i++) {
        const double at = figure_at(series, "at", i);
        json_t *row = json_object();
        for (gsize k = 0; k < G_N_ELEMENTS(names); k++)
            if (field_present(series, names[k])) json_object_set(row, names[k], json_object_get(series, names[k]));
        json_object_set_new(row, "begin_time_ns", json_integer(figure_step_ns(document, (gint64)at)));
        json_object_set(row, field_text(document, "field"), json_array_get(field_list(series, "values"), i));
        json_object_set(row, "calls", json_array_get(field_list(series, "calls"), i));
        json_t *median = peers != NULL ? median_at(peers, at, &of_peers) : NULL;
        if (median != NULL) json_object_set(row, "median", median);
        json_array_append_new(rows, row);
    }
}

json_t *series_rows(const json_t *document) {
    json_t *rows = json_array();
    const json_t *series;
    gsize i;
    json_array_foreach((json_t *)field_list(document, "series"), i, series) add_series_rows(document, series, rows);
    return rows;
}
