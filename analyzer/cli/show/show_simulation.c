/* How long an application would take with other numbers of executors. */
#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

static char *time_of(const Style *style, const json_t *object, const char *field) {
    return unit_duration(style, field_number(object, field), NS_PER_MS);
}

static void show_times(const Style *style, const json_t *document, const json_t *simulation, GString *out) {
    g_autofree char *name = show_text(style, document, "name"), *app = show_text(style, document, "app");
    g_autofree char *took = time_of(style, simulation, "measured_ns"),
                    *driver = time_of(style, simulation, "driver_ns");
    g_autofree char *critical = time_of(style, simulation, "critical_ns");
    g_autofree char *start = time_of(style, simulation, "start_ns");
    g_autofree char *line =
        g_strdup_printf("%s%s%s took %s; %s of it no job ran. With as many executors as there are "
                        "tasks, all started, it would take %s. The first task of a core takes %s longer.",
                        name, name[0] != '\0' ? ", " : "", app, took, driver, critical, start);
    paragraph_append(style, 0, line, out);
    g_string_append_c(out, '\n');
}

/* Without what each rule found. */
static void show_what_if(const Style *style, const json_t *simulation, GString *out) {
    static const TableColumn columns[] = {
        {"without", TRUE, 0, 0}, {"stages", FALSE, 0, 0}, {"time", FALSE, 0, 0}, {"less by", FALSE, 0, 0}};
    const json_t *rows = field_list(simulation, "what_if");
    if (json_array_size(rows) == 0) return;
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, show_text(style, row, "rule"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, "stages")), COLOUR_NONE);
        table_cell(table, unit_in_column(time_of(style, row, "time_ns")), COLOUR_NONE);
        table_cell(table, unit_in_column(time_of(style, row, "saves_ns")), COLOUR_NONE);
    }

    g_string_append_c(out, '\n');
    table_print(table, out);
    paragraph_append(style, 0,
                     "What it would have taken, with the executors that it had, without what a rule of plumb advise "
                     "found.",
                     out);
}

void show_simulation(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"executors", FALSE, 0, 0},
                                          {"time", FALSE, 0, 0},
                                          {"held", FALSE, 0, 0},
                                          {"busy", FALSE, 0, 0},
                                          {"", TRUE, 0, 0}};
    const Style *style = &options->style;
    const json_t *simulation = field_object(document, "simulation");
    const gint64 now = field_int(simulation, "executors"), knee = field_int(simulation, "knee");
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    show_times(style, document, simulation, out);

    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(simulation, "rows"), i, row) {
        const gint64 executors = field_int(row, "executors");
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, executors), COLOUR_NONE);
        table_cell(table, unit_in_column(time_of(style, row, "time_ns")), COLOUR_NONE);
        table_cell(table, unit_in_column(time_of(style, row, "held_ns")), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.0f %%", 100 * field_number(row, "busy_share")), COLOUR_NONE);
        table_cell(table,
                   g_strdup_printf("%s%s", executors == now ? "as it was " : "", executors == knee ? "knee" : ""),
                   COLOUR_NONE);
    }
    table_print(table, out);
    g_autofree char *slots = show_count(field_number(simulation, "executor_slots"), "task", "tasks");
    g_autofree char *line =
        g_strdup_printf("An executor runs %s at once. Knee: the fewest whose time is within a tenth "
                        "of the best. Tasks count with the time that they took.",
                        slots);
    paragraph_append(style, 0, line, out);
    show_what_if(style, simulation, out);
}
