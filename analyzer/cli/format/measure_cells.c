#include "analyzer/cli/format/measure_cells.h"

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"

typedef enum { SHOW_TIME, SHOW_MEAN_TIME, SHOW_QUANTILE_TIME, SHOW_COUNT, SHOW_BYTES, SHOW_RATE } Show;

typedef struct MeasureColumn {
    const char *head;
    const char *group; /* object within the measure; NULL: the measure itself */
    const char *field;
    Show show;
    guint drop;
} MeasureColumn;

static const MeasureColumn time_columns[] = {
    {"mean", NULL, "mean_ns", SHOW_MEAN_TIME, 1},   {"std", NULL, "std_ns", SHOW_MEAN_TIME, 5},
    {"min", NULL, "min_ns", SHOW_TIME, 4},          {"max", NULL, "max_ns", SHOW_TIME, 3},
    {"q25", NULL, "q25_ns", SHOW_QUANTILE_TIME, 7}, {"q75", NULL, "q75_ns", SHOW_QUANTILE_TIME, 6},
    {"calls", NULL, "calls", SHOW_COUNT, 0},        {"total", NULL, "total_ns", SHOW_TIME, 0},
    {"self", NULL, "self_ns", SHOW_TIME, 2},        {"critical", NULL, "critical_ns", SHOW_TIME, 1},
};

static const MeasureColumn bytes_columns[] = {
    {"calls", NULL, "calls", SHOW_COUNT, 0},
    {"total", NULL, "total_ns", SHOW_TIME, 1},
    {"bytes", "bytes", "total_bytes", SHOW_BYTES, 0},
    {"mean", "bytes", "mean_bytes", SHOW_BYTES, 1},
    {"std", "bytes", "std_bytes", SHOW_BYTES, 5},
    {"min", "bytes", "min_bytes", SHOW_BYTES, 4},
    {"max", "bytes", "max_bytes", SHOW_BYTES, 3},
    {"q25", "bytes", "q25_bytes", SHOW_BYTES, 7},
    {"q75", "bytes", "q75_bytes", SHOW_BYTES, 6},
    {"empty", "bytes", "zero_calls", SHOW_COUNT, 2},
    {"<4 KiB", "bytes", "small_calls", SHOW_COUNT, 2},
    {"rate", "rate", "mean_bytes_per_s", SHOW_RATE, 0},
    {"std rate", "rate", "std_bytes_per_s", SHOW_RATE, 5},
    {"min rate", "rate", "min_bytes_per_s", SHOW_RATE, 4},
    {"max rate", "rate", "max_bytes_per_s", SHOW_RATE, 4},
    {"q25 rate", "rate", "q25_bytes_per_s", SHOW_RATE, 7},
    {"q75 rate", "rate", "q75_bytes_per_s", SHOW_RATE, 6},
};

G_STATIC_ASSERT(G_N_ELEMENTS(bytes_columns) <= MEASURE_MAX_COLUMNS);

static const MeasureColumn *columns_of(MeasureSet set, guint *n) {
    *n = set == MEASURE_TIMES ? G_N_ELEMENTS(time_columns) : G_N_ELEMENTS(bytes_columns);
    return set == MEASURE_TIMES ? time_columns : bytes_columns;
}

guint measure_columns(MeasureSet set, TableColumn *columns) {
    guint n;
    const MeasureColumn *from = columns_of(set, &n);
    for (guint i = 0; i < n; i++) columns[i] = (TableColumn){from[i].head, FALSE, 0, from[i].drop};
    return n;
}

static char *cell_text(const Style *style, const MeasureColumn *column, const json_t *measure) {
    const json_t *object = column->group != NULL ? field_object(measure, column->group) : measure;
    if (!field_present(object, column->field)) return g_strdup(object != NULL ? "-" : "");

    double value = field_number(object, column->field);
    gint64 resolution = field_int(measure, "resolution_ns");

    switch (column->show) {
    case SHOW_TIME: return unit_in_column(unit_duration(style, value, resolution));
    case SHOW_MEAN_TIME:
        return unit_in_column(
            unit_duration(style, value, unit_mean_resolution(resolution, field_int(measure, "calls"))));
    case SHOW_QUANTILE_TIME: {
        g_autofree char *text = unit_duration(style, value, resolution);
        gboolean exact = !field_present(measure, "exact_quantiles") || field_true(measure, "exact_quantiles");
        return unit_in_column(g_strconcat(exact ? "" : "~", text, NULL));
    }
    case SHOW_COUNT: return unit_count(value);
    case SHOW_BYTES: return unit_bytes(value);
    case SHOW_RATE: return unit_bytes_per_s(value);
    }
    g_assert_not_reached();
}

void measure_cells(Table *table, const Style *style, MeasureSet set, const json_t *measure) {
    guint n;
    const MeasureColumn *columns = columns_of(set, &n);
    for (guint i = 0; i < n; i++) table_cell(table, cell_text(style, &columns[i], measure), COLOUR_NONE);
}

char *measure_notes(const json_t *measure) {
    static const struct {
        const char *field, *text;
    } notes[] = {
        {"orphan_calls", "orphans"}, {"reversed_calls", "reversed"}, {"outside_parent_calls", "outside parent"}};
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(notes); i++) {
        gint64 n = field_int(measure, notes[i].field);
        if (n == 0) continue;
        g_autofree char *count = unit_count((double)n);
        g_string_append_printf(out, "%s%s %s", out->len > 0 ? ", " : "", count, notes[i].text);
    }
    return g_string_free(out, FALSE);
}

Colour measure_role_colour(const Style *style, const json_t *row) {
    Role role;
    return role_parse(field_text(row, "role"), &role) ? style->roles[role] : COLOUR_NONE;
}
