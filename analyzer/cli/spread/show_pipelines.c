/* The tasks of a stage, each as a bar of its operations: a letter for each. */
#include <math.h>
#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/figure.h"
#include "analyzer/cli/spread/spread_show.h"
#include "common/base/clock.h"

#define BAR_WIDE    60
#define BAR_SMALL   36
#define WIDE        110 /* columns of a terminal that has room for the longer bars */
#define NS_PER_MS_D ((double)NS_PER_MS)

static char letter_of(gsize i) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return i < sizeof letters - 1 ? letters[i] : '+';
}

/* "HadoopRDD" of "org.apache.spark.rdd.HadoopRDD". */
static const char *class_name(const json_t *operation) {
    const char *name = field_text(operation, "class"), *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static double time_in(const json_t *document, gsize operation) {
    double sum = 0;
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(document, "pipelines"), i, row) sum +=
        figure_at(row, "operations_ms", operation);
    return sum;
}

static void show_operations_of(const json_t *document, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"", TRUE, 0, 0},
                                          {"RDD", FALSE, 0, 0},
                                          {"operation", TRUE, 12, 0},
                                          {"where", TRUE, 0, 2},
                                          {"time", FALSE, 0, 0}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(document, "operations"), i, row) {
        table_cell(table, g_strdup_printf("%c", letter_of(i)), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "rdd")), COLOUR_NONE);
        table_cell(table, text_clean(style, class_name(row)), COLOUR_NONE);
        table_cell(table, show_text(style, row, "call_site"), COLOUR_NONE);
        table_cell(table, unit_in_column(unit_duration(style, time_in(document, i) * NS_PER_MS_D, NS_PER_MS)),
                   COLOUR_NONE);
    }
    table_print(table, out);
}

/* As long as the task took of 'most'; what is no operation of it is dots. */
static char *pipeline_bar(const json_t *row, gsize n_operations, double most_ms, guint width) {
    GString *bar = g_string_new(NULL);
    double reached_ms = 0;
    for (gsize i = 0; i < n_operations; i++) {
        reached_ms += figure_at(row, "operations_ms", i);
        const gsize end = (gsize)lrint(fmin(reached_ms / most_ms, 1) * width);
        while (bar->len < end) g_string_append_c(bar, letter_of(i));
    }
    const gsize end = (gsize)lrint(fmin(field_number(row, "duration_ms") / most_ms, 1) * width);
    while (bar->len < end) g_string_append_c(bar, '.');
    return g_string_free(bar, FALSE);
}

static void show_tasks_as_bars(const json_t *document, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"task", FALSE, 0, 0},
                                          {"partition", FALSE, 0, 2},
                                          {"host", TRUE, 0, 1},
                                          {"time", FALSE, 0, 0},
                                          {"operations", TRUE, 0, 0}};
    const guint width = style->width == 0 || style->width >= WIDE ? BAR_WIDE : BAR_SMALL;
    const gsize n_operations = json_array_size(field_list(document, "operations"));
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    double most_ms = 1;
    json_array_foreach((json_t *)field_list(document, "pipelines"), i, row) most_ms =
        fmax(most_ms, field_number(row, "duration_ms"));

    json_array_foreach((json_t *)field_list(document, "pipelines"), i, row) {
        table_cell(table,
                   field_present(row, "task") ? g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "task"))
                                              : g_strdup("-"),
                   COLOUR_NONE);
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "partition")), COLOUR_NONE);
        table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
        table_cell(table,
                   unit_in_column(unit_duration(style, field_number(row, "duration_ms") * NS_PER_MS_D, NS_PER_MS)),
                   COLOUR_NONE);
        table_cell(table, pipeline_bar(row, n_operations, most_ms, width), COLOUR_NONE);
    }
    table_print(table, out);
}

void show_pipelines(const json_t *document, const ShowOptions *options, GString *out) {
    const gsize n = json_array_size(field_list(document, "pipelines"));
    g_autofree char *stage = g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(document, "stage"),
                                             field_int(document, "stage_attempt"));
    if (n == 0) {
        g_string_append_printf(out, "No operations of stage %s were recorded (docs/spark.md says how).\n", stage);
        return;
    }
    show_operations_of(document, &options->style, out);
    g_string_append_c(out, '\n');
    show_tasks_as_bars(document, &options->style, out);
    g_autofree char *total = show_count(field_number(document, "pipelines_total"), "task", "tasks");
    g_string_append_printf(out, "stage %s: %s, the longest first", stage, total);
    if (field_true(document, "more")) g_string_append(out, "; there are more: --limit");
    g_string_append_c(out, '\n');
}

static void add_operation_rows(const json_t *pipeline, const json_t *operations, json_t *rows) {
    static const char *const names[] = {"task", "partition", "host", "duration_ms"};
    gsize i;
    const json_t *operation;
    json_array_foreach((json_t *)operations, i, operation) {
        json_t *row = json_object();
        for (gsize k = 0; k < G_N_ELEMENTS(names); k++)
            if (field_present(pipeline, names[k])) json_object_set(row, names[k], json_object_get(pipeline, names[k]));
        json_object_update(row, (json_t *)operation);
        json_object_set(row, "operation_ms", json_array_get(field_list(pipeline, "operations_ms"), i));
        json_array_append_new(rows, row);
    }
}

json_t *pipelines_rows(const json_t *document) {
    json_t *rows = json_array();
    const json_t *pipeline;
    gsize i;
    json_array_foreach((json_t *)field_list(document, "pipelines"), i, pipeline)
        add_operation_rows(pipeline, field_list(document, "operations"), rows);
    return rows;
}
