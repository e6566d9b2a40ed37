/* Hosts that are slower than they should be; of one host, its functions and how it went. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show_spell.h"

static void times_cell(Table *table, const json_t *row, const char *field) {
    if (!field_present(row, field)) {
        table_cell(table, g_strdup("-"), COLOUR_NONE);
        return;
    }
    const double times = field_number(row, field);
    table_cell(table, g_strdup_printf("%.*f", times < 100 ? 2 : 0, times), COLOUR_NONE);
}

static Colour state_colour(const char *state) {
    if (strcmp(state, "suspected") == 0) return COLOUR_RED;
    return strcmp(state, "well") == 0 ? COLOUR_NONE : COLOUR_YELLOW;
}

/* The last column is for classes of work with calls that failed. */
static gboolean any_failed(const json_t *rows) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) if (field_number(row, "failed") > 0) return TRUE;
    return FALSE;
}

/* "2.5 %" */
static char *failed_text(const json_t *row) {
    return field_number(row, "failed") > 0 ? show_share(MAX(field_number(row, "failed_share"), 1e-9)) : g_strdup("");
}

static void show_rows(const json_t *rows, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"host", TRUE, 12, 0},       {"class of work", TRUE, 0, 0},
                                          {"state", TRUE, 0, 0},       {"now, times its usual", FALSE, 0, 0},
                                          {"deviations", FALSE, 0, 3}, {"usually, times its peers", FALSE, 0, 0},
                                          {"calls", FALSE, 0, 2},      {"failed", FALSE, 0, 1}};
    const gboolean failed = any_failed(rows);
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns) - (failed ? 0 : 1));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "class"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "state"), state_colour(field_text(row, "state")));
        times_cell(table, row, "slowdown");
        table_cell(table, g_strdup_printf("%+.1f", field_number(row, "z")), COLOUR_NONE);
        times_cell(table, row, "constant");
        table_cell(table, unit_count(field_number(row, "calls")), COLOUR_NONE);
        if (failed) table_cell(table, failed_text(row), COLOUR_NONE);
    }
    table_print(table, out);
}

static void show_functions_of(const json_t *rows, const Style *style, GString *out) {
    static const TableColumn columns[] = {{"function", TRUE, 20, 0}, {"role", TRUE, 0, 4},   {"class", TRUE, 0, 1},
                                          {"size", FALSE, 0, 3},     {"calls", FALSE, 0, 2}, {"predicted", FALSE, 0, 0},
                                          {"seen", FALSE, 0, 0},     {"times", FALSE, 0, 0}};
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    static const char *const durations[] = {"predicted_ns", "seen_ns"};
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, show_text(style, row, "function"), measure_role_colour(style, row));
        table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "class"), COLOUR_NONE);
        table_cell(table, field_present(row, "size_bytes") ? unit_bytes(field_number(row, "size_bytes")) : g_strdup(""),
                   COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, "calls")), COLOUR_NONE);
        for (gsize k = 0; k < G_N_ELEMENTS(durations); k++)
            table_cell(table, unit_in_column(unit_duration(style, field_number(row, durations[k]), 1)), COLOUR_NONE);
        times_cell(table, row, "slowdown");
    }
    table_print(table, out);
}

/* ---- how it went ---- */

/* A character for a window: how many times slower. */
static const char *level(const Style *style, double slowdown) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const digits[] = {".", ".", "-", "1", "2", "3", "5", "9"};
    static const double least[] = {0, 0.75, 1.1, 1.5, 2, 3, 5, 9};
    guint at = 0;
    while (at + 1 < G_N_ELEMENTS(least) && slowdown >= least[at + 1]) at++;
    return style->utf8 ? bars[at] : digits[at];
}

/* The newest windows, as many as fit. */
static void show_timeline(const json_t *timeline, const Style *style, GString *out) {
    enum { NAME = 16, MOST = 120 };
    const gsize room = style->width > NAME + 10 ? MIN(style->width - NAME, MOST) : style->width > 0 ? 10 : MOST;
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)timeline, i, row) {
        const json_t *points = field_list(row, "points");
        const gsize n = json_array_size(points);
        g_autofree char *class = show_text(style, row, "class");
        g_string_append_printf(out, "%-*s", NAME, class);
        for (gsize k = n > room ? n - room : 0; k < n; k++) {
            const json_t *point = json_array_get(points, k);
            const double mean = field_number(point, "slowdown"), tail = field_number(point, "tail_slowdown");
            const gboolean bad = field_true(point, "bad");
            style_append(style, bad ? COLOUR_RED : COLOUR_NONE, level(style, bad ? MAX(mean, tail) : mean), out);
        }
        g_string_append_c(out, '\n');
    }

    if (json_array_size(timeline) == 0) return;
    paragraph_append(style, 0,
                     style->utf8
                         ? "▂ as usual, ▄ 1.5 times as slow, ▅ 2, ▆ 3, ▇ 5, █ 9 times or more; the newest is right"
                         : ". as usual, 1 1.5 times as slow, 2 3 5 9 times or more; the newest is right",
                     out);
}

static void show_spells(const json_t *spells, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    gsize i;
    const json_t *spell;
    json_array_foreach((json_t *)spells, i, spell) {
        const char *state = field_text(spell, "state");
        if (strcmp(state, "busier") == 0 || strcmp(state, "follows") == 0) {
            show_excused(spell, style, out);
            continue;
        }
        show_spell(spell, 0, style, out);
        if (!options->brief) show_advice(spell, style, out);
    }
    if (json_array_size(spells) > 0) g_string_append_c(out, '\n');
}

void show_nodes(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *spells = field_list(document, "spells"), *rows = field_list(document, "nodes");
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No calls that tell of the health of their hosts: no traced HDFS in that time?\n");
        return;
    }

    if (json_array_size(spells) == 0) {
        if (!show_not_judged(document, style, out)) g_string_append(out, "No host is slower than it usually is.\n");
        g_string_append_c(out, '\n');
    }
    show_spells(spells, options, out);
    if (show_failing(document, style, out)) g_string_append_c(out, '\n');
    show_rows(rows, style, out);
    if (field_true(document, "more")) g_string_append(out, "there are more rows: --limit N shows more (0: all)\n");

    if (field_present(document, "functions")) {
        g_string_append_c(out, '\n');
        show_functions_of(field_list(document, "functions"), style, out);
        g_string_append_c(out, '\n');
        show_timeline(field_list(document, "timeline"), style, out);
    }

    g_string_append_c(out, '\n');
    show_looked_at(document, style, out);
}
