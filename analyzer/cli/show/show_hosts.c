/* Hosts of HDFS that made tasks slow. */
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

static void show_host_rows(const json_t *rows, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"host", TRUE, 0, 0},     {"role", TRUE, 0, 0},  {"waited for", TRUE, 0, 0},
                                          {"tasks", FALSE, 0, 0},   {"cost", FALSE, 0, 0}, {"since", TRUE, 0, 3},
                                          {"function", TRUE, 20, 2}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, field_present(row, "host") ? show_text(style, row, "host") : g_strdup("(not traced)"),
                   COLOUR_NONE);
        table_cell(table, show_text(style, row, "role"), measure_role_colour(style, row));
        table_cell(table, show_text(style, row, "resource"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, "tasks")), COLOUR_NONE);
        table_cell(table, unit_in_column(unit_duration(style, field_number(row, "explains_ns"), NS_PER_MS)),
                   COLOUR_NONE);
        table_cell(table, unit_time(field_int(row, "since_time_ns"), NS_PER_MS), COLOUR_NONE);
        table_cell(table, show_text(style, row, "function"), COLOUR_NONE);
    }
    table_print(table, out);
}

static void show_tasks_of(const json_t *rows, const Style *style, GString *out) {
    static const TableColumn columns[] = {
        {"begin", TRUE, 0, 0},      {"application", TRUE, 12, 2}, {"stage", FALSE, 0, 0},  {"task", FALSE, 0, 0},
        {"on", TRUE, 0, 0},         {"time", FALSE, 0, 0},        {"median", FALSE, 0, 3}, {"cost", FALSE, 0, 0},
        {"waited for", TRUE, 0, 0}, {"trace", TRUE, 0, 0}};

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    static const char *const durations[] = {"duration_ns", "stage_median_ns", "explains_ns"};

    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);
        table_cell(table, show_text(style, row, "app"), COLOUR_NONE);
        table_cell(table,
                   g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(row, "stage"),
                                   field_int(row, "stage_attempt")),
                   COLOUR_NONE);
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "task")), COLOUR_NONE);
        table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
        for (gsize k = 0; k < G_N_ELEMENTS(durations); k++)
            table_cell(table, unit_in_column(unit_duration(style, field_number(row, durations[k]), NS_PER_MS)),
                       COLOUR_NONE);
        table_cell(table, show_text(style, field_object(row, "suspect"), "resource"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "trace"), COLOUR_NONE);
    }

    table_print(table, out);
}

void show_hosts(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *hosts = field_list(document, "hosts"), *tasks = field_list(document, "tasks");
    g_autofree char *apps = show_count(field_number(document, "apps"), "application", "applications");
    if (json_array_size(hosts) == 0) {
        g_string_append_printf(out,
                               "No task of Spark was slow because of HDFS (%s looked at).\n"
                               "plumb slow says what is slow for all clients, without Spark too.\n",
                               apps);
        return;
    }
    show_host_rows(hosts, &options->style, out);
    if (json_array_size(tasks) > 0) {
        g_string_append_c(out, '\n');
        show_tasks_of(tasks, &options->style, out);
    }
    g_string_append_printf(out, "%s looked at", apps);
    if (field_true(document, "more")) g_string_append(out, "; there are more: --limit, --since, --app");
    g_string_append_c(out, '\n');
}
