/* What a host was like over time. */
#include "analyzer/cli/format/bar.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/figure.h"
#include "analyzer/cli/spread/spread_show.h"
#include "common/base/clock.h"

#define BAR_WIDTH 10

static const char *const shares[] = {"user", "system", "iowait", "steal", "disk"};
static const char *const rates[] = {"rx_bytes_per_s", "tx_bytes_per_s"};

static void add_step(Table *table, const json_t *document, const Style *style, gsize i) {
    table_cell(table, unit_time(figure_step_ns(document, (gint64)figure_at(document, "at", i)), NS_PER_SEC),
               COLOUR_NONE);
    for (gsize k = 0; k < G_N_ELEMENTS(shares); k++) {
        const double value = figure_at(document, shares[k], i);
        table_cell(table, value < 0 ? g_strdup("-") : g_strdup_printf("%.0f %%", 100 * value), COLOUR_NONE);
    }
    table_cell(table, bar_text(style, figure_at(document, "disk", i), 1, BAR_WIDTH), COLOUR_BLUE);
    for (gsize k = 0; k < G_N_ELEMENTS(rates); k++) {
        const double value = figure_at(document, rates[k], i);
        table_cell(table, value < 0 ? g_strdup("-") : unit_bytes_per_s(value), COLOUR_NONE);
    }
}

void show_samples(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"from", TRUE, 0, 0},    {"user", FALSE, 0, 0},  {"system", FALSE, 0, 4},
                                          {"iowait", FALSE, 0, 3}, {"steal", FALSE, 0, 6}, {"disk", FALSE, 0, 0},
                                          {"busy", TRUE, 0, 5},    {"in", FALSE, 0, 1},    {"out", FALSE, 0, 2}};
    const gsize n = json_array_size(field_list(document, "at"));
    const Style *style = &options->style;
    g_autofree char *host = show_text(style, document, "host");
    if (n == 0) {
        g_string_append_printf(out,
                               "No samples of %s. plumb-bridge sends them, as sar, mpstat and iostat write them\n"
                               "(plumb import --help).\n",
                               host);
        return;
    }
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    for (gsize i = 0; i < n; i++) add_step(table, document, style, i);
    table_print(table, out);

    g_autofree char *count = show_count(field_number(document, "samples_total"), "sample", "samples");
    g_autofree char *steps = figure_steps(document, style);
    g_autofree char *disk = show_text(style, document, "disk_name");
    g_string_append_printf(out, "%s: %s", host, count);
    if (*disk != '\0') g_string_append_printf(out, "; busiest disk: %s", disk);
    g_string_append_printf(out, "\n%s\n", steps);
}

static void set_known(json_t *row, const json_t *document, const char *name, gsize i) {
    if (figure_at(document, name, i) >= 0) json_object_set(row, name, json_array_get(field_list(document, name), i));
}

json_t *samples_rows(const json_t *document) {
    json_t *rows = json_array();
    const gsize n = json_array_size(field_list(document, "at"));
    for (gsize i = 0; i < n; i++) {
        json_t *row = json_object();
        json_object_set(row, "host", json_object_get(document, "host"));
        json_object_set_new(row, "begin_time_ns",
                            json_integer(figure_step_ns(document, (gint64)figure_at(document, "at", i))));
        json_object_set(row, "samples", json_array_get(field_list(document, "samples"), i));
        for (gsize k = 0; k < G_N_ELEMENTS(shares); k++) set_known(row, document, shares[k], i);
        for (gsize k = 0; k < G_N_ELEMENTS(rates); k++) set_known(row, document, rates[k], i);
        json_array_append_new(rows, row);
    }
    return rows;
}
